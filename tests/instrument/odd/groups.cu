// SPDX-License-Identifier: MIT
// flags: -std=c++17
// Cooperative groups, warp intrinsics, dynamic shared memory, atomics, constant and managed memory.
#include "../check.cuh"
#include <cooperative_groups.h>

namespace odd {
namespace cg = cooperative_groups;
__constant__ int table[4] = {3, 1, 4, 1};
__device__ int counter;
template <class Group> __device__ int reduce(const Group &g, int v) {
  for (int i = int(g.size()) / 2; i > 0; i /= 2) v += g.shfl_down(v, i);
  return v;
}
template <unsigned N, class Parent> __device__ int scan(cg::thread_block_tile<N, Parent> tile, int v) {
  for (unsigned d = 1; d < N; d *= 2) { int n = tile.shfl_up(v, d); if (tile.thread_rank() >= d) v += n; }
  return v;
}
__global__ void tiles(int *x) {
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<8>(block);
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  int i = int(block.thread_rank());
  x[i] += reduce(tile, x[i]) + scan(warp, 1) + scan<8>(tile, x[i] & 1);
  block.sync();
  if (tile.any(x[i] > 3) && tile.thread_rank() == 0) x[i] += int(tile.meta_group_rank());
  tile.sync(), warp.sync();
  for (unsigned r = 0; r < tile.size(); r++) if (tile.shfl(x[i], r) > 9) x[i] ^= int(r);
  cg::sync(block);
}
__global__ void warps(int *x) {
  extern __shared__ __align__(16) unsigned char raw[];
  int *shared = reinterpret_cast<int *>(raw), i = threadIdx.x;
  shared[i] = x[i];
  __syncthreads();
  unsigned all = __ballot_sync(0xffffffffu, shared[i] > 7);
  for (int d = 16; d > 0; d >>= 1) shared[i] += __shfl_xor_sync(~0u, shared[i], d);
  __syncwarp();
  if (__any_sync(~0u, x[i] > 3) && (all & 1)) x[i] += __popc(all);
  for (int k = 0; k < 2; k++) { if (__syncthreads_or(x[i] == k)) x[i]++; __threadfence(); }
  x[i] += table[i & 3] + shared[63 - i];
}
__global__ void counted(int *x) {
  int i = threadIdx.x;
  if (atomicAdd(&counter, 1) < 1000) atomicMax(&x[i & 3], x[i]);
  for (int old = x[8 + (i & 3)], seen; ; old = seen) {
    seen = atomicCAS(&x[8 + (i & 3)], old, old + table[i & 3]);
    if (seen == old) break;
  }
  __syncthreads();
  if (!i) x[60] = counter - 64;
}
template <int N> __global__ void __launch_bounds__(N) tiled(int *x) {
  __shared__ int tile[2][N];
  int i = threadIdx.x, stage = 0;
  tile[0][i] = x[i];
  for (int k = 0; k < 3; k++, stage ^= 1) {
    __syncthreads();
    tile[stage ^ 1][i] = tile[stage][(i + k) % N] + tile[stage][i];
  }
  __syncthreads();
  x[i] = tile[stage][i];
}
} // namespace odd

int main() {
  check<int>("tiles", [](int *x) { odd::tiles<<<1, 64>>>(x); });
  check<int>("warps", [](int *x) { odd::warps<<<1, 64, 64 * sizeof(int)>>>(x); });
  check<int>("counted", [](int *x) { odd::counted<<<1, 64>>>(x); });
  check<int>("tiled", [](int *x) { odd::tiled<64><<<1, 64>>>(x); });
}
