// SPDX-License-Identifier: MIT
// Totals of all three phases and of heavy(), whatever the ring.
#include <cstdio>
__device__ void heavy(float *p, int n) { for (int i = 0; i < n; i++) p[i] = p[i] * 2 + 1; }
__device__ void wrap(float *p, int n) { heavy(p, n); }
__global__ void k(float *p, int n, int m) {
  for (int i = 0; i < 4; i++) p[i] += 1;       // first phase
  for (int i = 0; i < n; i++) p[i & 15] += 2;  // long
  for (int i = 0; i < m; i++) p[i] += 3;       // last phase
  wrap(p, m);
}
int main() { float *p; cudaMalloc(&p, 4096); cudaMemset(p, 0, 4096); k<<<1, 32>>>(p, 20000, 4); printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize())); }
