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
  if (t < 32) x[t] += settle(t);
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
  check<int>("warned.many", [](int *x) { many<<<1, 64>>>(x); });
  check<int>("warned.timed", [](int *x) { timed<<<1, 64>>>(x); });
  check<int>("warned.in_turn", [](int *x) { in_turn<<<1, 64>>>(x); });
  check<int>("warned.whole_grid", [](int *x) { whole_grid<<<1, 64>>>(x); });
}
} // namespace warned
