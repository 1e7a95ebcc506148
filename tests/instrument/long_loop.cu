// SPDX-License-Identifier: MIT
// A phase, a loop of 20,000 passes of which the last is a hundred times as long, and a phase behind it.
#include <cstdio>
__device__ void heavy(float *p, int n) { for (int i = 0; i < n; i++) p[i & 15] = p[i & 15] * 2 + 1; }
__device__ void step(float *p, int k, int n) { heavy(p, k == n - 1 ? 100 : 1); }
__global__ void phases(float *p, int n, int m) {
  for (int i = 0; i < m; i++) p[i] += 1;
  for (int k = 0; k < n; k++) {
    step(p, k, n);
    __syncthreads();
  }
  heavy(p, m);
}
int main() {
  float *p;
  cudaMalloc(&p, 4096);
  cudaMemset(p, 0, 4096);
  phases<<<1, 32>>>(p, 20000, 4);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
