/* SPDX-License-Identifier: MIT */
/* Groups of lanes of a warp: splitting, merging where they meet, and the choice of which runs.
 * The deepest call runs first, then the lowest instruction, so that what diverged meets again at
 * the earliest place; every so often the order is turned round, so that lanes that spin on what
 * another lane of their warp will do cannot keep it from running. */
#include "scheduler.h"

#define TURN_PERIOD 2048
#define TURN_REVERSED 64

/* Moves lanes of the running group to another place. */
void sim_warp_move(sim_warp *warp, uint32_t lanes, int32_t pc, uint32_t base) {
  sim_group *group = &warp->groups[warp->current];
  if (lanes == group->mask) {
    group->pc = pc;
    group->base = base;
    group->state = SIM_G_READY;
    return;
  }
  group->mask &= ~lanes;
  warp->groups[warp->group_count++] = (sim_group){.mask = lanes, .pc = pc, .base = base};
}

sim_group *sim_warp_stop(sim_warp *warp, uint32_t lanes, enum sim_group_state state) {
  sim_group *group = &warp->groups[warp->current];
  if (lanes != group->mask) {
    sim_warp_move(warp, lanes, warp->pc, group->base);
    group = &warp->groups[warp->group_count - 1];
  }
  group->state = (uint8_t)state;
  return group;
}

void sim_warp_end(sim_warp *warp, uint32_t lanes) {
  sim_group *group = &warp->groups[warp->current];
  sim_block *block = warp->block;
  group->mask &= ~lanes;
  warp->live &= ~lanes;
  block->alive -= (unsigned)__builtin_popcount(lanes);
  sim_cluster_end_threads(warp, lanes);
  if (group->mask == 0) {
    *group = warp->groups[--warp->group_count];
  }
  for (unsigned id = 0; id < SIM_BARRIERS; id++) {
    if (block->barriers[id].used) {
      sim_barrier_check(block, id);
    }
  }
}

/* Groups that meet become one. */
void sim_warp_merge(sim_warp *warp) {
  for (unsigned i = 0; i < warp->group_count; i++) {
    sim_group *group = &warp->groups[i];
    for (unsigned k = i + 1; k < warp->group_count;) {
      sim_group *other = &warp->groups[k];
      if (other->pc == group->pc && other->base == group->base && group->state == SIM_G_READY &&
          other->state == SIM_G_READY) {
        group->mask |= other->mask;
        *other = warp->groups[--warp->group_count];
      } else {
        k++;
      }
    }
  }
}

static uint32_t same_members(const uint64_t *masks, uint32_t lanes, uint32_t members) {
  uint32_t same = 0;
  SIM_EACH_LANE(lane, lanes) {
    same |= (uint32_t)masks[lane] == members ? UINT32_C(1) << lane : 0;
  }
  return same;
}

/* Lanes of all groups that wait at a bar.warp.sync of these members. */
static uint32_t at_warp_barrier(sim_warp *warp, const sim_insn *code, uint32_t members,
                                bool release) {
  uint32_t all = 0;
  unsigned count = warp->group_count, kept = warp->current;
  for (unsigned i = 0; i < count; i++) {
    sim_group *group = &warp->groups[i];
    const sim_insn *insn = &code[group->pc];
    uint32_t lanes = group->mask;
    if (group->state != SIM_G_READY || insn->kind != SIM_K_WARPBAR) {
      continue;
    }
    warp->frame = warp->rows[group->base];
    if (insn->guard != SIM_NO_ROW) {
      uint32_t bits = (uint32_t)sim_row(warp, insn->guard)[0];
      lanes &= insn->guard_negated ? ~bits : bits;
    }
    lanes = same_members(sim_source(warp, insn, 3), lanes, members);
    all |= lanes;
    if (release && i != kept && lanes != 0) {
      warp->current = i;
      sim_warp_move(warp, lanes, group->pc + 1, group->base);
      warp->current = kept;
    }
  }
  return all;
}

/* Whether lanes of the group can pass the synchronising instruction that it stands at. */
static bool can_pass(sim_warp *warp, const sim_insn *code, uint32_t *lanes) {
  sim_group *group = &warp->groups[warp->current];
  const sim_insn *insn = &code[group->pc];
  const uint64_t *masks;
  uint32_t active = group->mask, left;
  warp->frame = warp->rows[group->base];
  if (insn->guard != SIM_NO_ROW) {
    uint32_t bits = (uint32_t)sim_row(warp, insn->guard)[0];
    active &= insn->guard_negated ? ~bits : bits;
    if (active != group->mask) {
      /* Those whose guard is false do not wait. */
      *lanes = group->mask & ~active;
      return true;
    }
  }
  masks = sim_source(warp, insn, 3);
  for (left = active; left != 0;) {
    uint32_t lane = (uint32_t)__builtin_ctz(left), members = (uint32_t)masks[lane];
    uint32_t same = same_members(masks, active, members), present = same;
    if ((members >> lane & 1) == 0) {
      sim_fault(warp, insn, lane, SIM_TRAP, "the thread is not in its own member mask 0x%x",
                members);
      *lanes = active;
      return true;
    }
    if (insn->kind == SIM_K_WARPBAR && warp->group_count > 1) {
      present = at_warp_barrier(warp, code, members, false);
    }
    if ((members & warp->live & ~present) == 0) {
      if (present != same) {
        at_warp_barrier(warp, code, members, true);
      }
      *lanes = same;
      return true;
    }
    left &= ~same;
  }
  return false;
}

static bool comes_first(const sim_group *a, const sim_group *b, bool reversed) {
  bool first = a->base != b->base ? a->base > b->base : a->pc < b->pc;
  return first != reversed;
}

bool sim_warp_pick(sim_warp *warp, uint32_t *lanes) {
  const sim_insn *code = warp->block->grid->kernel->module->program->code;
  uint64_t cycle = warp->block->sm->clock.cycle;
  uint32_t tried = 0;
  bool reversed = false;
  if (warp->group_count > 1) {
    reversed = warp->turns++ % TURN_PERIOD >= TURN_PERIOD - TURN_REVERSED;
  }
  for (;;) {
    int best = -1;
    for (unsigned i = 0; i < warp->group_count; i++) {
      sim_group *group = &warp->groups[i];
      if (group->state == SIM_G_ASLEEP && group->wake <= cycle) {
        group->state = SIM_G_READY;
      }
      if (group->state == SIM_G_READY && (tried >> i & 1) == 0 &&
          (best < 0 || comes_first(group, &warp->groups[best], reversed))) {
        best = (int)i;
      }
    }
    if (best < 0) {
      return false;
    }
    warp->current = (unsigned)best;
    if (code[warp->groups[best].pc].kind < SIM_K_SYNC) {
      *lanes = warp->groups[best].mask;
      return true;
    }
    if (can_pass(warp, code, lanes)) {
      return true;
    }
    tried |= UINT32_C(1) << best;
  }
}
