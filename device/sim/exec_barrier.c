/* SPDX-License-Identifier: MIT */
/* Barriers of a block: sync, arrive and red, with ids and thread counts. */
#include "exec_lanes.h"

/* Whether everyone whom the barrier waits for has come. */
static bool complete(const sim_block *block, const sim_barrier *barrier) {
  uint32_t came = 0;
  for (uint32_t i = 0; i < block->warp_count; i++) {
    const sim_warp *warp = &block->slot->warps[i];
    if (barrier->expected == 0) {
      if ((warp->live & ~barrier->arrived[i]) != 0) {
        return false;
      }
    } else if (barrier->arrived[i] != 0) {
      /* Counts go by whole warps: lanes that have ended or never were count as come. */
      came += (uint32_t)__builtin_popcount(barrier->arrived[i] | ~warp->live);
    }
  }
  return barrier->expected == 0 || came >= barrier->expected;
}

static void give_votes(sim_warp *warp, const sim_group *group, const sim_insn *insn,
                       const sim_barrier *barrier) {
  uint64_t *d;
  warp->frame = warp->rows[group->base];
  if (insn->mode == SIM_M_POPC) {
    d = sim_target(warp, insn);
    SIM_EACH_LANE(l, group->mask) {
      d[l] = barrier->ones;
    }
    return;
  }
  sim_predicate_set(warp, insn->dst,
                    (insn->mode == SIM_M_AND ? barrier->zeros == 0 : barrier->ones != 0)
                        ? UINT32_MAX
                        : 0,
                    group->mask);
}

void sim_barrier_check(sim_block *block, unsigned id) {
  sim_barrier *barrier = &block->barriers[id], done = *barrier;
  const sim_insn *code = block->grid->kernel->module->program->code;
  if (!barrier->used || !complete(block, barrier)) {
    return;
  }
  *barrier = (sim_barrier){0};
  for (uint32_t i = 0; i < block->warp_count; i++) {
    sim_warp *warp = &block->slot->warps[i];
    bool freed = false;
    for (unsigned k = 0; k < warp->group_count; k++) {
      sim_group *group = &warp->groups[k];
      if (group->state != SIM_G_BARRIER || group->barrier != id) {
        continue;
      }
      if (code[group->pc].flags & SIM_F_RED) {
        give_votes(warp, group, &code[group->pc], &done);
      }
      group->state = SIM_G_READY;
      group->pc++;
      freed = true;
    }
    if (freed) {
      sim_warp_wake(warp, block->sm->clock.time_fs);
    }
  }
}

/* Lanes of one barrier id. */
static void arrive(sim_warp *warp, const sim_insn *insn, uint32_t lanes, unsigned id,
                   uint32_t expected) {
  sim_block *block = warp->block;
  sim_barrier *barrier = &block->barriers[id];
  uint32_t base = warp->groups[warp->current].base, first = (uint32_t)__builtin_ctz(lanes);
  if (expected > 1024 || expected % SIM_LANES != 0) {
    sim_fault(warp, insn, first, SIM_TRAP, "a barrier for %u threads, no multiple of 32", expected);
    return;
  }
  if (barrier->used && barrier->expected != expected) {
    sim_fault(warp, insn, first, SIM_TRAP, "barrier %u is used for %u and for %u threads", id,
              barrier->expected, expected);
    return;
  }
  barrier->used = true;
  barrier->expected = expected;
  barrier->arrived[warp->index] |= lanes;
  if (insn->flags & SIM_F_RED) {
    uint32_t votes = sim_predicate(warp, insn, 2);
    barrier->ones += (uint32_t)__builtin_popcount(votes & lanes);
    barrier->zeros += (uint32_t)__builtin_popcount(~votes & lanes);
  }
  if (insn->flags & SIM_F_ARRIVE) {
    sim_warp_move(warp, lanes, warp->pc + 1, base);
  } else {
    sim_warp_stop(warp, lanes, SIM_G_BARRIER)->barrier = (uint8_t)id;
  }
  sim_barrier_check(block, id);
}

static void barrier(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  uint64_t ids[SIM_LANES], counts[SIM_LANES];
  uint32_t left = lanes;
  memcpy(ids, sim_source(warp, insn, 0), sizeof ids);
  memcpy(counts, sim_source(warp, insn, 1), sizeof counts);
  while (left != 0 && !warp->block->sm->device->failed) {
    uint32_t lane = (uint32_t)__builtin_ctz(left), same = 0;
    uint32_t id = (uint32_t)ids[lane];
    if (id >= SIM_BARRIERS) {
      sim_fault(warp, insn, lane, SIM_TRAP, "there is no barrier %u", id);
      return;
    }
    SIM_EACH_LANE(l, left) {
      same |= (uint32_t)ids[l] == id ? UINT32_C(1) << l : 0;
    }
    arrive(warp, insn, same, id, insn->operands == 2 ? (uint32_t)counts[lane] : 0);
    left &= ~same;
  }
}

sim_exec_fn *sim_select_barrier(const sim_insn *insn) {
  if ((insn->op != SIM_OP_bar && insn->op != SIM_OP_barrier) || insn->more & SIM_X_CLUSTER) {
    return NULL;
  }
  if (insn->flags & SIM_F_RED && insn->mode != SIM_M_POPC && insn->mode != SIM_M_AND &&
      insn->mode != SIM_M_OR) {
    return NULL;
  }
  return insn->flags & SIM_F_WARP ? sim_exec_nothing : barrier;
}
