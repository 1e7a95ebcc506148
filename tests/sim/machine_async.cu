/* SPDX-License-Identifier: MIT */
/* Kernels of machine_async_test.c: mbarriers, bulk copies, clusters. Everything is written out in PTX, so that each
 * instruction is the one that is meant. */
#include <stdint.h>

#define KERNEL extern "C" __global__ void

__device__ inline uint32_t shared_address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

__device__ inline void init(uint32_t bar, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count) : "memory");
}
__device__ inline uint64_t arrive(uint32_t bar) {
  uint64_t state;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(bar) : "memory");
  return state;
}
__device__ inline void expect(uint32_t bar, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}
__device__ inline bool test_parity(uint32_t bar, uint32_t parity) {
  uint32_t done;
  asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(done) : "r"(bar), "r"(parity) : "memory");
  return done;
}
__device__ inline bool try_parity(uint32_t bar, uint32_t parity) {
  uint32_t done;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(done) : "r"(bar), "r"(parity) : "memory");
  return done;
}
__device__ inline void wait_parity(uint32_t bar, uint32_t parity) {
  while (!try_parity(bar, parity)) {
  }
}
__device__ inline void load_bulk(uint32_t to, const void *from, uint32_t bytes, uint32_t bar) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
               "l"(from), "r"(bytes), "r"(bar) : "memory");
}
__device__ inline void store_bulk(void *to, uint32_t from, uint32_t bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(from), "r"(bytes) : "memory");
}
__device__ inline void commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

/* One thread goes through the life of an mbarrier. */
KERNEL phases(uint64_t *out)
{
  __shared__ uint64_t word;
  const uint32_t bar = shared_address(&word);
  uint64_t first, state;
  uint32_t count, done;
  init(bar, 3);
  *out++ = test_parity(bar, 0); /* the phase that began is not complete, */
  *out++ = test_parity(bar, 1); /* the one before it is */
  first = arrive(bar);
  asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(first));
  *out++ = count;
  asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], 1;" : "=l"(state) : "r"(bar) : "memory");
  asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(state));
  *out++ = count;
  asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(done) : "r"(bar), "l"(first) : "memory");
  *out++ = done;
  arrive(bar);
  asm volatile("{ .reg .pred p; mbarrier.try_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(done) : "r"(bar), "l"(first) : "memory");
  *out++ = done;
  *out++ = test_parity(bar, 0) * 2 + test_parity(bar, 1);
  /* bytes keep the phase open: first those expected, then those that came too early */
  asm volatile("mbarrier.arrive.shared.b64 _, [%0], 2;" ::"r"(bar) : "memory");
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 96;" ::"r"(bar) : "memory");
  arrive(bar);
  *out++ = test_parity(bar, 1);
  asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 32;" ::"r"(bar) : "memory");
  *out++ = test_parity(bar, 1);
  asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 64;" ::"r"(bar) : "memory");
  *out++ = test_parity(bar, 1);
  asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 16;" ::"r"(bar) : "memory");
  asm volatile("mbarrier.arrive.shared.b64 _, [%0], 2;" ::"r"(bar) : "memory");
  expect(bar, 16);
  *out++ = test_parity(bar, 0);
  /* one of three drops out: two are enough from then on */
  asm volatile("mbarrier.arrive_drop.shared.b64 _, [%0];" ::"r"(bar) : "memory");
  asm volatile("mbarrier.arrive.shared.b64 _, [%0], 2;" ::"r"(bar) : "memory");
  asm volatile("mbarrier.arrive.shared.b64 _, [%0], 2;" ::"r"(bar) : "memory");
  *out++ = test_parity(bar, 0) * 2 + test_parity(bar, 1);
  asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(bar) : "memory");
}

/* A block's threads hand a number round through an mbarrier for each of them. */
KERNEL ring(uint32_t *out, uint32_t rounds)
{
  __shared__ uint64_t bars[128];
  __shared__ uint32_t value;
  const uint32_t i = threadIdx.x, n = blockDim.x;
  init(shared_address(&bars[i]), 1);
  if (i == 0) value = 0;
  __syncthreads();
  for (uint32_t r = 0; r < rounds; r++) {
    if (i != 0 || r != 0) wait_parity(shared_address(&bars[i]), (i == 0 ? r - 1 : r) & 1);
    value = value * 3 + i;
    arrive(shared_address(&bars[(i + 1) % n]));
  }
  __syncthreads();
  if (i == 0) *out = value;
}

/* Old copies of 4 to 16 bytes, told to an mbarrier in both ways. */
KERNEL old_copies(const uint32_t *in, uint32_t *out)
{
  __shared__ uint64_t word, other;
  __shared__ __align__(16) uint32_t buffer[256];
  const uint32_t i = threadIdx.x, bar = shared_address(&word), bar2 = shared_address(&other);
  if (i == 0) {
    init(bar, blockDim.x);
    init(bar2, blockDim.x);
  }
  __syncthreads();
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(shared_address(buffer + 4 * i)), "l"(in + 4 * i) : "memory");
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(bar) : "memory");
  asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(bar2) : "memory");
  arrive(bar2);
  wait_parity(bar, 0);
  wait_parity(bar2, 0);
  for (int k = 0; k < 4; k++) out[4 * i + k] = buffer[(4 * i + k + 17) % 256];
}

/* Tiles come by bulk copies through a few stages and go back by others: a producer's thread, a warp that works. */
KERNEL tiles(const uint32_t *in, uint32_t *out, uint32_t count, uint64_t *times)
{
  __shared__ __align__(16) uint32_t buffer[3][64], results[2][64];
  __shared__ uint64_t full[3], empty[3];
  const uint32_t i = threadIdx.x;
  if (i == 0) {
    for (int s = 0; s < 3; s++) {
      init(shared_address(&full[s]), 1);
      init(shared_address(&empty[s]), 32);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (i >= 32) {
    for (uint32_t t = 0; i == 32 && t < count; t++) {
      const uint32_t s = t % 3;
      if (t >= 3) wait_parity(shared_address(&empty[s]), (t / 3 - 1) & 1);
      expect(shared_address(&full[s]), 256);
      times[2 * t] = clock64();
      load_bulk(shared_address(buffer[s]), in + 64 * t, 256, shared_address(&full[s]));
    }
    return;
  }
  for (uint32_t t = 0; t < count; t++) {
    const uint32_t s = t % 3;
    wait_parity(shared_address(&full[s]), t / 3 & 1);
    if (i == 0) {
      times[2 * t + 1] = clock64();
      asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
    }
    __syncwarp();
    for (uint32_t k = i; k < 64; k += 32) results[t % 2][k] = buffer[s][63 - k] * 5 + t;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncwarp();
    arrive(shared_address(&empty[s]));
    if (i == 0) {
      store_bulk(out + 64 * t, shared_address(results[t % 2]), 256);
      commit();
    }
  }
  if (i == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

/* What was read before it landed is what was there before. */
KERNEL in_flight(const uint32_t *in, uint32_t *out)
{
  __shared__ __align__(16) uint32_t buffer[4];
  __shared__ uint64_t word;
  const uint32_t bar = shared_address(&word);
  buffer[0] = 7;
  init(bar, 1);
  expect(bar, 16);
  load_bulk(shared_address(buffer), in, 16, bar);
  out[0] = *(volatile uint32_t *)buffer;
  out[1] = test_parity(bar, 0);
  wait_parity(bar, 0);
  out[2] = *(volatile uint32_t *)buffer;
  buffer[0] = 21;
  store_bulk(out + 8, shared_address(buffer), 16);
  commit();
  out[3] = *(volatile uint32_t *)(out + 8);
  asm volatile("cp.async.bulk.wait_group 1;" ::: "memory"); /* of one group: waits for none */
  out[4] = *(volatile uint32_t *)(out + 8);
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  out[5] = *(volatile uint32_t *)(out + 8);
  store_bulk(out + 12, shared_address(buffer), 16); /* no wait: lands when the block ends */
}

KERNEL reduces(int32_t *sums, float *reals)
{
  __shared__ __align__(16) int32_t a[4];
  __shared__ __align__(16) float f[4];
  a[threadIdx.x] = -3 * (int)threadIdx.x + (int)blockIdx.x;
  f[threadIdx.x] = 0.5f * threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], 16;" ::"l"(sums), "r"(shared_address(a)) : "memory");
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.min.s32 [%0], [%1], 16;" ::"l"(sums + 4), "r"(shared_address(a)) : "memory");
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], 16;" ::"l"(reals), "r"(shared_address(f)) : "memory");
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], 16;" ::"l"(sums) : "memory");
    commit();
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}

/* Instructions that only change what this device does not have: all values come through. */
KERNEL through(uint32_t *out)
{
  const uint32_t i = threadIdx.x;
  uint32_t x = i + 3;
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
  x *= 5;
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  asm volatile("fence.proxy.async;" ::: "memory");
  asm volatile("fence.proxy.async.global;" ::: "memory");
  asm volatile("fence.proxy.alias;" ::: "memory");
  asm volatile("fence.acq_rel.cluster;" ::: "memory");
  asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  out[i] = x;
}

/* One lane sleeps while the others of its warp wait for another warp: it does not keep them. */
KERNEL sleeper_waits(uint32_t *out)
{
  __shared__ uint64_t word;
  const uint32_t bar = shared_address(&word);
  const long long begin = clock64();
  if (threadIdx.x == 32) init(bar, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    __nanosleep(100000);
    out[64] = 1;
  } else if (threadIdx.x < 32) {
    wait_parity(bar, 0);
    out[threadIdx.x] = (uint32_t)(clock64() - begin);
  } else if (threadIdx.x == 32) {
    for (long long now = clock64(); clock64() - now < 2000;) {
    }
    arrive(bar);
  }
}

/* What cannot be. */
KERNEL too_many(uint32_t *out)
{
  __shared__ uint64_t word;
  init(shared_address(&word), 16);
  __syncwarp();
  arrive(shared_address(&word)); /* 32 of them: 16 more than the second phase expects are none too many */
  asm volatile("mbarrier.arrive.shared.b64 _, [%0], 17;" ::"r"(shared_address(&word)) : "memory");
  *out = 1;
}
KERNEL not_initialised(uint32_t *out)
{
  __shared__ uint64_t word;
  word = 5;
  arrive(shared_address(&word));
  *out = 1;
}
KERNEL nobody_arrives(uint32_t *out)
{
  __shared__ uint64_t word;
  if (threadIdx.x == 0) {
    init(shared_address(&word), 2);
    expect(shared_address(&word), 64);
  }
  __syncthreads();
  wait_parity(shared_address(&word), 0);
  *out = 1;
}
KERNEL gives_up(uint32_t *out)
{
  __shared__ uint64_t word;
  const uint32_t bar = shared_address(&word);
  uint32_t tries = 0, done = 0;
  long long begin = clock64();
  init(bar, 1);
  while (!done && clock64() - begin < 1000000) {
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0, %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(bar), "r"(100000) : "memory");
    tries++;
  }
  out[0] = tries;
  out[1] = done;
}
KERNEL polls(uint32_t *out)
{
  __shared__ uint64_t word;
  init(shared_address(&word), 2);
  while (!test_parity(shared_address(&word), 0)) {
  }
  *out = 1;
}
KERNEL odd_bytes(const uint32_t *in)
{
  __shared__ __align__(16) uint32_t buffer[8];
  __shared__ uint64_t word;
  init(shared_address(&word), 1);
  load_bulk(shared_address(buffer), in, 24, shared_address(&word));
}
KERNEL tensor(const uint32_t *in)
{
  __shared__ __align__(16) uint32_t buffer[8];
  __shared__ uint64_t word;
  asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2}], [%3];" ::"r"(shared_address(buffer)),
               "l"(in), "r"(0), "r"(shared_address(&word)) : "memory");
}
