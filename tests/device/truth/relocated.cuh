// SPDX-License-Identifier: MIT
// What the three files of `relocated` share: a section table in a header, and declarations.
#ifndef INKMARK_TRUTH_RELOCATED_CUH
#define INKMARK_TRUTH_RELOCATED_CUH

#include "inkmark/mark.cuh"

PROF_SECTIONS(Shared, Main, Other, Before, After)

constexpr int relocated_blocks = 4, relocated_threads = 32;

__device__ float helper(float x, int times);
void launch_other(float *out);

#endif
