// SPDX-License-Identifier: MIT
// Local memory of two kinds: registers that do not fit into 32, and an array that is indexed.
#include "inkmark/mark.cuh"

#include <cstdio>

PROF_SECTIONS(Local, Spills, Arrays, Work)

__global__ void __launch_bounds__(1024, 2) spills(float *p, int n) {
  PROF_KERNEL(Spills);
  float a[40];
  for (int i = 0; i < 40; i++)
    a[i] = p[i * 32 + threadIdx.x];
  for (int k = 0; k < n; k++)
#pragma unroll
    for (int i = 0; i < 40; i++)
      a[i] = a[i] * a[(i + 1) % 40] + a[(i + 7) % 40];
  PROF_MARK(Work);
  for (int i = 0; i < 40; i++)
    p[i * 32 + threadIdx.x] = a[i];
}

__global__ void arrays(float *p, int n) {
  PROF_KERNEL(Arrays);
  float a[40];
  for (int i = 0; i < 40; i++)
    a[i] = p[i * 32 + threadIdx.x];
#pragma unroll 1
  for (int k = 0; k < n; k++)
    a[(k * 7) % 40] += a[(k * n) % 40];
  PROF_MARK(Work);
  for (int i = 0; i < 40; i++)
    p[i * 32 + threadIdx.x] = a[i];
}

int main() {
  float *p;
  if (cudaMalloc(&p, 40 * 32 * sizeof *p) != cudaSuccess)
    return 1;
  spills<<<1, 32>>>(p, 3);
  arrays<<<1, 32>>>(p, 3);
  const cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess)
    printf("%s\n", cudaGetErrorString(error));
  return error != cudaSuccess;
}
