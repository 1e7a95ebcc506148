// SPDX-License-Identifier: MIT
// Counted from the object and marked.
#define GLOBAL __global__ static
template <int N> GLOBAL __launch_bounds__(128, 1) void hidden_kernel(float *p) { p[threadIdx.x] += N; }
void go(float *p) { hidden_kernel<2><<<1, 32>>>(p); }
