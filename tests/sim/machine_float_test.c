/* SPDX-License-Identifier: MIT */
/* Float instructions, half types and float conversions against host arithmetic. Half results are
 * compared with the nearest of all 65,536 values, searched for in long double. */
#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "machine_check.h"
#include "machine_values.h"

/* .sat gives +0 for -0 and NaN. */
static float clamp(float value) { return value > 0 ? (value < 1 ? value : 1) : 0; }

/* An operation under a rounding mode; volatile keeps it between the two calls. */
#define DIRECTED(name, mode, expression) \
  static uint64_t name(uint64_t a, uint64_t b, uint64_t c) { \
    volatile float x = f(a), y = f(b), w = f(c), result; \
    (void)x; \
    (void)y; \
    (void)w; \
    fesetround(mode); \
    result = (expression); \
    fesetround(FE_TONEAREST); \
    return of(result); \
  }
#define DIRECTED64(name, mode, expression) \
  static uint64_t name(uint64_t a, uint64_t b, uint64_t c) { \
    volatile double x = d(a), y = d(b), w = d(c), result; \
    (void)x; \
    (void)y; \
    (void)w; \
    fesetround(mode); \
    result = (expression); \
    fesetround(FE_TONEAREST); \
    return od(result); \
  }

REF(add, of(f(a) + f(b)))
REF(add_ftz, of(z(z(f(a)) + z(f(b)))))
REF(sub, of(f(a) - f(b)))
REF(mul, of(f(a) * f(b)))
REF(mul_ftz, of(z(z(f(a)) * z(f(b)))))
REF(div_, of(f(a) / f(b)))
REF(fma_, of(fmaf(f(a), f(b), f(c))))
REF(fma_ftz, of(z(fmaf(z(f(a)), z(f(b)), z(f(c))))))
REF(add_sat, of(clamp(f(a) + f(b))))
REF(fma_sat, of(clamp(fmaf(f(a), f(b), f(c)))))
DIRECTED(add_rz, FE_TOWARDZERO, x + y)
DIRECTED(add_rm, FE_DOWNWARD, x + y)
DIRECTED(mul_rp, FE_UPWARD, x *y)
DIRECTED(div_rz, FE_TOWARDZERO, x / y)
DIRECTED(sqrt_rp, FE_UPWARD, sqrtf(x))
DIRECTED(rcp_rm, FE_DOWNWARD, 1 / x)
DIRECTED(fma_rz, FE_TOWARDZERO, fmaf(x, y, w))
REF(sqrt_rn, of(sqrtf(f(a))))
REF(rcp_rn, of(1 / f(a)))
REF(abs_, a & 0x7fffffff)
REF(neg_, a ^ 0x80000000)
REF(copy_, (a & 0x80000000) | (b & 0x7fffffff))

static float lesser(float x, float y) {
  return isnan(x) ? y : isnan(y) ? x : x == y ? (signbit(x) ? x : y) : x < y ? x : y;
}
REF(min_, of(lesser(f(a), f(b))))
REF(max_, of(-lesser(-f(a), -f(b))))
REF(min_nan, isnan(f(a)) || isnan(f(b)) ? 0x7fffffff : of(lesser(f(a), f(b))))
REF(rsqrt_, of((float)(1 / sqrt((double)f(a)))))
REF(sin_, of((float)sin((double)f(a))))
REF(ex2_, of((float)exp2((double)f(a))))
REF(ex2_ftz, of(z((float)exp2((double)z(f(a))))))
REF(lg2_, of((float)log2((double)f(a))))
REF(tanh_, of((float)tanh((double)f(a))))
REF(lt, f(a) < f(b))
REF(equ, !(f(a) < f(b)) && !(f(a) > f(b)))
REF(neu, !(f(a) == f(b)))
REF(num, !isnan(f(a)) && !isnan(f(b)))
REF(gtu, !(f(a) <= f(b)))
REF(set_ge, of(f(a) >= f(b) ? 1.0f : 0.0f))
REF(slct_, f(c) >= 0 ? a : b)
REF(finite_, isfinite(f(a)))
REF(normal, isnormal(f(a)))
REF(subnormal, fpclassify(f(a)) == FP_SUBNORMAL)
REF(infinite, isinf(f(a)) != 0)
REF(isnan_, isnan(f(a)) != 0)

static uint64_t to_s32(double x) {
  return isnan(x)            ? 0
         : x >= 2147483648.0 ? 0x7fffffff
         : x < -2147483648.0 ? 0x80000000
                             : (uint64_t)(int64_t)x;
}
static uint64_t to_u32(double x) {
  return isnan(x) || x <= 0 ? 0 : x >= 4294967296.0 ? 0xffffffff : (uint64_t)x;
}
static uint64_t to_s64(double x) {
  return isnan(x) || x < -9223372036854775808.0 ? UINT64_C(1) << 63
         : x >= 9223372036854775808.0          ? INT64_MAX
                                                : (uint64_t)(int64_t)x;
}
static uint64_t to_u8(double x) { return isnan(x) || x <= 0 ? 0 : x >= 255 ? 255 : (uint64_t)x; }
REF(s32_rz, to_s32(trunc((double)f(a))))
REF(s32_rn, to_s32(nearbyint((double)f(a))))
REF(s32_rm, to_s32(floor((double)f(a))))
REF(u32_rp, to_u32(ceil((double)f(a))))
REF(s64_rz, to_s64(trunc((double)f(a))))
REF(u8_rz, to_u8(trunc((double)f(a))))
REF(rint_, of(nearbyintf(f(a))))
REF(floor_, of(floorf(f(a))))
REF(sat_, of(clamp(f(a))))
REF(widen, isnan(f(a)) ? 0x7ff8000000000000 | (a & 0x80000000) << 32 | (a & 0x3fffff) << 29
                       : od((double)f(a)))
REF(from_s32, of((float)(int32_t)a))
REF(from_u64, of((float)a))
REF(from_s64_d, od((double)(int64_t)a))

static uint64_t s32_rz_f(uint64_t a, uint64_t b, uint64_t c) {
  volatile int32_t x = (int32_t)a;
  volatile float result;
  (void)b;
  (void)c;
  fesetround(FE_TOWARDZERO);
  result = (float)x;
  fesetround(FE_TONEAREST);
  return of(result);
}

REF(tf32, isnan(f(a)) ? 0x7fffffff : isinf(f(a)) ? a : ((uint32_t)a + 0x1000) & ~0x1fffu)

static const machine_op singles[] = {
    {"add.f32 d, a, b;", 32, 32, 32, 32, add},
    {"add.rn.ftz.f32 d, a, b;", 32, 32, 32, 32, add_ftz},
    {"sub.rn.f32 d, a, b;", 32, 32, 32, 32, sub},
    {"mul.f32 d, a, b;", 32, 32, 32, 32, mul},
    {"mul.ftz.f32 d, a, b;", 32, 32, 32, 32, mul_ftz},
    {"div.rn.f32 d, a, b;", 32, 32, 32, 32, div_},
    {"fma.rn.f32 d, a, b, c;", 32, 32, 32, 32, fma_},
    {"fma.rn.ftz.f32 d, a, b, c;", 32, 32, 32, 32, fma_ftz},
    {"mad.rn.f32 d, a, b, c;", 32, 32, 32, 32, fma_},
    {"add.sat.f32 d, a, b;", 32, 32, 32, 32, add_sat},
    {"fma.rn.sat.f32 d, a, b, c;", 32, 32, 32, 32, fma_sat},
    {"add.rz.f32 d, a, b;", 32, 32, 32, 32, add_rz},
    {"add.rm.f32 d, a, b;", 32, 32, 32, 32, add_rm},
    {"mul.rp.f32 d, a, b;", 32, 32, 32, 32, mul_rp},
    {"div.rz.f32 d, a, b;", 32, 32, 32, 32, div_rz},
    {"sqrt.rp.f32 d, a;", 32, 32, 32, 32, sqrt_rp},
    {"rcp.rm.f32 d, a;", 32, 32, 32, 32, rcp_rm},
    {"fma.rz.f32 d, a, b, c;", 32, 32, 32, 32, fma_rz},
    {"sqrt.rn.f32 d, a;", 32, 32, 32, 32, sqrt_rn},
    {"rcp.rn.f32 d, a;", 32, 32, 32, 32, rcp_rn},
    {"abs.f32 d, a;", 32, 32, 32, 32, abs_},
    {"neg.f32 d, a;", 32, 32, 32, 32, neg_},
    {"copysign.f32 d, a, b;", 32, 32, 32, 32, copy_},
    {"min.f32 d, a, b;", 32, 32, 32, 32, min_},
    {"max.f32 d, a, b;", 32, 32, 32, 32, max_},
    {"min.NaN.f32 d, a, b;", 32, 32, 32, 32, min_nan},
    {"setp.lt.f32 p, a, b; selp.b32 d, 1, 0, p;", 32, 32, 32, 32, lt},
    {"setp.equ.f32 p, a, b; selp.b32 d, 1, 0, p;", 32, 32, 32, 32, equ},
    {"setp.neu.f32 p, a, b; selp.b32 d, 1, 0, p;", 32, 32, 32, 32, neu},
    {"setp.num.f32 p, a, b; selp.b32 d, 1, 0, p;", 32, 32, 32, 32, num},
    {"setp.gtu.f32 p, a, b; selp.b32 d, 1, 0, p;", 32, 32, 32, 32, gtu},
    {"set.ge.f32.f32 d, a, b;", 32, 32, 32, 32, set_ge},
    {"slct.f32.f32 d, a, b, c;", 32, 32, 32, 32, slct_},
    {"testp.finite.f32 p, a; selp.b32 d, 1, 0, p;", 32, 32, 32, 32, finite_},
    {"testp.normal.f32 p, a; selp.b32 d, 1, 0, p;", 32, 32, 32, 32, normal},
    {"testp.subnormal.f32 p, a; selp.b32 d, 1, 0, p;", 32, 32, 32, 32, subnormal},
    {"testp.infinite.f32 p, a; selp.b32 d, 1, 0, p;", 32, 32, 32, 32, infinite},
    {"testp.notanumber.f32 p, a; selp.b32 d, 1, 0, p;", 32, 32, 32, 32, isnan_},
    {"cvt.rzi.s32.f32 d, a;", 32, 32, 32, 32, s32_rz},
    {"cvt.rni.s32.f32 d, a;", 32, 32, 32, 32, s32_rn},
    {"cvt.rmi.s32.f32 d, a;", 32, 32, 32, 32, s32_rm},
    {"cvt.rpi.u32.f32 d, a;", 32, 32, 32, 32, u32_rp},
    {"cvt.rzi.s64.f32 d, a;", 64, 32, 32, 32, s64_rz},
    {"cvt.rzi.u8.f32 d, a;", 32, 32, 32, 32, u8_rz},
    {"cvt.rni.f32.f32 d, a;", 32, 32, 32, 32, rint_},
    {"cvt.rmi.f32.f32 d, a;", 32, 32, 32, 32, floor_},
    {"cvt.sat.f32.f32 d, a;", 32, 32, 32, 32, sat_},
    {"cvt.f64.f32 d, a;", 64, 32, 32, 32, widen},
    {"cvt.rna.tf32.f32 d, a;", 32, 32, 32, 32, tf32},
};

static const machine_op single_approximations[] = {
    {"rsqrt.approx.f32 d, a;", 32, 32, 32, 32, rsqrt_},
    {"sin.approx.f32 d, a;", 32, 32, 32, 32, sin_},
    {"ex2.approx.f32 d, a;", 32, 32, 32, 32, ex2_},
    {"lg2.approx.f32 d, a;", 32, 32, 32, 32, lg2_},
    {"ex2.approx.ftz.f32 d, a;", 32, 32, 32, 32, ex2_ftz},
    {"tanh.approx.f32 d, a;", 32, 32, 32, 32, tanh_},
    {"div.approx.f32 d, a, b;", 32, 32, 32, 32, div_},
    {"div.full.f32 d, a, b;", 32, 32, 32, 32, div_},
    {"sqrt.approx.f32 d, a;", 32, 32, 32, 32, sqrt_rn},
    {"rcp.approx.f32 d, a;", 32, 32, 32, 32, rcp_rn},
};

static const machine_op from_integers[] = {
    {"cvt.rn.f32.s32 d, a;", 32, 32, 32, 32, from_s32},
    {"cvt.rz.f32.s32 d, a;", 32, 32, 32, 32, s32_rz_f},
    {"cvt.rn.f32.u64 d, a;", 32, 64, 64, 64, from_u64},
    {"cvt.rn.f64.s64 d, a;", 64, 64, 64, 64, from_s64_d},
};

#define PAIR(low, high) ((low) | (uint64_t)(high) << 32)
REF(add_pair, PAIR(of(f(a) + f(b)), of(f(a >> 32) + f(b >> 32))))
REF(fma_pair, PAIR(of(fmaf(f(a), f(b), f(c))), of(fmaf(f(a >> 32), f(b >> 32), f(c >> 32)))))
static const machine_op pairs[] = {
    {"add.rn.f32x2 d, a, b;", 64, 64, 64, 64, add_pair},
    {"fma.rn.f32x2 d, a, b, c;", 64, 64, 64, 64, fma_pair},
};

DIRECTED64(add64, FE_TONEAREST, x + y)
DIRECTED64(sub64, FE_TONEAREST, x - y)
DIRECTED64(mul64_rz, FE_TOWARDZERO, x *y)
DIRECTED64(div64, FE_TONEAREST, x / y)
DIRECTED64(fma64_rp, FE_UPWARD, fma(x, y, w))
DIRECTED64(fma64, FE_TONEAREST, fma(x, y, w))
DIRECTED64(sqrt64, FE_TONEAREST, sqrt(x))
REF(s32_d, to_s32(trunc(d(a))))
REF(s64_d, to_s64(trunc(d(a))))
REF(lt64, d(a) < d(b))

static uint64_t narrow_rn(uint64_t a, uint64_t b, uint64_t c) {
  (void)b;
  (void)c;
  return of((float)d(a));
}
static uint64_t narrow_rz(uint64_t a, uint64_t b, uint64_t c) {
  volatile double x = d(a);
  volatile float result;
  (void)b;
  (void)c;
  fesetround(FE_TOWARDZERO);
  result = (float)x;
  fesetround(FE_TONEAREST);
  return of(result);
}

/* NaNs of f64 keep no promise here: both sides are made one NaN. */
#define ONE_NAN " { .reg .pred n; testp.notanumber.f64 n, d; @n mov.b64 d, 0x7ff8000000000000; }"
static uint64_t one_nan(uint64_t bits) { return isnan(d(bits)) ? 0x7ff8000000000000 : bits; }
#define CANON(name) \
  static uint64_t name##_(uint64_t a, uint64_t b, uint64_t c) { return one_nan(name(a, b, c)); }
CANON(add64)
CANON(sub64)
CANON(mul64_rz)
CANON(div64)
CANON(fma64)
CANON(fma64_rp)
CANON(sqrt64)

static const machine_op doubles[] = {
    {"add.f64 d, a, b;" ONE_NAN, 64, 64, 64, 64, add64_},
    {"sub.f64 d, a, b;" ONE_NAN, 64, 64, 64, 64, sub64_},
    {"mul.rz.f64 d, a, b;" ONE_NAN, 64, 64, 64, 64, mul64_rz_},
    {"div.rn.f64 d, a, b;" ONE_NAN, 64, 64, 64, 64, div64_},
    {"fma.rn.f64 d, a, b, c;" ONE_NAN, 64, 64, 64, 64, fma64_},
    {"fma.rp.f64 d, a, b, c;" ONE_NAN, 64, 64, 64, 64, fma64_rp_},
    {"sqrt.rn.f64 d, a;" ONE_NAN, 64, 64, 64, 64, sqrt64_},
    {"cvt.rzi.s32.f64 d, a;", 32, 64, 64, 64, s32_d},
    {"cvt.rzi.s64.f64 d, a;", 64, 64, 64, 64, s64_d},
    {"cvt.rn.f32.f64 d, a;", 32, 64, 64, 64, narrow_rn},
    {"cvt.rz.f32.f64 d, a;", 32, 64, 64, 64, narrow_rz},
    {"setp.lt.f64 p, a, b; selp.b32 d, 1, 0, p;", 32, 64, 64, 64, lt64},
};

/* ---- half types: exact values in long double, results searched for ---- */

static long double half_value(uint64_t bits, int digits, int bias) {
  int exponent = (int)(bits >> digits) & (2 * bias + 1);
  long double fraction = (long double)(bits & ((1u << digits) - 1));
  long double value;
  if (exponent == 2 * bias + 1) {
    return fraction != 0   ? (long double)NAN
           : bits & 0x8000 ? -(long double)INFINITY
                           : (long double)INFINITY;
  }
  value = exponent == 0 ? ldexpl(fraction, 1 - bias - digits)
                        : ldexpl(fraction + ldexpl(1, digits), exponent - bias - digits);
  return bits & 0x8000 ? -value : value;
}

/* Nearest, ties to the even one; the search is over the bits, which order like the values. */
static uint64_t nearest(long double value, int digits, int bias) {
  uint64_t low = 0, high = (uint64_t)(2 * bias + 1) << digits, sign = signbit(value) ? 0x8000 : 0;
  long double magnitude = fabsl(value), below, above;
  if (isnan(value)) {
    return 0x7fff;
  }
  if (isinf(value)) {
    return sign | high;
  }
  while (high - low > 1) {
    uint64_t middle = (low + high) / 2;
    if (half_value(middle, digits, bias) <= magnitude) {
      low = middle;
    } else {
      high = middle;
    }
  }
  below = magnitude - half_value(low, digits, bias);
  above = (high == (uint64_t)(2 * bias + 1) << digits ? ldexpl(1, bias + 1)
                                                      : half_value(high, digits, bias)) - magnitude;
  return sign | (below < above || (below == above && (low & 1) == 0) ? low : high);
}

/* The value itself, or the one next to it toward zero, or away from it. */
static uint64_t beside(long double value, int digits, int bias, bool away) {
  uint64_t low = 0, high = (uint64_t)(2 * bias + 1) << digits, sign = signbit(value) ? 0x8000 : 0;
  if (isnan(value) || isinf(value)) {
    return nearest(value, digits, bias);
  }
  while (high - low > 1) {
    uint64_t middle = (low + high) / 2;
    *(half_value(middle, digits, bias) <= fabsl(value) ? &low : &high) = middle;
  }
  return sign | (away && half_value(low, digits, bias) != fabsl(value) ? high : low);
}

/* x * y + w for what long double multiplies exactly; what the sum loses moves it by its last bit,
 * so that it is no tie that it should not be. */
static long double fused(long double x, long double y, long double w) {
  long double product = x * y, sum = product + w, back = sum - product;
  long double lost = (product - (sum - back)) + (w - back);
  if (!isfinite(sum) || lost == 0) {
    return sum;
  }
  return nextafterl(sum, lost > 0 ? (long double)INFINITY : -(long double)INFINITY);
}

#define HALF_OPS(suffix, digits, bias) \
  static long double v##suffix(uint64_t bits) { return half_value(bits & 0xffff, digits, bias); } \
  static uint64_t n##suffix(long double value) { return nearest(value, digits, bias); } \
  REF(add##suffix, n##suffix(fused(v##suffix(a), 1, v##suffix(b)))) \
  REF(sub##suffix, n##suffix(fused(v##suffix(b), -1, v##suffix(a)))) \
  REF(mul##suffix, n##suffix(v##suffix(a) * v##suffix(b))) \
  REF(fma##suffix, n##suffix(fused(v##suffix(a), v##suffix(b), v##suffix(c)))) \
  REF(neg##suffix, (a & 0xffff) ^ 0x8000) \
  REF(lt##suffix, v##suffix(a) < v##suffix(b)) \
  REF(widen##suffix, isnan(v##suffix(a)) ? 0x7fffffff : of((float)v##suffix(a))) \
  REF(rzi##suffix, to_s32(trunc((double)v##suffix(a)))) \
  REF(pair##suffix, fma##suffix(a, b, a) | fma##suffix(a >> 16, b >> 16, a >> 16) << 16) \
  REF(pack##suffix, n##suffix((long double)f(b)) | n##suffix((long double)f(a)) << 16) \
  REF(narrow##suffix, n##suffix((long double)f(a))) \
  REF(zero##suffix, beside(f(a), digits, bias, false)) \
  REF(down##suffix, beside(f(a), digits, bias, signbit(f(a)))) \
  REF(up##suffix, beside(f(a), digits, bias, !signbit(f(a)))) \
  REF(from_u64##suffix, n##suffix((long double)a)) \
  REF(from_s64##suffix, n##suffix((long double)(int64_t)a))

HALF_OPS(16, 10, 15)
HALF_OPS(b, 7, 127)
REF(from_tieb, nb((long double)((a & 0xff00000000000f00) | 0x0080000000000000)))

static const machine_op halves[] = {
    {"add.f16 d, a, b;", 16, 16, 16, 16, add16},
    {"sub.rn.f16 d, a, b;", 16, 16, 16, 16, sub16},
    {"mul.f16 d, a, b;", 16, 16, 16, 16, mul16},
    {"fma.rn.f16 d, a, b, c;", 16, 16, 16, 16, fma16},
    {"neg.f16 d, a;", 16, 16, 16, 16, neg16},
    {"setp.lt.f16 p, a, b; selp.b16 d, 1, 0, p;", 16, 16, 16, 16, lt16},
    {"cvt.f32.f16 d, a;", 32, 16, 16, 16, widen16},
    {"cvt.rzi.s32.f16 d, a;", 32, 16, 16, 16, rzi16},
    {"fma.rn.f16x2 d, a, b, a;", 32, 32, 32, 32, pair16},
};
static const machine_op brains[] = {
    {"add.rn.bf16 d, a, b;", 16, 16, 16, 16, addb},
    {"sub.bf16 d, a, b;", 16, 16, 16, 16, subb},
    {"mul.bf16 d, a, b;", 16, 16, 16, 16, mulb},
    {"fma.rn.bf16 d, a, b, c;", 16, 16, 16, 16, fmab},
    {"neg.bf16 d, a;", 16, 16, 16, 16, negb},
    {"setp.lt.bf16 p, a, b; selp.b16 d, 1, 0, p;", 16, 16, 16, 16, ltb},
    {"cvt.f32.bf16 d, a;", 32, 16, 16, 16, widenb},
    {"cvt.rzi.s32.bf16 d, a;", 32, 16, 16, 16, rzib},
    {"fma.rn.bf16x2 d, a, b, a;", 32, 32, 32, 32, pairb},
};
static const machine_op to_halves[] = {
    {"cvt.rn.f16.f32 d, a;", 16, 32, 32, 32, narrow16},
    {"cvt.rn.bf16.f32 d, a;", 16, 32, 32, 32, narrowb},
    {"cvt.rz.f16.f32 d, a;", 16, 32, 32, 32, zero16},
    {"cvt.rm.f16.f32 d, a;", 16, 32, 32, 32, down16},
    {"cvt.rp.f16.f32 d, a;", 16, 32, 32, 32, up16},
    {"cvt.rz.bf16.f32 d, a;", 16, 32, 32, 32, zerob},
    {"cvt.rm.bf16.f32 d, a;", 16, 32, 32, 32, downb},
    {"cvt.rp.bf16.f32 d, a;", 16, 32, 32, 32, upb},
    {"cvt.rn.f16x2.f32 d, a, b;", 32, 32, 32, 32, pack16},
    {"cvt.rn.bf16x2.f32 d, a, b;", 32, 32, 32, 32, packb},
};

static const machine_op halves_of_integers[] = {
    {"cvt.rn.f16.u64 d, a;", 16, 64, 64, 64, from_u6416},
    {"cvt.rn.bf16.u64 d, a;", 16, 64, 64, 64, from_u64b},
    {"cvt.rn.f16.s64 d, a;", 16, 64, 64, 64, from_s6416},
    {"cvt.rn.bf16.s64 d, a;", 16, 64, 64, 64, from_s64b},
    /* in the middle between two values, but for bits far below */
    {"and.b64 x, a, 0xff00000000000f00; or.b64 x, x, 0x0080000000000000; cvt.rn.bf16.u64 d, x;", 16, 64, 64, 64, from_tieb},
};

#define RUN(table, operands, kind) \
  machine_check_ops(table, sizeof table / sizeof *table, operands, kind)

int main(void) {
  RUN(singles, MACHINE_F32, MACHINE_EXACT);
  RUN(single_approximations, MACHINE_F32, MACHINE_F32_CLOSE);
  RUN(from_integers, MACHINE_INTEGER, MACHINE_EXACT);
  RUN(pairs, MACHINE_INTEGER, MACHINE_EXACT);
  RUN(doubles, MACHINE_F64, MACHINE_EXACT);
  RUN(halves, MACHINE_F16, MACHINE_EXACT);
  RUN(brains, MACHINE_BF16, MACHINE_EXACT);
  RUN(to_halves, MACHINE_F32, MACHINE_EXACT);
  RUN(halves_of_integers, MACHINE_INTEGER, MACHINE_EXACT);
  return machine_result();
}
