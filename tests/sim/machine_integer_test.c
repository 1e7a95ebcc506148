/* SPDX-License-Identifier: MIT */
/* Integer, bit and integer conversion instructions against host arithmetic. */
#include <stdlib.h>

#include "machine_check.h"
#include "machine_values.h"

#define S16 (int16_t)
#define S32 (int32_t)
#define S64 (int64_t)
#define U32 (uint32_t)

REF(add, a + b)
REF(sub, a - b)
REF(mul, a * b)
REF(mad, a * b + c)
REF(hi_u32, a * b >> 32)
REF(hi_s32, S64 S32 a * S32 b >> 32)
REF(hi_u64, (u128)a * b >> 64)
REF(hi_s64, (i128)S64 a * S64 b >> 64)
REF(hi_s16, S16 a * S16 b >> 16)
REF(hi_u16, a * b >> 16)
REF(madhi_s32, (S64 S32 a * S32 b >> 32) + S32 c)
REF(madhi_u64, ((u128)a * b >> 64) + c)
REF(wide_s32, S64 S32 a * S32 b)
REF(wide_u32, a * b)
REF(wide_s16, S16 a * S16 b)
REF(madwide_s32, (uint64_t)(S64 S32 a * S32 b) + c)
REF(madwide_u32, a * b + c)
REF(madwide_u16, a * b + c)
REF(mul24_lo_s, S64(S32(a << 8) >> 8) * (S32(b << 8) >> 8))
REF(mul24_lo_u, (a & 0xffffff) * (b & 0xffffff))
REF(mul24_hi_u, ((a & 0xffffff) * (b & 0xffffff)) >> 16)
REF(mad24_lo_u, (a & 0xffffff) * (b & 0xffffff) + c)
REF(div_u32, b == 0 ? ~0ull : a / b)
REF(div_s32, b == 0 ? ~0ull : (uint64_t)(S64 S32 a / S32 b))
REF(div_s64, b == 0 ? ~0ull : b == ~0ull ? 0 - a : (uint64_t)(S64 a / S64 b))
REF(div_u16, b == 0 ? 0xffff : a / b)
REF(rem_u32, b == 0 ? a : a % b)
REF(rem_s32, b == 0 ? a : (uint64_t)(S64 S32 a % S32 b))
REF(rem_s64, b == 0 ? a : b == ~0ull ? 0 : (uint64_t)(S64 a % S64 b))
REF(abs_s32, llabs(S32 a))
REF(abs_s64, S64 a < 0 ? 0 - a : a)
REF(neg, 0 - a)
REF(min_s32, S32 a < S32 b ? a : b)
REF(max_s32, S32 a > S32 b ? a : b)
REF(min_u, a < b ? a : b)
REF(max_u, a > b ? a : b)
REF(max_s64, S64 a > S64 b ? a : b)
REF(min_s16, S16 a < S16 b ? a : b)
REF(sad_s32, c + (uint64_t)llabs(S64 S32 a - S64 S32 b))
REF(sad_u32, c + (a > b ? a - b : b - a))
REF(min_relu, S32 a < S32 b ? (S32 a > 0 ? a : 0) : (S32 b > 0 ? b : 0))

static uint64_t clamp32(int64_t value) {
  return (uint64_t)(value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : value);
}
REF(add_sat, clamp32(S64 S32 a + S32 b))
REF(sub_sat, clamp32(S64 S32 a - S32 b))

static uint64_t dot4(uint64_t a, uint64_t b, uint64_t c, bool sa, bool sb) {
  int64_t sum = (int32_t)c;
  for (int i = 0; i < 4; i++, a >>= 8, b >>= 8) {
    sum += (sa ? (int8_t)a : (int)(uint8_t)a) * (sb ? (int8_t)b : (int)(uint8_t)b);
  }
  return (uint64_t)sum;
}
REF(dp4a_ss, dot4(a, b, c, true, true))
REF(dp4a_uu, dot4(a, b, c, false, false))
REF(dp4a_su, dot4(a, b, c, true, false))
REF(dp2a_lo, c + (uint64_t)(S16 a * (int8_t)b + S16(a >> 16) * (int8_t)(b >> 8)))
REF(dp2a_hi, c + (a & 0xffff) * (b >> 16 & 0xff) + (a >> 16) * (b >> 24))

static uint64_t differences(uint64_t a, uint64_t b, bool packed, uint64_t sum) {
  uint64_t r = 0;
  for (int i = 0; i < 32; i += 8) {
    uint64_t d = (uint64_t)llabs((int)(a >> i & 255) - (int)(b >> i & 255));
    r |= d << i;
    sum += d;
  }
  return packed ? r : sum;
}
REF(vabsdiff, differences(a, b, true, 0))
REF(vsad, differences(a, b, false, c))
REF(and_, a &b)
REF(or_, a | b)
REF(xor_, a ^ b)
REF(not_, ~a)
REF(cnot, a == 0)
REF(shl32, b > 31 ? 0 : a << b)
REF(shl64, b > 63 ? 0 : a << b)
REF(shl16, b > 15 ? 0 : a << b)
REF(shr_u32, b > 31 ? 0 : a >> b)
REF(shr_s32, S32 a >> (b > 31 ? 31 : b))
REF(shr_s64, S64 a >> (b > 63 ? 63 : b))
REF(shr_s16, S16 a >> (b > 15 ? 15 : b))
REF(shf_l_wrap, (b << 32 | a) << (c & 31) >> 32)
REF(shf_r_wrap, (b << 32 | a) >> (c & 31))
REF(shf_l_clamp, c >= 32 ? a : (b << 32 | a) << c >> 32)
REF(shf_r_clamp, c >= 32 ? b : (b << 32 | a) >> c)
REF(lop3_96, a ^ b ^ c)
REF(lop3_e8, (a & b) | (a & c) | (b & c))
REF(lop3_ca, (a & b) | (~a & c))
REF(lop3_01, ~(a | b | c))
REF(popc, __builtin_popcountll(a))
REF(clz32, a == 0 ? 32 : __builtin_clzll(a) - 32)
REF(clz64, a == 0 ? 64 : __builtin_clzll(a))
REF(bfind_u32, a == 0 ? ~0 : 63 - __builtin_clzll(a))
REF(bfind_shift, a == 0 ? ~0 : __builtin_clzll(a) - 32)
REF(bfind_s64, S64 a == 0 || S64 a == -1 ? ~0 : 63 - __builtin_clzll(S64 a < 0 ? ~a : a))

static uint64_t mirror(uint64_t a, int bits) {
  uint64_t r = 0;
  for (int i = 0; i < bits; i++) {
    r |= (a >> i & 1) << (bits - 1 - i);
  }
  return r;
}
REF(brev32, mirror(a, 32))
REF(brev64, mirror(a, 64))

/* As the PTX manual's pseudo code has it, bit by bit. */
static uint64_t field(uint64_t a, uint64_t b, uint64_t c, int bits, bool is_signed) {
  unsigned pos = b & 0xff, len = c & 0xff, msb = (unsigned)bits - 1, top = pos + len - 1;
  uint64_t result = 0;
  bool fill = false;
  if (is_signed && len != 0) {
    fill = a >> (top < msb ? top : msb) & 1;
  }
  for (unsigned i = 0; i <= msb; i++) {
    bool bit = i < len && pos + i <= msb ? a >> (pos + i) & 1 : fill;
    result |= (uint64_t)bit << i;
  }
  return result;
}
REF(bfe_u32, field(a, b, c, 32, false))
REF(bfe_s32, field(a, b, c, 32, true))
REF(bfe_u64, field(a, b, c, 64, false))
REF(bfe_s64, field(a, b, c, 64, true))

static uint64_t insert(uint64_t a, uint64_t b, unsigned pos, unsigned len, unsigned bits) {
  for (unsigned i = 0; i < len && pos + i < bits; i++) {
    uint64_t one = UINT64_C(1) << (pos + i);
    b = (a >> i & 1) != 0 ? b | one : b & ~one;
  }
  return b;
}
REF(bfi32, insert(a, b, c & 0xff, 9, 32))
REF(bfi64, insert(a, b, c & 0xff, 23, 64))

static uint64_t bytes(uint64_t a, uint64_t b, uint64_t c) {
  uint8_t pool[8];
  uint64_t r = 0;
  for (int i = 0; i < 4; i++) {
    pool[i] = (uint8_t)(a >> (8 * i));
    pool[4 + i] = (uint8_t)(b >> (8 * i));
  }
  for (int i = 0; i < 4; i++) {
    unsigned s = c >> (4 * i) & 15;
    uint8_t byte = pool[s & 7];
    byte = s & 8 ? (byte & 0x80 ? 0xff : 0) : byte;
    r |= (uint64_t)byte << (8 * i);
  }
  return r;
}
static uint64_t mode(uint64_t a, uint64_t b, uint64_t c, const unsigned selectors[4]) {
  return bytes(a, b, selectors[c & 3]);
}
REF(prmt, bytes(a, b, c & 0xffff))
REF(prmt_f4e, mode(a, b, c, (unsigned[]){0x3210, 0x4321, 0x5432, 0x6543}))
REF(prmt_b4e, mode(a, b, c, (unsigned[]){0x5670, 0x6701, 0x7012, 0x0123}))
REF(prmt_rc8, mode(a, b, c, (unsigned[]){0x0000, 0x1111, 0x2222, 0x3333}))
REF(prmt_ecl, mode(a, b, c, (unsigned[]){0x3210, 0x3211, 0x3222, 0x3333}))
REF(prmt_ecr, mode(a, b, c, (unsigned[]){0x0000, 0x1110, 0x2210, 0x3210}))
REF(prmt_rc16, mode(a, b, c, (unsigned[]){0x1010, 0x3232, 0x1010, 0x3232}))

REF(carry_add, ((u128)a + b) >> 64)
REF(carry_add32, (a + b) >> 32)
REF(borrow32, a < b ? ~0u : 0)
REF(long_add, a + b)
REF(madc_hi, ((a * b & 0xffffffff) + c) >> 32)

REF(lt_s32, S32 a < S32 b)
REF(ge_u32, a >= b)
REF(hi_or, a > b || c != 0)
REF(eq_xor, (a == b) ^ (c != 0))
REF(ne_s64, a != b)
REF(second, !(S16 a <= S16 b))
REF(set_lt, S32 a < S32 b ? 0xffffffff : 0)
REF(selp, S64 a < S64 b ? a : b)
REF(slct, S32 c >= 0 ? a : b)

REF(s8_32, (int8_t)a)
REF(u8_32, (uint8_t)a)
REF(s16_64, S16 a)
REF(s32_64, S32 a)
REF(u32_64, U32 a)
REF(sat_u8, S32 a < 0 ? 0 : S32 a > 255 ? 255 : a)
REF(sat_s8, S32 a < -128 ? (uint64_t)-128 : S32 a > 127 ? 127 : a)
REF(sat_s32_u64, a > INT32_MAX ? INT32_MAX : a)
REF(sat_u32_s64, S64 a < 0 ? 0 : a > UINT32_MAX ? UINT32_MAX : a)
REF(max_s16x2, (uint16_t)(S16 a > S16 b ? a : b) |
                   (uint64_t)(uint16_t)(S16(a >> 16) > S16(b >> 16) ? a >> 16 : b >> 16) << 16)
REF(add_u16x2, (uint16_t)(a + b) | (uint64_t)(uint16_t)((a >> 16) + (b >> 16)) << 16)
REF(bmsk_clamp, a > 31 ? 0 : (b > 31 ? ~0ull : (1ull << b) - 1) << a)
REF(szext_u, b > 31 ? a : a & ((1ull << b) - 1))
REF(pack16, a | (uint64_t)b << 16)
REF(unpack, a >> 32)

static const machine_op ops[] = {
    {"add.u32 d, a, b;", 32, 32, 32, 32, add},
    {"add.s16 d, a, b;", 16, 16, 16, 16, add},
    {"add.u64 d, a, b;", 64, 64, 64, 64, add},
    {"sub.s32 d, a, b;", 32, 32, 32, 32, sub},
    {"sub.s64 d, a, b;", 64, 64, 64, 64, sub},
    {"mul.lo.s32 d, a, b;", 32, 32, 32, 32, mul},
    {"mul.lo.s64 d, a, b;", 64, 64, 64, 64, mul},
    {"mul.lo.u16 d, a, b;", 16, 16, 16, 16, mul},
    {"mad.lo.s32 d, a, b, c;", 32, 32, 32, 32, mad},
    {"mad.lo.u64 d, a, b, c;", 64, 64, 64, 64, mad},
    {"mad.lo.u16 d, a, b, c;", 16, 16, 16, 16, mad},
    {"mul.hi.u32 d, a, b;", 32, 32, 32, 32, hi_u32},
    {"mul.hi.s32 d, a, b;", 32, 32, 32, 32, hi_s32},
    {"mul.hi.u64 d, a, b;", 64, 64, 64, 64, hi_u64},
    {"mul.hi.s64 d, a, b;", 64, 64, 64, 64, hi_s64},
    {"mul.hi.s16 d, a, b;", 16, 16, 16, 16, hi_s16},
    {"mul.hi.u16 d, a, b;", 16, 16, 16, 16, hi_u16},
    {"mad.hi.s32 d, a, b, c;", 32, 32, 32, 32, madhi_s32},
    {"mad.hi.u64 d, a, b, c;", 64, 64, 64, 64, madhi_u64},
    {"mul.wide.s32 d, a, b;", 64, 32, 32, 32, wide_s32},
    {"mul.wide.u32 d, a, b;", 64, 32, 32, 32, wide_u32},
    {"mul.wide.s16 d, a, b;", 32, 16, 16, 16, wide_s16},
    {"mad.wide.s32 d, a, b, c;", 64, 32, 32, 64, madwide_s32},
    {"mad.wide.u32 d, a, b, c;", 64, 32, 32, 64, madwide_u32},
    {"mad.wide.u16 d, a, b, c;", 32, 16, 16, 32, madwide_u16},
    {"mul24.lo.s32 d, a, b;", 32, 32, 32, 32, mul24_lo_s},
    {"mul24.lo.u32 d, a, b;", 32, 32, 32, 32, mul24_lo_u},
    {"mul24.hi.u32 d, a, b;", 32, 32, 32, 32, mul24_hi_u},
    {"mad24.lo.u32 d, a, b, c;", 32, 32, 32, 32, mad24_lo_u},
    {"div.u32 d, a, b;", 32, 32, 32, 32, div_u32},
    {"div.s32 d, a, b;", 32, 32, 32, 32, div_s32},
    {"div.u64 d, a, b;", 64, 64, 64, 64, div_u32},
    {"div.s64 d, a, b;", 64, 64, 64, 64, div_s64},
    {"div.u16 d, a, b;", 16, 16, 16, 16, div_u16},
    {"rem.u32 d, a, b;", 32, 32, 32, 32, rem_u32},
    {"rem.s32 d, a, b;", 32, 32, 32, 32, rem_s32},
    {"rem.s64 d, a, b;", 64, 64, 64, 64, rem_s64},
    {"abs.s32 d, a;", 32, 32, 32, 32, abs_s32},
    {"abs.s64 d, a;", 64, 64, 64, 64, abs_s64},
    {"neg.s32 d, a;", 32, 32, 32, 32, neg},
    {"neg.s64 d, a;", 64, 64, 64, 64, neg},
    {"min.s32 d, a, b;", 32, 32, 32, 32, min_s32},
    {"max.s32 d, a, b;", 32, 32, 32, 32, max_s32},
    {"min.u32 d, a, b;", 32, 32, 32, 32, min_u},
    {"max.u64 d, a, b;", 64, 64, 64, 64, max_u},
    {"max.s64 d, a, b;", 64, 64, 64, 64, max_s64},
    {"min.s16 d, a, b;", 16, 16, 16, 16, min_s16},
    {"min.relu.s32 d, a, b;", 32, 32, 32, 32, min_relu},
    {"max.s16x2 d, a, b;", 32, 32, 32, 32, max_s16x2},
    {"add.u16x2 d, a, b;", 32, 32, 32, 32, add_u16x2},
    {"sad.s32 d, a, b, c;", 32, 32, 32, 32, sad_s32},
    {"sad.u32 d, a, b, c;", 32, 32, 32, 32, sad_u32},
    {"add.sat.s32 d, a, b;", 32, 32, 32, 32, add_sat},
    {"sub.sat.s32 d, a, b;", 32, 32, 32, 32, sub_sat},
    {"dp4a.s32.s32 d, a, b, c;", 32, 32, 32, 32, dp4a_ss},
    {"dp4a.u32.u32 d, a, b, c;", 32, 32, 32, 32, dp4a_uu},
    {"dp4a.s32.u32 d, a, b, c;", 32, 32, 32, 32, dp4a_su},
    {"dp2a.lo.s32.s32 d, a, b, c;", 32, 32, 32, 32, dp2a_lo},
    {"dp2a.hi.u32.u32 d, a, b, c;", 32, 32, 32, 32, dp2a_hi},
    {"vabsdiff4.u32.u32.u32 d, a, b, c;", 32, 32, 32, 32, vabsdiff},
    {"vabsdiff4.u32.u32.u32.add d, a, b, c;", 32, 32, 32, 32, vsad},
    {"and.b32 d, a, b;", 32, 32, 32, 32, and_},
    {"or.b64 d, a, b;", 64, 64, 64, 64, or_},
    {"xor.b32 d, a, b;", 32, 32, 32, 32, xor_},
    {"not.b32 d, a;", 32, 32, 32, 32, not_},
    {"not.b64 d, a;", 64, 64, 64, 64, not_},
    {"xor.b16 d, a, b;", 16, 16, 16, 16, xor_},
    {"cnot.b32 d, a;", 32, 32, 32, 32, cnot},
    {"shl.b32 d, a, b;", 32, 32, 32, 32, shl32},
    {"shl.b64 d, a, b;", 64, 64, 32, 32, shl64},
    {"shl.b16 d, a, b;", 16, 16, 32, 32, shl16},
    {"shr.u32 d, a, b;", 32, 32, 32, 32, shr_u32},
    {"shr.s32 d, a, b;", 32, 32, 32, 32, shr_s32},
    {"shr.s64 d, a, b;", 64, 64, 32, 32, shr_s64},
    {"shr.s16 d, a, b;", 16, 16, 32, 32, shr_s16},
    {"shf.l.wrap.b32 d, a, b, c;", 32, 32, 32, 32, shf_l_wrap},
    {"shf.r.wrap.b32 d, a, b, c;", 32, 32, 32, 32, shf_r_wrap},
    {"shf.l.clamp.b32 d, a, b, c;", 32, 32, 32, 32, shf_l_clamp},
    {"shf.r.clamp.b32 d, a, b, c;", 32, 32, 32, 32, shf_r_clamp},
    {"lop3.b32 d, a, b, c, 0x96;", 32, 32, 32, 32, lop3_96},
    {"lop3.b32 d, a, b, c, 0xe8;", 32, 32, 32, 32, lop3_e8},
    {"lop3.b32 d, a, b, c, 202;", 32, 32, 32, 32, lop3_ca},
    {"lop3.b32 d, a, b, c, 1;", 32, 32, 32, 32, lop3_01},
    {"popc.b32 d, a;", 32, 32, 32, 32, popc},
    {"popc.b64 d, a;", 32, 64, 32, 32, popc},
    {"clz.b32 d, a;", 32, 32, 32, 32, clz32},
    {"clz.b64 d, a;", 32, 64, 32, 32, clz64},
    {"bfind.u32 d, a;", 32, 32, 32, 32, bfind_u32},
    {"bfind.shiftamt.u32 d, a;", 32, 32, 32, 32, bfind_shift},
    {"bfind.s64 d, a;", 32, 64, 32, 32, bfind_s64},
    {"brev.b32 d, a;", 32, 32, 32, 32, brev32},
    {"brev.b64 d, a;", 64, 64, 32, 32, brev64},
    {"bfe.u32 d, a, b, c;", 32, 32, 32, 32, bfe_u32},
    {"bfe.s32 d, a, b, c;", 32, 32, 32, 32, bfe_s32},
    {"bfe.u64 d, a, b, c;", 64, 64, 32, 32, bfe_u64},
    {"bfe.s64 d, a, b, c;", 64, 64, 32, 32, bfe_s64},
    {"bfi.b32 d, a, b, c, 9;", 32, 32, 32, 32, bfi32},
    {"bfi.b64 d, a, b, c, 23;", 64, 64, 64, 32, bfi64},
    {"prmt.b32 d, a, b, c;", 32, 32, 32, 32, prmt},
    {"prmt.b32.f4e d, a, b, c;", 32, 32, 32, 32, prmt_f4e},
    {"prmt.b32.b4e d, a, b, c;", 32, 32, 32, 32, prmt_b4e},
    {"prmt.b32.rc8 d, a, b, c;", 32, 32, 32, 32, prmt_rc8},
    {"prmt.b32.ecl d, a, b, c;", 32, 32, 32, 32, prmt_ecl},
    {"prmt.b32.ecr d, a, b, c;", 32, 32, 32, 32, prmt_ecr},
    {"prmt.b32.rc16 d, a, b, c;", 32, 32, 32, 32, prmt_rc16},
    {"bmsk.clamp.b32 d, a, b;", 32, 32, 32, 32, bmsk_clamp},
    {"szext.clamp.u32 d, a, b;", 32, 32, 32, 32, szext_u},
    {"add.cc.u64 x, a, b; addc.u64 d, 0, 0;", 64, 64, 64, 64, carry_add},
    {"add.cc.u32 t, a, b; addc.u32 d, 0, 0;", 32, 32, 32, 32, carry_add32},
    {"sub.cc.u32 t, a, b; subc.u32 d, 0, 0;", 32, 32, 32, 32, borrow32},
    {"mad.lo.cc.u32 t, a, b, c; madc.hi.u32 d, 0, 0, 0;", 32, 32, 32, 32, madc_hi},
    {"{ .reg .b32 al, ah, bl, bh, dl, dh; mov.b64 {al, ah}, a; mov.b64 {bl, bh}, b;\n"
     "  add.cc.u32 dl, al, bl; addc.u32 dh, ah, bh; mov.b64 d, {dl, dh}; }",
     64, 64, 64, 64, long_add},
    {"setp.lt.s32 p, a, b; selp.b32 d, 1, 0, p;", 32, 32, 32, 32, lt_s32},
    {"setp.hs.u32 p, a, b; selp.b32 d, 1, 0, p;", 32, 32, 32, 32, ge_u32},
    {"setp.ne.b32 q, c, 0; setp.hi.or.u32 p, a, b, q; selp.b32 d, 1, 0, p;", 32, 32, 32, 32, hi_or},
    {"setp.eq.b32 q, c, 0; setp.eq.xor.s32 p, a, b, !q; selp.b32 d, 1, 0, p;", 32, 32, 32, 32,
     eq_xor},
    {"setp.ne.s64 p, a, b; selp.b64 d, 1, 0, p;", 64, 64, 64, 64, ne_s64},
    {"setp.le.s16 p|q, a, b; selp.b16 d, 1, 0, q;", 16, 16, 16, 16, second},
    {"set.lt.u32.s32 d, a, b;", 32, 32, 32, 32, set_lt},
    {"setp.lt.s64 p, a, b; selp.b64 d, a, b, p;", 64, 64, 64, 64, selp},
    {"slct.u32.s32 d, a, b, c;", 32, 32, 32, 32, slct},
    {"cvt.s32.s8 d, a;", 32, 32, 32, 32, s8_32},
    {"cvt.u32.u8 d, a;", 32, 32, 32, 32, u8_32},
    {"cvt.s64.s16 d, a;", 64, 16, 32, 32, s16_64},
    {"cvt.s64.s32 d, a;", 64, 32, 32, 32, s32_64},
    {"cvt.u64.u32 d, a;", 64, 32, 32, 32, u32_64},
    {"cvt.u32.u64 d, a;", 32, 64, 32, 32, u32_64},
    {"cvt.sat.u8.s32 d, a;", 32, 32, 32, 32, sat_u8},
    {"cvt.sat.s8.s32 t, a; cvt.s32.s8 d, t;", 32, 32, 32, 32, sat_s8},
    {"cvt.sat.s32.u64 d, a;", 32, 64, 32, 32, sat_s32_u64},
    {"cvt.sat.u32.s64 d, a;", 32, 64, 32, 32, sat_u32_s64},
    {"mov.b32 d, {a, b};", 32, 16, 16, 16, pack16},
    {"mov.b64 {_, d}, a;", 32, 64, 32, 32, unpack},
};

int main(void) {
  machine_check_ops(ops, sizeof ops / sizeof *ops, MACHINE_INTEGER, MACHINE_EXACT);
  return machine_result();
}
