// SPDX-License-Identifier: MIT
// A marked device function in another file than the kernels that call it.
#include "relocated.cuh"

PROF_SECTIONS(Helper, Turn, Helped, Before)

__device__ float helper(float x, int times) {
  PROF_SCOPE(Turn);
  for (int i = 0; i < times; i++) {
    x = x * 0.75f + (float)i;
    PROF_MARK(Helped);
  }
  PROF_MARK(Helper::Before); // named in both tables
  return x;
}
