// SPDX-License-Identifier: MIT
// Sections in which nothing happens but marks: what is left of them without the marks' cost must be
// nothing, or what a loop takes.
#include "inkmark/mark.cuh"

#include <cstdio>

PROF_SECTIONS(Empty, Straight, Nested, Calls, A, B, Value, Outer, Inner, Async, Helper)

__global__ void straight(int *out) {
  PROF_KERNEL(Straight);
  PROF_MARK(A);
  PROF_MARK(B);
  PROF_MARK(A);
  PROF_VALUE(Value, 7);
  PROF_EVENT(Value);
  PROF_MARK(B);
  PROF_ASYNC_BEGIN(Async, 1);
  PROF_ASYNC_END(Async, 1);
  PROF_MARK(A);
  PROF_ITER(1);
  PROF_MARK(B);
  out[threadIdx.x] = 1;
}

__global__ void nested(int *out) {
  PROF_KERNEL(Nested);
  PROF_BEGIN(Outer);
  PROF_BEGIN(Inner);
  PROF_END(Inner);
  PROF_BEGIN(Inner);
  PROF_MARK(A);
  PROF_MARK(B);
  PROF_END(Inner);
  PROF_EVENT(Value);
  PROF_END(Outer);
  out[threadIdx.x] = 1;
}

__device__ __noinline__ void helper() {
  PROF_BEGIN(Helper);
  PROF_EVENT(Value);
  PROF_END(Helper);
}

__global__ void calls(int *out) {
  PROF_KERNEL(Calls);
  PROF_BEGIN(Outer);
  helper();
  helper();
  PROF_END(Outer);
  out[threadIdx.x] = 1;
}

int main() {
  int *out;
  if (cudaMalloc(&out, 32 * sizeof *out) != cudaSuccess)
    return 1;
  straight<<<2, 32>>>(out);
  nested<<<2, 32>>>(out);
  calls<<<2, 32>>>(out);
  const cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess)
    printf("%s\n", cudaGetErrorString(error));
  return error != cudaSuccess;
}
