// SPDX-License-Identifier: MIT
// Kernels whose names are long, and work that moves behind its mark, so that something is said of them.
#include <inkmark/mark.cuh>
PROF_SECTIONS(Names, Step, First, Second)

namespace own {
template <class A, class B, class C> struct policy_of_a_pipeline_with_a_long_name {};
using wide = policy_of_a_pipeline_with_a_long_name<policy_of_a_pipeline_with_a_long_name<int, float, double>, long, char>;

template <class T, int N> __global__ void step(float *out, float a) {
  PROF_KERNEL(Step);
  float x = a, y = a + 1;
  for (int i = 0; i < 4; i++)
    x = x * a + 1.5f; // moves: used at the end
  PROF_MARK(First);
  for (int i = 0; i < N; i++)
    y = y * a + 2.5f;
  out[threadIdx.x + 32] = y;
  PROF_MARK(Second);
  out[threadIdx.x] = x;
}
template __global__ void step<int, 4>(float *, float);
template __global__ void step<wide, 5>(float *, float);
} // namespace own

// A name that has the form of a template's, and that no demangler takes.
extern "C" __global__ void _ZN3own4pathIQQEEvv(float *out) {
  PROF_KERNEL(Step);
  out[threadIdx.x] = 1;
  PROF_MARK(First);
}
