// SPDX-License-Identifier: MIT
// Integer divisions by what is the same in every round: the reciprocal may leave the loop, unless a mark names the
// divisor.
#include <inkmark/mark.cuh>
PROF_SECTIONS(Division, Kernel, First, Second, Third)

extern "C" __global__ void loaded(unsigned *s, unsigned d, int n) {
  PROF_KERNEL(Kernel);
  unsigned x = s[threadIdx.x];
#pragma unroll 1
  for (int i = 0; i < n; i++) {
    PROF_MARK(First);
    x = x / d + 41u; // reciprocal
    PROF_MARK_LOADED(Second, x);
    x = (x * 5u) / d + 9u;
    PROF_MARK_LOADED(Third, x);
  }
  s[threadIdx.x] = x;
}

extern "C" __global__ void loaded_named(unsigned *s, unsigned d, int n) {
  PROF_KERNEL(Kernel);
  unsigned x = s[threadIdx.x];
#pragma unroll 1
  for (int i = 0; i < n; i++) {
    PROF_MARK_LOADED(First, d);
    x = x / d + 41u;
    PROF_MARK_LOADED(Second, x);
    x = (x * 5u) / d + 9u;
    PROF_MARK_LOADED(Third, x);
  }
  s[threadIdx.x] = x;
}

extern "C" __global__ void strict_named(unsigned *s, unsigned d, int n) {
  PROF_KERNEL(Kernel);
  unsigned x = s[threadIdx.x];
#pragma unroll 1
  for (int i = 0; i < n; i++) {
    PROF_MARK_STRICT(First, d);
    x = x / d + 41u;
    PROF_MARK_STRICT(Second, x, d);
    x = (x * 5u) / d + 9u;
    PROF_MARK_STRICT(Third, x, d);
  }
  s[threadIdx.x] = x;
}
