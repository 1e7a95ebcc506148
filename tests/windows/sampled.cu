// SPDX-License-Identifier: MIT
// A grid of 6,000 blocks of which the first 2,000 are a hundred times slower: the last 2,048 would all be fast.
#include <inkmark/mark.cuh>

PROF_SECTIONS(Sampled, Kern, A)

__global__ void k(float *d, int n) {
  PROF_KERNEL(Kern);
  float x = threadIdx.x;
  const int m = blockIdx.x < 2000 ? 100 * n : n;
  for (int i = 0; i < m; i++)
    x = x * 0.5f + 1;
  PROF_MARK(A, x);
  d[threadIdx.x] = x;
}

int main() {
  float *d;
  if (cudaMalloc(&d, 4096))
    return 1;
  k<<<6000, 32>>>(d, 1);
  return cudaDeviceSynchronize();
}
