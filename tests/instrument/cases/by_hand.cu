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
__device__ int step(int v, int n) { // of some length
  for (int i = 0; i < n; i++)
    v = v * 3 + (v >> 2) - (i ^ v) + (v % 7) * (v & 31);
  return v;
}
__device__ int whole(int v, int n) { // ranged by hand, so not where it is called
  PROF_BEGIN_WITH(Whole, n);
  v = step(v, n);
  v = step(v, n + 1);
  PROF_END(Whole);
  return v;
}
__global__ void ranges(int *x, int n) { // what a range by hand holds alone is not ranged again
  PROF_KERNEL(Ranges);
  int v = x[threadIdx.x];
  PROF_BEGIN(Alone);
  v = step(v, n);
  PROF_END(Alone);
  PROF_BEGIN_WITH(With, n); // a comment
  v = step(v, n); /* another */
  PROF_END(With);
  PROF_BEGIN(Two);
  v = step(v, n);
  v = step(v, n + 2);
  PROF_END(Two);
  v = step(v, n);
  PROF_MARK(Stepped);
  v = whole(v, n);
  {
    PROF_SCOPE(Scoped);
    v = step(v, n);
  }
  PROF_BEGIN(Looped);
  for (int i = 0; i < n; i++) {
    v = step(v, i);
    v = step(v, n - i);
  }
  PROF_END(Looped);
  for (int i = 0; i < n; i++) {
    PROF_ITER(i);
    PROF_SUM_BEGIN(Summed);
    v = step(v, i);
    PROF_SUM_END(Summed);
  }
  x[threadIdx.x] = v;
}
#define OPEN_AS(S) PROF_KERNEL(S)
__global__ void by_macro(int *x, int n) { // opened in a macro of the user's own
  OPEN_AS(Mine::Declared);
  x[threadIdx.x] = step(x[threadIdx.x], n);
}
__device__ void opens(int *x, int n) { // the kernel's track is opened here
  PROF_KERNEL(Opens);
  for (int i = 0; i < n; i++)
    x[threadIdx.x] = step(x[threadIdx.x], i);
}
__global__ void one_call(int *x, int n) { opens(x, n); }
__global__ void more_calls(int *x, int n) {
  x[threadIdx.x] = step(x[threadIdx.x], n);
  opens(x, n);
}
__global__ void roles(int *x, int n) { // one role has its name already
  PROF_KERNEL_IF(threadIdx.x % 32 == 0, Roles);
  if (threadIdx.x / 32 == 0) {
    PROF_ROLE(Even);
    for (int i = 0; i < n; i++)
      x[threadIdx.x] = step(x[threadIdx.x], i);
  } else {
    for (int i = 0; i < n; i++)
      x[threadIdx.x] = step(x[threadIdx.x], n - i);
  }
}
__device__ int taken(PROF_PARAMS(int v, int n)) { // has a context by hand
  PROF_MARK(Taken);
  return step(v, n);
}
__global__ void gives(int *x, int n) {
  PROF_KERNEL(Gives);
  x[threadIdx.x] = taken(PROF_ARGS(x[threadIdx.x], n));
}
inline void run() {
  check<int>("by_hand.ranges", [](int *x) { ranges<<<1, 64>>>(x, 5); });
  check<int>("by_hand.by_macro", [](int *x) { by_macro<<<1, 64>>>(x, 5); });
  check<int>("by_hand.one_call", [](int *x) { one_call<<<1, 64>>>(x, 5); });
  check<int>("by_hand.more_calls", [](int *x) { more_calls<<<1, 64>>>(x, 5); });
  check<int>("by_hand.roles", [](int *x) { roles<<<1, 64>>>(x, 5); });
  check<int>("by_hand.gives", [](int *x) { gives<<<1, 64>>>(x, 5); });
  check<int>("by_hand.solver", [](int *x) { solver<<<1, 64>>>(x); });
  check<int>("by_hand.opened", [](int *x) { opened<<<1, 64>>>(x); });
  check<int>("by_hand.rows", [](int *x) { rows<<<1, 64>>>(x); });
  check<int>("by_hand.other", [](int *x) { other<<<1, 64>>>(x); });
}
} // namespace by_hand
