/* SPDX-License-Identifier: MIT */
/* Integer arithmetic: add to madc, with carries, saturation and the packed 16-bit pairs. */
#include "exec_lanes.h"

typedef unsigned __int128 u128;
typedef __int128 i128;

SIM_BINARY(add_16, uint16_t, uint16_t, a + b)
SIM_BINARY(add_32, uint32_t, uint32_t, a + b)
SIM_BINARY(add_64, uint64_t, uint64_t, a + b)
SIM_BINARY(sub_16, uint16_t, uint16_t, a - b)
SIM_BINARY(sub_32, uint32_t, uint32_t, a - b)
SIM_BINARY(sub_64, uint64_t, uint64_t, a - b)
SIM_BINARY(mul_16, uint16_t, uint16_t, (uint32_t)a * b)
SIM_BINARY(mul_32, uint32_t, uint32_t, a * b)
SIM_BINARY(mul_64, uint64_t, uint64_t, a * b)
SIM_TERNARY(mad_16, uint16_t, uint16_t, (uint32_t)a * b + c)
SIM_TERNARY(mad_32, uint32_t, uint32_t, a * b + c)
SIM_TERNARY(mad_64, uint64_t, uint64_t, a * b + c)
SIM_BINARY(mulhi_s16, int16_t, uint16_t, (a * b) >> 16)
SIM_BINARY(mulhi_u16, uint16_t, uint16_t, ((uint32_t)a * b) >> 16)
SIM_BINARY(mulhi_s32, int32_t, uint32_t, ((int64_t)a * b) >> 32)
SIM_BINARY(mulhi_u32, uint32_t, uint32_t, ((uint64_t)a * b) >> 32)
SIM_BINARY(mulhi_s64, int64_t, uint64_t, ((i128)a * b) >> 64)
SIM_BINARY(mulhi_u64, uint64_t, uint64_t, ((u128)a * b) >> 64)
SIM_TERNARY(madhi_s16, int16_t, uint16_t, ((a * b) >> 16) + c)
SIM_TERNARY(madhi_u16, uint16_t, uint16_t, (((uint32_t)a * b) >> 16) + c)
SIM_TERNARY(madhi_s32, int32_t, uint32_t, (uint64_t)(((int64_t)a * b) >> 32) + (uint64_t)c)
SIM_TERNARY(madhi_u32, uint32_t, uint32_t, (((uint64_t)a * b) >> 32) + c)
SIM_TERNARY(madhi_s64, int64_t, uint64_t, (uint64_t)(((i128)a * b) >> 64) + (uint64_t)c)
SIM_TERNARY(madhi_u64, uint64_t, uint64_t, (uint64_t)(((u128)a * b) >> 64) + c)
SIM_BINARY(mulwide_s16, int16_t, uint32_t, a * b)
SIM_BINARY(mulwide_u16, uint16_t, uint32_t, (uint32_t)a * b)
SIM_BINARY(mulwide_s32, int32_t, uint64_t, (int64_t)a * b)
SIM_BINARY(mulwide_u32, uint32_t, uint64_t, (uint64_t)a * b)
SIM_RAW3(madwide_s16, (uint32_t)((int16_t)a * (int16_t)b) + (uint32_t)c)
SIM_RAW3(madwide_u16, (uint32_t)(uint16_t)a * (uint16_t)b + (uint32_t)c)
SIM_RAW3(madwide_s32, (uint64_t)((int64_t)(int32_t)a * (int32_t)b) + c)
SIM_RAW3(madwide_u32, (uint64_t)(uint32_t)a * (uint32_t)b + c)

static int32_t clamp_s32(int64_t value) {
  return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (int32_t)value;
}

SIM_BINARY(add_sat, int32_t, uint32_t, clamp_s32((int64_t)a + b))
SIM_BINARY(sub_sat, int32_t, uint32_t, clamp_s32((int64_t)a - b))
SIM_TERNARY(madhi_sat, int32_t, uint32_t, clamp_s32((((int64_t)a * b) >> 32) + c))

/* Division by zero gives all ones, as the hardware's sequence does. */
SIM_BINARY(div_u16, uint16_t, uint16_t, b == 0 ? UINT16_MAX : a / b)
SIM_BINARY(div_u32, uint32_t, uint32_t, b == 0 ? UINT32_MAX : a / b)
SIM_BINARY(div_u64, uint64_t, uint64_t, b == 0 ? UINT64_MAX : a / b)
SIM_BINARY(div_s16, int16_t, uint16_t, b == 0 ? -1 : a / b)
SIM_BINARY(div_s32, int32_t, uint32_t, b == 0 ? UINT32_MAX : (uint32_t)((int64_t)a / b))
SIM_BINARY(div_s64, int64_t, uint64_t,
           b == 0 ? UINT64_MAX : b == -1 ? 0 - (uint64_t)a : (uint64_t)(a / b))
SIM_BINARY(rem_u16, uint16_t, uint16_t, b == 0 ? a : a % b)
SIM_BINARY(rem_u32, uint32_t, uint32_t, b == 0 ? a : a % b)
SIM_BINARY(rem_u64, uint64_t, uint64_t, b == 0 ? a : a % b)
SIM_BINARY(rem_s16, int16_t, uint16_t, b == 0 ? a : a % b)
SIM_BINARY(rem_s32, int32_t, uint32_t, b == 0 ? a : (int64_t)a % b)
SIM_BINARY(rem_s64, int64_t, uint64_t, b == 0 ? a : b == -1 ? 0 : a % b)

SIM_UNARY(abs_16, int16_t, uint16_t, a < 0 ? -a : a)
SIM_UNARY(abs_32, int32_t, uint32_t, a < 0 ? 0 - (uint32_t)a : (uint32_t)a)
SIM_UNARY(abs_64, int64_t, uint64_t, a < 0 ? 0 - (uint64_t)a : (uint64_t)a)
SIM_UNARY(neg_16, uint16_t, uint16_t, 0 - (uint32_t)a)
SIM_UNARY(neg_32, uint32_t, uint32_t, 0 - a)
SIM_UNARY(neg_64, uint64_t, uint64_t, 0 - a)

#define MINMAX(T, suffix, R) \
  SIM_BINARY(min_##suffix, T, R, a < b ? a : b) \
  SIM_BINARY(max_##suffix, T, R, a > b ? a : b)
MINMAX(uint16_t, u16, uint16_t)
MINMAX(uint32_t, u32, uint32_t)
MINMAX(uint64_t, u64, uint64_t)
MINMAX(int16_t, s16, uint16_t)
MINMAX(int32_t, s32, uint32_t)
MINMAX(int64_t, s64, uint64_t)
SIM_BINARY(min_relu, int32_t, uint32_t, (a < b ? a : b) > 0 ? (a < b ? a : b) : 0)
SIM_BINARY(max_relu, int32_t, uint32_t, (a > b ? a : b) > 0 ? (a > b ? a : b) : 0)

SIM_TERNARY(sad_u16, uint16_t, uint16_t, c + (a > b ? a - b : b - a))
SIM_TERNARY(sad_u32, uint32_t, uint32_t, c + (a > b ? a - b : b - a))
SIM_TERNARY(sad_u64, uint64_t, uint64_t, c + (a > b ? a - b : b - a))
SIM_TERNARY(sad_s16, int16_t, uint16_t, c + (a > b ? a - b : b - a))
SIM_TERNARY(sad_s32, int32_t, uint32_t,
            (uint32_t)c + (a > b ? (uint32_t)a - (uint32_t)b : (uint32_t)b - (uint32_t)a))
SIM_TERNARY(sad_s64, int64_t, uint64_t,
            (uint64_t)c + (a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a))

/* Pairs of 16-bit values in 32 bits. */
#define PAIR(low, high) ((uint32_t)(uint16_t)(low) | (uint32_t)(uint16_t)(high) << 16)
SIM_BINARY(add_x2, uint32_t, uint32_t, PAIR(a + b, (a >> 16) + (b >> 16)))
#define LOW(x) ((int16_t)(x))
#define HIGH(x) ((int16_t)((x) >> 16))
#define LEAST(x, y) ((x) < (y) ? (x) : (y))
#define MOST(x, y) ((x) > (y) ? (x) : (y))
SIM_BINARY(min_s16x2, uint32_t, uint32_t,
           PAIR(LEAST(LOW(a), LOW(b)), LEAST(HIGH(a), HIGH(b))))
SIM_BINARY(max_s16x2, uint32_t, uint32_t, PAIR(MOST(LOW(a), LOW(b)), MOST(HIGH(a), HIGH(b))))
SIM_BINARY(min_s16x2_relu, uint32_t, uint32_t,
           PAIR(MOST(LEAST(LOW(a), LOW(b)), 0), MOST(LEAST(HIGH(a), HIGH(b)), 0)))
SIM_BINARY(max_s16x2_relu, uint32_t, uint32_t,
           PAIR(MOST(MOST(LOW(a), LOW(b)), 0), MOST(MOST(HIGH(a), HIGH(b)), 0)))
SIM_BINARY(min_u16x2, uint32_t, uint32_t,
           PAIR(LEAST((uint16_t)a, (uint16_t)b), LEAST(a >> 16, b >> 16)))
SIM_BINARY(max_u16x2, uint32_t, uint32_t,
           PAIR(MOST((uint16_t)a, (uint16_t)b), MOST(a >> 16, b >> 16)))

static int64_t low24(uint64_t value, bool is_signed) {
  return is_signed ? (int32_t)((uint32_t)value << 8) >> 8 : (int64_t)(value & 0xffffff);
}

static void multiply24(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *a = sim_source(warp, insn, 0), *b = sim_source(warp, insn, 1);
  const uint64_t *c = sim_source(warp, insn, 2);
  uint64_t *d = sim_target(warp, insn);
  bool is_signed = sim_type_signed(insn->type);
  SIM_EACH_LANE(l, lanes) {
    int64_t product = low24(a[l], is_signed) * low24(b[l], is_signed);
    uint32_t value = (uint32_t)(insn->flags & SIM_F_HI ? product >> 16 : product);
    d[l] = insn->op == SIM_OP_mad24 ? value + (uint32_t)c[l] : value;
  }
}

/* add.cc, addc, sub.cc, subc: one carry bit a lane. */
static void add_carry(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *a = sim_source(warp, insn, 0), *b = sim_source(warp, insn, 1);
  uint64_t *d = sim_target(warp, insn);
  unsigned bits = sim_type_bytes(insn->type) * 8;
  bool in = insn->op == SIM_OP_addc;
  SIM_EACH_LANE(l, lanes) {
    u128 sum = (u128)sim_zero_extend(insn->type, a[l]) + sim_zero_extend(insn->type, b[l]) +
               (in ? warp->carry[l] : 0u);
    if (insn->flags & SIM_F_CC) {
      warp->carry[l] = (uint8_t)(sum >> bits & 1);
    }
    d[l] = sim_zero_extend(insn->type, (uint64_t)sum);
  }
}

static void sub_carry(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *a = sim_source(warp, insn, 0), *b = sim_source(warp, insn, 1);
  uint64_t *d = sim_target(warp, insn);
  bool in = insn->op == SIM_OP_subc;
  SIM_EACH_LANE(l, lanes) {
    u128 from = sim_zero_extend(insn->type, a[l]);
    u128 taken = (u128)sim_zero_extend(insn->type, b[l]) + (in ? warp->carry[l] : 0u);
    if (insn->flags & SIM_F_CC) {
      warp->carry[l] = taken > from; /* the borrow */
    }
    d[l] = sim_zero_extend(insn->type, (uint64_t)(from - taken));
  }
}

/* mad.cc and madc, low or high half. */
static void mad_carry(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *a = sim_source(warp, insn, 0), *b = sim_source(warp, insn, 1);
  const uint64_t *c = sim_source(warp, insn, 2);
  uint64_t *d = sim_target(warp, insn);
  unsigned type = insn->type, bits = sim_type_bytes(type) * 8;
  SIM_EACH_LANE(l, lanes) {
    u128 product = sim_type_signed(type)
                       ? (u128)((i128)sim_sign_extend(type, a[l]) * sim_sign_extend(type, b[l]))
                       : (u128)sim_zero_extend(type, a[l]) * sim_zero_extend(type, b[l]);
    u128 part = sim_zero_extend(type, (uint64_t)(insn->flags & SIM_F_HI ? product >> bits
                                                                         : product));
    u128 sum = part + sim_zero_extend(type, c[l]) +
               (insn->op == SIM_OP_madc ? warp->carry[l] : 0u);
    if (insn->flags & SIM_F_CC) {
      warp->carry[l] = (uint8_t)(sum >> bits & 1);
    }
    d[l] = sim_zero_extend(type, (uint64_t)sum);
  }
}

static int32_t part_of(uint64_t value, unsigned type, unsigned bits, unsigned at) {
  uint32_t part = (uint32_t)(value >> at);
  if (bits == 8) {
    return sim_type_signed(type) ? (int8_t)part : (uint8_t)part;
  }
  return sim_type_signed(type) ? (int16_t)part : (uint16_t)part;
}

/* dp4a.atype.btype and dp2a.mode.atype.btype */
static void dot(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *a = sim_source(warp, insn, 0), *b = sim_source(warp, insn, 1);
  const uint64_t *c = sim_source(warp, insn, 2);
  uint64_t *d = sim_target(warp, insn);
  unsigned type2 = insn->type2 != SIM_T_NONE ? insn->type2 : insn->type;
  unsigned wide = insn->op == SIM_OP_dp4a ? 8 : 16;
  unsigned first = insn->flags & SIM_F_HI ? 16 : 0; /* dp2a: which half of b */
  SIM_EACH_LANE(l, lanes) {
    uint32_t sum = (uint32_t)c[l];
    for (unsigned i = 0; i < 32 / wide; i++) {
      sum += (uint32_t)part_of(a[l], insn->type, wide, i * wide) *
             (uint32_t)part_of(b[l], type2, 8, first + i * 8);
    }
    d[l] = sum;
  }
}

/* vabsdiff4.u32.u32.u32{.add}: four differences of bytes, their sum on top of c with .add. */
static void byte_differences(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *a = sim_source(warp, insn, 0), *b = sim_source(warp, insn, 1);
  const uint64_t *c = sim_source(warp, insn, 2);
  uint64_t *d = sim_target(warp, insn);
  SIM_EACH_LANE(l, lanes) {
    uint32_t packed = 0, sum = (uint32_t)c[l];
    for (unsigned i = 0; i < 32; i += 8) {
      uint32_t x = a[l] >> i & 0xff, y = b[l] >> i & 0xff, difference = x > y ? x - y : y - x;
      packed |= difference << i;
      sum += difference;
    }
    d[l] = insn->mode == SIM_M_ADD ? sum : packed;
  }
}

static sim_exec_fn *by_width(const sim_insn *insn, sim_exec_fn *bits16, sim_exec_fn *bits32,
                             sim_exec_fn *bits64) {
  switch (sim_type_bytes(insn->type)) {
    case 2: return bits16;
    case 4: return bits32;
    case 8: return bits64;
    default: return NULL;
  }
}

static sim_exec_fn *by_type(const sim_insn *insn, sim_exec_fn *const table[6]) {
  sim_exec_fn *const *at = sim_type_signed(insn->type) ? table + 3 : table;
  return by_width(insn, at[0], at[1], at[2]);
}

static sim_exec_fn *select_multiply(const sim_insn *insn) {
  static sim_exec_fn *const high[6] = {mulhi_u16, mulhi_u32, mulhi_u64,
                                       mulhi_s16, mulhi_s32, mulhi_s64};
  static sim_exec_fn *const mad_high[6] = {madhi_u16, madhi_u32, madhi_u64,
                                           madhi_s16, madhi_s32, madhi_s64};
  static sim_exec_fn *const wide[6] = {mulwide_u16, mulwide_u32, NULL,
                                       mulwide_s16, mulwide_s32, NULL};
  static sim_exec_fn *const mad_wide[6] = {madwide_u16, madwide_u32, NULL,
                                           madwide_s16, madwide_s32, NULL};
  bool mad = insn->op == SIM_OP_mad;
  if (insn->op == SIM_OP_madc || insn->flags & SIM_F_CC) {
    return insn->flags & SIM_F_WIDE || !by_width(insn, NULL, mad_carry, mad_carry) ? NULL
                                                                                  : mad_carry;
  }
  if (insn->flags & SIM_F_SAT) {
    return mad && insn->flags & SIM_F_HI && insn->type == SIM_S32 ? madhi_sat : NULL;
  }
  if (insn->flags & SIM_F_WIDE) {
    return by_type(insn, mad ? mad_wide : wide);
  }
  if (insn->flags & SIM_F_HI) {
    return by_type(insn, mad ? mad_high : high);
  }
  return mad ? by_width(insn, mad_16, mad_32, mad_64) : by_width(insn, mul_16, mul_32, mul_64);
}

static sim_exec_fn *select_pairs(const sim_insn *insn) {
  bool relu = insn->flags & SIM_F_RELU;
  if (insn->op == SIM_OP_add) {
    return add_x2;
  }
  if (insn->op != SIM_OP_min && insn->op != SIM_OP_max) {
    return NULL;
  }
  if (insn->type == SIM_U16X2) {
    return relu ? NULL : insn->op == SIM_OP_min ? min_u16x2 : max_u16x2;
  }
  return insn->op == SIM_OP_min ? (relu ? min_s16x2_relu : min_s16x2)
                                : (relu ? max_s16x2_relu : max_s16x2);
}

static sim_exec_fn *select_minmax(const sim_insn *insn) {
  static sim_exec_fn *const least[6] = {min_u16, min_u32, min_u64, min_s16, min_s32, min_s64};
  static sim_exec_fn *const most[6] = {max_u16, max_u32, max_u64, max_s16, max_s32, max_s64};
  if (insn->flags & SIM_F_RELU) {
    return insn->type != SIM_S32 ? NULL : insn->op == SIM_OP_min ? min_relu : max_relu;
  }
  return by_type(insn, insn->op == SIM_OP_min ? least : most);
}

sim_exec_fn *sim_select_integer(const sim_insn *insn) {
  static sim_exec_fn *const divide[6] = {div_u16, div_u32, div_u64, div_s16, div_s32, div_s64};
  static sim_exec_fn *const remain[6] = {rem_u16, rem_u32, rem_u64, rem_s16, rem_s32, rem_s64};
  static sim_exec_fn *const sad[6] = {sad_u16, sad_u32, sad_u64, sad_s16, sad_s32, sad_s64};
  bool saturate = insn->flags & SIM_F_SAT, carry = insn->flags & SIM_F_CC;
  if (insn->type == SIM_U16X2 || insn->type == SIM_S16X2) {
    return select_pairs(insn);
  }
  if (insn->op == SIM_OP_vabsdiff4) {
    bool plain = insn->type == SIM_U32 && insn->type2 == SIM_U32 && !(insn->flags & SIM_F_SAT) &&
                 insn->operands == 3;
    return plain && (insn->mode == SIM_M_NONE || insn->mode == SIM_M_ADD) ? byte_differences : NULL;
  }
  if (insn->op == SIM_OP_dp4a || insn->op == SIM_OP_dp2a) {
    return insn->type == SIM_U32 || insn->type == SIM_S32 ? dot : NULL;
  }
  if (insn->type < SIM_B16 || insn->type > SIM_S64 || sim_type_bytes(insn->type) == 1) {
    return NULL;
  }
  if (saturate && (insn->op == SIM_OP_add || insn->op == SIM_OP_sub)) {
    return insn->type != SIM_S32 ? NULL : insn->op == SIM_OP_add ? add_sat : sub_sat;
  }
  switch (insn->op) {
    case SIM_OP_add:
      return carry ? add_carry : by_width(insn, add_16, add_32, add_64);
    case SIM_OP_sub:
      return carry ? sub_carry : by_width(insn, sub_16, sub_32, sub_64);
    case SIM_OP_addc: return add_carry;
    case SIM_OP_subc: return sub_carry;
    case SIM_OP_mul: case SIM_OP_mad: case SIM_OP_madc: return select_multiply(insn);
    case SIM_OP_mul24: case SIM_OP_mad24:
      return sim_type_bytes(insn->type) == 4 && !saturate ? multiply24 : NULL;
    case SIM_OP_div: return by_type(insn, divide);
    case SIM_OP_rem: return by_type(insn, remain);
    case SIM_OP_abs: return by_width(insn, abs_16, abs_32, abs_64);
    case SIM_OP_neg: return by_width(insn, neg_16, neg_32, neg_64);
    case SIM_OP_min: case SIM_OP_max: return select_minmax(insn);
    case SIM_OP_sad: return by_type(insn, sad);
    default: return NULL;
  }
}
