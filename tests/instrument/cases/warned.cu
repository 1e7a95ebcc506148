// SPDX-License-Identifier: MIT
// What the rewriter warns of: marks that the recording thread may not pass, waiting for other blocks,
// loops that write more than a track keeps; clocks that a kernel reads itself stay as they are.
#include <cooperative_groups.h>
namespace warned {
namespace cg = cooperative_groups;
__device__ int turn;
__device__ int settle(int v) { for (int i = 0; i < 3; i++) v = v * 3 + 1; return v; }
__global__ void conditions(int *x, int n) {
  int t = threadIdx.x, lane, late, mine = x[t];
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  late = mine + 1;
  if (t < 32) x[t] += settle(t); else x[t] += settle(9); // the second branch
  if (n > 3) x[t] += settle(1); // not this one
  if (lane == 5) x[t] += settle(2);
  while (late > 0) { x[t] += settle(late); late -= 40; }
  for (int k = 0; k < (mine & 3); k++) x[t] += settle(k);
  for (int k = t; k < 128; k += blockDim.x) x[t] += settle(k); // nor this one
  switch (mine & 1) { case 0: x[t] ^= settle(3); }
  x[t] += mine > 4 ? settle(4) : 0;
  if (mine > 2 && settle(mine) > 9) x[t]++;
  if (cg::this_thread_block().thread_rank() == 1) x[t] += settle(6);
}
// Thread 0 passes if any thread does: nothing is said.
__global__ void stays(int *x, int n, int w, int h) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  unsigned row;
  row = threadIdx.y;
  row += blockIdx.y * blockDim.y;
  if (i >= n || (int)row > h) return;
  if (!(i < w && lane <= 16)) return;
  if (threadIdx.x && n == 3) return;
  if (cg::this_thread_block().thread_rank() == 0) x[i] += settle(1);
  if (threadIdx.x != 0) { if (h == 9) return; }
  if (lane < 4 && !threadIdx.y) x[i] += settle(2);
  if ((threadIdx.x & 3) == 0) x[i] += settle(3);
  if (w - i > 3) x[i] += settle(4);
  if (threadIdx.x > 0) x[i]++; else x[i] += settle(5);
}
__global__ void leaves_at_zero(int *x) {
  if (threadIdx.x == 0) return;
  if (x[threadIdx.x] < 0) return; // not said again
  x[threadIdx.x] += settle(1);
}
__global__ void leaves_by_data(int *x, int n) {
  for (int k = threadIdx.x; k < n; k += blockDim.x)
    if (x[k] == 77) { x[k]++; return; }
  x[threadIdx.x] += settle(2);
  if (x[threadIdx.x] < 4) return; // no mark behind it
}
__global__ void leaves_but_last(int *x) {
  const int lane = threadIdx.x & 31, back = blockDim.x - threadIdx.x;
  if (lane >= 0) x[threadIdx.x]++; else return;
  if (lane != 31 && back >= 9) return;
  x[threadIdx.x] += settle(1);
}
__global__ void many(int *x) {
  for (int i = 0; i < 2000; i += 2) x[threadIdx.x] += i;
  for (int i = 0; i < 20; i++) x[threadIdx.x] += i;
}
__global__ void timed(int *x) {
  const long long start = clock64();
  x[threadIdx.x] += settle(1);
  const long long end = clock64(); // its own profiling
  if (end <= start) x[threadIdx.x] = -1;
  while (clock64() - end < 20) {}
}
__global__ void in_turn(int *x) {
  while (atomicAdd(&turn, 0) < 0) __nanosleep(10);
  x[threadIdx.x] += 1;
}
__global__ void whole_grid(int *x) {
  cg::grid_group grid = cg::this_grid();
  x[threadIdx.x] += (int)grid.size() / 64;
}
inline void run() {
  check<int>("warned.conditions", [](int *x) { conditions<<<1, 64>>>(x, 4); });
  check<int>("warned.stays", [](int *x) { stays<<<1, 64>>>(x, 60, 40, 8); });
  check<int>("warned.leaves_at_zero", [](int *x) { leaves_at_zero<<<1, 64>>>(x); });
  check<int>("warned.leaves_by_data", [](int *x) { leaves_by_data<<<1, 64>>>(x, 60); });
  check<int>("warned.leaves_but_last", [](int *x) { leaves_but_last<<<1, 64>>>(x); });
  check<int>("warned.many", [](int *x) { many<<<1, 64>>>(x); });
  check<int>("warned.timed", [](int *x) { timed<<<1, 64>>>(x); });
  check<int>("warned.in_turn", [](int *x) { in_turn<<<1, 64>>>(x); });
  check<int>("warned.whole_grid", [](int *x) { whole_grid<<<1, 64>>>(x); });
}
} // namespace warned
