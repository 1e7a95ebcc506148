// SPDX-License-Identifier: MIT
// Three roles, a track each.
#include <cstdio>
__global__ void roles(float *p, int n) {
  const int warp = __shfl_sync(~0u, threadIdx.x / 32, 0);
  __shared__ volatile int ready;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  if (warp == 2) { for (int i = 0; i < n; i++) p[i & 7] += 1; if (threadIdx.x % 32 == 0) ready = 1; }
  else if (warp == 3) { while (!ready) {} for (int i = 0; i < n; i++) p[8 + (i & 7)] += 2; }
  else { for (int i = 0; i < n; i++) p[16 + (i & 7)] += 3; }
}
int main() { float *p; cudaMalloc(&p, 4096); cudaMemset(p, 0, 4096); roles<<<1, 128>>>(p, 8); printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize())); }
