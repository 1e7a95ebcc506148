/* SPDX-License-Identifier: MIT */
/* set, setp, selp, slct. */
#include "exec_lanes.h"

#define COMPARE_INTEGER(T, mask) \
  static uint32_t compare_##T(unsigned compare, const uint64_t *pa, const uint64_t *pb) { \
    uint32_t bits = 0; \
    switch (compare) { \
      case SIM_EQ: COMPARE_LOOP(T, ==) break; \
      case SIM_NE: COMPARE_LOOP(T, !=) break; \
      case SIM_LT: case SIM_LO: COMPARE_LOOP(T, <) break; \
      case SIM_LE: case SIM_LS: COMPARE_LOOP(T, <=) break; \
      case SIM_GT: case SIM_HI: COMPARE_LOOP(T, >) break; \
      default: COMPARE_LOOP(T, >=) break; \
    } \
    return bits; \
  }
#define COMPARE_LOOP(T, OP) \
  for (uint32_t l = 0; l < SIM_LANES; l++) { \
    bits |= (uint32_t)((T)pa[l] OP (T)pb[l]) << l; \
  }

COMPARE_INTEGER(uint16_t, )
COMPARE_INTEGER(uint32_t, )
COMPARE_INTEGER(uint64_t, )
COMPARE_INTEGER(int16_t, )
COMPARE_INTEGER(int32_t, )
COMPARE_INTEGER(int64_t, )

static bool compare_float(unsigned compare, double a, double b) {
  bool unordered = a != a || b != b;
  switch (compare) {
    case SIM_EQ: return a == b;
    case SIM_NE: return !unordered && a != b;
    case SIM_LT: return a < b;
    case SIM_LE: return a <= b;
    case SIM_GT: return a > b;
    case SIM_GE: return a >= b;
    case SIM_EQU: return unordered || a == b;
    case SIM_NEU: return unordered || a != b;
    case SIM_LTU: return unordered || a < b;
    case SIM_LEU: return unordered || a <= b;
    case SIM_GTU: return unordered || a > b;
    case SIM_GEU: return unordered || a >= b;
    case SIM_NUM: return !unordered;
    default: return unordered;
  }
}

static double flushed(double value, bool ftz) {
  return ftz && value < 0x1p-126 && value > -0x1p-126 ? value * 0 : value;
}

static uint32_t compare_floats(const sim_insn *insn, unsigned type, const uint64_t *a,
                               const uint64_t *b, uint32_t lanes, unsigned shift) {
  uint32_t bits = 0;
  bool ftz = insn->flags & SIM_F_FTZ && type == SIM_F32;
  SIM_EACH_LANE(l, lanes) {
    double x = flushed(sim_float_value(type, a[l] >> shift), ftz);
    double y = flushed(sim_float_value(type, b[l] >> shift), ftz);
    bits |= (uint32_t)compare_float(insn->compare, x, y) << l;
  }
  return bits;
}

/* Bits of the lanes for which the comparison of sources 0 and 1 holds. */
static uint32_t compare(sim_warp *warp, const sim_insn *insn, unsigned type, uint32_t lanes) {
  const uint64_t *a = sim_source(warp, insn, 0), *b = sim_source(warp, insn, 1);
  switch (type) {
    case SIM_B16: case SIM_U16: return compare_uint16_t(insn->compare, a, b);
    case SIM_B32: case SIM_U32: return compare_uint32_t(insn->compare, a, b);
    case SIM_B64: case SIM_U64: return compare_uint64_t(insn->compare, a, b);
    case SIM_S16: return compare_int16_t(insn->compare, a, b);
    case SIM_S32: return compare_int32_t(insn->compare, a, b);
    case SIM_S64: return compare_int64_t(insn->compare, a, b);
    default: return compare_floats(insn, type, a, b, lanes, 0);
  }
}

static uint32_t join(unsigned mode, uint32_t bits, uint32_t with) {
  switch (mode) {
    case SIM_M_AND: return bits & with;
    case SIM_M_OR: return bits | with;
    case SIM_M_XOR: return bits ^ with;
    default: return bits;
  }
}

static void setp(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  uint32_t bits = compare(warp, insn, insn->type, lanes), other = ~bits;
  if (insn->mode != SIM_M_NONE) {
    uint32_t with = sim_predicate(warp, insn, 2);
    bits = join(insn->mode, bits, with);
    other = join(insn->mode, other, with);
  }
  sim_predicate_set(warp, insn->dst, bits, lanes);
  if (insn->dst2 != SIM_NO_ROW) {
    sim_predicate_set(warp, insn->dst2, other, lanes);
  }
}

/* setp.f16x2 p|q: the low halves to p, the high ones to q. */
static void setp_pair(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  unsigned type = insn->type == SIM_F16X2 ? SIM_F16 : SIM_BF16;
  const uint64_t *a = sim_source(warp, insn, 0), *b = sim_source(warp, insn, 1);
  uint32_t low = compare_floats(insn, type, a, b, lanes, 0);
  uint32_t high = compare_floats(insn, type, a, b, lanes, 16);
  if (insn->mode != SIM_M_NONE) {
    uint32_t with = sim_predicate(warp, insn, 2);
    low = join(insn->mode, low, with);
    high = join(insn->mode, high, with);
  }
  sim_predicate_set(warp, insn->dst, low, lanes);
  if (insn->dst2 != SIM_NO_ROW) {
    sim_predicate_set(warp, insn->dst2, high, lanes);
  }
}

/* What set writes for true: all ones, or 1.0 of a float type. */
static uint64_t true_value(unsigned type) {
  switch (type) {
    case SIM_F32: return sim_f32_bits(1);
    case SIM_F16: case SIM_F16X2: return 0x3c00;
    case SIM_BF16: case SIM_BF16X2: return 0x3f80;
    case SIM_U16: case SIM_S16: case SIM_B16: return 0xffff;
    default: return UINT32_MAX;
  }
}

static void set(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  uint64_t *d = sim_target(warp, insn), yes = true_value(insn->type);
  uint32_t bits = compare(warp, insn, insn->type2, lanes);
  if (insn->mode != SIM_M_NONE) {
    bits = join(insn->mode, bits, sim_predicate(warp, insn, 2));
  }
  SIM_EACH_LANE(l, lanes) {
    d[l] = bits >> l & 1 ? yes : 0;
  }
}

static void set_pair(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  unsigned type = insn->type2 == SIM_F16X2 ? SIM_F16 : SIM_BF16;
  const uint64_t *a = sim_source(warp, insn, 0), *b = sim_source(warp, insn, 1);
  uint64_t *d = sim_target(warp, insn), yes = true_value(insn->type) & 0xffff;
  uint32_t low = compare_floats(insn, type, a, b, lanes, 0);
  uint32_t high = compare_floats(insn, type, a, b, lanes, 16);
  if (insn->mode != SIM_M_NONE) {
    uint32_t with = sim_predicate(warp, insn, 2);
    low = join(insn->mode, low, with);
    high = join(insn->mode, high, with);
  }
  SIM_EACH_LANE(l, lanes) {
    d[l] = (low >> l & 1 ? yes : 0) | (high >> l & 1 ? yes << 16 : 0);
  }
}

static void selp(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *a = sim_source(warp, insn, 0), *b = sim_source(warp, insn, 1);
  uint32_t bits = sim_predicate(warp, insn, 2);
  uint64_t *d = sim_target(warp, insn);
  SIM_EACH_LANE(l, lanes) {
    d[l] = bits >> l & 1 ? a[l] : b[l];
  }
}

static void slct(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *a = sim_source(warp, insn, 0), *b = sim_source(warp, insn, 1);
  const uint64_t *c = sim_source(warp, insn, 2);
  uint64_t *d = sim_target(warp, insn);
  bool ftz = insn->flags & SIM_F_FTZ;
  SIM_EACH_LANE(l, lanes) {
    bool first = insn->type2 == SIM_F32 ? flushed((double)sim_f32(c[l]), ftz) >= 0
                                        : (int32_t)c[l] >= 0;
    d[l] = first ? a[l] : b[l];
  }
}

static bool comparable(unsigned type) {
  return sim_type_bytes(type) > 1 && type <= SIM_F64 && type != SIM_B128;
}

sim_exec_fn *sim_select_compare(const sim_insn *insn) {
  bool pair = insn->type2 == SIM_F16X2 || insn->type2 == SIM_BF16X2;
  switch (insn->op) {
    case SIM_OP_setp:
      if (insn->type == SIM_F16X2 || insn->type == SIM_BF16X2) {
        return setp_pair;
      }
      return comparable(insn->type) ? setp : NULL;
    case SIM_OP_set: return pair ? set_pair : comparable(insn->type2) ? set : NULL;
    case SIM_OP_selp: return sim_type_bytes(insn->type) > 1 && insn->type != SIM_B128 ? selp : NULL;
    case SIM_OP_slct: return insn->type2 == SIM_F32 || insn->type2 == SIM_S32 ? slct : NULL;
    default: return NULL;
  }
}
