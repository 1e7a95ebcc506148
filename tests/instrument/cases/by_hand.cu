// SPDX-License-Identifier: MIT
// Marks written by hand: their names are collected, their kernels are not opened twice.
#include "inkmark/mark.cuh"
PROF_SECTIONS(Mine, Declared)
namespace by_hand {
__device__ int bump(int v) { PROF_SCOPE(Bump); return v + 1; }
__global__ void solver(int *x) {
  PROF_KERNEL(Solver);
  for (int i = 0; i < 3; i++) {
    PROF_ITER(i);
    x[threadIdx.x] = bump(x[threadIdx.x]);
    PROF_MARK(Search);
    PROF_MARK(Declared);
    PROF_MARK(Mine::Declared);
  }
}
__global__ void other(int *x) { x[threadIdx.x] += bump(1); PROF_EVENT(Seen); }
__global__ void opened(int *x) { // not opened twice either
  PROF_OPEN(Mine::Declared);
  x[threadIdx.x] += bump(2);
  PROF_CLOSE();
}
__global__ void rows(int *x) { // its rows hold marks of its own table only
  PROF_KERNEL_ROWS(Mine::Declared);
  for (int i = 0; i < 3; i++) {
    PROF_ITER(i);
    x[threadIdx.x] += bump(i);
    PROF_MARK(Mine::Declared);
  }
}
inline void run() {
  check<int>("by_hand.solver", [](int *x) { solver<<<1, 64>>>(x); });
  check<int>("by_hand.opened", [](int *x) { opened<<<1, 64>>>(x); });
  check<int>("by_hand.rows", [](int *x) { rows<<<1, 64>>>(x); });
  check<int>("by_hand.other", [](int *x) { other<<<1, 64>>>(x); });
}
} // namespace by_hand
