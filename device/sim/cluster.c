/* SPDX-License-Identifier: MIT */
/* Clusters of blocks: each other's shared memory, the barrier of all their threads, ranks. A block that was launched
 * without a cluster is one by itself.
 *
 * An address of shared::cluster is 32 bits: the offset in a block's shared memory, and from bit 24 on the block's
 * rank + 1. Without those it is the thread's own block, so that an address of shared::cta is also one of
 * shared::cluster, as PTX has it. A generic address is where the bytes lie. */
#include "exec_lanes.h"

#define RANK_SHIFT 24
#define OFFSET_MASK ((UINT64_C(1) << RANK_SHIFT) - 1)

static bool holds(const sim_block *block, const uint8_t *at) {
  return (uint64_t)(uintptr_t)at - (uint64_t)(uintptr_t)block->shared < block->shared_bytes;
}

sim_block *sim_block_at(const sim_warp *warp, const uint8_t *at) {
  const sim_cluster *cluster = warp->block->cluster;
  if (holds(warp->block, at)) {
    return warp->block;
  }
  for (uint32_t i = 0; i < cluster->count; i++) {
    if (cluster->blocks[i] != NULL && holds(cluster->blocks[i], at)) {
      return cluster->blocks[i];
    }
  }
  return NULL;
}

sim_block *sim_cluster_block(sim_warp *warp, const sim_insn *insn, uint32_t lane, uint32_t rank) {
  const sim_cluster *cluster = warp->block->cluster;
  if (rank >= cluster->count) {
    sim_fault(warp, insn, lane, SIM_ILLEGAL_ADDRESS, "block %u of a cluster of %u", rank, cluster->count);
    return NULL;
  }
  if (cluster->blocks[rank] == NULL) {
    sim_fault(warp, insn, lane, SIM_ILLEGAL_ADDRESS,
              "block %u of the cluster has ended, and its shared memory with it", rank);
    return NULL;
  }
  return cluster->blocks[rank];
}

uint8_t *sim_cluster_reach(const sim_warp *warp, uint64_t address, size_t bytes) {
  uint32_t rank = (uint32_t)address >> RANK_SHIFT;
  uint64_t offset = address & OFFSET_MASK;
  const sim_cluster *cluster = warp->block->cluster;
  const sim_block *block = rank == 0                ? warp->block
                           : rank <= cluster->count ? cluster->blocks[rank - 1]
                                                    : NULL;
  return block != NULL && offset <= block->shared_bytes && bytes <= block->shared_bytes - offset
             ? block->shared + offset
             : NULL;
}

uint64_t sim_cluster_address(const sim_block *block, const uint8_t *at) {
  return (uint64_t)(block->rank + 1) << RANK_SHIFT | (uint64_t)(at - block->shared);
}

/* ---- the barrier ---- */

static void check(sim_cluster *cluster, uint64_t time_fs) {
  if (cluster->alive == 0 || cluster->arrived < cluster->alive) {
    return;
  }
  cluster->parity = !cluster->parity;
  cluster->arrived = 0;
  for (uint32_t b = 0; b < cluster->count; b++) {
    sim_block *block = cluster->blocks[b];
    for (uint32_t i = 0; block != NULL && i < block->warp_count; i++) {
      sim_warp *warp = &block->slot->warps[i];
      bool freed = false;
      for (unsigned k = 0; k < warp->group_count; k++) {
        if (warp->groups[k].state == SIM_G_CLUSTER) {
          warp->groups[k].state = SIM_G_READY;
          freed = true;
        }
      }
      if (freed) {
        sim_warp_wake(warp, time_fs);
      }
    }
  }
}

/* Lanes of a mask that have arrived in the phase that is not complete. */
static uint32_t counted(const sim_warp *warp, uint32_t lanes) {
  uint32_t parity = warp->block->cluster->parity ? UINT32_MAX : 0;
  return lanes & warp->cluster_arrived & ~(warp->cluster_parity ^ parity);
}

void sim_cluster_end_threads(sim_warp *warp, uint32_t lanes) {
  sim_cluster *cluster = warp->block->cluster;
  cluster->alive -= (uint32_t)__builtin_popcount(lanes);
  cluster->arrived -= (uint32_t)__builtin_popcount(counted(warp, lanes));
  warp->cluster_arrived &= ~lanes;
  check(cluster, warp->block->sm->clock.time_fs);
}

static void arrive(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  sim_cluster *cluster = warp->block->cluster;
  uint32_t again = lanes & warp->cluster_arrived;
  if (again != 0) {
    sim_fault(warp, insn, (uint32_t)__builtin_ctz(again), SIM_TRAP,
              "the thread arrives at the cluster's barrier again without a wait in between");
    return;
  }
  warp->cluster_arrived |= lanes;
  warp->cluster_parity = (warp->cluster_parity & ~lanes) | (cluster->parity ? lanes : 0);
  cluster->arrived += (uint32_t)__builtin_popcount(lanes);
  check(cluster, warp->block->sm->clock.time_fs);
}

static void wait(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  uint32_t absent = lanes & ~warp->cluster_arrived, waiting = counted(warp, lanes), done = lanes & ~waiting;
  uint32_t base = warp->groups[warp->current].base;
  if (absent != 0) {
    sim_fault(warp, insn, (uint32_t)__builtin_ctz(absent), SIM_TRAP,
              "the thread waits at the cluster's barrier where it has not arrived");
    return;
  }
  if (waiting != 0) {
    sim_warp_stop(warp, waiting, SIM_G_CLUSTER);
  }
  if (done != 0) {
    warp->cluster_arrived &= ~done;
    sim_warp_move(warp, done, warp->pc + 1, base);
  }
}

/* ---- addresses ---- */

/* The same place in the shared memory of another block. */
static void mapa(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *a = sim_source(warp, insn, 0), *b = sim_source(warp, insn, 1);
  uint64_t *d = sim_target(warp, insn), out[SIM_LANES];
  SIM_EACH_LANE(l, lanes) {
    sim_block *to = sim_cluster_block(warp, insn, l, (uint32_t)b[l]);
    if (to == NULL) {
      return;
    }
    if (insn->space == SIM_CLUSTER) {
      out[l] = sim_cluster_address(to, to->shared + (a[l] & OFFSET_MASK));
    } else {
      const sim_block *from = sim_block_at(warp, (const uint8_t *)(uintptr_t)a[l]);
      if (from == NULL) {
        sim_fault(warp, insn, l, SIM_ILLEGAL_ADDRESS, "generic address 0x%llx is not in shared memory",
                  (unsigned long long)a[l]);
        return;
      }
      out[l] = a[l] - (uint64_t)(uintptr_t)from->shared + (uint64_t)(uintptr_t)to->shared;
    }
  }
  SIM_EACH_LANE(l, lanes) {
    d[l] = out[l];
  }
}

static void rank_of(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *a = sim_source(warp, insn, 0);
  uint64_t *d = sim_target(warp, insn);
  SIM_EACH_LANE(l, lanes) {
    uint32_t rank = (uint32_t)a[l] >> RANK_SHIFT;
    if (insn->space != SIM_CLUSTER) {
      const sim_block *block = sim_block_at(warp, (const uint8_t *)(uintptr_t)a[l]);
      rank = block != NULL ? block->rank + 1 : 0;
    }
    d[l] = rank != 0 ? rank - 1 : warp->block->rank;
  }
}

sim_exec_fn *sim_select_cluster(const sim_insn *insn) {
  switch (insn->op) {
    case SIM_OP_mapa: return insn->operands == 2 ? mapa : NULL;
    case SIM_OP_getctarank: return rank_of;
    case SIM_OP_barrier:
      return !(insn->more & SIM_X_CLUSTER)    ? NULL
             : insn->flags & SIM_F_ARRIVE     ? arrive
             : insn->flags & SIM_F_WAIT       ? wait
                                              : NULL;
    default: return NULL;
  }
}
