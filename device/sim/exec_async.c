/* SPDX-License-Identifier: MIT */
/* cp.async of 4, 8 or 16 bytes a thread, as a copy that is done at once: commit and wait then have nothing to wait
 * for. Copies that take their time are those of exec_bulk.c. */
#include "exec_lanes.h"

static void copy(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *to = sim_source(warp, insn, 0), *from = sim_source(warp, insn, 1);
  const uint64_t *size = sim_source(warp, insn, 2);
  size_t bytes = insn->window;
  SIM_EACH_LANE(l, lanes) {
    uint64_t address = from[l] + (uint64_t)(int64_t)insn->offsets[0];
    size_t wanted = insn->operands == 4 ? (uint32_t)size[l] : bytes;
    uint8_t *target = sim_reach(warp, insn, l, SIM_SHARED, to[l] + (uint64_t)insn->offset, bytes);
    const uint8_t *source;
    if (target == NULL) {
      return;
    }
    wanted = wanted < bytes ? wanted : bytes;
    memset(target, 0, bytes);
    if (wanted == 0) {
      continue;
    }
    source = sim_reach(warp, insn, l, SIM_GLOBAL, address, wanted == bytes ? bytes : 1);
    if (source == NULL ||
        (wanted != bytes && sim_reach(warp, insn, l, SIM_GLOBAL, address + wanted - 1, 1) == NULL)) {
      return;
    }
    memcpy(target, source, wanted);
  }
}

sim_exec_fn *sim_select_async(const sim_insn *insn) {
  if (insn->op != SIM_OP_cp || insn->flags & SIM_F_BULK) {
    return NULL;
  }
  if (insn->flags & (SIM_F_COMMIT | SIM_F_WAIT)) {
    return sim_exec_nothing;
  }
  return insn->space == SIM_SHARED && !(insn->flags & SIM_F_ARRIVE) &&
                 (insn->window == 4 || insn->window == 8 || insn->window == 16)
             ? copy
             : NULL;
}
