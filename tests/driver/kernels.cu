// SPDX-License-Identifier: MIT
// A module with two tables and a called function, as a program compiles it at run time.
#include "inkmark/mark.cuh"

PROF_SECTIONS(Core, Step, Load, Compute, Persist)
PROF_SECTIONS(Other, Square)

__device__ __noinline__ float square(float a) {
  PROF_SCOPE(Square);
  return a * a;
}

extern "C" __global__ void step(float *x, int n) {
  PROF_KERNEL(Step);
  for (int i = 0; i < n; i++) {
    float a = x[threadIdx.x] * 1.5f + i;
    PROF_MARK(Load, a);
    x[threadIdx.x] = square(a);
    PROF_MARK(Compute);
  }
}

// One that the program ends.
extern "C" __global__ void persist(volatile int *go) {
  PROF_KERNEL(Persist);
  while (!*go) {
  }
  PROF_MARK(Load);
}
