// SPDX-License-Identifier: MIT
// Functions with marks that call others with marks, in loops and branches: all of them with the kernel's context.
__device__ int leaf(int n) { for (int i = 0; i < n; i++) n ^= i * n; return n; }
template <class T> __device__ T other(T n) { for (T i = 0; i < n; i++) n += i ^ 3; return n; }
__device__ int middle(int n) { return leaf(n) + other(n); }
struct stage {
  int scale;
  __device__ int run(int n) { int s = 0; for (int i = 0; i < n; i++) s += middle(n - i) * scale; return s; }
};
__global__ void nested(int *x, int n) {
  stage s{n};
  int y = s.run(leaf(n)) + middle(n) + (int)other((long)n);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) {
      if (j & 1) y += s.run(other(j));
      else y += leaf(j);
      while (middle(y) > n) y -= 3;
    }
  x[threadIdx.x] = y;
}
