/* SPDX-License-Identifier: MIT */
/* f16, bf16 and their pairs. Operands are exact in double; sums and fused products are rounded
 * once, by rounding to odd on the way (so that the second rounding cannot be wrong). */
#include <math.h>

#include "exec_lanes.h"

/* Digits, exponent bias and field width of the two half types. */
typedef struct shape {
  int digits, exponent_bits;
} shape;

static shape shape_of(unsigned type) {
  return type == SIM_F16 || type == SIM_F16X2 ? (shape){10, 5} : (shape){7, 8};
}

double sim_half_to_double(unsigned type, uint64_t bits) {
  shape s = shape_of(type);
  int bias = (1 << (s.exponent_bits - 1)) - 1, most = (1 << s.exponent_bits) - 1;
  int exponent = (int)(bits >> s.digits) & most;
  uint64_t fraction = bits & ((UINT64_C(1) << s.digits) - 1);
  double value;
  if (exponent == most) {
    value = fraction != 0 ? (double)NAN : (double)INFINITY;
  } else if (exponent == 0) {
    value = ldexp((double)fraction, 1 - bias - s.digits);
  } else {
    value = ldexp((double)(fraction | UINT64_C(1) << s.digits), exponent - bias - s.digits);
  }
  return bits >> 15 & 1 ? -value : value;
}

uint64_t sim_half_from_double(unsigned type, double value) {
  shape s = shape_of(type);
  int bias = (1 << (s.exponent_bits - 1)) - 1, most = (1 << s.exponent_bits) - 1, exponent;
  uint64_t sign = signbit(value) ? 0x8000 : 0, scaled;
  double magnitude = fabs(value);
  if (value != value) {
    return 0x7fff;
  }
  if (magnitude == 0) {
    return sign;
  }
  if (magnitude >= ldexp(1, bias + 1)) {
    return sign | (uint64_t)most << s.digits;
  }
  frexp(magnitude, &exponent);
  exponent = exponent - 1 < 1 - bias ? 1 - bias : exponent - 1;
  /* nearbyint rounds to nearest even; a carry moves into the exponent field by itself. */
  scaled = (uint64_t)nearbyint(ldexp(magnitude, s.digits - exponent));
  return sign | (scaled + ((uint64_t)(exponent + bias - 1) << s.digits));
}

double sim_float_value(unsigned type, uint64_t bits) {
  switch (type) {
    case SIM_F32: return (double)sim_f32(bits);
    case SIM_F64: return sim_f64(bits);
    default: return sim_half_to_double(type, bits);
  }
}

uint64_t sim_float_bits(unsigned type, double value) {
  switch (type) {
    case SIM_F32: return value != value ? 0x7fffffff : sim_f32_bits((float)value);
    case SIM_F64: return sim_f64_bits(value);
    default: return sim_half_from_double(type, value);
  }
}

/* a + b rounded to odd at 53 bits. */
static double add_to_odd(double a, double b) {
  double sum = a + b, back = sum - a;
  double error = (a - (sum - back)) + (b - back);
  uint64_t bits = sim_f64_bits(sum);
  if (isfinite(sum) && error != 0 && (bits & 1) == 0) {
    sum = nextafter(sum, error > 0 ? (double)INFINITY : -(double)INFINITY);
  }
  return sum;
}

static uint64_t flush_half(unsigned type, uint64_t bits, const sim_insn *insn) {
  shape s = shape_of(type);
  uint64_t field = ((UINT64_C(1) << s.exponent_bits) - 1) << s.digits;
  return insn->flags & SIM_F_FTZ && (bits & field) == 0 ? bits & 0x8000 : bits;
}

static double pick_minmax(const sim_insn *insn, double a, double b) {
  bool least = insn->op == SIM_OP_min;
  if (a != a || b != b) {
    return insn->flags & SIM_F_NAN || (a != a && b != b) ? (double)NAN : a != a ? b : a;
  }
  if (a == b) {
    return signbit(a) == least ? a : b;
  }
  return (a < b) == least ? a : b;
}

static double compute(const sim_insn *insn, double a, double b, double c) {
  switch (insn->op) {
    case SIM_OP_add: return add_to_odd(a, b);
    case SIM_OP_sub: return add_to_odd(a, -b);
    case SIM_OP_mul: return a * b;
    case SIM_OP_fma: case SIM_OP_mad: return add_to_odd(a * b, c);
    case SIM_OP_min: case SIM_OP_max: return pick_minmax(insn, a, b);
    case SIM_OP_ex2: return exp2(a);
    case SIM_OP_tanh: return tanh(a);
    case SIM_OP_rcp: return 1 / a;
    default: return a;
  }
}

static uint64_t one_half(const sim_insn *insn, unsigned type, uint64_t a, uint64_t b, uint64_t c) {
  uint64_t result;
  double value;
  a = flush_half(type, a & 0xffff, insn);
  b = flush_half(type, b & 0xffff, insn);
  c = flush_half(type, c & 0xffff, insn);
  if (insn->op == SIM_OP_neg) {
    return a ^ 0x8000;
  }
  if (insn->op == SIM_OP_abs) {
    return a & 0x7fff;
  }
  value = compute(insn, sim_half_to_double(type, a), sim_half_to_double(type, b),
                  sim_half_to_double(type, c));
  result = flush_half(type, sim_half_from_double(type, value), insn);
  if (insn->flags & SIM_F_SAT) {
    value = sim_half_to_double(type, result);
    result = sim_half_from_double(type, value > 0 ? (value < 1 ? value : 1) : 0);
  }
  if (insn->flags & SIM_F_RELU && result != 0x7fff && (result & 0x8000) != 0) {
    result = 0;
  }
  return result;
}

static void half(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *a = sim_source(warp, insn, 0), *b = sim_source(warp, insn, 1);
  const uint64_t *c = sim_source(warp, insn, 2);
  uint64_t *d = sim_target(warp, insn);
  bool pair = insn->type == SIM_F16X2 || insn->type == SIM_BF16X2;
  unsigned type = insn->type == SIM_F16X2 ? SIM_F16 : insn->type == SIM_BF16X2 ? SIM_BF16
                                                                             : insn->type;
  SIM_EACH_LANE(l, lanes) {
    uint64_t low = one_half(insn, type, a[l], b[l], c[l]);
    d[l] = pair ? low | one_half(insn, type, a[l] >> 16, b[l] >> 16, c[l] >> 16) << 16 : low;
  }
}

sim_exec_fn *sim_select_half(const sim_insn *insn) {
  bool is_half = insn->type == SIM_F16 || insn->type == SIM_BF16 || insn->type == SIM_F16X2 ||
                 insn->type == SIM_BF16X2;
  if (!is_half || insn->type2 != SIM_T_NONE || insn->rounding > SIM_RN ||
      insn->flags & SIM_F_XORSIGN) {
    return NULL;
  }
  switch (insn->op) {
    case SIM_OP_add: case SIM_OP_sub: case SIM_OP_mul: case SIM_OP_fma: case SIM_OP_mad:
    case SIM_OP_ex2: case SIM_OP_tanh: case SIM_OP_neg: case SIM_OP_abs: return half;
    case SIM_OP_min: case SIM_OP_max: return insn->operands == 2 ? half : NULL;
    default: return NULL;
  }
}
