// SPDX-License-Identifier: MIT
// Forms that the rewriter tells apart and few programs have.
#include <cooperative_groups.h>
#include <cstdint>
namespace cg = cooperative_groups;

__device__ float heavy(float x, int n) { for (int i = 0; i < n; i++) x = x * 1.5f + 2; return x; }

// ---- branches that gave their registers away
template <uint32_t N> __device__ void reg_dealloc() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;\n" : : "n"(N)); }
template <class T, uint32_t N> __device__ void reg_dealloc_of() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;\n" : : "n"(N)); }
template <uint32_t N> __device__ void warpgroup_reg_alloc() { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;\n" : : "n"(N)); }
__device__ void few() { asm volatile("setmaxnreg.dec.sync.aligned.u32 24;\n"); }
__device__ void some() { asm volatile("setmaxnreg.dec.sync.aligned.u32 40;\n"); }
template <int Few> __global__ void registers(float *p, int n) {
  const int group = threadIdx.x / 128;
  if (group == 0) { reg_dealloc<24>(); for (int i = 0; i < n; i++) { p[i] = heavy(p[i], n); __syncthreads(); } }
  if (group == 1) { reg_dealloc<40>(); for (int i = 0; i < n; i++) { p[i] = heavy(p[i], n); __syncthreads(); } }
  if (group == 2) { reg_dealloc<Few>(); for (int i = 0; i < n; i++) { p[i] = heavy(p[i], n); __syncthreads(); } }
  if (group == 3) { few(); for (int i = 0; i < n; i++) { p[i] = heavy(p[i], n); __syncthreads(); } }
  if (group == 4) { some(); for (int i = 0; i < n; i++) { p[i] = heavy(p[i], n); __syncthreads(); } }
  if (group == 5) { reg_dealloc<24>(); warpgroup_reg_alloc<232>(); for (int i = 0; i < n; i++) { p[i] = heavy(p[i], n); __syncthreads(); } }
  if (group == 6) { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;\n" : : "n"(32)); for (int i = 0; i < n; i++) { p[i] = heavy(p[i], n); __syncthreads(); } }
  if (group == 7) { reg_dealloc_of<int, 24>(); for (int i = 0; i < n; i++) { p[i] = heavy(p[i], n); __syncthreads(); } }
  if (group == 8) { asm volatile("setmaxnreg.dec.sync.aligned.u32	 39;\n"); { for (int i = 0; i < n; i++) { p[i] = heavy(p[i], n); __syncthreads(); } } }
}
template __global__ void registers<24>(float *, int);

// ---- conditions that thread 0 passes, or may not
__global__ void condition_0(float *p, int n) {
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  if (block.thread_rank() == 0) p[0] = heavy(p[0], n);
}
__global__ void condition_1(float *p, int n) {
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  if (block.thread_rank() < 32) p[0] = heavy(p[0], n);
}
__global__ void condition_2(float *p, int n) {
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  if (block.thread_rank() != 0) p[0] = heavy(p[0], n);
}
__global__ void condition_3(float *p, int n) {
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  if (block.thread_rank() > 0) p[0] = heavy(p[0], n);
}
__global__ void condition_4(float *p, int n) {
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  if (tile.thread_rank() == 0) p[0] = heavy(p[0], n);
}
__global__ void condition_5(float *p, int n) {
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  if (tile.thread_rank() < 8) p[0] = heavy(p[0], n);
}
__global__ void condition_6(float *p, int n) {
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  if (tile.thread_rank() != 0) p[0] = heavy(p[0], n);
}
__global__ void condition_7(float *p, int n) {
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  if (cg::this_thread_block().thread_index().x == 0) p[0] = heavy(p[0], n);
}
__global__ void condition_8(float *p, int n) {
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  if ((threadIdx.x | threadIdx.y) == 0) p[0] = heavy(p[0], n);
}
__global__ void condition_9(float *p, int n) {
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  if ((threadIdx.x | 1) == 0) p[0] = heavy(p[0], n);
}
__global__ void condition_10(float *p, int n) {
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  if ((threadIdx.x | threadIdx.y) != 0) p[0] = heavy(p[0], n);
}
__global__ void condition_11(float *p, int n) {
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  if (+threadIdx.x == 0) p[0] = heavy(p[0], n);
}
__global__ void condition_12(float *p, int n) {
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  if (+threadIdx.x != 0) p[0] = heavy(p[0], n);
}
__global__ void condition_13(float *p, int n) {
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  if (-(int)threadIdx.x >= 0) p[0] = heavy(p[0], n);
}
__global__ void condition_14(float *p, int n) {
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  if (~threadIdx.x == 0) p[0] = heavy(p[0], n);
}
__global__ void condition_15(float *p, int n) {
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  if ((threadIdx.x ^ 1) == 0) p[0] = heavy(p[0], n);
}
__global__ void condition_16(float *p, int n) {
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  if (n >> threadIdx.x == 0) p[0] = heavy(p[0], n);
}
__global__ void condition_17(float *p, int n) {
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  if (!(threadIdx.x > 3)) p[0] = heavy(p[0], n);
}
__global__ void condition_18(float *p, int n) {
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  if (threadIdx.x && n) p[0] = heavy(p[0], n);
}

__global__ void of_the_grid(float *p, int n) {
  cg::grid_group grid = cg::this_grid();
  if (grid.thread_rank() == 0) p[0] = heavy(p[0], n);
  for (int i = 0; i < n; i++) { p[i] = heavy(p[i], n); grid.sync(); }
  const long long begin = clock64();
  while (*(volatile float *)p < 3) __nanosleep(10);
  p[1] = (float)(clock64() - begin);
}

// ---- calls that are no names
struct called { float v; __device__ float operator()(float x, int n) const { for (int i = 0; i < n; i++) x += v; return x; } };
struct friends {
  float v;
  friend __device__ float close(const friends &f, int n) { float x = 0; for (int i = 0; i < n; i++) x += f.v; return x; }
  friend __device__ float operator*(const friends &f, int n) { float x = 1; for (int i = 0; i < n; i++) x *= f.v; return x; }
};
namespace far { __device__ float used(float x, int n) { for (int i = 0; i < n; i++) x *= 3; return x; } }
using far::used;
struct virtuals { __device__ virtual float turn(float x, int n) { for (int i = 0; i < n; i++) x -= 1; return x; } };
__global__ void ways_of_calls(float *p, int n, float (*by)(float, int)) {
  float (*pointer)(float, int) = heavy;
  float (*all[2])(float, int) = {heavy, used};
  called c = {2};
  friends f = {3};
  virtuals v;
  auto lambda = [=](float x) { return heavy(x, n) + c(x, n); };
  p[0] = pointer(p[0], n);
  p[1] = by(p[1], n);
  p[2] = all[n & 1](p[2], n);
  p[3] = c(p[3], n);
  p[4] = close(f, n);
  p[5] = f * n;
  p[6] = used(p[6], n) + far::used(p[6], n);
  p[7] = v.turn(p[7], n);
  p[8] = lambda(p[8]);
  p[9] = (heavy)(p[9], n);
  p[10] = (&heavy)(p[10], n);
  p[11] = n ? heavy(p[11], n) : used(p[11], n);
  p[12] = [](float x, int m) { for (int i = 0; i < m; i++) x += 1; return heavy(x, m); }(p[12], n);
}

// ---- ranges by comments, and what leaves them
__global__ void ranges(float *p, int n) {
  // prof: begin whole
  for (int i = 0; i < n; i++) {
    if (p[i] > 3) break;
    switch (n) { case 1: p[i] = 2; break; default: continue; }
  }
  // prof: end whole
  for (int i = 0; i < n; i++) {
    // prof: begin left
    if (p[i] > 3) break;
    p[i] = 1;
    // prof: end left
  }
  for (int i = 0; i < n; i++) {
    // prof: begin passed
    if (p[i] > 3) continue;
    // prof: end passed
    p[i] = 4;
  }
  switch (n) {
  case 1: {
    // prof: begin of_case
    p[0] = 1;
    if (p[1] > 2) break;
    // prof: end of_case
  }
  }
  // prof: begin returns
  if (n > 100) return;
  // prof: end returns
  // prof: begin lambda
  auto f = [&](int i) { if (i) return 1.0f; return p[i]; };
  p[1] = f(n);
  // prof: end lambda
  // prof: mark here
  // prof: loop named
  for (int i = 0; i < n; i++) {
    // prof: iteration i * 2
    p[i] = heavy(p[i], n);
  }
}

// ---- many sections, loops that keep more than a track, and recursion
__device__ int recursive(int n) { int s = 0; for (int i = 0; i < n; i++) s += i; return n > 1 ? s + recursive(n - 1) : s; }
__device__ int odd(int n);
__device__ int even(int n) { for (int i = 0; i < 3; i++) n += i; return n ? odd(n - 1) : 1; }
__device__ int odd(int n) { for (int i = 0; i < 4; i++) n -= i; return n ? even(n - 1) : 0; }
__global__ void around(int *p) {
  p[0] = recursive(p[0]);
  p[1] = even(p[1]) + odd(p[1]);
  for (int i = 0; i < 128; i++) { p[i] = (int)heavy((float)p[i], i); for (int j = 0; j < i; j++) { p[j] += i; __syncthreads(); } }
  for (int i = 0; i < 120; i++) { __syncthreads(); p[i] = (int)heavy((float)p[i], 2) + (int)heavy(1, 3); __syncthreads(); __syncwarp(); }
}
