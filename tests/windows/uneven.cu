// SPDX-License-Identifier: MIT
// Eight launches of 50 blocks, each of which is drained before the next one. Some are slow, and not the same share of every
// sample.
#include <inkmark/mark.cuh>
#include <unistd.h>

PROF_SECTIONS(Uneven, Kern, A)

__global__ void k(float *d, int n) {
  PROF_KERNEL(Kern);
  float x = threadIdx.x;
  const int m = blockIdx.x < 3 ? 20 * n : n;
  for (int i = 0; i < m; i++)
    x = x * 0.5f + 1;
  PROF_MARK(A, x);
  d[threadIdx.x] = x;
}

int main() {
  float *d;
  if (cudaMalloc(&d, 4096))
    return 1;
  for (int i = 0; i < 8; i++) {
    k<<<50, 32>>>(d, 20);
    if (cudaDeviceSynchronize())
      return 1;
    usleep(200000); /* two fit in the buffer: a drain comes in between */
  }
  return 0;
}
