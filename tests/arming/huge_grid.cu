// SPDX-License-Identifier: MIT
// A grid of 2^32 blocks, of which a later one traps.
#include <cuda_runtime.h>
#include <inkmark/mark.cuh>

PROF_SECTIONS(Arming, Kernel, First)

__global__ void kernel() {
  PROF_KERNEL(Kernel);
  PROF_MARK(First);
  if (blockIdx.x == 2000)
    __trap();
}

int main() {
  kernel<<<dim3(1 << 17, 1 << 15), 1>>>();
  return cudaDeviceSynchronize() == cudaSuccess;
}
