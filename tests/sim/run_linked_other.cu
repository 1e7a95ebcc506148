/* SPDX-License-Identifier: MIT */
/* The second file of the -rdc=true test. */
__device__ int calls;
static __device__ int factor = 3;

__device__ int scale(int x)
{
  atomicAdd(&calls, 1);
  return factor * x;
}

__global__ void other_kernel(int *to) { *to = calls; }
