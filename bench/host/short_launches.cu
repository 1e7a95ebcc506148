// SPDX-License-Identifier: MIT
// LAUNCHES BLOCKS: so many launches of so many small blocks, one behind the other, each block one track.
#include <inkmark/mark.cuh>

#include <stdio.h>
#include <stdlib.h>

PROF_SECTIONS(Short, Kern, First, Second)

__global__ void kernel(float *out) {
  PROF_KERNEL(Kern);
  PROF_MARK(First);
  out[threadIdx.x] = (float)blockIdx.x;
  PROF_MARK(Second);
}

int main(int argc, char **argv) {
  float *out;
  if (argc != 3 || cudaMalloc(&out, 32 * sizeof *out))
    return 1;
  for (int i = 0; i < atoi(argv[1]); i++)
    kernel<<<(unsigned)atoi(argv[2]), 32>>>(out);
  return cudaDeviceSynchronize() != cudaSuccess;
}
