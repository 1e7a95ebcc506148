/* SPDX-License-Identifier: MIT */
/* Forms of instructions that compilers give rarely: every comparison of every type, 16-bit and packed arithmetic, f16 and bf16 beside
 * fma, values of 128 bits, special registers, indexed branches; against the host's arithmetic and the manual's words. */
#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "machine_check.h"
#include "machine_values.h"

/* f16 and bf16, by their definition. */
static double half_value(uint64_t bits, bool brain) {
  const int digits = brain ? 7 : 10, bias = brain ? 127 : 15, exponent = (int)(bits >> digits) & (2 * bias + 1);
  const double fraction = (double)(bits & ((1u << digits) - 1));
  const double value = exponent == 2 * bias + 1 ? (fraction != 0 ? (double)NAN : (double)INFINITY)
                       : exponent == 0          ? ldexp(fraction, 1 - bias - digits)
                                                : ldexp(fraction + ldexp(1, digits), exponent - bias - digits);
  return bits & 0x8000 ? -value : value;
}

/* ---- comparisons ---- */

typedef struct comparison {
  const char *name;
  bool less, equal, greater, unordered; /* when it holds */
  bool for_floats;
  bool for_unsigned; /* lo, ls, hi, hs */
} comparison;
static const comparison comparisons[] = {{"eq", false, true, false, false, false, false}, {"ne", true, false, true, false, false, false},
                                         {"lt", true, false, false, false, false, false}, {"le", true, true, false, false, false, false},
                                         {"gt", false, false, true, false, false, false}, {"ge", false, true, true, false, false, false},
                                         {"lo", true, false, false, false, false, true},  {"ls", true, true, false, false, false, true},
                                         {"hi", false, false, true, false, false, true},  {"hs", false, true, true, false, false, true},
                                         {"equ", false, true, false, true, true, false},  {"neu", true, false, true, true, true, false},
                                         {"ltu", true, false, false, true, true, false},  {"leu", true, true, false, true, true, false},
                                         {"gtu", false, false, true, true, true, false},  {"geu", false, true, true, true, true, false},
                                         {"num", true, true, true, false, true, false},   {"nan", false, false, false, true, true, false}};
enum kind { UNSIGNED, SIGNED, BITS, F32, F64, HALF, BRAIN };
static struct {
  const comparison *by;
  enum kind kind;
  unsigned bits;
  bool flushed;
  char joined; /* with whether c is odd: & | ^, 0: not */
  uint64_t yes;
} now;

static double read_float(uint64_t bits) {
  const double value = now.kind == F64 ? d(bits) : now.kind == F32 ? (double)f(bits) : half_value(bits & 0xffff, now.kind == BRAIN);
  return now.flushed ? (double)z((float)value) : value;
}

static bool holds(uint64_t a, uint64_t b) {
  if (now.kind >= F32) {
    const double x = read_float(a), y = read_float(b);
    return x < y ? now.by->less : x > y ? now.by->greater : x == y ? now.by->equal : now.by->unordered;
  }
  if (now.kind == SIGNED) {
    const unsigned off = 64 - now.bits;
    const int64_t x = (int64_t)(a << off) >> off, y = (int64_t)(b << off) >> off;
    return x < y ? now.by->less : x > y ? now.by->greater : now.by->equal;
  }
  return a < b ? now.by->less : a > b ? now.by->greater : now.by->equal;
}

static bool with(bool is, uint64_t c) {
  const bool odd = c & 1;
  return now.joined == '&' ? is && odd : now.joined == '|' ? is || odd : now.joined == '^' ? is != odd : is;
}

static uint64_t both(uint64_t a, uint64_t b, uint64_t c) { return (uint64_t)with(holds(a, b), c) | (uint64_t)with(!holds(a, b), c) << 1; }
static uint64_t halves(uint64_t a, uint64_t b, uint64_t c) { return (uint64_t)with(holds(a, b), c) | (uint64_t)with(holds(a >> 16, b >> 16), c) << 1; }
static uint64_t one(uint64_t a, uint64_t b, uint64_t c) { return with(holds(a, b), c) ? now.yes : 0; }
static uint64_t two(uint64_t a, uint64_t b, uint64_t c) {
  return (with(holds(a, b), c) ? now.yes : 0) | (with(holds(a >> 16, b >> 16), c) ? now.yes << 16 : 0);
}

#define ODD "and.b32 t, c, 1; setp.eq.u32 g, t, 1; "

static void compare(void) {
  static const struct {
    const char *name;
    enum kind kind;
    uint8_t bits;
    enum machine_operands operands;
  } types[] = {{"u16", UNSIGNED, 16, MACHINE_INTEGER}, {"u32", UNSIGNED, 32, MACHINE_INTEGER}, {"u64", UNSIGNED, 64, MACHINE_INTEGER},
               {"s16", SIGNED, 16, MACHINE_INTEGER},   {"s32", SIGNED, 32, MACHINE_INTEGER},   {"s64", SIGNED, 64, MACHINE_INTEGER},
               {"b16", BITS, 16, MACHINE_INTEGER},     {"b32", BITS, 32, MACHINE_INTEGER},     {"b64", BITS, 64, MACHINE_INTEGER},
               {"f32", F32, 32, MACHINE_F32},          {"f64", F64, 64, MACHINE_F64},          {"f16", HALF, 16, MACHINE_F16},
               {"bf16", BRAIN, 16, MACHINE_BF16},      {"ftz.f32", F32, 32, MACHINE_F32}};
  static const struct {
    const char *name;
    char joined;
  } joins[] = {{"", 0}, {".and", '&'}, {".or", '|'}, {".xor", '^'}};
  for (size_t t = 0; t < sizeof types / sizeof *types; t++)
    for (size_t k = 0, n = 0; k < sizeof comparisons / sizeof *comparisons; k++) {
      const comparison *by = &comparisons[k];
      if ((by->for_floats && types[t].kind < F32) || (by->for_unsigned && types[t].kind != UNSIGNED) || (k > 1 && types[t].kind == BITS))
        continue;
      const size_t j = n++ % 4; /* each with one of them */
      now.by = by;
      now.kind = types[t].kind;
      now.bits = types[t].bits;
      now.flushed = !strncmp(types[t].name, "ftz", 3);
      now.joined = joins[j].joined;
      char text[300];
      snprintf(text, sizeof text, ODD "setp.%s%s.%s p|q, a, b%s; selp.b32 d, 1, 0, p; selp.b32 t, 2, 0, q; or.b32 d, d, t;", by->name, joins[j].name, types[t].name,
               j ? ", g" : "");
      const machine_op setp = {text, 32, types[t].bits, types[t].bits, 32, both};
      machine_check_ops(&setp, 1, types[t].operands, MACHINE_EXACT);
      if (types[t].kind == BITS || types[t].bits == 16)
        continue;
      now.yes = k % 2 ? 0xffffffff : 0x3f800000;
      snprintf(text, sizeof text, ODD "set.%s%s.%s.%s d, a, b%s;", by->name, joins[j].name, k % 2 ? "u32" : "f32", types[t].name + 4 * now.flushed, j ? ", g" : "");
      if (now.flushed)
        snprintf(text, sizeof text, ODD "set.%s%s.ftz.%s.f32 d, a, b%s;", by->name, joins[j].name, k % 2 ? "s32" : "f32", j ? ", g" : "");
      const machine_op set = {text, 32, types[t].bits, types[t].bits, 32, one};
      machine_check_ops(&set, 1, types[t].operands, MACHINE_EXACT);
    }
  for (int brain = 0; brain < 2; brain++)
    for (size_t k = 0, n = 0; k < sizeof comparisons / sizeof *comparisons; k++) {
      const size_t j = n++ % 4;
      char text[300];
      if (comparisons[k].for_unsigned)
        continue;
      now.by = &comparisons[k];
      now.kind = brain ? BRAIN : HALF;
      now.flushed = false;
      now.joined = joins[j].joined;
      now.yes = brain ? 0x3f80 : 0x3c00;
      const char *type = brain ? "bf16x2" : "f16x2";
      const enum machine_operands operands = brain ? MACHINE_BF16 : MACHINE_F16;
      snprintf(text, sizeof text, ODD "setp.%s%s.%s p|q, a, b%s; selp.b32 d, 1, 0, p; selp.b32 t, 2, 0, q; or.b32 d, d, t;", now.by->name, joins[j].name, type,
               j ? ", g" : "");
      const machine_op setp = {text, 32, 32, 32, 32, halves};
      machine_check_ops(&setp, 1, operands, MACHINE_EXACT);
      snprintf(text, sizeof text, ODD "set.%s%s.%s.%s d, a, b%s;", now.by->name, joins[j].name, type, type, j ? ", g" : "");
      const machine_op set = {text, 32, 32, 32, 32, two};
      machine_check_ops(&set, 1, operands, MACHINE_EXACT);
      snprintf(text, sizeof text, ODD "set.%s%s.%s.%s h, a, b%s; cvt.u32.u16 d, h;", now.by->name, joins[j].name, brain ? "bf16" : "f16", brain ? "bf16" : "f16", j ? ", g" : "");
      const machine_op single = {text, 32, 16, 16, 32, one};
      machine_check_ops(&single, 1, operands, MACHINE_EXACT);
    }
}

/* ---- integers ---- */

#define S16(x) ((int64_t)(int16_t)(x))
#define S32(x) ((int64_t)(int32_t)(x))
#define S64(x) ((int64_t)(x))
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static uint64_t apart(int64_t a, int64_t b) { return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a; }
static uint64_t pack(int64_t low, int64_t high) { return ((uint64_t)low & 0xffff) | ((uint64_t)high & 0xffff) << 16; }
REF(sub, a - b)
REF(neg, 0 - a)
REF(madhi_s16, (S16(a) * S16(b) >> 16) + S16(c))
REF(madhi_u16, (a * b >> 16) + c)
REF(madhi_u32, (a * b >> 32) + c)
REF(madhi_s64, (uint64_t)((i128)S64(a) * S64(b) >> 64) + c)
REF(madwide_s16, S16(a) * S16(b) + S32(c))
REF(wide_u16, a * b)
REF(madhi_sat, most(least((S32(a) * S32(b) >> 32) + S32(c), INT32_MAX), INT32_MIN))
REF(mul24_hi_s, (S32(a << 8) >> 8) * (S32(b << 8) >> 8) >> 16)
REF(mad24_hi_s, ((S32(a << 8) >> 8) * (S32(b << 8) >> 8) >> 16) + (int64_t)c)
REF(mad24_lo_s, (uint64_t)((S32(a << 8) >> 8) * (S32(b << 8) >> 8)) + c)
REF(div_s16, b == 0 ? -1 : S16(a) / S16(b))
REF(rem_u, b == 0 ? a : a % b)
REF(rem_s16, b == 0 ? S16(a) : S16(a) % S16(b))
REF(abs_s16, S16(a) < 0 ? -S16(a) : S16(a))
REF(min_u, a < b ? a : b)
REF(max_u, a > b ? a : b)
REF(max_s16, most(S16(a), S16(b)))
REF(min_s64, least(S64(a), S64(b)))
REF(max_relu, most(most(S32(a), S32(b)), 0))
REF(sad_u16, c + (a > b ? a - b : b - a))
REF(sad_s16, c + apart(S16(a), S16(b)))
REF(sad_u64, c + (a > b ? a - b : b - a))
REF(sad_s64, c + apart(S64(a), S64(b)))
REF(min_s16x2, pack(least(S16(a), S16(b)), least(S16(a >> 16), S16(b >> 16))))
REF(min_s16x2_relu, pack(most(least(S16(a), S16(b)), 0), most(least(S16(a >> 16), S16(b >> 16)), 0)))
REF(max_s16x2_relu, pack(most(most(S16(a), S16(b)), 0), most(most(S16(a >> 16), S16(b >> 16)), 0)))
REF(min_u16x2, pack(least(a & 0xffff, b & 0xffff), least((int64_t)(a >> 16), (int64_t)(b >> 16))))
REF(max_u16x2, pack(most(a & 0xffff, b & 0xffff), most((int64_t)(a >> 16), (int64_t)(b >> 16))))
REF(add_s16x2, pack((int64_t)(a + b), (int64_t)((a >> 16) + (b >> 16))))
REF(cnot, a == 0)
REF(shr_u, b > 15 ? 0 : a >> b)
REF(shr_u64, b > 63 ? 0 : a >> b)
REF(bmsk_wrap, (((1ull << (b & 31)) - 1) << (a & 31)) & 0xffffffff)
REF(szext_wrap_s, (b & 31) == 0 ? 0 : S32(a << (32 - (b & 31))) >> (32 - (b & 31)))
REF(szext_wrap_u, a & ((1ull << (b & 31)) - 1))
REF(szext_clamp_s, b == 0 ? 0 : b > 31 ? a : (uint64_t)(S32(a << (32 - b)) >> (32 - b)))
REF(bfind_s32, S32(a) == 0 || S32(a) == -1 ? ~0 : 63 - __builtin_clzll((unsigned long long)(S32(a) < 0 ? ~S32(a) : S32(a))))
REF(bfind_u64, a == 0 ? ~0 : 63 - __builtin_clzll(a))
REF(bfind_shift_s64, S64(a) == 0 || S64(a) == -1 ? ~0 : __builtin_clzll(S64(a) < 0 ? ~a : a))
REF(bfind_shift_u64, a == 0 ? ~0 : __builtin_clzll(a))
REF(dp4a_us, (uint64_t)((int64_t)(a & 255) * (int8_t)b + (int64_t)(a >> 8 & 255) * (int8_t)(b >> 8) + (int64_t)(a >> 16 & 255) * (int8_t)(b >> 16) +
                        (int64_t)(a >> 24 & 255) * (int8_t)(b >> 24) + (int64_t)c))
REF(dp2a_hi_su, (uint64_t)(S16(a) * (int64_t)(b >> 16 & 255) + S16(a >> 16) * (int64_t)(b >> 24 & 255) + (int64_t)c))
REF(dp2a_lo_us, (uint64_t)((int64_t)(a & 0xffff) * (int8_t)b + (int64_t)(a >> 16) * (int8_t)(b >> 8) + (int64_t)c))
/* what goes over the end of the word, as the manual has it */
REF(carry_mad_hi_s, ((a & 0) | (((uint64_t)((i128)S64(a) * S64(b) >> 64) + (u128)c) >> 64)))
REF(carry_mad_lo_u, ((u128)(uint64_t)(a * b) + c) >> 64)
REF(madc_lo, a * b + c + 1)
REF(borrow64, a < b ? ~0ull : 0)
REF(addc_chain, (a + b + ((a + b) < a ? 1 : 0)))
REF(subc_in, b - c - (a < b))

static uint64_t find_nth(uint64_t a, uint64_t b, uint64_t c) {
  const int base = (int)(b & 31), offset = (int)(c & 15) - 7;
  if (offset == 0)
    return a >> base & 1 ? (uint64_t)base : 0xffffffff;
  int count = abs(offset) - 1;
  for (int at = base; at >= 0 && at < 32; at += offset > 0 ? 1 : -1)
    if (a >> at & 1 && count-- == 0)
      return (uint64_t)at;
  return 0xffffffff;
}

REF(cvt_s64_s8, (int64_t)(int8_t)a)
REF(cvt_u64_u8, (uint8_t)a)
REF(cvt_u16_u8, (uint8_t)a)
REF(cvt_s16_s8, (int8_t)a)
REF(same, a)
REF(sat_u16_s64, S64(a) < 0 ? 0 : S64(a) > 65535 ? 65535 : a)
REF(sat_s16_u32, a > 32767 ? 32767 : a)
REF(sat_s64_u64, a > INT64_MAX ? INT64_MAX : a)
REF(sat_u64_s64, S64(a) < 0 ? 0 : a)
REF(sat_s32_s64, most(least(S64(a), INT32_MAX), INT32_MIN))
REF(f64_u32, od((double)(uint32_t)a))
REF(f64_s32, od((double)(int32_t)a))
REF(f32_u32, of((float)(uint32_t)a))
REF(f64_u64, od((double)a))

static const machine_op integers[] = {
    {"sub.u16 d, a, b;", 16, 16, 16, 16, sub},
    {"neg.s16 d, a;", 16, 16, 16, 16, neg},
    {"mad.hi.s16 d, a, b, c;", 16, 16, 16, 16, madhi_s16},
    {"mad.hi.u16 d, a, b, c;", 16, 16, 16, 16, madhi_u16},
    {"mad.hi.u32 d, a, b, c;", 32, 32, 32, 32, madhi_u32},
    {"mad.hi.s64 d, a, b, c;", 64, 64, 64, 64, madhi_s64},
    {"mad.wide.s16 d, a, b, c;", 32, 16, 16, 32, madwide_s16},
    {"mul.wide.u16 d, a, b;", 32, 16, 16, 16, wide_u16},
    {"mad.hi.sat.s32 d, a, b, c;", 32, 32, 32, 32, madhi_sat},
    {"mul24.hi.s32 d, a, b;", 32, 32, 32, 32, mul24_hi_s},
    {"mad24.hi.s32 d, a, b, c;", 32, 32, 32, 32, mad24_hi_s},
    {"mad24.lo.s32 d, a, b, c;", 32, 32, 32, 32, mad24_lo_s},
    {"div.s16 d, a, b;", 16, 16, 16, 16, div_s16},
    {"rem.u16 d, a, b;", 16, 16, 16, 16, rem_u},
    {"rem.u64 d, a, b;", 64, 64, 64, 64, rem_u},
    {"rem.s16 d, a, b;", 16, 16, 16, 16, rem_s16},
    {"abs.s16 d, a;", 16, 16, 16, 16, abs_s16},
    {"min.u16 d, a, b;", 16, 16, 16, 16, min_u},
    {"max.u16 d, a, b;", 16, 16, 16, 16, max_u},
    {"max.u32 d, a, b;", 32, 32, 32, 32, max_u},
    {"min.u64 d, a, b;", 64, 64, 64, 64, min_u},
    {"max.s16 d, a, b;", 16, 16, 16, 16, max_s16},
    {"min.s64 d, a, b;", 64, 64, 64, 64, min_s64},
    {"max.relu.s32 d, a, b;", 32, 32, 32, 32, max_relu},
    {"sad.u16 d, a, b, c;", 16, 16, 16, 16, sad_u16},
    {"sad.s16 d, a, b, c;", 16, 16, 16, 16, sad_s16},
    {"sad.u64 d, a, b, c;", 64, 64, 64, 64, sad_u64},
    {"sad.s64 d, a, b, c;", 64, 64, 64, 64, sad_s64},
    {"min.s16x2 d, a, b;", 32, 32, 32, 32, min_s16x2},
    {"min.relu.s16x2 d, a, b;", 32, 32, 32, 32, min_s16x2_relu},
    {"max.relu.s16x2 d, a, b;", 32, 32, 32, 32, max_s16x2_relu},
    {"min.u16x2 d, a, b;", 32, 32, 32, 32, min_u16x2},
    {"max.u16x2 d, a, b;", 32, 32, 32, 32, max_u16x2},
    {"add.s16x2 d, a, b;", 32, 32, 32, 32, add_s16x2},
    {"cnot.b16 d, a;", 16, 16, 16, 16, cnot},
    {"cnot.b64 d, a;", 64, 64, 64, 64, cnot},
    {"shr.u16 d, a, b;", 16, 16, 32, 32, shr_u},
    {"shr.u64 d, a, b;", 64, 64, 32, 32, shr_u64},
    {"bmsk.wrap.b32 d, a, b;", 32, 32, 32, 32, bmsk_wrap},
    {"szext.wrap.s32 d, a, b;", 32, 32, 32, 32, szext_wrap_s},
    {"szext.wrap.u32 d, a, b;", 32, 32, 32, 32, szext_wrap_u},
    {"szext.clamp.s32 d, a, b;", 32, 32, 32, 32, szext_clamp_s},
    {"bfind.s32 d, a;", 32, 32, 32, 32, bfind_s32},
    {"bfind.u64 d, a;", 32, 64, 64, 64, bfind_u64},
    {"bfind.shiftamt.s64 d, a;", 32, 64, 64, 64, bfind_shift_s64},
    {"bfind.shiftamt.u64 d, a;", 32, 64, 64, 64, bfind_shift_u64},
    {"dp4a.u32.s32 d, a, b, c;", 32, 32, 32, 32, dp4a_us},
    {"dp2a.hi.s32.u32 d, a, b, c;", 32, 32, 32, 32, dp2a_hi_su},
    {"dp2a.lo.u32.s32 d, a, b, c;", 32, 32, 32, 32, dp2a_lo_us},
    {"mad.hi.cc.s64 x, a, b, c; addc.u64 d, 0, 0;", 64, 64, 64, 64, carry_mad_hi_s},
    {"mad.lo.cc.u64 x, a, b, c; addc.u64 d, 0, 0;", 64, 64, 64, 64, carry_mad_lo_u},
    {"mov.b64 x, -1; add.cc.u64 x, x, 1; madc.lo.u64 d, a, b, c;", 64, 64, 64, 64, madc_lo},
    {"sub.cc.u64 x, a, b; subc.u64 d, 0, 0;", 64, 64, 64, 64, borrow64},
    {"add.cc.u64 x, a, b; addc.cc.u64 d, x, 0;", 64, 64, 64, 64, addc_chain},
    {"sub.cc.u64 x, a, b; subc.cc.u64 d, b, c;", 64, 64, 64, 64, subc_in},
    {"and.b32 t, b, 31; and.b32 u, c, 15; sub.s32 u, u, 7; fns.b32 d, a, t, u;", 32, 32, 32, 32, find_nth},
    {"cvt.s64.s8 d, a;", 64, 32, 32, 32, cvt_s64_s8},
    {"cvt.u64.u8 d, a;", 64, 32, 32, 32, cvt_u64_u8},
    {"cvt.u16.u8 d, a;", 16, 16, 32, 32, cvt_u16_u8},
    {"cvt.s16.s8 d, a;", 16, 16, 32, 32, cvt_s16_s8},
    {"cvt.u64.s64 d, a;", 64, 64, 32, 32, same},
    {"cvt.s32.u32 d, a;", 32, 32, 32, 32, same},
    {"cvt.sat.u16.s64 d, a;", 16, 64, 32, 32, sat_u16_s64},
    {"cvt.sat.s16.u32 d, a;", 16, 32, 32, 32, sat_s16_u32},
    {"cvt.sat.s64.u64 d, a;", 64, 64, 32, 32, sat_s64_u64},
    {"cvt.sat.u64.s64 d, a;", 64, 64, 32, 32, sat_u64_s64},
    {"cvt.sat.s32.s64 d, a;", 32, 64, 32, 32, sat_s32_s64},
    {"cvt.rn.f64.u32 d, a;", 64, 32, 32, 32, f64_u32},
    {"cvt.rn.f64.s32 d, a;", 64, 32, 32, 32, f64_s32},
    {"cvt.rn.f32.u32 d, a;", 32, 32, 32, 32, f32_u32},
    {"cvt.rn.f64.u64 d, a;", 64, 64, 32, 32, f64_u64},
};

/* ---- floats ---- */

static float lesser(float x, float y) { return isnan(x) ? y : isnan(y) ? x : x == y ? (signbit(x) ? x : y) : x < y ? x : y; }
static double lesser64(double x, double y) { return isnan(x) ? y : isnan(y) ? x : x == y ? (signbit(x) ? x : y) : x < y ? x : y; }
static float greater(float x, float y) { return -lesser(-x, -y); }
static bool any_nan(uint64_t a, uint64_t b) { return isnan(f(a)) || isnan(f(b)); }
static uint64_t xorsign(uint64_t a, uint64_t b, bool min) {
  const float x = fabsf(f(a)), y = fabsf(f(b)), value = min ? lesser(x, y) : greater(x, y);
  return isnan(value) ? 0x7fffffff : (of(value) & 0x7fffffff) | ((a ^ b) & 0x80000000);
}
REF(abs_ftz, of(z(f(a))) & 0x7fffffff)
REF(neg_ftz, isnan(f(a)) ? a ^ 0x80000000 : of(-z(f(a))))
REF(min_xorsign, xorsign(a, b, true))
REF(max_xorsign, xorsign(a, b, false))
REF(max_nan, any_nan(a, b) ? 0x7fffffff : of(greater(f(a), f(b))))
REF(max_xorsign_nan, any_nan(a, b) ? 0x7fffffff : xorsign(a, b, false))
REF(min_ftz, of(lesser(z(f(a)), z(f(b)))))
REF(max_ftz_nan, any_nan(a, b) ? 0x7fffffff : of(greater(z(f(a)), z(f(b)))))
REF(min_three, of(lesser(lesser(f(a), f(b)), f(c))))
REF(max_three, of(greater(greater(f(a), f(b)), f(c))))
REF(max_three_nan, any_nan(a, b) || isnan(f(c)) ? 0x7fffffff : of(greater(greater(f(a), f(b)), f(c))))
REF(min_three_ftz, of(lesser(lesser(z(f(a)), z(f(b))), z(f(c)))))
REF(number, !isnan(f(a)))
REF(number64, !isnan(d(a)))
REF(infinite64, isinf(d(a)) != 0)
REF(subnormal64, fpclassify(d(a)) == FP_SUBNORMAL)
REF(normal64, isnormal(d(a)))
REF(slct_ftz, z(f(c)) >= 0 ? a : b)
#define DIRECTED(name, mode, type, read, write, expression) \
  static uint64_t name(uint64_t a, uint64_t b, uint64_t c) { \
    volatile type x = read(a), y = read(b), w = read(c), result; \
    (void)x; \
    (void)y; \
    (void)w; \
    fesetround(mode); \
    result = (expression); \
    fesetround(FE_TONEAREST); \
    return write(result); \
  }
static float zf(uint64_t bits) { return z(f(bits)); }
static uint64_t ozf(float value) { return of(z(value)); }
static uint64_t sat(float value) { return of(value > 0 ? (value < 1 ? value : 1) : 0); }
static uint64_t od_one(double value) { return isnan(value) ? 0x7ff8000000000000 : od(value); }
DIRECTED(sub_rz, FE_TOWARDZERO, float, f, of, x - y)
DIRECTED(sub_rp_ftz, FE_UPWARD, float, zf, ozf, x - y)
DIRECTED(mul_rm, FE_DOWNWARD, float, f, of, x *y)
DIRECTED(mul_rz_ftz_sat, FE_TOWARDZERO, float, zf, sat, z(x *y))
DIRECTED(div_rm, FE_DOWNWARD, float, f, of, x / y)
DIRECTED(div_rn_ftz, FE_TONEAREST, float, zf, ozf, x / y)
DIRECTED(rcp_rp, FE_UPWARD, float, f, of, 1 / x)
DIRECTED(sqrt_rz, FE_TOWARDZERO, float, f, of, sqrtf(x))
DIRECTED(fma_rm, FE_DOWNWARD, float, f, of, fmaf(x, y, w))
DIRECTED(fma_rp_ftz, FE_UPWARD, float, zf, ozf, fmaf(x, y, w))
DIRECTED(add64_rp, FE_UPWARD, double, d, od_one, x + y)
DIRECTED(sub64_rm, FE_DOWNWARD, double, d, od_one, x - y)
DIRECTED(sub64_rz, FE_TOWARDZERO, double, d, od_one, x - y)
DIRECTED(mul64_rn, FE_TONEAREST, double, d, od_one, x *y)
DIRECTED(div64_rz, FE_TOWARDZERO, double, d, od_one, x / y)
DIRECTED(rcp64_rn, FE_TONEAREST, double, d, od_one, 1 / x)
DIRECTED(rcp64_rm, FE_DOWNWARD, double, d, od_one, 1 / x)
DIRECTED(sqrt64_rp, FE_UPWARD, double, d, od_one, sqrt(x))
DIRECTED(fma64_rz, FE_TOWARDZERO, double, d, od_one, fma(x, y, w))
REF(abs64, a & INT64_MAX)
REF(neg64, a ^ UINT64_C(1) << 63)
REF(copy64, (a & UINT64_C(1) << 63) | (b & INT64_MAX))
REF(min64, od_one(lesser64(d(a), d(b))))
REF(max64, od_one(-lesser64(-d(a), -d(b))))
REF(cos_, of((float)cos((double)f(a))))
/* of the upper words alone, small numbers are 0 */
static double upper(uint64_t bits) { return d(bits & UINT64_C(0xffffffff00000000)); }
static double z64(double value) { return fpclassify(value) == FP_SUBNORMAL ? copysign(0, value) : value; }
static uint64_t upper_bits(double value) { return isnan(value) ? 0x7ff8000000000000 : od(z64(value)) & UINT64_C(0xffffffff00000000); }
REF(rcp_upper, upper_bits(1 / z64(upper(a))))
REF(rsqrt_upper, upper_bits(1 / sqrt(z64(upper(a)))))
#define PAIR(x, y) ((x) | (uint64_t)(y) << 32)
REF(sub_pair, PAIR(of(f(a) - f(b)), of(f(a >> 32) - f(b >> 32))))
REF(mul_pair, PAIR(of(f(a) * f(b)), of(f(a >> 32) * f(b >> 32))))
REF(mul_pair_ftz, PAIR(of(z(z(f(a)) * z(f(b)))), of(z(z(f(a >> 32)) * z(f(b >> 32))))))
REF(fma_pair_ftz, PAIR(of(z(fmaf(z(f(a)), z(f(b)), z(f(c))))), of(z(fmaf(z(f(a >> 32)), z(f(b >> 32)), z(f(c >> 32)))))))

static const machine_op singles[] = {
    {"abs.ftz.f32 d, a; testp.notanumber.f32 p, d; @p mov.b32 d, 0x7fffffff;", 32, 32, 32, 32, abs_ftz},
    {"neg.ftz.f32 d, a;", 32, 32, 32, 32, neg_ftz},
    {"min.xorsign.abs.f32 d, a, b;", 32, 32, 32, 32, min_xorsign},
    {"max.xorsign.abs.f32 d, a, b;", 32, 32, 32, 32, max_xorsign},
    {"max.NaN.xorsign.abs.f32 d, a, b;", 32, 32, 32, 32, max_xorsign_nan},
    {"max.NaN.f32 d, a, b;", 32, 32, 32, 32, max_nan},
    {"min.ftz.f32 d, a, b;", 32, 32, 32, 32, min_ftz},
    {"max.ftz.NaN.f32 d, a, b;", 32, 32, 32, 32, max_ftz_nan},
    {"min.f32 d, a, b, c;", 32, 32, 32, 32, min_three},
    {"max.f32 d, a, b, c;", 32, 32, 32, 32, max_three},
    {"max.NaN.f32 d, a, b, c;", 32, 32, 32, 32, max_three_nan},
    {"min.ftz.f32 d, a, b, c;", 32, 32, 32, 32, min_three_ftz},
    {"testp.number.f32 p, a; selp.b32 d, 1, 0, p;", 32, 32, 32, 32, number},
    {"slct.ftz.f32.f32 d, a, b, c;", 32, 32, 32, 32, slct_ftz},
    {"sub.rz.f32 d, a, b;", 32, 32, 32, 32, sub_rz},
    {"sub.rp.ftz.f32 d, a, b;", 32, 32, 32, 32, sub_rp_ftz},
    {"mul.rm.f32 d, a, b;", 32, 32, 32, 32, mul_rm},
    {"mul.rz.ftz.sat.f32 d, a, b;", 32, 32, 32, 32, mul_rz_ftz_sat},
    {"div.rm.f32 d, a, b;", 32, 32, 32, 32, div_rm},
    {"div.rn.ftz.f32 d, a, b;", 32, 32, 32, 32, div_rn_ftz},
    {"rcp.rp.f32 d, a;", 32, 32, 32, 32, rcp_rp},
    {"sqrt.rz.f32 d, a;", 32, 32, 32, 32, sqrt_rz},
    {"fma.rm.f32 d, a, b, c;", 32, 32, 32, 32, fma_rm},
    {"fma.rp.ftz.f32 d, a, b, c;", 32, 32, 32, 32, fma_rp_ftz},
};
static const machine_op approximations[] = {{"cos.approx.f32 d, a;", 32, 32, 32, 32, cos_}};
static const machine_op pairs[] = {
    {"sub.rn.f32x2 d, a, b;", 64, 64, 64, 64, sub_pair},
    {"mul.rn.f32x2 d, a, b;", 64, 64, 64, 64, mul_pair},
    {"mul.rn.ftz.f32x2 d, a, b;", 64, 64, 64, 64, mul_pair_ftz},
    {"fma.rn.ftz.f32x2 d, a, b, c;", 64, 64, 64, 64, fma_pair_ftz},
};
#define ONE_NAN " { .reg .pred n; testp.notanumber.f64 n, d; @n mov.b64 d, 0x7ff8000000000000; }"
static const machine_op doubles[] = {
    {"add.rp.f64 d, a, b;" ONE_NAN, 64, 64, 64, 64, add64_rp},
    {"sub.rm.f64 d, a, b;" ONE_NAN, 64, 64, 64, 64, sub64_rm},
    {"sub.rz.f64 d, a, b;" ONE_NAN, 64, 64, 64, 64, sub64_rz},
    {"mul.rn.f64 d, a, b;" ONE_NAN, 64, 64, 64, 64, mul64_rn},
    {"div.rz.f64 d, a, b;" ONE_NAN, 64, 64, 64, 64, div64_rz},
    {"rcp.rn.f64 d, a;" ONE_NAN, 64, 64, 64, 64, rcp64_rn},
    {"rcp.rm.f64 d, a;" ONE_NAN, 64, 64, 64, 64, rcp64_rm},
    {"sqrt.rp.f64 d, a;" ONE_NAN, 64, 64, 64, 64, sqrt64_rp},
    {"fma.rz.f64 d, a, b, c;" ONE_NAN, 64, 64, 64, 64, fma64_rz},
    {"rcp.approx.ftz.f64 d, a;" ONE_NAN, 64, 64, 64, 64, rcp_upper},
    {"rsqrt.approx.ftz.f64 d, a;" ONE_NAN, 64, 64, 64, 64, rsqrt_upper},
    {"abs.f64 d, a;", 64, 64, 64, 64, abs64},
    {"neg.f64 d, a;", 64, 64, 64, 64, neg64},
    {"copysign.f64 d, a, b;", 64, 64, 64, 64, copy64},
    {"min.f64 d, a, b;" ONE_NAN, 64, 64, 64, 64, min64},
    {"max.f64 d, a, b;" ONE_NAN, 64, 64, 64, 64, max64},
    {"testp.number.f64 p, a; selp.b32 d, 1, 0, p;", 32, 64, 64, 64, number64},
    {"testp.infinite.f64 p, a; selp.b32 d, 1, 0, p;", 32, 64, 64, 64, infinite64},
    {"testp.subnormal.f64 p, a; selp.b32 d, 1, 0, p;", 32, 64, 64, 64, subnormal64},
    {"testp.normal.f64 p, a; selp.b32 d, 1, 0, p;", 32, 64, 64, 64, normal64},
};

/* ---- halves ---- */

/* The nearest of all 65,536, ties to the even one. */
static uint64_t half_bits(double value, bool brain) {
  const uint64_t inf = brain ? 0x7f80 : 0x7c00, sign = signbit(value) ? 0x8000 : 0;
  uint64_t low = 0, high = inf;
  if (isnan(value))
    return 0x7fff;
  value = fabs(value);
  if (isinf(value))
    return sign | inf;
  while (high - low > 1) {
    const uint64_t middle = (low + high) / 2;
    *(half_value(middle, brain) <= value ? &low : &high) = middle;
  }
  const double top = high == inf ? ldexp(1, brain ? 128 : 16) : half_value(high, brain);
  const double below = value - half_value(low, brain), above = top - value;
  return sign | (below < above || (below == above && !(low & 1)) ? low : high);
}

static uint64_t pick(uint64_t a, uint64_t b, bool brain, bool min, bool nan) {
  const double x = half_value(a & 0xffff, brain), y = half_value(b & 0xffff, brain);
  if (isnan(x) || isnan(y))
    return nan || (isnan(x) && isnan(y)) ? 0x7fff : (isnan(x) ? b : a) & 0xffff;
  const bool first = x == y ? (signbit(x) != 0) == min : (x < y) == min;
  return (first ? a : b) & 0xffff;
}
static uint64_t half_sat(uint64_t bits) {
  const double value = half_value(bits, false);
  return value > 0 ? (value < 1 ? bits : 0x3c00) : 0;
}
static uint64_t half_relu(uint64_t bits) { return bits != 0x7fff && bits & 0x8000 ? 0 : bits; }
#define HALF(brain, suffix) \
  REF(abs##suffix, a & 0x7fff) \
  REF(abs2##suffix, a & 0x7fff7fff) \
  REF(neg2##suffix, a ^ 0x80008000) \
  REF(min##suffix, pick(a, b, brain, true, false)) \
  REF(max##suffix, pick(a, b, brain, false, false)) \
  REF(min_nan##suffix, pick(a, b, brain, true, true)) \
  REF(max2##suffix, pick(a, b, brain, false, false) | pick(a >> 16, b >> 16, brain, false, false) << 16) \
  REF(min2_nan##suffix, pick(a, b, brain, true, true) | pick(a >> 16, b >> 16, brain, true, true) << 16) \
  REF(mul2##suffix, half_bits(half_value(a & 0xffff, brain) * half_value(b & 0xffff, brain), brain) | \
                        half_bits(half_value(a >> 16, brain) * half_value(b >> 16, brain), brain) << 16) \
  REF(mul_relu##suffix, half_relu(half_bits(fma(half_value(a, brain), half_value(b, brain), 0), brain))) \
  REF(tanh##suffix, half_bits(tanh(half_value(a, brain)), brain))
HALF(false, _h)
HALF(true, _b)
REF(ex2_h, half_bits(exp2(half_value(a, false)), false))
REF(mul_sat_h, half_sat(half_bits(half_value(a, false) * half_value(b, false), false)))
/* f16's numbers below its normal ones are 0 with .ftz */
static uint64_t zh(uint64_t bits) { return (bits & 0x7c00) ? bits & 0xffff : bits & 0x8000; }
REF(mul_ftz_h, zh(half_bits(half_value(zh(a), false) * half_value(zh(b), false), false)))
/* and bf16's, whose exponents are those of f32 */
static uint64_t zb(uint64_t bits) { return (bits & 0x7f80) ? bits & 0xffff : bits & 0x8000; }
REF(ex2_ftz_b, zb(half_bits(exp2(half_value(zb(a), true)), true)))
REF(max_ftz_h, zh(pick(zh(a), zh(b), false, false, false)))

#define HALVES(type, suffix) \
  {"abs." type " d, a;", 16, 16, 16, 16, abs##suffix}, {"abs." type "x2 d, a;", 32, 32, 32, 32, abs2##suffix}, {"neg." type "x2 d, a;", 32, 32, 32, 32, neg2##suffix}, \
      {"min." type " d, a, b;", 16, 16, 16, 16, min##suffix}, {"max." type " d, a, b;", 16, 16, 16, 16, max##suffix}, \
      {"min.NaN." type " d, a, b;", 16, 16, 16, 16, min_nan##suffix}, {"max." type "x2 d, a, b;", 32, 32, 32, 32, max2##suffix}, \
      {"min.NaN." type "x2 d, a, b;", 32, 32, 32, 32, min2_nan##suffix}, {"mul.rn." type "x2 d, a, b;", 32, 32, 32, 32, mul2##suffix}, \
      {"mov.b16 h, 0; fma.rn.relu." type " d, a, b, h;", 16, 16, 16, 16, mul_relu##suffix}, {"tanh.approx." type " d, a;", 16, 16, 16, 16, tanh##suffix}
static const machine_op of_f16[] = {HALVES("f16", _h),
                                    {"mul.sat.f16 d, a, b;", 16, 16, 16, 16, mul_sat_h},
                                    {"ex2.approx.f16 d, a;", 16, 16, 16, 16, ex2_h},
                                    {"mul.ftz.f16 d, a, b;", 16, 16, 16, 16, mul_ftz_h},
                                    {"max.ftz.f16 d, a, b;", 16, 16, 16, 16, max_ftz_h}};
static const machine_op of_bf16[] = {HALVES("bf16", _b), {"ex2.approx.ftz.bf16 d, a;", 16, 16, 16, 16, ex2_ftz_b}};

/* ---- 128 bits ---- */

REF(swap_halves, a)
REF(high_half, b)
/* A value of two words goes through memory and registers, and comes back as it was; `cas` and `exch` of 128 bits. */
static const machine_op wide[] = {
    {"{ .reg .b128 r, s; .reg .b64 l, h; .shared .align 16 .b8 room[2048]; .reg .b64 at; mov.u64 at, room; mul.wide.u32 x, i, 16; and.b64 x, x, 2032; add.u64 at, at, x;\n"
     "  mov.b128 r, {a, b}; st.shared.b128 [at], r; ld.shared.b128 s, [at]; mov.b128 {l, h}, s; ld.shared.b64 x, [at+8]; xor.b64 h, h, x; add.u64 d, l, h; }",
     64, 64, 64, 64, swap_halves},
    {"{ .reg .b128 r, s; .reg .b64 l; mov.b128 r, {a, b}; mov.b128 s, r; mov.b128 {l, d}, s; xor.b64 l, l, a; add.u64 d, d, l; }", 64, 64, 64, 64, high_half},
    {"{ .reg .b128 r, s, o; .reg .b64 l, h; .shared .align 16 .b8 room[2048]; .reg .b64 at; mov.u64 at, room; mul.wide.u32 x, i, 16; and.b64 x, x, 2032; add.u64 at, at, x;\n"
     "  mov.b128 r, {a, b}; mov.b128 s, {c, a}; st.shared.b128 [at], r; atom.shared.exch.b128 o, [at], s; mov.b128 {l, h}, o; ld.shared.b64 x, [at+8]; xor.b64 l, l, x; add.u64 d, h, l; }",
     64, 64, 64, 64, high_half},
};
static uint64_t wide_cas(uint64_t a, uint64_t b, uint64_t c) { return c & 1 ? c + a : c & 2 ? a + b : a + b; }
/* compared with itself (c is odd), with another lower word, or with another upper one: what is there behind it, both words added */
static const machine_op wide_swaps[] = {
    {"{ .reg .b128 r, s, o, w; .reg .b64 l, h, k, m; .shared .align 16 .b8 room[2048]; .reg .b64 at; mov.u64 at, room; mul.wide.u32 x, i, 16; and.b64 x, x, 2032; add.u64 at, at, x;\n"
     "  mov.b128 r, {a, b}; st.shared.b128 [at], r; and.b64 x, c, 3; setp.eq.u64 p, x, 0; setp.eq.u64 q, x, 2; add.u64 k, a, 1; add.u64 m, b, 1; selp.b64 k, k, a, p; selp.b64 m, m, b, q;\n"
     "  mov.b128 w, {k, m}; mov.b128 s, {c, a}; atom.shared.cas.b128 o, [at], w, s; mov.b128 {l, h}, o; xor.b64 l, l, a; xor.b64 h, h, b; or.b64 k, l, h;\n"
     "  ld.shared.b64 l, [at]; ld.shared.b64 h, [at+8]; add.u64 d, l, h; add.u64 d, d, k; }",
     64, 64, 64, 64, wide_cas},
};

/* ---- what a kernel of its own shows ---- */

static const char *const kernels =
    ".version 8.6\n.target sm_100\n.address_size 64\n"
    ".visible .entry special(.param .u64 po)\n{\n"
    "  .reg .b64 o, x, y; .reg .b32 i, t, n;\n"
    "  ld.param.u64 o, [po]; mov.u32 i, %tid.x; mov.u32 n, %ctaid.x; mov.u32 t, %ntid.x; mad.lo.u32 t, n, t, i; mul.wide.u32 x, t, 128; add.u64 o, o, x;\n"
    "  mov.u32 t, %ntid.y; st.global.u32 [o], t; mov.u32 t, %ntid.z; st.global.u32 [o+4], t; mov.u32 t, %warpid; st.global.u32 [o+8], t;\n"
    "  mov.u32 t, %lanemask_eq; st.global.u32 [o+12], t; mov.u32 t, %lanemask_lt; st.global.u32 [o+16], t; mov.u32 t, %lanemask_le; st.global.u32 [o+20], t;\n"
    "  mov.u32 t, %lanemask_ge; st.global.u32 [o+24], t; mov.u32 t, %lanemask_gt; st.global.u32 [o+28], t; mov.u32 t, %nctaid.x; st.global.u32 [o+32], t;\n"
    "  mov.u32 t, %laneid; st.global.u32 [o+36], t; mov.u32 t, %smid; st.global.u32 [o+40], t; mov.u32 t, %nsmid; st.global.u32 [o+44], t;\n"
    "  mov.u64 y, %gridid; st.global.u64 [o+48], y; mov.u32 t, %nwarpid; st.global.u32 [o+56], t; mov.u32 t, %tid.y; st.global.u32 [o+60], t;\n"
    "  mov.u64 y, %globaltimer; st.global.u64 [o+64], y; mov.u32 t, %globaltimer_lo; st.global.u32 [o+72], t; mov.u32 t, %globaltimer_hi; st.global.u32 [o+76], t;\n"
    "  mov.u64 y, %clock64; st.global.u64 [o+80], y; mov.u32 t, %clock; st.global.u32 [o+88], t; mov.u32 t, %clock_hi; st.global.u32 [o+92], t;\n"
    "  mov.u32 t, %tid.z; st.global.u32 [o+96], t; mov.u32 t, %ctaid.y; st.global.u32 [o+100], t; mov.u32 t, %nctaid.z; st.global.u32 [o+104], t;\n"
    "  ret;\n}\n"
    ".visible .entry indexed(.param .u64 po, .param .u32 pn)\n{\n"
    "  .reg .b64 o, x; .reg .b32 i, t, n;\n"
    "  ld.param.u64 o, [po]; ld.param.u32 n, [pn]; mov.u32 i, %tid.x; mul.wide.u32 x, i, 4; add.u64 o, o, x; rem.u32 t, i, n;\n"
    "ts: .branchtargets first, second, third;\n"
    "  brx.idx t, ts;\n"
    "first:\n  st.global.u32 [o], 11; bra.uni done;\n"
    "second:\n  st.global.u32 [o], 22; bra.uni done;\n"
    "third:\n  st.global.u32 [o], 33;\n"
    "done:\n  ret;\n}\n"
    ".visible .entry reduced(.param .u64 po, .param .u64 pa)\n{\n"
    "  .reg .b64 o, x, y; .reg .b32 i, t; .reg .f32 f, g;\n"
    "  ld.param.u64 o, [po]; ld.param.u64 y, [pa]; mov.u32 i, %tid.x; mul.wide.u32 x, i, 4; add.u64 y, y, x; ld.global.f32 f, [y]; mul.wide.u32 x, i, 16; add.u64 o, o, x;\n"
    "  redux.sync.min.f32 g, f, 0xffffffff; st.global.f32 [o], g; redux.sync.max.f32 g, f, 0xffffffff; st.global.f32 [o+4], g;\n"
    "  redux.sync.min.NaN.f32 g, f, 0xffffffff; st.global.f32 [o+8], g; redux.sync.max.NaN.f32 g, f, 0xffffffff; st.global.f32 [o+12], g;\n"
    "  ret;\n}\n"
    ".visible .entry halves(.param .u64 po)\n{\n"
    "  .reg .b64 o, x; .reg .b16 h, r; .reg .b32 i;\n"
    "  ld.param.u64 o, [po]; mov.b16 h, 0x3c00; atom.global.add.noftz.f16 r, [o], h; mov.b16 h, 0x4000; atom.global.add.noftz.bf16 r, [o+2], h; ret;\n}\n"
    ".visible .entry barrier(.param .u32 pb, .param .u32 pn)\n{\n"
    "  .reg .b32 b, n; ld.param.u32 b, [pb]; ld.param.u32 n, [pn]; barrier.sync b, n; ret;\n}\n"
    ".visible .entry two(.param .u32 pn)\n{\n"
    "  .reg .b32 i, n; .reg .pred p; mov.u32 i, %tid.x; ld.param.u32 n, [pn]; setp.lt.u32 p, i, 32; @p bra low; barrier.sync 1, n; ret;\nlow:\n  barrier.sync 1, 64; ret;\n}\n";

static void special(machine *m) {
  enum { BLOCKS = 3, THREADS = 80, BYTES = 128 };
  sim_error error;
  uint8_t *out = sim_memory_alloc(m->device, BLOCKS * THREADS * BYTES, 8);
  void *args[] = {&out};
  for (int again = 0; again < 2; again++) {
    memset(out, 0xff, BLOCKS * THREADS * BYTES);
    CHECK(machine_run(m, "special", BLOCKS, THREADS, args, 0, &error) == SIM_OK);
    uint64_t grid = 0;
    for (uint32_t i = 0; i < BLOCKS * THREADS; i++) {
      uint32_t v[32];
      uint64_t w[16];
      memcpy(v, out + i * BYTES, sizeof v);
      memcpy(w, out + i * BYTES, sizeof w);
      const uint32_t thread = i % THREADS, lane = thread % 32, bit = UINT32_C(1) << lane;
      CHECK_EQUAL(v[0], 1);
      CHECK_EQUAL(v[1], 1);
      CHECK_EQUAL(v[3], bit);
      CHECK_EQUAL(v[4], bit - 1);
      CHECK_EQUAL(v[5], bit - 1 + bit);
      CHECK_EQUAL(v[6], ~(bit - 1));
      CHECK_EQUAL(v[7], ~(bit - 1) - bit);
      CHECK_EQUAL(v[8], BLOCKS);
      CHECK_EQUAL(v[9], lane);
      CHECK(v[10] < v[11] && v[11] == 4);
      CHECK_EQUAL(v[15], 0);
      CHECK_EQUAL(v[24], 0);
      CHECK_EQUAL(v[25], 0);
      CHECK_EQUAL(v[26], 1);
      CHECK(v[2] < v[14]);
      if (lane) { /* what a warp has in common */
        uint32_t before[32];
        memcpy(before, out + (i - 1) * BYTES, sizeof before);
        CHECK_EQUAL(v[2], before[2]);
        CHECK_EQUAL(v[10], before[10]);
      } else if (thread) {
        uint32_t before[32];
        memcpy(before, out + (i - 1) * BYTES, sizeof before);
        CHECK_EQUAL(v[2], before[2] + 1);
      }
      grid = i ? grid : w[6];
      CHECK_EQUAL(w[6], grid);
      const uint64_t timer = (uint64_t)v[19] << 32 | v[18], clock = (uint64_t)v[23] << 32 | v[22];
      CHECK(timer >= w[8] && timer - w[8] < 100000);
      CHECK(clock > w[10] && clock - w[10] < 100000);
    }
    CHECK(grid >= 1);
  }
}

static void branches(machine *m) {
  sim_error error;
  uint32_t *out = sim_memory_alloc(m->device, 64 * 4, 8), n = 3;
  void *args[] = {&out, &n};
  CHECK(machine_run(m, "indexed", 1, 64, args, 0, &error) == SIM_OK);
  for (uint32_t i = 0; i < 64; i++)
    CHECK_EQUAL(out[i], 11 * (i % 3 + 1));
  n = 4;
  CHECK(machine_run(m, "indexed", 1, 3, args, 0, &error) == SIM_OK);
}

static void reductions(machine *m) {
  static const float values[] = {3, -2, 7.5f, 0.25f, -0.0f, 1e30f, -1e30f};
  sim_error error;
  float *in = sim_memory_alloc(m->device, 32 * 4, 8), *out = sim_memory_alloc(m->device, 32 * 16, 16);
  void *args[] = {&out, &in};
  for (int nans = 0; nans < 3; nans++) { /* none, some, all but one */
    float low = INFINITY, high = -INFINITY;
    for (int i = 0; i < 32; i++) {
      in[i] = (nans == 1 && i % 5 == 0) || (nans == 2 && i != 17) ? NAN : values[(i * 5 + nans) % 7];
      low = in[i] < low ? in[i] : low;
      high = in[i] > high ? in[i] : high;
    }
    CHECK(machine_run(m, "reduced", 1, 32, args, 0, &error) == SIM_OK);
    for (int i = 0; i < 32; i++) {
      CHECK(out[4 * i] == low && out[4 * i + 1] == high);
      CHECK(nans ? isnan(out[4 * i + 2]) && isnan(out[4 * i + 3]) : out[4 * i + 2] == low && out[4 * i + 3] == high);
    }
  }
  uint16_t *sums = sim_memory_alloc(m->device, 16, 8);
  void *to[] = {&sums};
  sums[0] = 0x4200; /* 3 */
  sums[1] = 0x3f80; /* 1 */
  CHECK(machine_run(m, "halves", 1, 5, to, 0, &error) == SIM_OK);
  CHECK_EQUAL(sums[0], 0x4800); /* 3 + 5 times 1 */
  CHECK_EQUAL(sums[1], 0x4130); /* 1 + 5 times 2 */
}

static void barriers(void) {
  static const struct {
    uint32_t barrier, threads, ask;
    const char *says;
  } cases[] = {{0, 64, 64, NULL}, {15, 96, 96, NULL}, {1, 64, 33, "a barrier for 33 threads, no multiple of 32"}, {16, 64, 64, "there is no barrier 16"},
               {3, 32, 0, "a barrier for 0 threads"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    machine m;
    sim_error error = {0};
    machine_open(&m, kernels);
    uint32_t id = cases[i].barrier, n = cases[i].ask;
    void *args[] = {&id, &n};
    const enum sim_error_kind kind = machine_run(&m, "barrier", 1, cases[i].threads, args, 0, &error);
    if (cases[i].ask && !CHECK(cases[i].says ? kind == SIM_TRAP && strstr(error.text, cases[i].says) : kind == SIM_OK))
      fprintf(stderr, "%zu: %s\n", i, error.text);
    machine_close(&m);
  }
  for (uint32_t n = 64; n <= 96; n += 32) {
    machine m;
    sim_error error = {0};
    machine_open(&m, kernels);
    void *args[] = {&n};
    const enum sim_error_kind kind = machine_run(&m, "two", 1, 64, args, 0, &error);
    if (!CHECK(n == 64 ? kind == SIM_OK : kind == SIM_TRAP && strstr(error.text, "barrier 1 is used for ")))
      fprintf(stderr, "%u: %s\n", n, error.text);
    machine_close(&m);
  }
}

/* A branch beyond the table ends the kernel, and so says the message. */
static void beyond(void) {
  machine m;
  sim_error error = {0};
  machine_open(&m, kernels);
  uint32_t *out = sim_memory_alloc(m.device, 64 * 4, 8), n = 4;
  void *args[] = {&out, &n};
  const enum sim_error_kind kind = machine_run(&m, "indexed", 1, 64, args, 0, &error);
  CHECK(kind == SIM_TRAP && strstr(error.text, "branch 3 of a table of 3"));
  machine_close(&m);
}

#define RUN(table, operands, kind) machine_check_ops(table, sizeof table / sizeof *table, operands, kind)

int main(void) {
  machine m;
  compare();
  RUN(integers, MACHINE_INTEGER, MACHINE_EXACT);
  RUN(singles, MACHINE_F32, MACHINE_EXACT);
  RUN(approximations, MACHINE_F32, MACHINE_F32_CLOSE);
  RUN(pairs, MACHINE_INTEGER, MACHINE_EXACT);
  RUN(doubles, MACHINE_F64, MACHINE_EXACT);
  RUN(of_f16, MACHINE_F16, MACHINE_EXACT);
  RUN(of_bf16, MACHINE_BF16, MACHINE_EXACT);
  RUN(wide, MACHINE_INTEGER, MACHINE_EXACT);
  RUN(wide_swaps, MACHINE_INTEGER, MACHINE_EXACT);
  machine_open(&m, kernels);
  special(&m);
  branches(&m);
  reductions(&m);
  machine_close(&m);
  barriers();
  beyond();
  return machine_result();
}
