// SPDX-License-Identifier: MIT
// Calls wherever an expression may stand.
namespace expressions {
struct pair { int a, b; };
struct owner {
  int v;
  __device__ owner(int x) : v(x) {}
  __device__ owner(const owner &o) : v(o.v + 1) {}
};
__device__ int slow(int n) { int s = 1; for (int i = 0; i < 5; i++) s = s * 3 + n; return s; }
__device__ pair both(int n) { pair p = {n, n}; for (int i = 0; i < 3; i++) p.b += slow(i); return p; }
__device__ owner own(int n) { int s = n; for (int i = 0; i < 3; i++) s += i; return owner(s); }
__device__ int &pick(int *x, int n) { int k = 0; for (int i = 0; i < n; i++) k = (k + 7) & 63; return x[k]; }
__device__ void add(int &x, int n) { for (int i = 0; i < n; i++) x += i; }
__device__ bool odd(int n) { bool o = false; for (int i = 0; i < n % 5; i++) o = !o; return o; }
__global__ void anywhere(int *x) {
  int i = threadIdx.x, y = slow(x[i]), z{slow(2)}, w(slow(3) & 15);
  const int &ref = slow(4);
  pair p = both(x[i]);
  int a[2] = {slow(1), slow(2)};
  if (odd(slow(y))) y += 1;
  if (int t = slow(y & 7)) y ^= t;
  for (int k = slow(0) & 1; odd(k) || k < 3; k += 1 + (slow(k) & 1)) y += k;
  while (odd(y) && y > 0) y -= slow(y) & 3;
  do y++; while (odd(y));
  y = odd(z) ? slow(1) : slow(2);
  y += (add(z, 3), slow(z));
  odd(y) ? add(y, 2) : add(z, 4);
  x[i] = slow(slow(slow(1))) + both(2).b + own(3).v + (int)sizeof(slow(1)) + -slow(2) + !odd(3);
  pick(x, i) += 0;
  int *q = &pick(x, 0);
  switch (slow(z) & 1) { case 0: y++; }
  x[i] += y + z + w + ref + p.a + a[0] * a[1] + (q == x) + (slow(1), slow(2));
}
__device__ int chain(int n) { return n < 2 ? n : slow(n) + slow(n - 1); }
__device__ int tail(int n) { if (n) return slow(n); return chain(n + 3); }
__global__ void returned(int *x) { x[threadIdx.x] = tail(x[threadIdx.x] & 3) + tail(0); }
inline void run() {
  check<int>("expressions.anywhere", [](int *x) { anywhere<<<1, 1>>>(x); });
  check<int>("expressions.returned", [](int *x) { returned<<<1, 64>>>(x); });
}
} // namespace expressions
