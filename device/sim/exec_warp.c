/* SPDX-License-Identifier: MIT */
/* What lanes of a warp tell each other: shfl, vote, match, redux, elect, activemask. The scheduler
 * has waited until the lanes of the member mask stand here, and gives exactly those. */
#include "exec_lanes.h"

/* Source lane of a shuffle, *valid when it lies in the segment. */
static uint32_t shuffle_from(unsigned mode, uint32_t lane, uint32_t b, uint32_t c, bool *valid) {
  uint32_t bits = b & 31, clamp = c & 31, segment = c >> 8 & 31;
  uint32_t most = (lane & segment) | (clamp & ~segment), least = lane & segment, from;
  switch (mode) {
    case SIM_M_UP:
      from = lane - bits;
      *valid = (int32_t)from >= (int32_t)most;
      break;
    case SIM_M_DOWN:
      from = lane + bits;
      *valid = from <= most;
      break;
    case SIM_M_BFLY:
      from = lane ^ bits;
      *valid = from <= most;
      break;
    default:
      from = least | (bits & ~segment);
      *valid = from <= most;
      break;
  }
  return *valid ? from : lane;
}

static void shfl(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *a = sim_source(warp, insn, 0), *b = sim_source(warp, insn, 1);
  const uint64_t *c = sim_source(warp, insn, 2);
  uint64_t *d = sim_target(warp, insn), out[SIM_LANES];
  uint32_t bits = 0;
  SIM_EACH_LANE(l, lanes) {
    bool valid;
    uint32_t from = shuffle_from(insn->mode, l, (uint32_t)b[l], (uint32_t)c[l], &valid) & 31;
    bits |= (uint32_t)valid << l;
    /* A lane that takes no part: PTX leaves the value undefined, here it is 0. */
    out[l] = lanes >> from & 1 ? (uint32_t)a[from] : 0;
  }
  SIM_EACH_LANE(l, lanes) {
    d[l] = out[l];
  }
  if (insn->dst2 != SIM_NO_ROW) {
    sim_predicate_set(warp, insn->dst2, bits, lanes);
  }
}

static void vote(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  uint32_t bits = sim_predicate(warp, insn, 0) & lanes, result;
  uint64_t *d;
  if (insn->mode == SIM_M_BALLOT) {
    d = sim_target(warp, insn);
    SIM_EACH_LANE(l, lanes) {
      d[l] = bits;
    }
    return;
  }
  switch (insn->mode) {
    case SIM_M_ALL: result = bits == lanes; break;
    case SIM_M_ANY: result = bits != 0; break;
    default: result = bits == 0 || bits == lanes; break;
  }
  sim_predicate_set(warp, insn->dst, result ? UINT32_MAX : 0, lanes);
}

static void match(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *a = sim_source(warp, insn, 0);
  uint64_t *d = sim_target(warp, insn), out[SIM_LANES];
  bool all = insn->mode == SIM_M_ALL;
  uint32_t bits = 0;
  SIM_EACH_LANE(l, lanes) {
    uint32_t same = 0;
    SIM_EACH_LANE(k, lanes) {
      bool equal = sim_zero_extend(insn->type, a[k]) == sim_zero_extend(insn->type, a[l]);
      same |= (uint32_t)equal << k;
    }
    out[l] = !all || same == lanes ? same : 0;
    bits |= (uint32_t)(same == lanes) << l;
  }
  SIM_EACH_LANE(l, lanes) {
    d[l] = out[l];
  }
  if (insn->dst2 != SIM_NO_ROW) {
    sim_predicate_set(warp, insn->dst2, bits, lanes);
  }
}

static uint32_t reduce(const sim_insn *insn, uint32_t a, uint32_t b) {
  bool less = insn->type == SIM_S32 ? (int32_t)a < (int32_t)b : a < b;
  switch (insn->mode) {
    case SIM_M_ADD: return a + b;
    case SIM_M_AND: return a & b;
    case SIM_M_OR: return a | b;
    case SIM_M_XOR: return a ^ b;
    case SIM_M_MIN: return less ? a : b;
    default: return less ? b : a;
  }
}

static float reduce_float(const sim_insn *insn, float a, float b) {
  if (a != a || b != b) {
    return insn->flags & SIM_F_NAN ? (a != a ? a : b) : a != a ? b : a;
  }
  return (a < b) == (insn->mode == SIM_M_MIN) ? a : b;
}

static void redux(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *a = sim_source(warp, insn, 0);
  uint64_t *d = sim_target(warp, insn);
  uint32_t first = (uint32_t)__builtin_ctz(lanes), result = (uint32_t)a[first];
  SIM_EACH_LANE(l, lanes & (lanes - 1)) {
    result = insn->type == SIM_F32
                 ? (uint32_t)sim_f32_bits(reduce_float(insn, sim_f32(result), sim_f32(a[l])))
                 : reduce(insn, result, (uint32_t)a[l]);
  }
  SIM_EACH_LANE(l, lanes) {
    d[l] = result;
  }
}

/* The lowest lane is the leader. */
static void elect(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  uint64_t *d = sim_target(warp, insn);
  uint32_t leader = (uint32_t)__builtin_ctz(lanes);
  SIM_EACH_LANE(l, lanes) {
    d[l] = leader;
  }
  if (insn->dst2 != SIM_NO_ROW) {
    sim_predicate_set(warp, insn->dst2, UINT32_C(1) << leader, lanes);
  }
}

static void activemask(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  uint64_t *d = sim_target(warp, insn);
  SIM_EACH_LANE(l, lanes) {
    d[l] = lanes;
  }
}

sim_exec_fn *sim_select_warp(const sim_insn *insn) {
  switch (insn->op) {
    case SIM_OP_shfl:
      return insn->mode >= SIM_M_UP && insn->mode <= SIM_M_IDX && sim_type_bytes(insn->type) == 4
                 ? shfl
                 : NULL;
    case SIM_OP_vote: return insn->mode >= SIM_M_ALL && insn->mode <= SIM_M_BALLOT ? vote : NULL;
    case SIM_OP_match:
      return insn->mode == SIM_M_ALL || insn->mode == SIM_M_ANY ? match : NULL;
    case SIM_OP_redux:
      if (insn->type == SIM_F32) {
        return insn->mode == SIM_M_MIN || insn->mode == SIM_M_MAX ? redux : NULL;
      }
      return sim_type_bytes(insn->type) == 4 && insn->mode >= SIM_M_AND &&
                     insn->mode <= SIM_M_MAX && insn->mode != SIM_M_INC && insn->mode != SIM_M_DEC
                 ? redux
                 : NULL;
    case SIM_OP_elect: return elect;
    case SIM_OP_activemask: return activemask;
    default: return NULL;
  }
}
