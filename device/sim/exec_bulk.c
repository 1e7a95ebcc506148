/* SPDX-License-Identifier: MIT */
/* cp.async.bulk, cp.reduce.async.bulk, st.async and red.async: what is in flight for a while and lands on the device's
 * line of time. One that brings bytes to shared memory tells an mbarrier, one that writes to global memory is waited for by
 * groups of its thread.
 *
 * An SM's bulk copies follow each other at BYTES_A_CYCLE and land a latency later, both in cycles of the nominal
 * clock. Bytes are read and written when a copy lands: a source that was changed too early, or a target that was
 * read too early, is seen as it would be on a GPU. What is in flight when a block ends lands then. */
#include <stdlib.h>

#include "exec_lanes.h"

#define BYTES_A_CYCLE 32
#define LATENCY_CYCLES 600         /* from or to global memory */
#define CLUSTER_LATENCY_CYCLES 200 /* between blocks of a cluster */

struct sim_landing {
  sim_landing *next;
  uint64_t time_fs;
  uint8_t *to, *mbarrier; /* mbarrier: NULL: none is told */
  const uint8_t *from; /* NULL: `value` */
  size_t bytes;
  uint8_t value[32];
  sim_block *target; /* whose shared memory is written, NULL: global memory */
  sim_warp *warp;    /* who began it */
  const sim_insn *insn;
  uint32_t lane;
};

static bool is_global(unsigned space) { return space == SIM_GLOBAL; }

static void perform(const sim_landing *landing) {
  const sim_insn *insn = landing->insn;
  const uint8_t *from = landing->from != NULL ? landing->from : landing->value;
  size_t item = sim_type_bytes(insn->type);
  if (!(insn->more & SIM_X_REDUCE) && insn->op != SIM_OP_red) {
    memmove(landing->to, from, landing->bytes);
    return;
  }
  for (size_t at = 0; at < landing->bytes; at += item) {
    uint64_t old = 0, b = 0, made;
    memcpy(&old, landing->to + at, item);
    memcpy(&b, from + at, item);
    made = sim_combine(insn, old, b, 0);
    memcpy(landing->to + at, &made, item);
  }
}

/* Kernels free memory too. */
static bool still_there(const sim_landing *landing, const sim_device *device) {
  const sim_insn *insn = landing->insn;
  return (!is_global(insn->space) || sim_memory_find(&device->memory, landing->to, landing->bytes)) &&
         (!is_global(insn->space2) || sim_memory_find(&device->memory, landing->from, landing->bytes));
}

static void land(sim_device *device, const sim_landing *landing) {
  device->idle_rounds = 0;
  if (device->failed) {
    return;
  }
  if (!still_there(landing, device)) {
    sim_fault(landing->warp, landing->insn, landing->lane, SIM_ILLEGAL_ADDRESS,
              "the global memory of this bulk copy was freed while it was in flight");
    return;
  }
  perform(landing);
  if (landing->mbarrier != NULL &&
      sim_mbarrier_known(landing->warp, landing->insn, landing->lane, landing->mbarrier)) {
    sim_mbarrier_bytes(landing->target, landing->mbarrier, landing->bytes, landing->time_fs);
  }
}

uint64_t sim_landing_next_fs(const sim_device *device) {
  return device->landings != NULL ? device->landings->time_fs : UINT64_MAX;
}

void sim_landing_land(sim_device *device) {
  sim_landing *landing = device->landings;
  device->landings = landing->next;
  land(device, landing);
  free(landing);
}

void sim_landing_flush(sim_device *device, const sim_block *block) {
  for (sim_landing **link = &device->landings; *link != NULL;) {
    sim_landing *landing = *link;
    if (landing->target != block && landing->warp->block != block) {
      link = &landing->next;
      continue;
    }
    *link = landing->next;
    land(device, landing);
    free(landing);
  }
}

void sim_landing_drop(sim_device *device) {
  while (device->landings != NULL) {
    sim_landing *next = device->landings->next;
    free(device->landings);
    device->landings = next;
  }
}

static void put(sim_device *device, sim_landing *landing) {
  sim_landing **link = &device->landings;
  while (*link != NULL && (*link)->time_fs <= landing->time_fs) {
    link = &(*link)->next;
  }
  landing->next = *link;
  *link = landing;
}

static uint64_t cycle_fs(const sim_device *device) { return UINT64_C(1000000000000000) / device->config.clock_hz; }

/* When a copy that begins now lands. */
static uint64_t landing_time(sim_sm *sm, uint64_t bytes, bool global) {
  uint64_t one_fs = cycle_fs(sm->device);
  uint64_t begin = sm->clock.time_fs > sm->copy_free_fs ? sm->clock.time_fs : sm->copy_free_fs;
  sm->copy_free_fs = begin + (bytes + BYTES_A_CYCLE - 1) / BYTES_A_CYCLE * one_fs;
  return sm->copy_free_fs + (global ? LATENCY_CYCLES : CLUSTER_LATENCY_CYCLES) * one_fs;
}

static bool begin_copy(sim_landing landing) {
  sim_warp *warp = landing.warp;
  sim_landing *kept = malloc(sizeof *kept);
  if (kept == NULL) {
    sim_fault(warp, landing.insn, landing.lane, SIM_NO_MEMORY, "no memory for a bulk copy");
    return false;
  }
  *kept = landing;
  put(warp->block->sm->device, kept);
  return true;
}

/* Address of one end; bulk copies are of multiples of 16 bytes at multiples of 16. */
static uint8_t *end_of_copy(sim_warp *warp, const sim_insn *insn, uint32_t lane, unsigned space, uint64_t address,
                            uint64_t bytes) {
  if (address % 16 != 0 || bytes % 16 != 0) {
    sim_fault(warp, insn, lane, SIM_MISALIGNED,
              "a bulk copy of %llu bytes at %s address 0x%llx: both must be multiples of 16", (unsigned long long)bytes,
              sim_space_name(space), (unsigned long long)address);
    return NULL;
  }
  return sim_reach_bytes(warp, insn, lane, space, address, (size_t)bytes);
}

/* A copy into the shared memory of `target`, told to an mbarrier there. */
static bool copy_to_block(sim_landing landing, sim_block *target, uint64_t time_fs) {
  if (target == NULL || landing.mbarrier == NULL || sim_block_at(landing.warp, landing.mbarrier) != target) {
    sim_fault(landing.warp, landing.insn, landing.lane, SIM_ILLEGAL_ADDRESS,
              "the mbarrier of a bulk copy is not in the shared memory that is written");
    return false;
  }
  landing.target = target;
  landing.time_fs = time_fs;
  return sim_mbarrier_known(landing.warp, landing.insn, landing.lane, landing.mbarrier) && begin_copy(landing);
}

/* The same offsets in the shared memory of every block of the mask. */
static bool multicast(sim_landing landing, uint32_t mask, uint64_t time_fs) {
  sim_warp *warp = landing.warp;
  sim_block *own = sim_block_at(warp, landing.to);
  SIM_EACH_LANE(rank, mask & 0xffff) {
    sim_landing one = landing;
    sim_block *target = sim_cluster_block(warp, landing.insn, landing.lane, rank);
    if (target == NULL) {
      return false;
    }
    if (own == NULL || sim_block_at(warp, landing.mbarrier) != own) {
      return copy_to_block(landing, NULL, time_fs); /* which says so */
    }
    one.to = target->shared + (landing.to - own->shared);
    one.mbarrier = target->shared + (landing.mbarrier - own->shared);
    if (!copy_to_block(one, target, time_fs)) {
      return false;
    }
  }
  return true;
}

static sim_bulk_groups *groups_of(sim_warp *warp, const sim_insn *insn) {
  if (warp->bulk == NULL) {
    warp->bulk = calloc(1, sizeof *warp->bulk);
    if (warp->bulk == NULL) {
      sim_fault(warp, insn, 0, SIM_NO_MEMORY, "no memory for groups of bulk copies");
    }
  }
  return warp->bulk;
}

static void copy(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *to = sim_source(warp, insn, 0), *from = sim_source(warp, insn, 1);
  const uint64_t *size = sim_source(warp, insn, 2), *mbarrier = sim_source(warp, insn, 3);
  const int32_t *rows = warp->block->grid->kernel->module->program->rows;
  sim_bulk_groups *groups = groups_of(warp, insn);
  bool told = insn->more & SIM_X_MBARRIER, global = is_global(insn->space) || is_global(insn->space2);
  SIM_EACH_LANE(l, lanes) {
    uint64_t bytes = (uint32_t)size[l], time_fs;
    sim_landing landing = {.warp = warp, .insn = insn, .lane = l, .bytes = (size_t)bytes};
    landing.to = end_of_copy(warp, insn, l, insn->space, to[l] + (uint64_t)insn->offset, bytes);
    landing.from = landing.to == NULL ? NULL
                                      : end_of_copy(warp, insn, l, insn->space2,
                                                    from[l] + (uint64_t)(int64_t)insn->offsets[0], bytes);
    if (landing.from == NULL || groups == NULL) {
      return;
    }
    time_fs = landing.time_fs = landing_time(warp->block->sm, bytes, global);
    groups->newest_fs[l] = time_fs;
    if (!told) {
      if (!begin_copy(landing)) {
        return;
      }
      continue;
    }
    landing.mbarrier =
        sim_reach(warp, insn, l, insn->space, mbarrier[l] + (uint64_t)(int64_t)insn->offsets[1], 8);
    if (landing.mbarrier == NULL ||
        !(insn->more & SIM_X_MULTICAST
              ? multicast(landing, (uint32_t)sim_row(warp, rows[insn->list])[l], time_fs)
              : copy_to_block(landing, sim_block_at(warp, landing.to), time_fs))) {
      return;
    }
  }
}

/* st.async and red.async: registers on their way to the shared memory of another block. */
static void send(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *to = sim_source(warp, insn, 0), *mbarrier = sim_source(warp, insn, 3);
  const int32_t *rows = warp->block->grid->kernel->module->program->rows + insn->list;
  const sim_device *device = warp->block->sm->device;
  unsigned count = insn->vector == 0 ? 1 : insn->vector;
  size_t item = sim_type_bytes(insn->type);
  SIM_EACH_LANE(l, lanes) {
    sim_landing landing = {.warp = warp, .insn = insn, .lane = l, .bytes = item * count};
    landing.to = sim_reach(warp, insn, l, insn->space, to[l] + (uint64_t)insn->offset, landing.bytes);
    if (landing.to != NULL) {
      landing.mbarrier =
          sim_reach(warp, insn, l, insn->space, mbarrier[l] + (uint64_t)(int64_t)insn->offsets[1], 8);
    }
    for (unsigned i = 0; i < count; i++) {
      memcpy(landing.value + i * item, &sim_row(warp, insn->vector == 0 ? insn->src[1] : rows[i])[l], item);
    }
    if (landing.mbarrier == NULL ||
        !copy_to_block(landing, sim_block_at(warp, landing.to),
                       warp->block->sm->clock.time_fs + CLUSTER_LATENCY_CYCLES * cycle_fs(device))) {
      return;
    }
  }
}

/* A group is complete when the last copy that was begun before is. */
static void commit(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  sim_bulk_groups *groups = groups_of(warp, insn);
  SIM_EACH_LANE(l, groups != NULL ? lanes : 0) {
    groups->committed_fs[l][groups->count[l]++ % SIM_BULK_GROUPS] = groups->newest_fs[l];
  }
}

/* When all groups of a lane but the newest `but` have landed. Where they are too many to be remembered, the oldest
 * that is known. */
static uint64_t landed_fs(const sim_bulk_groups *groups, uint32_t lane, uint64_t but) {
  but = but < SIM_BULK_GROUPS ? but : SIM_BULK_GROUPS - 1;
  return groups->count[lane] > but
             ? groups->committed_fs[lane][(groups->count[lane] - 1 - (uint32_t)but) % SIM_BULK_GROUPS]
             : 0;
}

static void wait(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const sim_bulk_groups *groups = groups_of(warp, insn);
  const sim_clock *clock = &warp->block->sm->clock;
  uint32_t base = warp->groups[warp->current].base, done = 0;
  uint64_t last_fs = 0;
  SIM_EACH_LANE(l, groups != NULL ? lanes : 0) {
    uint64_t time_fs = landed_fs(groups, l, (uint64_t)insn->offset);
    done |= (uint32_t)(time_fs <= clock->time_fs) << l;
    last_fs = time_fs > last_fs ? time_fs : last_fs;
  }
  if (done != lanes) {
    sim_warp_stop(warp, lanes & ~done, SIM_G_ASLEEP)->wake = sim_clock_cycle_at(clock, last_fs);
  }
  if (done != 0) {
    sim_warp_move(warp, done, warp->pc + 1, base);
  }
}

static bool reduces(const sim_insn *insn) {
  unsigned bytes = sim_type_bytes(insn->type);
  bool real = sim_type_float(insn->type);
  switch (insn->mode) {
    case SIM_M_ADD: return bytes >= 4 || real;
    case SIM_M_MIN: case SIM_M_MAX: case SIM_M_INC: case SIM_M_DEC:
    case SIM_M_AND: case SIM_M_OR: case SIM_M_XOR: return (bytes == 4 || bytes == 8) && !real;
    default: return false;
  }
}

sim_exec_fn *sim_select_bulk(const sim_insn *insn) {
  bool to_block = insn->space == SIM_SHARED || insn->space == SIM_CLUSTER;
  bool from_block = insn->space2 == SIM_SHARED;
  unsigned bytes = sim_type_bytes(insn->type);
  if (insn->more & SIM_X_ASYNC) {
    bool known = insn->op == SIM_OP_st ? bytes == 4 || bytes == 8 : insn->op == SIM_OP_red && reduces(insn);
    return known && bytes * (insn->vector == 0 ? 1u : insn->vector) <= 16 && insn->space == SIM_CLUSTER ? send : NULL;
  }
  if (insn->op != SIM_OP_cp || !(insn->flags & SIM_F_BULK)) {
    return NULL;
  }
  if (insn->more & SIM_X_PREFETCH) {
    return sim_exec_nothing;
  }
  if (insn->flags & (SIM_F_COMMIT | SIM_F_WAIT)) {
    return insn->flags & SIM_F_COMMIT ? commit : wait;
  }
  if (insn->more & SIM_X_BYTE_MASK || (insn->more & SIM_X_REDUCE && !reduces(insn))) {
    return NULL;
  }
  if (insn->more & SIM_X_MBARRIER) {
    return to_block && (from_block || is_global(insn->space2)) ? copy : NULL;
  }
  return insn->more & SIM_X_BULK_GROUP && is_global(insn->space) && from_block ? copy : NULL;
}
