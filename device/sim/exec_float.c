/* SPDX-License-Identifier: MIT */
/* f32 and f64 arithmetic. Compiled with -frounding-math and without contraction. The .approx forms
 * give the correctly rounded result or the C library's, inside the error that PTX allows them.
 * NaN results of f32 are 0x7fffffff, as on the hardware. */
#include <fenv.h>
#include <math.h>

#include "exec_lanes.h"

static inline float flush(float value) {
  uint32_t bits = (uint32_t)sim_f32_bits(value);
  return (bits & 0x7f800000) == 0 ? sim_f32(bits & 0x80000000) : value;
}

static inline uint64_t out32(float value) {
  return value != value ? 0x7fffffff : sim_f32_bits(value);
}

static inline uint64_t out64(double value) { return sim_f64_bits(value); }

#define READ32_1 float a = sim_f32(pa[l])
#define READ32_2 READ32_1; float b = sim_f32(pb[l])
#define READ32_3 READ32_2; float c = sim_f32(pc[l])
#define READ32F_1 float a = flush(sim_f32(pa[l]))
#define READ32F_2 READ32F_1; float b = flush(sim_f32(pb[l]))
#define READ32F_3 READ32F_2; float c = flush(sim_f32(pc[l]))
#define READ64_1 double a = sim_f64(pa[l])
#define READ64_2 READ64_1; double b = sim_f64(pb[l])
#define READ64_3 READ64_2; double c = sim_f64(pc[l])

/* name_f32, name_f32_ftz and name_f64 of one expression. */
#define FLOAT_1(name, EXPR32, EXPR64) \
  SIM_LANEWISE(name##_f32, SIM_LOAD1, READ32_1, uint64_t, out32(EXPR32)) \
  SIM_LANEWISE(name##_f32_ftz, SIM_LOAD1, READ32F_1, uint64_t, out32(flush(EXPR32))) \
  SIM_LANEWISE(name##_f64, SIM_LOAD1, READ64_1, uint64_t, out64(EXPR64))
#define FLOAT_2(name, EXPR32, EXPR64) \
  SIM_LANEWISE(name##_f32, SIM_LOAD2, READ32_2, uint64_t, out32(EXPR32)) \
  SIM_LANEWISE(name##_f32_ftz, SIM_LOAD2, READ32F_2, uint64_t, out32(flush(EXPR32))) \
  SIM_LANEWISE(name##_f64, SIM_LOAD2, READ64_2, uint64_t, out64(EXPR64))
#define FLOAT_3(name, EXPR32, EXPR64) \
  SIM_LANEWISE(name##_f32, SIM_LOAD3, READ32_3, uint64_t, out32(EXPR32)) \
  SIM_LANEWISE(name##_f32_ftz, SIM_LOAD3, READ32F_3, uint64_t, out32(flush(EXPR32))) \
  SIM_LANEWISE(name##_f64, SIM_LOAD3, READ64_3, uint64_t, out64(EXPR64))

/* The lesser of two, -0 below +0, a number before a NaN. */
static inline float least32(float a, float b) {
  return a != a ? b : b != b ? a : a == b ? (signbit(a) ? a : b) : a < b ? a : b;
}
static inline float most32(float a, float b) {
  return a != a ? b : b != b ? a : a == b ? (signbit(a) ? b : a) : a > b ? a : b;
}
static inline double least64(double a, double b) {
  return a != a ? b : b != b ? a : a == b ? (signbit(a) ? a : b) : a < b ? a : b;
}
static inline double most64(double a, double b) {
  return a != a ? b : b != b ? a : a == b ? (signbit(a) ? b : a) : a > b ? a : b;
}

FLOAT_2(add, a + b, a + b)
FLOAT_2(sub, a - b, a - b)
FLOAT_2(mul, a * b, a * b)
FLOAT_2(div, a / b, a / b)
FLOAT_3(fma, fmaf(a, b, c), fma(a, b, c))
FLOAT_2(min, least32(a, b), least64(a, b))
FLOAT_2(max, most32(a, b), most64(a, b))
FLOAT_1(rcp, 1 / a, 1 / a)
FLOAT_1(sqrt, sqrtf(a), sqrt(a))
FLOAT_1(rsqrt, (float)(1 / sqrt((double)a)), 1 / sqrt(a))
FLOAT_1(sin, (float)sin((double)a), sin(a))
FLOAT_1(cos, (float)cos((double)a), cos(a))
FLOAT_1(lg2, (float)log2((double)a), log2(a))
FLOAT_1(ex2, (float)exp2((double)a), exp2(a))
FLOAT_1(tanh, (float)tanh((double)a), tanh(a))

#if defined(__x86_64__)
#define HAVE_HARDWARE_FMA 1
__attribute__((target("fma"))) SIM_LANEWISE(fast_fma_f32, SIM_LOAD3, READ32_3, uint64_t,
                                            out32(__builtin_fmaf(a, b, c)))
__attribute__((target("fma"))) SIM_LANEWISE(fast_fma_f32_ftz, SIM_LOAD3, READ32F_3, uint64_t,
                                            out32(flush(__builtin_fmaf(a, b, c))))
__attribute__((target("fma"))) SIM_LANEWISE(fast_fma_f64, SIM_LOAD3, READ64_3, uint64_t,
                                            out64(__builtin_fma(a, b, c)))
#endif

/* abs and neg change the sign bit and nothing else (ftz flushes). */
SIM_UNARY(abs_f32, uint32_t, uint32_t, a & 0x7fffffff)
SIM_UNARY(abs_f64, uint64_t, uint64_t, a & INT64_MAX)
SIM_UNARY(neg_f32, uint32_t, uint32_t, a ^ 0x80000000)
SIM_UNARY(neg_f64, uint64_t, uint64_t, a ^ UINT64_C(1) << 63)
SIM_LANEWISE(abs_f32_ftz, SIM_LOAD1, READ32F_1, uint32_t, sim_f32_bits(a) & 0x7fffffff)
SIM_LANEWISE(neg_f32_ftz, SIM_LOAD1, READ32F_1, uint32_t, sim_f32_bits(a) ^ 0x80000000)
SIM_BINARY(copysign_f32, uint32_t, uint32_t, (a & 0x80000000) | (b & 0x7fffffff))
SIM_BINARY(copysign_f64, uint64_t, uint64_t, (a & UINT64_C(1) << 63) | (b & INT64_MAX))

/* rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 read and give the upper words only. */
#define UPPER(bits) ((bits) & UINT64_C(0xffffffff00000000))
static double flush64(double value) {
  uint64_t bits = sim_f64_bits(value);
  return (bits >> 52 & 0x7ff) == 0 ? sim_f64(bits & UINT64_C(1) << 63) : value;
}
SIM_RAW1(rcp_upper, UPPER(sim_f64_bits(flush64(1 / flush64(sim_f64(UPPER(a)))))))
SIM_RAW1(rsqrt_upper, UPPER(sim_f64_bits(flush64(1 / sqrt(flush64(sim_f64(UPPER(a))))))))

static float pair_part(const sim_insn *insn, float a, float b, float c) {
  bool ftz = insn->flags & SIM_F_FTZ;
  float value;
  a = ftz ? flush(a) : a;
  b = ftz ? flush(b) : b;
  c = ftz ? flush(c) : c;
  switch (insn->op) {
    case SIM_OP_add: value = a + b; break;
    case SIM_OP_sub: value = a - b; break;
    case SIM_OP_mul: value = a * b; break;
    default: value = fmaf(a, b, c); break;
  }
  return ftz ? flush(value) : value;
}

/* Two f32 in 64 bits, sm_100 and newer. */
static void pair(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *a = sim_source(warp, insn, 0), *b = sim_source(warp, insn, 1);
  const uint64_t *c = sim_source(warp, insn, 2);
  uint64_t *d = sim_target(warp, insn);
  SIM_EACH_LANE(l, lanes) {
    uint64_t low = out32(pair_part(insn, sim_f32(a[l]), sim_f32(b[l]), sim_f32(c[l])));
    uint64_t high =
        out32(pair_part(insn, sim_f32(a[l] >> 32), sim_f32(b[l] >> 32), sim_f32(c[l] >> 32)));
    d[l] = high << 32 | low;
  }
}

static double compute(unsigned op, bool single, double a, double b, double c) {
  switch (op) {
    case SIM_OP_add: return single ? (double)((float)a + (float)b) : a + b;
    case SIM_OP_sub: return single ? (double)((float)a - (float)b) : a - b;
    case SIM_OP_mul: return single ? (double)((float)a * (float)b) : a * b;
    case SIM_OP_div: return single ? (double)((float)a / (float)b) : a / b;
    case SIM_OP_rcp: return single ? (double)(1.0f / (float)a) : 1 / a;
    case SIM_OP_sqrt: return single ? (double)sqrtf((float)a) : sqrt(a);
    default: return single ? (double)fmaf((float)a, (float)b, (float)c) : fma(a, b, c);
  }
}

/* Any rounding, .sat and .ftz of the arithmetic that allows them. */
static void general(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  static const int modes[] = {[SIM_R_NONE] = FE_TONEAREST, [SIM_RN] = FE_TONEAREST,
                              [SIM_RZ] = FE_TOWARDZERO, [SIM_RM] = FE_DOWNWARD,
                              [SIM_RP] = FE_UPWARD};
  const uint64_t *pa = sim_source(warp, insn, 0), *pb = sim_source(warp, insn, 1);
  const uint64_t *pc = sim_source(warp, insn, 2);
  uint64_t *d = sim_target(warp, insn);
  bool single = insn->type == SIM_F32, ftz = insn->flags & SIM_F_FTZ;
  fesetround(modes[insn->rounding]);
  SIM_EACH_LANE(l, lanes) {
    double value;
    float narrow;
    if (!single) {
      d[l] = out64(compute(insn->op, false, sim_f64(pa[l]), sim_f64(pb[l]), sim_f64(pc[l])));
      continue;
    }
    value = ftz ? compute(insn->op, true, (double)flush(sim_f32(pa[l])),
                          (double)flush(sim_f32(pb[l])), (double)flush(sim_f32(pc[l])))
                : compute(insn->op, true, (double)sim_f32(pa[l]), (double)sim_f32(pb[l]),
                          (double)sim_f32(pc[l]));
    narrow = (float)value;
    narrow = ftz ? flush(narrow) : narrow;
    if (insn->flags & SIM_F_SAT) {
      narrow = narrow > 0 ? (narrow < 1 ? narrow : 1) : 0; /* NaN becomes 0 */
    }
    d[l] = out32(narrow);
  }
  fesetround(FE_TONEAREST);
}

/* min and max with .NaN, .xorsign.abs or three operands. */
static void general_minmax(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *pa = sim_source(warp, insn, 0), *pb = sim_source(warp, insn, 1);
  const uint64_t *pc = sim_source(warp, insn, 2);
  uint64_t *d = sim_target(warp, insn);
  bool least = insn->op == SIM_OP_min, ftz = insn->flags & SIM_F_FTZ;
  bool three = insn->operands == 3;
  SIM_EACH_LANE(l, lanes) {
    float a = sim_f32(pa[l]), b = sim_f32(pb[l]), c = sim_f32(pc[l]), value;
    uint32_t sign = (uint32_t)(pa[l] ^ pb[l]) & 0x80000000;
    bool nan = a != a || b != b || (three && c != c);
    a = ftz ? flush(a) : a;
    b = ftz ? flush(b) : b;
    if (insn->flags & SIM_F_XORSIGN) {
      a = fabsf(a);
      b = fabsf(b);
      nan = a != a || b != b;
      value = least ? least32(a, b) : most32(a, b);
      value = value == value ? sim_f32(sim_f32_bits(value) | sign) : value;
    } else {
      value = least ? least32(a, b) : most32(a, b);
      if (three) {
        c = ftz ? flush(c) : c;
        value = least ? least32(value, c) : most32(value, c);
      }
    }
    d[l] = insn->flags & SIM_F_NAN && nan ? 0x7fffffff : out32(value);
  }
}

static bool test_property(unsigned mode, unsigned type, uint64_t bits) {
  unsigned digits = type == SIM_F32 ? 23 : 52;
  uint64_t most = type == SIM_F32 ? 0xff : 0x7ff;
  uint64_t exponent = bits >> digits & most, fraction = bits & ((UINT64_C(1) << digits) - 1);
  switch (mode) {
    case SIM_M_FINITE: return exponent != most;
    case SIM_M_INFINITE: return exponent == most && fraction == 0;
    case SIM_M_NUMBER: return exponent != most || fraction == 0;
    case SIM_M_NOTANUMBER: return exponent == most && fraction != 0;
    case SIM_M_NORMAL: return exponent != most && exponent != 0;
    default: return exponent == 0 && fraction != 0;
  }
}

static void testp(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *a = sim_source(warp, insn, 0);
  uint32_t bits = 0;
  SIM_EACH_LANE(l, lanes) {
    bits |= (uint32_t)test_property(insn->mode, insn->type, a[l]) << l;
  }
  sim_predicate_set(warp, insn->dst, bits, lanes);
}

static sim_exec_fn *three(const sim_insn *insn, sim_exec_fn *single, sim_exec_fn *flushed,
                          sim_exec_fn *wide) {
  return insn->type == SIM_F64 ? wide : insn->flags & SIM_F_FTZ ? flushed : single;
}

static sim_exec_fn *select_fma(const sim_insn *insn) {
#ifdef HAVE_HARDWARE_FMA
  if (__builtin_cpu_supports("fma")) {
    return three(insn, fast_fma_f32, fast_fma_f32_ftz, fast_fma_f64);
  }
#endif
  return three(insn, fma_f32, fma_f32_ftz, fma_f64);
}

static sim_exec_fn *select_minmax(const sim_insn *insn) {
  if (insn->flags & (SIM_F_NAN | SIM_F_XORSIGN) || insn->operands == 3) {
    return insn->type == SIM_F32 ? general_minmax : NULL;
  }
  return insn->op == SIM_OP_min ? three(insn, min_f32, min_f32_ftz, min_f64)
                                : three(insn, max_f32, max_f32_ftz, max_f64);
}

static sim_exec_fn *select_arithmetic(const sim_insn *insn) {
  bool directed = insn->rounding > SIM_RN && insn->rounding <= SIM_RP;
  if (directed || insn->flags & SIM_F_SAT) {
    return insn->flags & SIM_F_SAT && insn->type == SIM_F64 ? NULL : general;
  }
  switch (insn->op) {
    case SIM_OP_add: return three(insn, add_f32, add_f32_ftz, add_f64);
    case SIM_OP_sub: return three(insn, sub_f32, sub_f32_ftz, sub_f64);
    case SIM_OP_mul: return three(insn, mul_f32, mul_f32_ftz, mul_f64);
    case SIM_OP_div: return three(insn, div_f32, div_f32_ftz, div_f64);
    case SIM_OP_fma: case SIM_OP_mad: return select_fma(insn);
    case SIM_OP_rcp:
      if (insn->type == SIM_F64 && insn->flags & SIM_F_APPROX) {
        return rcp_upper;
      }
      return three(insn, rcp_f32, rcp_f32_ftz, rcp_f64);
    default: return three(insn, sqrt_f32, sqrt_f32_ftz, sqrt_f64);
  }
}

sim_exec_fn *sim_select_float(const sim_insn *insn) {
  if (insn->type == SIM_F32X2) {
    bool known = insn->op == SIM_OP_add || insn->op == SIM_OP_sub || insn->op == SIM_OP_mul ||
                 insn->op == SIM_OP_fma;
    return known && insn->rounding <= SIM_RN ? pair : NULL;
  }
  if ((insn->type != SIM_F32 && insn->type != SIM_F64) || insn->type2 != SIM_T_NONE) {
    return NULL;
  }
  switch (insn->op) {
    case SIM_OP_add: case SIM_OP_sub: case SIM_OP_mul: case SIM_OP_div: case SIM_OP_fma:
    case SIM_OP_mad: case SIM_OP_rcp: case SIM_OP_sqrt: return select_arithmetic(insn);
    case SIM_OP_min: case SIM_OP_max: return select_minmax(insn);
    case SIM_OP_abs: return three(insn, abs_f32, abs_f32_ftz, abs_f64);
    case SIM_OP_neg: return three(insn, neg_f32, neg_f32_ftz, neg_f64);
    case SIM_OP_rsqrt:
      if (insn->type == SIM_F64 && insn->flags & SIM_F_FTZ) {
        return rsqrt_upper;
      }
      return three(insn, rsqrt_f32, rsqrt_f32_ftz, rsqrt_f64);
    case SIM_OP_sin: return three(insn, sin_f32, sin_f32_ftz, sin_f64);
    case SIM_OP_cos: return three(insn, cos_f32, cos_f32_ftz, cos_f64);
    case SIM_OP_lg2: return three(insn, lg2_f32, lg2_f32_ftz, lg2_f64);
    case SIM_OP_ex2: return three(insn, ex2_f32, ex2_f32_ftz, ex2_f64);
    case SIM_OP_tanh: return three(insn, tanh_f32, tanh_f32_ftz, tanh_f64);
    case SIM_OP_copysign: return insn->type == SIM_F64 ? copysign_f64 : copysign_f32;
    case SIM_OP_testp: return insn->mode >= SIM_M_FINITE ? testp : NULL;
    default: return NULL;
  }
}
