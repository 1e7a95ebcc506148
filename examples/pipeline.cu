// SPDX-License-Identifier: MIT
// A warp-specialised pipeline: in each block one warp produces, three consume, and named barriers
// hand the tiles over through a few stages of shared memory. The kernel chooses who records: one
// elected lane in each warp, so every warp has a track of its own. Copies in flight overlap each
// other, which is what asynchronous ranges are for: told apart by a key, here the tile.
//
//     pipeline [blocks] [tiles]
#include "example.h"
#include "inkmark/mark.cuh"

#include <vector>

PROF_SECTIONS(Pipeline, Run, WaitEmpty, Publish, WaitFull, Work, Release, Copy, TileSum)

constexpr int stages = 3;
constexpr int consumers = 3; // warps
constexpr int threads = 32 * (1 + consumers);
constexpr int tile = 32 * consumers;
constexpr int elected = 31; // the lane that holds a warp's sum when the scan is done

// Named barriers 1 .. 2 * stages; every barrier expects the producer and all consumers.
__device__ void wait_on(int barrier) {
  asm volatile("bar.sync %0, %1;" : : "r"(barrier), "n"(threads) : "memory");
}
__device__ void arrive_at(int barrier) {
  asm volatile("bar.arrive %0, %1;" : : "r"(barrier), "n"(threads) : "memory");
}
__device__ int full(int stage) { return 1 + stage; }
__device__ int empty(int stage) { return 1 + stages + stage; }

__host__ __device__ unsigned work(unsigned x) { // integers: the host's sums are the same to the bit
  for (int i = 0; i < 8; i++)
    x = (x ^ x >> 15) * 0x2c1b3c6du + i;
  return x;
}

__global__ void pipeline(const unsigned *input, unsigned *sums, int tiles) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  PROF_KERNEL_IF(lane == elected, Run);
  __shared__ unsigned buffer[stages][tile];
  input += (size_t)blockIdx.x * tiles * tile;

  if (warp == 0) { // the producer: the next tile's loads are in flight while this one is published
    unsigned held[consumers], next[consumers];
    PROF_ASYNC_BEGIN(Copy, 0);
    for (int i = 0; i < consumers; i++)
      held[i] = input[i * 32 + lane];
    for (int t = 0; t < tiles; t++) {
      PROF_ITER(t);
      if (t + 1 < tiles) {
        PROF_ASYNC_BEGIN(Copy, t + 1);
        for (int i = 0; i < consumers; i++)
          next[i] = input[(t + 1) * tile + i * 32 + lane];
      }
      if (t >= stages)
        wait_on(empty(t % stages));
      PROF_MARK(WaitEmpty);
      for (int i = 0; i < consumers; i++) {
        buffer[t % stages][i * 32 + lane] = held[i];
        held[i] = next[i];
      }
      arrive_at(full(t % stages));
      PROF_ASYNC_END(Copy, t);
      PROF_MARK(Publish);
    }
  } else {
    unsigned *const row = sums + blockIdx.x * tiles;
    for (int t = 0; t < tiles; t++) {
      PROF_ITER(t);
      wait_on(full(t % stages));
      PROF_MARK(WaitFull);

      unsigned sum = work(buffer[t % stages][(warp - 1) * 32 + lane]);
      for (int distance = 1; distance < 32; distance *= 2) {
        const unsigned other = __shfl_up_sync(~0u, sum, distance);
        sum += lane >= distance ? other : 0;
      }
      PROF_MARK(Work, sum);
      PROF_VALUE(TileSum, sum);

      if (t + stages < tiles) // the producer waits for as many stages as it fills again
        arrive_at(empty(t % stages));
      if (lane == elected)
        atomicAdd(row + t, sum);
      PROF_MARK(Release);
    }
  }
}

int main(int argc, char **argv) {
  const int blocks = argument(argc, argv, 1, 4), tiles = argument(argc, argv, 2, 8);
  std::vector<unsigned> input((size_t)blocks * tiles * tile), sums((size_t)blocks * tiles);
  Random random = {11};
  for (unsigned &x : input)
    x = random.bits();

  Device<unsigned> device_input(input.data(), input.size()), device_sums(sums.data(), sums.size());
  pipeline<<<blocks, threads>>>(device_input, device_sums, tiles);
  CUDA(cudaGetLastError());
  device_sums.copy_to(sums.data());

  size_t wrong = 0;
  for (size_t i = 0; i < sums.size(); i++) {
    unsigned expected = 0;
    for (int j = 0; j < tile; j++)
      expected += work(input[i * tile + j]);
    wrong += sums[i] != expected;
  }
  printf("%d blocks, %d tiles, %zu of %zu sums differ\n", blocks, tiles, wrong, sums.size());
  return verdict("pipeline", wrong == 0);
}
