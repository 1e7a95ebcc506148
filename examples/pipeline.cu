// SPDX-License-Identifier: MIT
// A warp-specialised pipeline, as kernels of Hopper are written: in each block one warp produces, three consume. The
// producer fetches tiles by bulk copies into a ring of stages in shared memory; mbarriers say which stages are full and
// which are empty. Each warp has a track, which PROF_ROLE names after what the warp does. A copy begins in the producer
// and has landed in a consumer: PROF_ASYNC_BEGIN_BLOCK and PROF_ASYNC_END_BLOCK show it from one to the other.
//
//     nvcc -arch=sm_90 ...; pipeline [blocks] [tiles]
#include "example.h"
#include "inkmark/mark.cuh"

#include <vector>

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#error "bulk copies and their barriers are of sm_90 and newer: nvcc -arch=sm_90"
#endif

PROF_SECTIONS(Pipeline, Run, Producer, Consumer, WaitEmpty, Issue, WaitFull, Work, Release, Store, Copy, TileSum)

constexpr int stages = 3;
constexpr int consumers = 3; // warps
constexpr int threads = 32 * (1 + consumers);
constexpr int tile = 32 * consumers;
constexpr unsigned tile_bytes = tile * sizeof(unsigned);

// An mbarrier: a phase ends when so many threads have arrived and the bytes that were announced have landed.
struct alignas(8) Barrier {
  unsigned long long state;

  __device__ unsigned at() const { return (unsigned)__cvta_generic_to_shared(this); }
  __device__ void init(int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" : : "r"(at()), "r"(arrivals) : "memory");
  }
  __device__ void arrive() {
    asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" : : "r"(at()) : "memory");
  }
  __device__ void arrive_and_expect(unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;"
                 :
                 : "r"(at()), "r"(bytes)
                 : "memory");
  }
  __device__ void wait(int parity) {
    for (unsigned done = 0; !done;)
      asm volatile("{\n"
                   ".reg .pred p;\n"
                   "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2;\n"
                   "selp.u32 %0, 1, 0, p;\n"
                   "}"
                   : "=r"(done)
                   : "r"(at()), "r"(parity)
                   : "memory");
  }
};

// `bytes` from global to shared memory, in flight when this returns: they land at the barrier.
__device__ void copy_bulk(void *to, const void *from, unsigned bytes, Barrier &barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               :
               : "r"((unsigned)__cvta_generic_to_shared(to)), "l"(__cvta_generic_to_global(from)), "r"(bytes),
                 "r"(barrier.at())
               : "memory");
}

__host__ __device__ unsigned work(unsigned x) { // integers: the host's sums are the same to the bit
  for (int i = 0; i < 24; i++)
    x = (x ^ x >> 15) * 0x2c1b3c6du + i;
  return x;
}

__global__ void pipeline(const unsigned *input, unsigned *sums, int tiles) {
  __shared__ alignas(16) unsigned buffer[stages][tile];
  __shared__ Barrier full[stages], empty[stages];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  PROF_OPEN_IF(lane == 0, Run); // before the roles part: one track a warp
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; s++) {
      full[s].init(1);
      empty[s].init(consumers);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
  }
  __syncthreads();

  if (warp == 0) {
    PROF_ROLE(Producer);
    if (lane == 0) {
      const unsigned *from = input + (size_t)blockIdx.x * tiles * tile;
      for (int t = 0; t < tiles; t++, from += tile) {
        PROF_ITER(t);
        const int s = t % stages, round = t / stages;
        if (round > 0)
          empty[s].wait(round - 1 & 1);
        PROF_MARK(WaitEmpty);
        PROF_ASYNC_BEGIN_BLOCK(Copy, t); // ended by a consumer
        full[s].arrive_and_expect(tile_bytes);
        copy_bulk(buffer[s], from, tile_bytes, full[s]);
        PROF_MARK(Issue); // issued: the bytes come later
      }
    }
    PROF_CLOSE();
  } else {
    PROF_ROLE(Consumer);
    unsigned *const row = sums + blockIdx.x * tiles;
    for (int t = 0; t < tiles; t++) {
      PROF_ITER(t);
      const int s = t % stages, round = t / stages;
      full[s].wait(round & 1);
      PROF_MARK(WaitFull);
      if (warp == 1)
        PROF_ASYNC_END_BLOCK(Copy, t); // landed, at the latest now

      const unsigned sum = __reduce_add_sync(~0u, work(buffer[s][(warp - 1) * 32 + lane]));
      PROF_MARK(Work, sum);
      PROF_VALUE(TileSum, sum);

      if (lane == 0) // the reduction has brought the warp together: all of it has read
        empty[s].arrive();
      PROF_MARK(Release);
      if (lane == 0)
        atomicAdd(row + t, sum);
      PROF_MARK(Store);
    }
    PROF_CLOSE();
  }
}

int main(int argc, char **argv) {
  const int blocks = argument(argc, argv, 1, 4), tiles = argument(argc, argv, 2, 12);
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
