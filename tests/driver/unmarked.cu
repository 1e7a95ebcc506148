// SPDX-License-Identifier: MIT
extern "C" __global__ void step(float *x, int n) { x[threadIdx.x] += n; }
