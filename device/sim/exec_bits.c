/* SPDX-License-Identifier: MIT */
/* Bits: logic on registers and predicates, shifts, fields, permutes. */
#include "exec_lanes.h"

SIM_RAW2(and_bits, a & b)
SIM_RAW2(or_bits, a | b)
SIM_RAW2(xor_bits, a ^ b)
SIM_RAW1(not_bits, ~a)
SIM_UNARY(cnot_16, uint16_t, uint16_t, a == 0)
SIM_UNARY(cnot_32, uint32_t, uint32_t, a == 0)
SIM_UNARY(cnot_64, uint64_t, uint64_t, a == 0)

SIM_LANEWISE(shl_16, SIM_LOAD2, uint16_t a = (uint16_t)pa[l]; uint32_t n = (uint32_t)pb[l],
             uint16_t, n > 15 ? 0u : (uint32_t)a << n)
SIM_LANEWISE(shl_32, SIM_LOAD2, uint32_t a = (uint32_t)pa[l]; uint32_t n = (uint32_t)pb[l],
             uint32_t, n > 31 ? 0u : a << n)
SIM_LANEWISE(shl_64, SIM_LOAD2, uint64_t a = pa[l]; uint32_t n = (uint32_t)pb[l], uint64_t,
             n > 63 ? 0u : a << n)
SIM_LANEWISE(shr_u16, SIM_LOAD2, uint16_t a = (uint16_t)pa[l]; uint32_t n = (uint32_t)pb[l],
             uint16_t, n > 15 ? 0 : a >> n)
SIM_LANEWISE(shr_u32, SIM_LOAD2, uint32_t a = (uint32_t)pa[l]; uint32_t n = (uint32_t)pb[l],
             uint32_t, n > 31 ? 0 : a >> n)
SIM_LANEWISE(shr_u64, SIM_LOAD2, uint64_t a = pa[l]; uint32_t n = (uint32_t)pb[l], uint64_t,
             n > 63 ? 0 : a >> n)
SIM_LANEWISE(shr_s16, SIM_LOAD2, int16_t a = (int16_t)pa[l]; uint32_t n = (uint32_t)pb[l],
             uint16_t, a >> (n > 15 ? 15 : n))
SIM_LANEWISE(shr_s32, SIM_LOAD2, int32_t a = (int32_t)pa[l]; uint32_t n = (uint32_t)pb[l],
             uint32_t, a >> (n > 31 ? 31 : n))
SIM_LANEWISE(shr_s64, SIM_LOAD2, int64_t a = (int64_t)pa[l]; uint32_t n = (uint32_t)pb[l],
             uint64_t, a >> (n > 63 ? 63 : n))

/* shf: a is the low word, b the high one. */
#define BOTH ((uint64_t)(uint32_t)b << 32 | (uint32_t)a)
#define WRAPPED ((uint32_t)c & 31)
#define CLAMPED ((uint32_t)c > 32 ? 32 : (uint32_t)c)
SIM_RAW3(shf_left_wrap, (uint32_t)((BOTH << WRAPPED) >> 32))
SIM_RAW3(shf_right_wrap, (uint32_t)(BOTH >> WRAPPED))
SIM_RAW3(shf_left_clamp, (uint32_t)((BOTH << CLAMPED) >> 32))
SIM_RAW3(shf_right_clamp, (uint32_t)(BOTH >> CLAMPED))

/* Minterms of the table are or'ed: bit 4*a + 2*b + c of the table is the result. */
static void lop3(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *pa = sim_source(warp, insn, 0), *pb = sim_source(warp, insn, 1);
  const uint64_t *pc = sim_source(warp, insn, 2);
  uint64_t *d = sim_target(warp, insn), out[SIM_LANES], on[8];
  for (int k = 0; k < 8; k++) {
    on[k] = insn->offset >> k & 1 ? UINT32_MAX : 0;
  }
  for (int l = 0; l < SIM_LANES; l++) {
    uint64_t a = pa[l], b = pb[l], c = pc[l];
    out[l] = (~a & ((~b & ((~c & on[0]) | (c & on[1]))) | (b & ((~c & on[2]) | (c & on[3]))))) |
             (a & ((~b & ((~c & on[4]) | (c & on[5]))) | (b & ((~c & on[6]) | (c & on[7])))));
  }
  SIM_EACH_LANE(l, lanes) {
    d[l] = out[l];
  }
}

static uint32_t permute(uint64_t both, uint32_t selector) {
  uint32_t result = 0;
  for (unsigned k = 0; k < 4; k++) {
    uint32_t pick = selector >> (k * 4) & 15;
    uint32_t byte = (uint32_t)(both >> ((pick & 7) * 8)) & 0xff;
    byte = pick & 8 ? (byte & 0x80 ? 0xff : 0) : byte;
    result |= byte << (k * 8);
  }
  return result;
}

/* The selector that a mode of prmt stands for; only its two low bits count. */
static uint32_t mode_selector(unsigned mode, uint32_t c) {
  static const uint16_t f4e[] = {0x3210, 0x4321, 0x5432, 0x6543};
  static const uint16_t b4e[] = {0x5670, 0x6701, 0x7012, 0x0123};
  static const uint16_t rc8[] = {0x0000, 0x1111, 0x2222, 0x3333};
  static const uint16_t ecl[] = {0x3210, 0x3211, 0x3222, 0x3333};
  static const uint16_t ecr[] = {0x0000, 0x1110, 0x2210, 0x3210};
  static const uint16_t rc16[] = {0x1010, 0x3232, 0x1010, 0x3232};
  switch (mode) {
    case SIM_M_F4E: return f4e[c & 3];
    case SIM_M_B4E: return b4e[c & 3];
    case SIM_M_RC8: return rc8[c & 3];
    case SIM_M_ECL: return ecl[c & 3];
    case SIM_M_ECR: return ecr[c & 3];
    case SIM_M_RC16: return rc16[c & 3];
    default: return c;
  }
}

static void prmt(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *a = sim_source(warp, insn, 0), *b = sim_source(warp, insn, 1);
  const uint64_t *c = sim_source(warp, insn, 2);
  uint64_t *d = sim_target(warp, insn);
  SIM_EACH_LANE(l, lanes) {
    d[l] = permute(b[l] << 32 | (uint32_t)a[l], mode_selector(insn->mode, (uint32_t)c[l]));
  }
}

SIM_UNARY(popc_32, uint32_t, uint32_t, __builtin_popcount(a))
SIM_UNARY(popc_64, uint64_t, uint32_t, __builtin_popcountll(a))
SIM_UNARY(clz_32, uint32_t, uint32_t, a == 0 ? 32 : __builtin_clz(a))
SIM_UNARY(clz_64, uint64_t, uint32_t, a == 0 ? 64 : __builtin_clzll(a))

static uint64_t reverse(uint64_t value, unsigned bits) {
  uint64_t result = 0;
  for (unsigned i = 0; i < bits; i++) {
    result = result << 1 | (value >> i & 1);
  }
  return result;
}

SIM_UNARY(brev_32, uint32_t, uint32_t, reverse(a, 32))
SIM_UNARY(brev_64, uint64_t, uint64_t, reverse(a, 64))

static void bfind(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *a = sim_source(warp, insn, 0);
  uint64_t *d = sim_target(warp, insn);
  unsigned bits = sim_type_bytes(insn->type) * 8;
  SIM_EACH_LANE(l, lanes) {
    uint64_t value = sim_zero_extend(insn->type, a[l]);
    uint32_t place = UINT32_MAX;
    if (sim_type_signed(insn->type) && value >> (bits - 1) != 0) {
      value = sim_zero_extend(insn->type, ~value);
    }
    if (value != 0) {
      place = 63 - (uint32_t)__builtin_clzll(value);
      place = insn->flags & SIM_F_SHIFTAMT ? bits - 1 - place : place;
    }
    d[l] = place;
  }
}

static void bfe(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *a = sim_source(warp, insn, 0), *b = sim_source(warp, insn, 1);
  const uint64_t *c = sim_source(warp, insn, 2);
  uint64_t *d = sim_target(warp, insn);
  unsigned bits = sim_type_bytes(insn->type) * 8;
  SIM_EACH_LANE(l, lanes) {
    uint64_t value = sim_zero_extend(insn->type, a[l]), field;
    unsigned from = b[l] & 0xff, length = c[l] & 0xff, top;
    field = from >= bits ? 0 : value >> from;
    field = length < 64 ? field & ((UINT64_C(1) << length) - 1) : field;
    if (sim_type_signed(insn->type) && length != 0) {
      top = from + length - 1 < bits - 1 ? from + length - 1 : bits - 1;
      if (value >> top & 1) {
        unsigned kept = top >= from ? top - from + 1 : 0;
        field |= kept < 64 ? UINT64_MAX << kept : 0;
      }
    }
    d[l] = length == 0 ? 0 : sim_zero_extend(insn->type, field);
  }
}

static void bfi(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *a = sim_source(warp, insn, 0), *b = sim_source(warp, insn, 1);
  const uint64_t *c = sim_source(warp, insn, 2), *n = sim_source(warp, insn, 3);
  uint64_t *d = sim_target(warp, insn);
  unsigned bits = sim_type_bytes(insn->type) * 8;
  SIM_EACH_LANE(l, lanes) {
    unsigned from = c[l] & 0xff, length = n[l] & 0xff;
    uint64_t mask = length >= 64 ? UINT64_MAX : (UINT64_C(1) << length) - 1;
    mask = from >= bits ? 0 : mask << from;
    d[l] = sim_zero_extend(insn->type, (b[l] & ~mask) | (a[l] << (from & 63) & mask));
  }
}

/* bmsk.mode.b32 d, a, b: b ones from bit a. */
static void bmsk(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *a = sim_source(warp, insn, 0), *b = sim_source(warp, insn, 1);
  uint64_t *d = sim_target(warp, insn);
  bool wrap = insn->flags & SIM_F_WRAP;
  SIM_EACH_LANE(l, lanes) {
    uint32_t from = (uint32_t)a[l], length = (uint32_t)b[l];
    uint64_t ones;
    from = wrap ? from & 31 : from;
    length = wrap ? length & 31 : length;
    ones = length > 31 ? UINT32_MAX : (UINT64_C(1) << length) - 1;
    d[l] = from > 31 ? 0 : (uint32_t)(ones << from);
  }
}

/* szext.mode.type d, a, b: keeps b low bits. */
static void szext(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *a = sim_source(warp, insn, 0), *b = sim_source(warp, insn, 1);
  uint64_t *d = sim_target(warp, insn);
  SIM_EACH_LANE(l, lanes) {
    uint32_t value = (uint32_t)a[l], length = (uint32_t)b[l];
    length = insn->flags & SIM_F_WRAP ? length & 31 : length;
    if (length < 32) {
      uint32_t low = (UINT32_C(1) << length) - 1;
      bool negative = insn->type == SIM_S32 && length != 0 && value >> (length - 1) & 1;
      value = negative ? value | ~low : value & low;
    }
    d[l] = value;
  }
}

/* fns: the place of the n-th set bit from a base, upwards or downwards. */
static void fns(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *a = sim_source(warp, insn, 0), *b = sim_source(warp, insn, 1);
  const uint64_t *c = sim_source(warp, insn, 2);
  uint64_t *d = sim_target(warp, insn);
  SIM_EACH_LANE(l, lanes) {
    uint32_t mask = (uint32_t)a[l], found = UINT32_MAX;
    int64_t place = (int64_t)((uint32_t)b[l] & 31), left = (int32_t)c[l];
    int64_t direction = left < 0 ? -1 : 1;
    if (left == 0) {
      found = mask >> place & 1 ? (uint32_t)place : UINT32_MAX;
    }
    for (left *= direction; left != 0 && place >= 0 && place < 32; place += direction) {
      if (mask >> place & 1 && --left == 0) {
        found = (uint32_t)place;
      }
    }
    d[l] = found;
  }
}

static void predicate_logic(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  uint32_t a = sim_predicate(warp, insn, 0), b = sim_predicate(warp, insn, 1);
  switch (insn->op) {
    case SIM_OP_and: a &= b; break;
    case SIM_OP_or: a |= b; break;
    case SIM_OP_xor: a ^= b; break;
    default: a = ~a; break;
  }
  sim_predicate_set(warp, insn->dst, a, lanes);
}

static sim_exec_fn *select_shift(const sim_insn *insn) {
  bool is_signed = sim_type_signed(insn->type), left = insn->op == SIM_OP_shl;
  switch (sim_type_bytes(insn->type)) {
    case 2: return left ? shl_16 : is_signed ? shr_s16 : shr_u16;
    case 4: return left ? shl_32 : is_signed ? shr_s32 : shr_u32;
    case 8: return left ? shl_64 : is_signed ? shr_s64 : shr_u64;
    default: return NULL;
  }
}

static sim_exec_fn *select_funnel(const sim_insn *insn) {
  bool wrap = insn->flags & SIM_F_WRAP;
  return insn->flags & SIM_F_LEFT ? (wrap ? shf_left_wrap : shf_left_clamp)
                                  : (wrap ? shf_right_wrap : shf_right_clamp);
}

sim_exec_fn *sim_select_bits(const sim_insn *insn) {
  unsigned bytes = sim_type_bytes(insn->type);
  bool wide = bytes == 8;
  if (insn->type == SIM_PRED) {
    bool logic = insn->op == SIM_OP_and || insn->op == SIM_OP_or || insn->op == SIM_OP_xor ||
                 insn->op == SIM_OP_not;
    return logic ? predicate_logic : NULL;
  }
  if (bytes < 2 || insn->type > SIM_S64 || insn->type == SIM_B128) {
    return NULL;
  }
  switch (insn->op) {
    case SIM_OP_and: return and_bits;
    case SIM_OP_or: return or_bits;
    case SIM_OP_xor: return xor_bits;
    case SIM_OP_not: return not_bits;
    case SIM_OP_cnot: return bytes == 2 ? cnot_16 : wide ? cnot_64 : cnot_32;
    case SIM_OP_shl: case SIM_OP_shr: return select_shift(insn);
    case SIM_OP_shf: return bytes == 4 ? select_funnel(insn) : NULL;
    case SIM_OP_lop3: return bytes == 4 ? lop3 : NULL;
    case SIM_OP_prmt: return bytes == 4 ? prmt : NULL;
    default: break;
  }
  if (bytes < 4) {
    return NULL;
  }
  switch (insn->op) {
    case SIM_OP_popc: return wide ? popc_64 : popc_32;
    case SIM_OP_clz: return wide ? clz_64 : clz_32;
    case SIM_OP_brev: return wide ? brev_64 : brev_32;
    case SIM_OP_bfind: return bfind;
    case SIM_OP_bfe: return bfe;
    case SIM_OP_bfi: return bfi;
    case SIM_OP_bmsk: return wide ? NULL : bmsk;
    case SIM_OP_szext: return wide ? NULL : szext;
    case SIM_OP_fns: return wide ? NULL : fns;
    default: return NULL;
  }
}
