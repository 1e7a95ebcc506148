// SPDX-License-Identifier: MIT
// Private: marks whose values are tied to the clock read by a dependency that the assembler cannot see
// through, for where a held value is not enough: ptxas sinks what an empty asm holds, and fuses a
// multiply with an add behind the mark. docs/verify.md shows what moves with and without.
#ifndef INKMARK_MARK_STRICT_CUH
#define INKMARK_MARK_STRICT_CUH

#include "inkmark/mark_impl.cuh"

namespace ink_i {

#if defined(__CUDA_ARCH__)

// ---- the value depends on the clock --------------------------------------------------------------
// The uppermost bit of clock64 is 0 for as long as a GPU lives, which no compiler knows: `value |
// (upper half & that bit)` is the value, in one lop3, and not before the clock was read.

constexpr u32 never = 0x80000000u;

__device__ __forceinline__ void tie_word(u32 &word, u32 high) {
  asm volatile("lop3.b32 %0, %0, %1, 0x80000000, 0xF8;" : "+r"(word) : "r"(high));
}

template <unsigned Bytes> struct tie_bits { // vectors, half2, structs of words, 64-bit integers
  template <class Type> static __device__ __forceinline__ void run(Type &value, u32 high) {
    u32 words[Bytes / 4];
    memcpy(words, &value, Bytes);
#pragma unroll
    for (unsigned i = 0; i < Bytes / 4; i++)
      tie_word(words[i], high);
    memcpy(&value, words, Bytes);
  }
  template <class Type> static __device__ __forceinline__ u32 gather(const Type &value) {
    u32 words[Bytes / 4], all = 0;
    memcpy(words, &value, Bytes);
#pragma unroll
    for (unsigned i = 0; i < Bytes / 4; i++)
      all |= words[i];
    return all;
  }
};
template <> struct tie_bits<1> {
  template <class Type> static __device__ __forceinline__ void run(Type &value, u32 high) {
    unsigned char byte;
    memcpy(&byte, &value, 1);
    byte = (unsigned char)(byte | high >> 31);
    memcpy(&value, &byte, 1);
  }
  template <class Type> static __device__ __forceinline__ u32 gather(const Type &value) {
    unsigned char byte;
    memcpy(&byte, &value, 1);
    return (u32)byte << 24; // its uppermost bit is looked at, so all of it is needed there
  }
};
template <> struct tie_bits<2> {
  template <class Type> static __device__ __forceinline__ void run(Type &value, u32 high) {
    unsigned short half;
    memcpy(&half, &value, 2);
    half = (unsigned short)(half | high >> 31);
    memcpy(&value, &half, 2);
  }
  template <class Type> static __device__ __forceinline__ u32 gather(const Type &value) {
    unsigned short half;
    memcpy(&half, &value, 2);
    return (u32)half << 16;
  }
};

template <class Type> __device__ __forceinline__ void tie_one(u32 high, Type &value) {
  tie_bits<sizeof(Type)>::run(value, high);
}
template <class Type> __device__ __forceinline__ void tie_one(u32, const Type &) {} // nothing uses a copy
template <class Type, unsigned long Length> __device__ __forceinline__ void tie_one(u32 high, Type (&values)[Length]) {
#pragma unroll
  for (unsigned long i = 0; i < Length; i++)
    tie_one(high, values[i]);
}
__device__ __forceinline__ void tie_one(u32 high, double &v) { // one instruction makes both halves
  v = __hiloint2double((int)(__double2hiint(v) | (int)(high & never)), __double2loint(v));
}
__device__ __forceinline__ void tie_one(u32, const end_of_values &) {}

__device__ __forceinline__ void tie(u32) {}
template <class Type, class... Rest>
__device__ __forceinline__ void tie(u32 high, Type &&first, Rest &&...rest) {
  tie_one(high, first);
  tie(high, rest...);
}

// ---- the clock depends on the value --------------------------------------------------------------

template <class Type> __device__ __forceinline__ u32 gather_one(const Type &value) {
  return tie_bits<sizeof(Type)>::gather(value);
}
template <class Type, unsigned long Length> __device__ __forceinline__ u32 gather_one(const Type (&values)[Length]) {
  u32 all = 0;
#pragma unroll
  for (unsigned long i = 0; i < Length; i++)
    all |= gather_one(values[i]);
  return all;
}
__device__ __forceinline__ u32 gather_one(const double &v) { return (u32)__double2hiint(v); }
__device__ __forceinline__ u32 gather_one(const end_of_values &) { return 0; }

__device__ __forceinline__ u32 gather() { return 0; }
template <class Type, class... Rest>
__device__ __forceinline__ u32 gather(const Type &first, const Rest &...rest) {
  return gather_one(first) | gather(rest...);
}

// Reads the clock when `word` is there: behind a store that is never made, for it looks at a bit that only
// `high` could set, whose uppermost bit is 0. Instructions are issued in order, so the store's predicate is waited
// for; to shared memory, where the address is any register. A predicate on the clock read itself is no dependency: ptxas reads the clock anyhow and selects. A
// branch or an exit would be one, but ptxas drains all wgmma groups in front of it (C7517).
__device__ __forceinline__ u64 read_clock_after(u32 word, u32 high) {
  u64 cycles;
  asm volatile("{\n\t"
               ".reg .pred _top; .reg .u32 _both;\n\t"
               "lop3.b32 _both, %1, %2, 0x80000000, 0x80;\n\t"
               "setp.ne.u32 _top, _both, 0;\n\t"
               "@_top st.volatile.shared.u32 [_both], _both;\n\t"
               "mov.u64 %0, %%clock64;\n\t"
               "}"
               : "=l"(cycles)
               : "r"(word), "r"(high)
               : "memory");
  return cycles;
}

#endif

template <bool Loaded, u32 Kind, u32 Section, u64 Hash, class Context, class... Values>
__host__ __device__ __forceinline__ void stamp_tied(Context &&context, Values &&...values) {
#if defined(__CUDA_ARCH__)
  const u64 now = Loaded ? read_clock_after(gather(values...), context.top_is_zero()) : read_clock();
  tie((u32)(now >> 32), values...);
  context.fetch();
  context.template stamp_at<Kind, Section, Hash>(now);
  context.give();
#endif
}

} // namespace ink_i

#endif
