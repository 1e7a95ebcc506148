/* SPDX-License-Identifier: MIT */
/* Built with -rdc=true in two files: device functions and variables of the other file. */
#include <cuda_runtime.h>

#include "check.h"

extern __device__ int scale(int x);
extern __device__ int calls;
extern __global__ void other_kernel(int *to);

__device__ int (*table[2])(int) = {scale, scale};

__global__ void use(int *to) { to[threadIdx.x] = scale((int)threadIdx.x) + table[1](1000); }

int main(void)
{
  int *to, result[32], n = 0;
  OK(cudaMalloc(&to, sizeof result));
  use<<<1, 32>>>(to);
  OK(cudaMemcpy(result, to, sizeof result, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; i++) CHECK_EQUAL(result[i], 3 * i + 3000);
  OK(cudaMemcpyFromSymbol(&n, calls, sizeof n));
  CHECK_EQUAL(n, 64);
  other_kernel<<<1, 1>>>(to);
  OK(cudaMemcpy(result, to, 4, cudaMemcpyDeviceToHost));
  CHECK_EQUAL(result[0], 64);
  return check_result();
}
