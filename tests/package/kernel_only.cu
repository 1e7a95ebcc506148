// SPDX-License-Identifier: MIT
// Marked kernels without any host code, for NVRTC: every macro once, the buffer by symbol and by
// argument, and marks in a called function.
#include "inkmark/mark.cuh"

PROF_SECTIONS(Whole, Run, Part, Nested, Scoped, Point, Number, Overlap, Sum, Called, Second)

__device__ __noinline__ float helper(float x) {
  x = x * x + 1;
  PROF_MARK(Called, x);
  return x;
}

template <typename T> __device__ T twice(T x) {
  PROF_SCOPE(Scoped);
  return x + x;
}

__global__ void by_symbol(float *data, int n) {
  PROF_KERNEL(Run);
  float x = data[threadIdx.x];
  for (int i = 0; i < n; i++) {
    PROF_ITER(i);
    PROF_SUM_BEGIN(Sum);
    x += (float)i;
    PROF_SUM_END(Sum, x);
    PROF_BEGIN(Nested);
    x = helper(x);
    PROF_MARK(Part, x);
    PROF_END(Nested);
    PROF_EVENT(Point);
    PROF_VALUE(Number, x);
    PROF_ASYNC_BEGIN(Overlap, i);
    x = twice(x);
    PROF_ASYNC_END(Overlap, i);
  }
  PROF_CLOCKS();
  data[threadIdx.x] = x;
}

__global__ void by_argument(prof_buffer buffer, int *data) {
  PROF_KERNEL_IF(threadIdx.x == 3, buffer, Second);
  data[threadIdx.x] += 1;
  PROF_MARK(Part);
}
