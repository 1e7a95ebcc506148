/* SPDX-License-Identifier: MIT */
/* cvt between integer and float types, with rounding and saturation, and packing of pairs.
 * Compiled with -frounding-math. */
#include <fenv.h>
#include <math.h>

#include "exec_lanes.h"

/* Plain widening and narrowing of integers, the bulk of what compilers emit. */
SIM_RAW1(to_u8, (uint8_t)a)
SIM_RAW1(to_u16, (uint16_t)a)
SIM_RAW1(to_u32, (uint32_t)a)
SIM_RAW1(to_64, a)
SIM_RAW1(from_s8_32, (uint32_t)(int8_t)a)
SIM_RAW1(from_s8_64, (uint64_t)(int64_t)(int8_t)a)
SIM_RAW1(from_s16_32, (uint32_t)(int16_t)a)
SIM_RAW1(from_s16_64, (uint64_t)(int64_t)(int16_t)a)
SIM_RAW1(from_s32_64, (uint64_t)(int64_t)(int32_t)a)
SIM_RAW1(s32_to_f32, sim_f32_bits((float)(int32_t)a))
SIM_RAW1(u32_to_f32, sim_f32_bits((float)(uint32_t)a))
SIM_RAW1(s32_to_f64, sim_f64_bits((double)(int32_t)a))
SIM_RAW1(u32_to_f64, sim_f64_bits((double)(uint32_t)a))
SIM_RAW1(f32_to_f64, sim_f64_bits((double)sim_f32(a)))

static void saturate_integer(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *a = sim_source(warp, insn, 0);
  uint64_t *d = sim_target(warp, insn);
  unsigned bits = sim_type_bytes(insn->type) * 8;
  bool to_signed = sim_type_signed(insn->type);
  uint64_t most = to_signed ? (UINT64_C(1) << (bits - 1)) - 1
                            : bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
  int64_t least = to_signed ? -(int64_t)most - 1 : 0;
  SIM_EACH_LANE(l, lanes) {
    if (sim_type_signed(insn->type2)) {
      int64_t value = sim_sign_extend(insn->type2, a[l]);
      value = value < least ? least : value > 0 && (uint64_t)value > most ? (int64_t)most : value;
      d[l] = sim_zero_extend(insn->type, (uint64_t)value);
    } else {
      uint64_t value = sim_zero_extend(insn->type2, a[l]);
      d[l] = sim_zero_extend(insn->type, value > most ? most : value);
    }
  }
}

static int rounding_mode(unsigned rounding) {
  switch (rounding) {
    case SIM_RZ: case SIM_RZI: return FE_TOWARDZERO;
    case SIM_RM: case SIM_RMI: return FE_DOWNWARD;
    case SIM_RP: case SIM_RPI: return FE_UPWARD;
    default: return FE_TONEAREST;
  }
}

static double flush_input(const sim_insn *insn, double value) {
  bool tiny = value < 0x1p-126 && value > -0x1p-126;
  return insn->flags & SIM_F_FTZ && insn->type2 == SIM_F32 && tiny ? value * 0 : value;
}

static uint64_t whole_to_type(double value, unsigned type) {
  unsigned bits = sim_type_bytes(type) * 8;
  if (value != value) {
    return bits == 64 ? UINT64_C(1) << 63 : 0; /* as the hardware does */
  }
  if (sim_type_signed(type)) {
    double limit = ldexp(1, (int)bits - 1);
    uint64_t most = (UINT64_C(1) << (bits - 1)) - 1;
    return sim_zero_extend(type, value >= limit    ? most
                                 : value <= -limit ? ~most
                                                   : (uint64_t)(int64_t)value);
  }
  if (value <= 0) {
    return 0;
  }
  return value >= ldexp(1, (int)bits) ? sim_zero_extend(type, UINT64_MAX) : (uint64_t)value;
}

static void float_to_integer(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *a = sim_source(warp, insn, 0);
  uint64_t *d = sim_target(warp, insn);
  fesetround(rounding_mode(insn->rounding));
  SIM_EACH_LANE(l, lanes) {
    double value = flush_input(insn, sim_float_value(insn->type2, a[l]));
    d[l] = whole_to_type(nearbyint(value), insn->type);
  }
  fesetround(FE_TONEAREST);
}

/* Rounds a double to f32 under a mode, or to a half type (nearest even or toward zero). */
static uint64_t narrow(unsigned type, double value, unsigned rounding) {
  uint64_t bits;
  double back;
  if (type == SIM_F64) {
    return sim_f64_bits(value);
  }
  if (type == SIM_F32) {
    return value != value ? 0x7fffffff : sim_f32_bits((float)value);
  }
  bits = sim_half_from_double(type, value);
  if (rounding == SIM_RN || rounding == SIM_R_NONE || value != value || isinf(value)) {
    return bits;
  }
  back = sim_half_to_double(type, bits);
  /* One step back where rounding to nearest went the wrong way; the bits order like numbers. */
  if (rounding == SIM_RZ) {
    bits -= fabs(back) > fabs(value);
  } else if (rounding == SIM_RM && back > value) {
    bits = bits & 0x8000 ? bits + 1 : bits - 1; /* no 0: what lies below it rounds to -0 */
  } else if (rounding == SIM_RP && back < value) {
    bits = bits & 0x8000 ? bits - 1 : bits + 1;
  }
  return bits;
}

static void integer_to_float(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *a = sim_source(warp, insn, 0);
  uint64_t *d = sim_target(warp, insn);
  bool is_signed = sim_type_signed(insn->type2), half = sim_type_bytes(insn->type) == 2;
  fesetround(half ? FE_TONEAREST : rounding_mode(insn->rounding));
  SIM_EACH_LANE(l, lanes) {
    int64_t s = sim_sign_extend(insn->type2, a[l]);
    uint64_t u = sim_zero_extend(insn->type2, a[l]);
    if (insn->type == SIM_F32) {
      d[l] = sim_f32_bits(is_signed ? (float)s : (float)u);
    } else if (insn->type == SIM_F64) {
      d[l] = sim_f64_bits(is_signed ? (double)s : (double)u);
    } else {
      /* Beyond 2^53 every half type is far past its last bit: a sticky bit keeps the rounding. */
      uint64_t magnitude = is_signed && s < 0 ? 0 - (uint64_t)s : u;
      double value;
      if (magnitude >> 50 != 0) {
        magnitude = magnitude >> 12 << 12 | (uint64_t)((magnitude & 0xfff) != 0) << 12;
      }
      value = (double)magnitude;
      d[l] = narrow(insn->type, is_signed && s < 0 ? -value : value, insn->rounding);
    }
  }
  fesetround(FE_TONEAREST);
}

static uint64_t float_result(const sim_insn *insn, unsigned type, double value) {
  uint64_t bits;
  if (insn->flags & SIM_F_SAT) {
    value = value > 0 ? (value < 1 ? value : 1) : 0;
  }
  if (insn->flags & SIM_F_RELU && value <= 0) {
    value = 0;
  }
  bits = narrow(type, value, insn->rounding);
  if (type == SIM_F32 && insn->flags & SIM_F_FTZ && (bits & 0x7f800000) == 0) {
    bits &= 0x80000000;
  }
  if (insn->flags & SIM_F_SATFINITE && (bits & 0x7fff) == (type == SIM_F16 ? 0x7c00 : 0x7f80)) {
    bits--; /* the largest finite number of the sign */
  }
  return bits;
}

static void float_to_float(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *a = sim_source(warp, insn, 0);
  uint64_t *d = sim_target(warp, insn);
  bool whole = insn->rounding >= SIM_RNI;
  fesetround(sim_type_bytes(insn->type) == 2 && !whole ? FE_TONEAREST
                                                       : rounding_mode(insn->rounding));
  SIM_EACH_LANE(l, lanes) {
    double value = flush_input(insn, sim_float_value(insn->type2, a[l]));
    value = whole ? nearbyint(value) : value;
    d[l] = float_result(insn, insn->type, value);
  }
  fesetround(FE_TONEAREST);
}

/* cvt.rn.f16x2.f32 d, a, b: a goes to the high half. */
static void pack_pair(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *a = sim_source(warp, insn, 0), *b = sim_source(warp, insn, 1);
  uint64_t *d = sim_target(warp, insn);
  unsigned type = insn->type == SIM_F16X2 ? SIM_F16 : SIM_BF16;
  SIM_EACH_LANE(l, lanes) {
    uint64_t high = float_result(insn, type, (double)sim_f32(a[l]));
    uint64_t low = float_result(insn, type, (double)sim_f32(b[l]));
    d[l] = high << 16 | low;
  }
}

/* tf32: f32 with 10 digits; .rna rounds halves away from zero, .rn to even. */
static void to_tf32(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *a = sim_source(warp, insn, 0);
  uint64_t *d = sim_target(warp, insn);
  SIM_EACH_LANE(l, lanes) {
    uint32_t bits = (uint32_t)a[l];
    if ((bits & 0x7f800000) == 0x7f800000) {
      d[l] = bits & 0x7fffff ? 0x7fffffff : bits;
      continue;
    }
    if (insn->rounding == SIM_RNA) {
      bits += 0x1000;
    } else if (insn->rounding != SIM_RZ) {
      bits += 0xfff + (bits >> 13 & 1);
    }
    d[l] = bits & ~UINT32_C(0x1fff);
  }
}

static sim_exec_fn *between_integers(const sim_insn *insn) {
  unsigned to = sim_type_bytes(insn->type), from = sim_type_bytes(insn->type2);
  if (insn->flags & SIM_F_SAT) {
    return saturate_integer;
  }
  if (from >= to || !sim_type_signed(insn->type2)) {
    unsigned least = from < to ? from : to;
    return least == 1 ? to_u8 : least == 2 ? to_u16 : least == 4 ? to_u32 : to_64;
  }
  if (from == 1) {
    return to == 8 ? from_s8_64 : from_s8_32;
  }
  if (from == 2) {
    return to == 8 ? from_s16_64 : from_s16_32;
  }
  return from_s32_64;
}

static bool is_integer(unsigned type) {
  return (type >= SIM_U8 && type <= SIM_S64) || (type >= SIM_B8 && type <= SIM_B64);
}

static sim_exec_fn *between_kinds(const sim_insn *insn) {
  bool nearest = insn->rounding == SIM_RN || insn->rounding == SIM_R_NONE;
  if (is_integer(insn->type)) {
    return float_to_integer;
  }
  if (!nearest || insn->flags & SIM_F_SAT) {
    return insn->flags & SIM_F_SAT ? NULL : integer_to_float;
  }
  if (insn->type == SIM_F32 && sim_type_bytes(insn->type2) == 4) {
    return insn->type2 == SIM_S32 ? s32_to_f32 : u32_to_f32;
  }
  if (insn->type == SIM_F64 && sim_type_bytes(insn->type2) == 4) {
    return insn->type2 == SIM_S32 ? s32_to_f64 : u32_to_f64;
  }
  return integer_to_float;
}

sim_exec_fn *sim_select_convert(const sim_insn *insn) {
  bool pair = insn->type == SIM_F16X2 || insn->type == SIM_BF16X2;
  if (insn->op != SIM_OP_cvt) {
    return NULL;
  }
  if (pair) {
    return insn->type2 == SIM_F32 && insn->operands == 2 ? pack_pair : NULL;
  }
  if (insn->type == SIM_TF32) {
    return insn->type2 == SIM_F32 && !(insn->flags & (SIM_F_RELU | SIM_F_SATFINITE)) ? to_tf32
                                                                                     : NULL;
  }
  if (insn->operands != 1) {
    return NULL;
  }
  if (is_integer(insn->type) && is_integer(insn->type2)) {
    return between_integers(insn);
  }
  if ((is_integer(insn->type) && sim_type_float(insn->type2)) ||
      (sim_type_float(insn->type) && is_integer(insn->type2))) {
    return between_kinds(insn);
  }
  if (sim_type_float(insn->type) && sim_type_float(insn->type2)) {
    bool plain = insn->flags == 0 && insn->rounding == SIM_R_NONE;
    return plain && insn->type == SIM_F64 && insn->type2 == SIM_F32 ? f32_to_f64 : float_to_float;
  }
  return NULL;
}
