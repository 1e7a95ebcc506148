// SPDX-License-Identifier: MIT
// A second kernel of the same program, in a file of its own.
#include "relocated.cuh"

__global__ void other_kernel(float *out) {
  PROF_KERNEL(Other);
  const int at = blockIdx.x * relocated_threads + threadIdx.x;
  out[at] = helper((float)at, 2);
  PROF_MARK(After);
}

void launch_other(float *out) { other_kernel<<<relocated_blocks, relocated_threads>>>(out); }
