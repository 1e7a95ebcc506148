// SPDX-License-Identifier: MIT
// Marked.
#define KERNEL_LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)
__global__ void grid_stride(float *p, int n) { KERNEL_LOOP(i, n) { p[i] += 1; } }
