// SPDX-License-Identifier: MIT
// A track of rows, in a kernel and in a function that is not inlined: its marks are clock reads without a tag.
#include "inkmark/mark.cuh"
PROF_SECTIONS(T, Range, Step, A, B, C, D)
struct Loop {
  __device__ __noinline__ float run(PROF_PARAMS_ROWS(Step, float x, int n)) {
    for (int i = 0; i < n; i++) {
      PROF_ITER(i);
      x = x * 1.5f + 2;
      PROF_MARK(A);
      x = x * 1.5f + 1;
      PROF_MARK(B, x);
    }
    return x;
  }
};
__global__ void k(float *p, int n) {
  PROF_KERNEL_ROWS(Step);
  float x = p[threadIdx.x];
  x = x * 3 + 1;
  PROF_MARK(C, x);
  x = Loop().run(PROF_ARGS(x, n));
  PROF_ITER_END();
  p[threadIdx.x] = x;
  PROF_MARK(D);
}
