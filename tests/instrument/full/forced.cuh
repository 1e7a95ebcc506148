// SPDX-License-Identifier: MIT
// Brought in by -include, and with it another one: what nvcc reads is these files as they are.
#include "header.cuh"
__device__ inline float of_forced(float x, int n) { for (int i = 0; i < n; i++) x -= 1; return x; }
__global__ void kernel_of_forced(float *p, int n) { for (int i = 0; i < n; i++) { p[i] = of_forced(p[i], n); __syncthreads(); } }
