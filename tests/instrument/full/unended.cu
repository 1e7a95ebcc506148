// SPDX-License-Identifier: MIT
// Ranges by hand that do not end on each way: where that is said.
#include "inkmark/mark.cuh"
PROF_SECTIONS(Unended, Whole, First, Second);
__global__ void at_the_end(float *p) {
  PROF_KERNEL(Whole);
  PROF_BEGIN(First);
  p[0] = 1; }
__global__ void at_a_return(float *p, int n) {
  PROF_KERNEL(Whole);
  PROF_BEGIN(First);
  if (n > 3) { PROF_BEGIN(Second); return; }
  if (n > 2) return;
  PROF_END(First);
}
__global__ void of_another(float *p, int n) {
  PROF_KERNEL(Whole);
  PROF_BEGIN(First);
  for (int i = 0; i < n; i++) { PROF_BEGIN(Second); if (p[i] > 2) break; PROF_END(Second); }
  PROF_END(Second);
  PROF_END(First);   }
