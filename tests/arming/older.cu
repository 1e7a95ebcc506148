// SPDX-License-Identifier: MIT
// Linked by -rdc=true with a file that was compiled with the headers of device layout 4 (older_part.cu).
#include <cuda_runtime.h>
#include <inkmark/mark.cuh>

#include <stdio.h>

PROF_SECTIONS(Arming, Kernel, First, Second, Third)

__global__ void kernel(int *out) {
  PROF_KERNEL(Kernel);
  PROF_MARK(First);
  out[threadIdx.x]++;
  PROF_MARK(Second);
  PROF_MARK(Third);
}

__global__ void older(unsigned long long *buffer);

int main() {
  void *out = nullptr;
  unsigned long long buffer = 1;
  cudaMalloc(&out, 4096);
  kernel<<<4, 32>>>((int *)out);
  older<<<1, 1>>>((unsigned long long *)out);
  const cudaError_t error = cudaMemcpy(&buffer, out, sizeof buffer, cudaMemcpyDeviceToHost);
  if (error || buffer)
    fprintf(stderr, "%s; the older file has the buffer %#llx\n", cudaGetErrorString(error), buffer);
  return error || buffer;
}
