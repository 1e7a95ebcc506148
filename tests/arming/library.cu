// SPDX-License-Identifier: MIT
// A library with marks that a program without any loads after main has begun.
#include <cuda_runtime.h>
#include <inkmark/mark.cuh>

PROF_SECTIONS(Loaded, Kernel, Only)

__global__ void kernel(int *out) {
  PROF_KERNEL(Kernel);
  out[threadIdx.x] = (int)threadIdx.x;
  PROF_MARK(Only);
}

extern "C" int run_library() {
  int *out;
  if (cudaMalloc(&out, 32 * sizeof(int)))
    return 1;
  kernel<<<2, 32>>>(out);
  return cudaDeviceSynchronize();
}
