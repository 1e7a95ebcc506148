/* SPDX-License-Identifier: MIT */
/* Kernels of machine_cluster_test.c: ranks, the cluster's barrier, each other's shared memory. */
#include <stdint.h>

#define KERNEL extern "C" __global__ void
#define READ(name, reg) \
  __device__ inline uint32_t name() { uint32_t v; asm volatile("mov.u32 %0, %%" reg ";" : "=r"(v)); return v; }
READ(cluster_x, "clusterid.x") READ(cluster_y, "clusterid.y") READ(cluster_z, "clusterid.z")
READ(clusters_x, "nclusterid.x") READ(clusters_y, "nclusterid.y") READ(clusters_z, "nclusterid.z")
READ(in_x, "cluster_ctaid.x") READ(in_y, "cluster_ctaid.y") READ(in_z, "cluster_ctaid.z")
READ(size_x, "cluster_nctaid.x") READ(size_y, "cluster_nctaid.y") READ(size_z, "cluster_nctaid.z")
READ(rank, "cluster_ctarank") READ(ranks, "cluster_nctarank")

__device__ inline uint32_t shared_address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ inline uint32_t map(uint32_t address, uint32_t to)
{
  uint32_t mapped;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(to));
  return mapped;
}
__device__ inline void meet()
{
  asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
__device__ inline void wait_parity(uint32_t bar, uint32_t parity)
{
  asm volatile("{ .reg .pred p;\nagain: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n"
               "@!p bra again; }" ::"r"(bar), "r"(parity) : "memory");
}

KERNEL places(uint32_t *out)
{
  const uint32_t block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  uint32_t is, *o = out + 16 * block;
  asm volatile("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }" : "=r"(is));
  if (threadIdx.x != 0) return;
  o[0] = cluster_x() | cluster_y() << 8 | cluster_z() << 16;
  o[1] = clusters_x() | clusters_y() << 8 | clusters_z() << 16;
  o[2] = in_x() | in_y() << 8 | in_z() << 16;
  o[3] = size_x() | size_y() << 8 | size_z() << 16;
  o[4] = rank();
  o[5] = ranks();
  o[6] = is;
}

/* Every block writes its number into the next one's shared memory, by four ways, and adds to block 0's. */
KERNEL neighbours(uint32_t *out)
{
  __shared__ uint32_t from[32], sum[32];
  __shared__ __align__(8) uint32_t pair[2];
  const uint32_t i = threadIdx.x, to = (rank() + 1) % ranks(), value = 100 * blockIdx.x + i;
  uint32_t old, a, b, back;
  uint64_t generic;
  sum[i] = 0;
  meet();
  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(map(shared_address(from + i), to)), "r"(value) : "memory");
  asm volatile("atom.shared::cluster.add.u32 %0, [%1], %2;" : "=r"(old) : "r"(map(shared_address(sum + i), 0)), "r"(i + 1) : "memory");
  if (old > ranks() * (i + 2)) out[0] = 1; /* never: sums rise to that */
  asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], %1;" ::"r"(map(shared_address(sum + i), 0)), "r"(1) : "memory");
  asm volatile("mapa.u64 %0, %1, %2;" : "=l"(generic) : "l"(pair), "r"(to));
  if (i == 0) {
    ((uint32_t *)generic)[0] = blockIdx.x + 7; /* a generic store */
    asm volatile("st.shared::cluster.u32 [%0+4], %1;" ::"r"(map(shared_address(pair), to)), "r"(blockIdx.x + 9) : "memory");
  }
  meet();
  asm volatile("ld.shared::cluster.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(map(shared_address(pair), to)) : "memory");
  asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(back) : "r"(map(shared_address(pair), to)));
  uint32_t *o = out + 8 * (32 * blockIdx.x + i);
  o[0] = from[i];
  o[1] = sum[i];
  o[2] = a;
  o[3] = b;
  o[4] = back;
  asm volatile("getctarank.u64 %0, %1;" : "=r"(back) : "l"(generic));
  o[5] = back;
  o[6] = __isShared((void *)generic) | (uint32_t)(__isGlobal((void *)generic) != 0) << 1;
  asm volatile("{ .reg .pred p; isspacep.shared::cluster p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(back) : "l"(generic));
  uint64_t same, own;
  uint32_t there;
  asm volatile("{ .reg .b64 t; cvt.u64.u32 t, %1; cvta.shared::cluster.u64 %0, t; }" : "=l"(same) : "r"(map(shared_address(pair), to)));
  asm volatile("{ .reg .b64 t; cvta.to.shared::cluster.u64 t, %1; cvt.u32.u64 %0, t; }" : "=r"(there) : "l"(generic));
  asm volatile("{ .reg .b64 t; cvt.u64.u32 t, %1; cvta.shared::cluster.u64 %0, t; }" : "=l"(own) : "r"(shared_address(pair)));
  o[7] = back | (uint32_t)(same == generic) << 1 | (uint32_t)(there == map(shared_address(pair), to)) << 2 | (uint32_t)(own == (uint64_t)pair) << 3;
  meet(); /* nobody leaves while another reads its memory */
}

/* Some threads leave; the rest meets without them. */
KERNEL some_leave(uint32_t *out)
{
  __shared__ uint32_t count;
  if (threadIdx.x == 0) count = 0;
  meet();
  if (threadIdx.x % 3 == rank()) return;
  asm volatile("red.shared::cluster.add.u32 [%0], 1;" ::"r"(map(shared_address(&count), 1)) : "memory");
  asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
  asm volatile("barrier.cluster.wait;" ::: "memory");
  if (rank() == 1 && threadIdx.x == 0) *out = count;
}

/* Block 0 sends a tile to every block, its own copy and one by one from shared memory; mbarriers of the others are
 * told, and they tell block 0's. */
KERNEL multicast(const uint32_t *in, uint32_t *out)
{
  __shared__ __align__(128) uint32_t tile[32], second[32];
  __shared__ uint64_t full, full2, done;
  const uint32_t i = threadIdx.x;
  if (i == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&full)) : "memory");
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&full2)) : "memory");
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(&done)), "r"(32 * ranks()) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 128;" ::"r"(shared_address(&full)) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 128;" ::"r"(shared_address(&full2)) : "memory");
  }
  meet();
  if (rank() == 0 && i == 0)
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], 128, [%2], %3;"
                 ::"r"(shared_address(tile)), "l"(in), "r"(shared_address(&full)), "h"((uint16_t)((1 << ranks()) - 1)) : "memory");
  wait_parity(shared_address(&full), 0);
  out[(2 * blockIdx.x) * 32 + i] = tile[i] + rank();
  const uint32_t to = (rank() + 1) % ranks();
  if (i == 0)
    asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 128, [%2];"
                 ::"r"(map(shared_address(second), to)), "r"(shared_address(tile)), "r"(map(shared_address(&full2), to)) : "memory");
  wait_parity(shared_address(&full2), 0);
  out[(2 * blockIdx.x + 1) * 32 + i] = second[i] * 2;
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(map(shared_address(&done), 0)) : "memory");
  if (rank() == 0) {
    wait_parity(shared_address(&done), 0);
    if (i == 0) out[2 * gridDim.x * 32 + blockIdx.x] = 1;
  }
  meet();
}

/* Registers that fly to the next block: words, a pair, a vector, and a sum. */
KERNEL sends(uint32_t *out)
{
  __shared__ __align__(16) uint32_t words[32], pair[2], four[4];
  __shared__ uint64_t bar;
  __shared__ int sum;
  const uint32_t i = threadIdx.x, to = (rank() + 1) % ranks(), their_bar = map(shared_address(&bar), to);
  if (i == 0) {
    sum = 1000;
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&bar)) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(&bar)), "r"(32 * 4 + 8 + 16 + 32 * 4) : "memory");
  }
  meet();
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(map(shared_address(words + i), to)), "r"(100 * rank() + i), "r"(their_bar) : "memory");
  asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.s32 [%0], %1, [%2];" ::"r"(map(shared_address(&sum), to)), "r"(-(int)i), "r"(their_bar) : "memory");
  if (i == 5) {
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(map(shared_address(pair), to)), "l"(0x500000007ull), "r"(their_bar) : "memory");
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(map(shared_address(four), to)), "r"(1), "r"(2), "r"(3), "r"(4 + rank()), "r"(their_bar) : "memory");
  }
  wait_parity(shared_address(&bar), 0);
  uint32_t *o = out + 64 * blockIdx.x;
  o[i] = words[i];
  o[32] = sum;
  o[33] = pair[0] * 10 + pair[1];
  o[34] = four[0] + 10 * four[1] + 100 * four[2] + 1000 * four[3];
  meet();
}

KERNEL left_alone(uint32_t *out)
{
  if (rank() == 0) {
    asm volatile("barrier.cluster.arrive;\n\tbarrier.cluster.wait;" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory"); /* 32 of 64: for ever */
  }
  *out = 1;
}
KERNEL no_such_block(uint32_t *out)
{
  __shared__ uint32_t x;
  asm volatile("st.shared::cluster.u32 [%0], 1;" ::"r"(map(shared_address(&x), 5)) : "memory");
}
KERNEL has_ended(uint32_t *out)
{
  __shared__ uint32_t x;
  if (rank() == 1) return;
  for (long long begin = clock64(); clock64() - begin < 3000;) {
  }
  asm volatile("st.shared::cluster.u32 [%0], 1;" ::"r"(map(shared_address(&x), 1)) : "memory");
}
KERNEL twice(uint32_t *out) { asm volatile("barrier.cluster.arrive;\n\tbarrier.cluster.arrive;" ::: "memory"); }
extern "C" __global__ void __cluster_dims__(2, 1, 1) fixed(uint32_t *out) { if (threadIdx.x == 0) out[blockIdx.x] = rank() + 10 * ranks(); }
