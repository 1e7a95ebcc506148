/* SPDX-License-Identifier: MIT */
/* mov in all its forms, special registers, and addresses between spaces. */
#include "exec_lanes.h"
#include "special.h"

static void move(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *a = sim_source(warp, insn, 0);
  uint64_t *d = sim_target(warp, insn);
  if (lanes == UINT32_MAX) {
    memmove(d, a, SIM_LANES * sizeof *d);
    return;
  }
  SIM_EACH_LANE(l, lanes) {
    d[l] = a[l];
  }
}

static void move_predicate(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  sim_predicate_set(warp, insn->dst, sim_predicate(warp, insn, 0), lanes);
}

/* A .b128 register is two rows, the low half first. */
static void move_128(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *a = sim_source(warp, insn, 0);
  uint64_t *d = sim_target(warp, insn);
  if (insn->src[0] < 0 || insn->dst == SIM_NO_ROW) {
    sim_fault(warp, insn, 0, SIM_UNSUPPORTED, "this form of mov.b128 is not simulated");
    return;
  }
  SIM_EACH_LANE(l, lanes) {
    uint64_t low = a[l], high = a[l + SIM_LANES];
    d[l] = low;
    d[l + SIM_LANES] = high;
  }
}

/* The address of a .local or .param variable: the lane's call frame moves it. */
static void move_frame(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  uint64_t *d = sim_target(warp, insn);
  SIM_EACH_LANE(l, lanes) {
    d[l] = warp->local_base[l] + (uint64_t)insn->offset;
  }
}

static const int32_t *list_of(const sim_warp *warp, const sim_insn *insn) {
  return warp->block->grid->kernel->module->program->rows + insn->list;
}

static void pack(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const int32_t *rows = list_of(warp, insn);
  unsigned count = insn->list_count, bits = sim_type_bytes(insn->type) * 8 / count;
  uint64_t *d = sim_target(warp, insn), out[2][SIM_LANES] = {{0}};
  for (unsigned i = 0; i < count; i++) {
    const uint64_t *a = rows[i] == SIM_NO_ROW ? warp->sink : sim_row(warp, rows[i]);
    unsigned word = i * bits / 64, shift = i * bits % 64;
    uint64_t mask = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    for (int l = 0; l < SIM_LANES; l++) {
      out[word][l] |= (a[l] & mask) << shift;
    }
  }
  SIM_EACH_LANE(l, lanes) {
    d[l] = out[0][l];
    if (insn->type == SIM_B128 && insn->dst != SIM_NO_ROW) {
      d[l + SIM_LANES] = out[1][l];
    }
  }
}

static void unpack(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const int32_t *rows = list_of(warp, insn);
  unsigned count = insn->list_count, bits = sim_type_bytes(insn->type) * 8 / count;
  const uint64_t *a = sim_source(warp, insn, 0);
  uint64_t words[2][SIM_LANES];
  uint64_t mask = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
  memcpy(words[0], a, sizeof words[0]);
  if (insn->type == SIM_B128) {
    memcpy(words[1], insn->src[0] >= 0 ? a + SIM_LANES : warp->sink, sizeof words[1]);
  }
  for (unsigned i = 0; i < count; i++) {
    uint64_t *d = rows[i] >= 0 ? sim_row_out(warp, rows[i]) : warp->sink;
    unsigned word = i * bits / 64, shift = i * bits % 64;
    SIM_EACH_LANE(l, lanes) {
      d[l] = words[word][l] >> shift & mask;
    }
  }
}

static uint64_t uniform_special(const sim_warp *warp, unsigned special) {
  const sim_block *block = warp->block;
  const sim_grid *grid = block->grid;
  const sim_clock *clock = &block->sm->clock;
  const sim_config *config = &block->sm->device->config;
  uint64_t workspace = (uint64_t)(uintptr_t)grid->workspace;
  switch (special) {
    case SIM_SR_NTID_X: return grid->block.x;
    case SIM_SR_NTID_Y: return grid->block.y;
    case SIM_SR_NTID_Z: return grid->block.z;
    case SIM_SR_CTAID_X: return block->x;
    case SIM_SR_CTAID_Y: return block->y;
    case SIM_SR_CTAID_Z: return block->z;
    case SIM_SR_NCTAID_X: return grid->grid.x;
    case SIM_SR_NCTAID_Y: return grid->grid.y;
    case SIM_SR_NCTAID_Z: return grid->grid.z;
    case SIM_SR_CLUSTERID_X: return block->x / grid->cluster.x;
    case SIM_SR_CLUSTERID_Y: return block->y / grid->cluster.y;
    case SIM_SR_CLUSTERID_Z: return block->z / grid->cluster.z;
    case SIM_SR_NCLUSTERID_X: return grid->grid.x / grid->cluster.x;
    case SIM_SR_NCLUSTERID_Y: return grid->grid.y / grid->cluster.y;
    case SIM_SR_NCLUSTERID_Z: return grid->grid.z / grid->cluster.z;
    case SIM_SR_CLUSTER_CTAID_X: return block->x % grid->cluster.x;
    case SIM_SR_CLUSTER_CTAID_Y: return block->y % grid->cluster.y;
    case SIM_SR_CLUSTER_CTAID_Z: return block->z % grid->cluster.z;
    case SIM_SR_CLUSTER_NCTAID_X: return grid->cluster.x;
    case SIM_SR_CLUSTER_NCTAID_Y: return grid->cluster.y;
    case SIM_SR_CLUSTER_NCTAID_Z: return grid->cluster.z;
    case SIM_SR_CLUSTER_CTARANK: return block->rank;
    case SIM_SR_CLUSTER_NCTARANK: return block->cluster->count;
    case SIM_SR_WARPID: return block->first_warp + warp->index;
    case SIM_SR_NWARPID: return SIM_SM_WARPS;
    case SIM_SR_SMID: return (uint64_t)config->first_sm + block->sm->index;
    case SIM_SR_NSMID: return (uint64_t)(config->first_sm + config->sms);
    case SIM_SR_GRIDID: return grid->id;
    case SIM_SR_CLOCK: return (uint32_t)sim_clock_value(clock);
    case SIM_SR_CLOCK_HI: return sim_clock_value(clock) >> 32;
    case SIM_SR_CLOCK64: return sim_clock_value(clock);
    case SIM_SR_GLOBALTIMER: return sim_globaltimer(config, clock->time_fs);
    case SIM_SR_GLOBALTIMER_LO: return (uint32_t)sim_globaltimer(config, clock->time_fs);
    case SIM_SR_GLOBALTIMER_HI: return sim_globaltimer(config, clock->time_fs) >> 32;
    case SIM_SR_DYNAMIC_SMEM: return grid->dynamic_shared;
    case SIM_SR_TOTAL_SMEM: case SIM_SR_AGGR_SMEM: return block->shared_bytes;
    case SIM_SR_ENVREG1: return workspace >> 32; /* cooperative groups look here */
    case SIM_SR_ENVREG2: return (uint32_t)workspace;
    default: return 0;
  }
}

static void special(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  uint64_t *d = sim_target(warp, insn), value;
  unsigned which = insn->special - 1u;
  if (which <= SIM_SR_TID_Z) {
    const uint64_t *tid = warp->tid[which - SIM_SR_TID_X];
    SIM_EACH_LANE(l, lanes) {
      d[l] = tid[l];
    }
    return;
  }
  if (which == SIM_SR_EXPLICIT_CLUSTER) {
    sim_predicate_set(warp, insn->dst, warp->block->cluster->count > 1 ? UINT32_MAX : 0, lanes);
    return;
  }
  value = uniform_special(warp, which);
  SIM_EACH_LANE(l, lanes) {
    uint32_t bit = UINT32_C(1) << l;
    switch (which) {
      case SIM_SR_LANEID: d[l] = l; break;
      case SIM_SR_LANEMASK_EQ: d[l] = bit; break;
      case SIM_SR_LANEMASK_LT: d[l] = bit - 1; break;
      case SIM_SR_LANEMASK_LE: d[l] = bit | (bit - 1); break;
      case SIM_SR_LANEMASK_GE: d[l] = (uint32_t)~(bit - 1); break;
      case SIM_SR_LANEMASK_GT: d[l] = (uint32_t)~(bit | (bit - 1)); break;
      default: d[l] = value; break;
    }
  }
  if (which == SIM_SR_CLOCK64 || which == SIM_SR_CLOCK || which == SIM_SR_GLOBALTIMER) {
    sim_log_clock(warp, insn, lanes, which == SIM_SR_GLOBALTIMER,
                  which == SIM_SR_CLOCK ? uniform_special(warp, SIM_SR_CLOCK64) : value);
  }
}

/* Where a lane's window of a space begins in the generic space. */
static uint64_t window(const sim_warp *warp, unsigned space, uint32_t lane, uint64_t address) {
  switch (space) {
    case SIM_SHARED: return (uint64_t)(uintptr_t)warp->block->shared;
    case SIM_PARAM:
      if (address >= SIM_ENTRY_PARAMETERS && address < SIM_ENTRY_PARAMETERS * 2) {
        return (uint64_t)(uintptr_t)warp->block->grid->arguments - SIM_ENTRY_PARAMETERS;
      }
      return (uint64_t)(uintptr_t)(warp->local + warp->local_stride * lane);
    case SIM_LOCAL: return (uint64_t)(uintptr_t)(warp->local + warp->local_stride * lane);
    default: return 0;
  }
}

/* Of what lies in no block of the cluster nothing is found later either. */
static uint64_t cvta_cluster(const sim_warp *warp, bool to_cluster, uint64_t address) {
  const uint8_t *at = (const uint8_t *)(uintptr_t)address;
  const sim_block *block;
  if (!to_cluster) {
    return (uint64_t)(uintptr_t)sim_cluster_reach(warp, address, 0);
  }
  block = sim_block_at(warp, at);
  return block != NULL ? sim_cluster_address(block, at) : UINT32_MAX;
}

static void cvta(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *a = sim_source(warp, insn, 0);
  uint64_t *d = sim_target(warp, insn);
  SIM_EACH_LANE(l, lanes) {
    if (insn->space == SIM_CLUSTER) {
      d[l] = cvta_cluster(warp, insn->flags & SIM_F_TO, a[l]);
    } else if (insn->flags & SIM_F_TO) {
      uint64_t base = window(warp, insn->space, l, 0);
      d[l] = a[l] - base;
      if (insn->space == SIM_PARAM) {
        uint64_t arguments = (uint64_t)(uintptr_t)warp->block->grid->arguments;
        d[l] = a[l] - arguments < warp->block->grid->argument_bytes
                   ? a[l] - arguments + SIM_ENTRY_PARAMETERS
                   : d[l];
      }
    } else {
      d[l] = a[l] + window(warp, insn->space, l, a[l]);
    }
  }
}

static void isspacep(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *a = sim_source(warp, insn, 0);
  uint32_t bits = 0;
  SIM_EACH_LANE(l, lanes) {
    uint64_t address = a[l];
    bool shared = address - window(warp, SIM_SHARED, l, 0) < warp->block->shared_bytes;
    bool local = address - window(warp, SIM_LOCAL, 0, 0) < warp->local_stride * SIM_LANES;
    bool param = address - (uint64_t)(uintptr_t)warp->block->grid->arguments <
                 warp->block->grid->argument_bytes;
    bool cluster = sim_block_at(warp, (const uint8_t *)(uintptr_t)address) != NULL;
    bool is = insn->space == SIM_SHARED    ? shared
              : insn->space == SIM_CLUSTER ? cluster
              : insn->space == SIM_LOCAL ? local
              : insn->space == SIM_PARAM ? param
                                         : !cluster && !local && !param;
    if (insn->space == SIM_CONST) {
      is = false; /* constants are placed in global memory here */
    }
    bits |= (uint32_t)is << l;
  }
  sim_predicate_set(warp, insn->dst, bits, lanes);
}

static sim_exec_fn *select_mov(const sim_insn *insn) {
  bool wide = insn->type == SIM_B128;
  if (insn->special != 0) {
    return special;
  }
  if (insn->vector != 0) {
    unsigned count = insn->list_count, bytes = sim_type_bytes(insn->type);
    bool good = count != 0 && bytes % count == 0 && bytes / count <= 8;
    return !good ? NULL : insn->vector == 1 ? pack : unpack;
  }
  if (insn->flags & SIM_F_FRAME) {
    return move_frame;
  }
  return insn->type == SIM_PRED ? move_predicate : wide ? move_128 : move;
}

sim_exec_fn *sim_select_move(const sim_insn *insn) {
  switch (insn->op) {
    case SIM_OP_mov: return sim_type_bytes(insn->type) != 0 ? select_mov(insn) : NULL;
    case SIM_OP_cvta: return cvta;
    case SIM_OP_isspacep: return insn->space != SIM_GENERIC ? isspacep : NULL;
    default: return NULL;
  }
}
