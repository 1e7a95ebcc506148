// SPDX-License-Identifier: MIT
// What it is without -rdc.
template <int N> __global__ void small(float *p, int n) { if (threadIdx.x < N) p[threadIdx.x] += n; }
template __global__ void small<2>(float *, int);
__global__ void __launch_bounds__(128, 1) loops(float *p, int n) { for (int i = threadIdx.x; i < n; i += 128) p[i] += 1; __syncthreads(); for (int i = 0; i < n; i++) p[i] *= 2; }
