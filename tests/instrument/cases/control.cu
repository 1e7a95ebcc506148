// SPDX-License-Identifier: MIT
// Ways out of and around statements: returns, jumps, cases, bodies without braces.
namespace control {
__device__ __noinline__ int collatz(int n) {
  int steps = 0;
  while (n != 1 && steps < 40) {
    n = n % 2 ? 3 * n + 1 : n / 2;
    steps++;
  }
  return steps;
}
__device__ int early(int n) {
  for (int i = 0; i < 10; i++)
    if (i * i > n)
      return i;
  return collatz(n);
}
__global__ void returns(int *x, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  for (int k = 0; k < 4; k++) {
    if (x[i] > 1000) return;
    x[i] += early(x[i]);
  }
  if (x[i] & 1)
    x[i] = collatz(x[i]);
  else if (x[i] & 2)
    x[i] -= collatz(x[i] + 1);
  else
    return;
  x[i] += 1;
}
__global__ void jumps(int *x) {
  int i = threadIdx.x, k = 0;
again:
  x[i] += collatz(k + 1);
  if (++k < 3) goto again;
  for (;;) {
    if (k++ > 6) break;
    if (k == 5) continue;
    x[i] ^= k;
  }
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 3; b++) {
      if (a * b == 2) goto out;
      x[i] += a * b;
    }
out:
  do x[i] += 3; while (x[i] < 20);
  for (int z = 0; z < 3; z++);
  while (k-- > 0)
    ;
  x[i] += k;
}
__global__ void cases(int *x) {
  int i = threadIdx.x;
  switch (x[i] & 3) {
  case 0: x[i] += collatz(x[i] + 1); // falls through
  case 1:
    x[i] *= 2;
    x[i] += collatz(3);
    break;
  case 2: {
    int y = collatz(x[i]);
    x[i] -= y;
    break;
  }
  default: x[i] = collatz(9);
  }
  int count = (x[i] & 7) + 1, n = (count + 3) / 4; // Duff: cases inside of the loop
  switch (count % 4) {
  case 0: do { x[i]++;
  case 3:      x[i]++;
  case 2:      x[i]++;
  case 1:      x[i]++;
          } while (--n > 0);
  }
}
__global__ void nested(int *x, int n) {
  int i = threadIdx.x, sum = 0;
  for (int a = 0; a < n; ++a) {
    for (int b = 0; b < a; ++b)
      for (int c = 0; c < 2; ++c)
        sum += collatz(a + b + c + 1);
    for (unsigned b = 3; b--;) sum ^= b;
  }
  x[i] += sum;
}
inline void run() {
  check<int>("control.returns", [](int *x) { returns<<<1, 64>>>(x, 60); });
  check<int>("control.jumps", [](int *x) { jumps<<<1, 64>>>(x); });
  check<int>("control.cases", [](int *x) { cases<<<1, 64>>>(x); });
  check<int>("control.nested", [](int *x) { nested<<<1, 64>>>(x, 4); });
}
} // namespace control
