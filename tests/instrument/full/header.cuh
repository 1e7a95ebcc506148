// SPDX-License-Identifier: MIT
// Included by with_headers.cu, and by deeper.cuh once more.
#pragma once
__device__ inline float of_header(float x, int n) { for (int i = 0; i < n; i++) x = x * 1.5f + 1; return x; }
template <class T> __global__ void kernel_of_header(T *p, int n) {
  for (int i = 0; i < n; i++) {
    p[i] = of_header(p[i], n);
    __syncthreads();
  }
}
