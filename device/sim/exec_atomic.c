/* SPDX-License-Identifier: MIT */
/* atom and red: lanes one after the other, in order. */
#include <math.h>

#include "exec_lanes.h"

static uint64_t add_pair(unsigned type, uint64_t a, uint64_t b) {
  unsigned half = type == SIM_F16X2 ? SIM_F16 : SIM_BF16;
  uint64_t low = sim_half_from_double(half, sim_half_to_double(half, a & 0xffff) +
                                                sim_half_to_double(half, b & 0xffff));
  uint64_t high = sim_half_from_double(half, sim_half_to_double(half, a >> 16 & 0xffff) +
                                                 sim_half_to_double(half, b >> 16 & 0xffff));
  return low | high << 16;
}

static uint64_t add(unsigned type, uint64_t old, uint64_t b) {
  switch (type) {
    case SIM_F32: return sim_f32_bits(sim_f32(old) + sim_f32(b));
    case SIM_F64: return sim_f64_bits(sim_f64(old) + sim_f64(b));
    case SIM_F16: case SIM_BF16:
      return sim_half_from_double(type, sim_half_to_double(type, old & 0xffff) +
                                            sim_half_to_double(type, b & 0xffff));
    case SIM_F16X2: case SIM_BF16X2: return add_pair(type, old, b);
    default: return old + b;
  }
}

static bool less(unsigned type, uint64_t a, uint64_t b) {
  return sim_type_signed(type) ? sim_sign_extend(type, a) < sim_sign_extend(type, b)
                               : sim_zero_extend(type, a) < sim_zero_extend(type, b);
}

uint64_t sim_combine(const sim_insn *insn, uint64_t old, uint64_t b, uint64_t c) {
  unsigned type = insn->type;
  switch (insn->mode) {
    case SIM_M_ADD: return add(type, old, b);
    case SIM_M_AND: return old & b;
    case SIM_M_OR: return old | b;
    case SIM_M_XOR: return old ^ b;
    case SIM_M_EXCH: return b;
    case SIM_M_CAS: return sim_zero_extend(type, old) == sim_zero_extend(type, b) ? c : old;
    case SIM_M_INC: return (uint32_t)old >= (uint32_t)b ? 0 : old + 1;
    case SIM_M_DEC: return (uint32_t)old == 0 || (uint32_t)old > (uint32_t)b ? b : old - 1;
    case SIM_M_MIN: return less(type, b, old) ? b : old;
    default: return less(type, old, b) ? b : old;
  }
}

static uint64_t address_of(const sim_warp *warp, const sim_insn *insn, const uint64_t *base,
                           uint32_t lane) {
  uint64_t address = base[lane] + (uint64_t)insn->offset;
  return insn->flags & SIM_F_FRAME ? address + warp->local_base[lane] : address;
}

static void atomic(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *base = sim_source(warp, insn, 0), *b = sim_source(warp, insn, 1);
  const uint64_t *c = sim_source(warp, insn, 2);
  uint64_t *d = insn->op == SIM_OP_atom ? sim_target(warp, insn) : warp->sink;
  size_t bytes = sim_type_bytes(insn->type);
  SIM_EACH_LANE(l, lanes) {
    uint64_t old = 0, made;
    uint8_t *at = sim_reach(warp, insn, l, insn->space, address_of(warp, insn, base, l), bytes);
    if (at == NULL) {
      return;
    }
    memcpy(&old, at, bytes);
    made = sim_combine(insn, old, b[l], c[l]);
    memcpy(at, &made, bytes);
    d[l] = sim_type_signed(insn->type) ? (uint64_t)sim_sign_extend(insn->type, old) : old;
  }
}

/* atom.cas.b128 and atom.exch.b128. */
static void atomic_128(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *base = sim_source(warp, insn, 0), *b = sim_source(warp, insn, 1);
  const uint64_t *c = sim_source(warp, insn, 2);
  uint64_t *d = sim_target(warp, insn);
  bool cas = insn->mode == SIM_M_CAS;
  if (insn->src[1] < 0 || (cas && insn->src[2] < 0)) {
    sim_fault(warp, insn, 0, SIM_UNSUPPORTED, "a 128-bit constant operand is not simulated");
    return;
  }
  SIM_EACH_LANE(l, lanes) {
    uint64_t old[2];
    uint8_t *at = sim_reach(warp, insn, l, insn->space, address_of(warp, insn, base, l), 16);
    if (at == NULL) {
      return;
    }
    memcpy(old, at, sizeof old);
    if (!cas || (old[0] == b[l] && old[1] == b[l + SIM_LANES])) {
      const uint64_t *from = cas ? c : b;
      memcpy(at, &from[l], 8);
      memcpy(at + 8, &from[l + SIM_LANES], 8);
    }
    d[l] = old[0];
    if (insn->dst != SIM_NO_ROW) {
      d[l + SIM_LANES] = old[1];
    }
  }
}

/* Each element for itself, as PTX has it; results are written when all lanes are through, since a
 * destination may share its row with an operand. */
static void atomic_vector(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const int32_t *rows = warp->block->grid->kernel->module->program->rows;
  const uint64_t *base = sim_source(warp, insn, 0);
  size_t item = sim_type_bytes(insn->type);
  uint64_t old[8][SIM_LANES] = {{0}};
  SIM_EACH_LANE(l, lanes) {
    uint8_t *at = sim_reach(warp, insn, l, insn->space, address_of(warp, insn, base, l),
                            item * insn->vector);
    if (at == NULL) {
      return;
    }
    for (unsigned i = 0; i < insn->vector; i++) {
      uint64_t made;
      memcpy(&old[i][l], at + i * item, item);
      made = sim_combine(insn, old[i][l], sim_row(warp, rows[insn->list + (int32_t)i])[l], 0);
      memcpy(at + i * item, &made, item);
    }
  }
  for (unsigned i = 0; i < insn->list2_count; i++) {
    int32_t row = rows[insn->list2 + (int32_t)i];
    uint64_t *d = row >= 0 ? sim_row_out(warp, row) : warp->sink;
    SIM_EACH_LANE(l, lanes) {
      d[l] = old[i][l];
    }
  }
}

static bool vector_allowed(const sim_insn *insn) {
  bool is_float = insn->type == SIM_F32 || insn->type == SIM_F16 || insn->type == SIM_BF16 ||
                  insn->type == SIM_F16X2 || insn->type == SIM_BF16X2;
  unsigned bytes = sim_type_bytes(insn->type) * insn->vector;
  return is_float && insn->mode == SIM_M_ADD && bytes <= 16 && insn->vector <= 8;
}

static bool allowed(const sim_insn *insn) {
  unsigned type = insn->type, bytes = sim_type_bytes(type);
  bool is_float = sim_type_float(type) || type == SIM_F16X2 || type == SIM_BF16X2;
  if (bytes < 2 || bytes > 8 || type == SIM_PRED) {
    return false;
  }
  switch (insn->mode) {
    case SIM_M_ADD: return bytes >= 4 || is_float;
    case SIM_M_CAS: return !is_float;
    case SIM_M_EXCH: case SIM_M_AND: case SIM_M_OR: case SIM_M_XOR: return bytes >= 4 && !is_float;
    case SIM_M_MIN: case SIM_M_MAX: return bytes >= 4 && !is_float;
    case SIM_M_INC: case SIM_M_DEC: return bytes == 4 && !is_float;
    default: return false;
  }
}

sim_exec_fn *sim_select_atomic(const sim_insn *insn) {
  if ((insn->op != SIM_OP_atom && insn->op != SIM_OP_red) || insn->more & SIM_X_ASYNC) {
    return NULL;
  }
  if (insn->vector != 0) {
    return vector_allowed(insn) ? atomic_vector : NULL;
  }
  if (insn->type == SIM_B128) {
    bool known = insn->mode == SIM_M_CAS || insn->mode == SIM_M_EXCH;
    return known && insn->op == SIM_OP_atom ? atomic_128 : NULL;
  }
  return allowed(insn) ? atomic : NULL;
}
