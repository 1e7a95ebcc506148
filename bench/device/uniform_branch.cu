// SPDX-License-Identifier: MIT
// The same arithmetic with a mark after each step, as the macros are, and with each mark behind a branch
// that a whole warp takes or does not: what a warp that records nothing then executes.
#include "inkmark/mark.cuh"

PROF_SECTIONS(Branch, Step, A)

#if BRANCH
#define MARK(x)                                                                                    \
  do {                                                                                             \
    if (warp_records)                                                                              \
      PROF_MARK(A, x);                                                                             \
  } while (0)
#else
#define MARK(x) PROF_MARK(A, x)
#endif

#define STEP(k) x = x * (1.5f + k) + y; MARK(x);
#define EIGHT(k) STEP(k) STEP(k + 1) STEP(k + 2) STEP(k + 3) STEP(k + 4) STEP(k + 5) STEP(k + 6) STEP(k + 7)

__global__ void straight(float *p, const int *armed) {
  PROF_KERNEL(Step);
  const bool warp_records = __any_sync(0xffffffffu, threadIdx.x == 0 && *armed);
  (void)warp_records;
  float x = p[threadIdx.x], y = p[threadIdx.x + 1];
  EIGHT(0)
#if MARKS > 8
  EIGHT(8) EIGHT(16) EIGHT(24) EIGHT(32)
#endif
  p[threadIdx.x] = x;
}

__global__ void rolled(float *p, const int *armed, int n) {
  PROF_KERNEL(Step);
  const bool warp_records = __any_sync(0xffffffffu, threadIdx.x == 0 && *armed);
  (void)warp_records;
  float x = p[threadIdx.x], y = p[threadIdx.x + 1];
#pragma unroll 1
  for (int i = 0; i < n; i++) {
    EIGHT(0)
#if MARKS > 8
    EIGHT(8) EIGHT(16) EIGHT(24) EIGHT(32)
#endif
  }
  p[threadIdx.x] = x;
}
