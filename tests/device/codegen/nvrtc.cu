// SPDX-License-Identifier: MIT
// What NVRTC compiles: no host headers, the same macros.
#include "inkmark/mark.cuh"
PROF_SECTIONS(Rtc, Kernel, Step, Search)
__device__ __noinline__ float called(float x, int key) {
  PROF_SCOPE(Search, x);
  PROF_VALUE(Step, key);
  PROF_ASYNC_BEGIN(Step, key);
  PROF_ASYNC_END(Step, key);
  return x * 2;
}
extern "C" __global__ void kernel(prof_buffer buffer, float *x, int n) {
  PROF_KERNEL(buffer, Kernel);
  float a = x[threadIdx.x], v[2] = {a, a * 2};
  double d = a;
  float4 f = make_float4(a, 1, 2, 3);
  for (int i = 0; i < n; i++) {
    PROF_ITER(i);
    a = called(a, i);
    PROF_MARK(Step, a, v, d, f);
    PROF_SUM_BEGIN(Search);
    a += v[1] + (float)d + f.w;
    PROF_SUM_END(Search, a);
    PROF_EVENT(Step);
    PROF_CLOCKS();
  }
  x[threadIdx.x] = a;
}
extern "C" __global__ void symbol_kernel(float *x) {
  PROF_KERNEL(Kernel);
  *x += 1;
  PROF_MARK(Step);
}
__device__ float lent(PROF_PARAMS()) {
  PROF_SUM_BEGIN(Search);
  PROF_SUM_END(Search);
  return 1;
}
__device__ float lent_on(PROF_PARAMS(float x, int n)) {
  PROF_MARK(Step, x);
  return lent(PROF_ARGS()) + x * n;
}
extern "C" __global__ void context_kernel(float *x) {
  PROF_KERNEL(Kernel);
  *x = lent_on(PROF_ARGS(*x, 3));
}
