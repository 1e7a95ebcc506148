// SPDX-License-Identifier: MIT
// Marked
__device__ float f(float x) { for (int j=0;j<8;j++) x = x*0.5f+1.f; return x; }
__global__ void k(float *p, int n) {
  float x = p[threadIdx.x];
  #pragma unroll
  for (int i = 0; i < n; ++i) { x = f(x); }
  p[threadIdx.x] = x;
}
