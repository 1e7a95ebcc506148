// SPDX-License-Identifier: MIT
// Private: what a mark is made of: special registers, the cursor that says where the next record goes, the
// stamp, and global memory by its address. The layout is record.h's.
#ifndef INKMARK_MARK_WORD_CUH
#define INKMARK_MARK_WORD_CUH

#include "inkmark/record.h"

namespace ink_i {

using u32 = unsigned;
using u64 = unsigned long long;

constexpr __host__ __device__ u64 hash_more(u64 hash, const char *text) {
  for (; *text; text++)
    hash = (hash ^ (unsigned char)*text) * 0x100000001b3ull;
  return hash;
}
// hash48 of record.h.
constexpr __host__ __device__ u64 hash48(const char *name, const char *sections) {
  u64 hash = hash_more(hash_more(hash_more(0xcbf29ce484222325ull, name), ":"), sections);
  return (hash >> 48 ^ hash) & INK_CLOCK_MASK;
}

// ---- special registers -------------------------------------------------------------------------

#if defined(__CUDA_ARCH__)

__device__ __forceinline__ u64 read_clock() {
  u64 cycles;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles) : : "memory");
  return cycles;
}
__device__ __forceinline__ u64 read_globaltimer() {
  u64 ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns) : : "memory");
  return ns;
}
__device__ __forceinline__ u32 read_smid() {
  u32 sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  return sm;
}
// Reads a special register here and now: no register holds it from an earlier use to this one.
#define INK_I_READ_HERE(name)                                                                      \
  [] {                                                                                             \
    u32 word;                                                                                      \
    asm volatile("mov.u32 %0, %%" name ";" : "=r"(word));                                          \
    return word;                                                                                   \
  }()
__device__ __forceinline__ u64 read_gridid() {
  u64 grid;
  asm("mov.u64 %0, %%gridid;" : "=l"(grid));
  return grid;
}
__device__ __forceinline__ u32 read_cluster_rank() {
#if __CUDA_ARCH__ >= 900
  u32 rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
#else
  return 0;
#endif
}
__device__ __forceinline__ u32 linear_thread() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
__device__ __forceinline__ u32 linear_block() {
  return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
}

#endif

// ---- a cursor: where this thread's next record goes --------------------------------------------

// The lower half of the address of the word at `offset` is offset where mask has ones and the ring's
// address elsewhere, one lop3: rings are aligned to their size. `low` is rewritten in place for each
// word, for its upper bits stay the ring's. offset counts from 0 in multiples of 8. For keep first, mask
// is that of the ring, so offset equals it at the ring's last word, and recording stops there for good;
// for keep last, mask has bit 1 set besides, which no offset equals and which is 0 in every address. So
// one comparison serves both ends, and no store can leave the ring.
struct cursor {
  u32 low, high, mask;
};

#if defined(__CUDA_ARCH__)

__device__ __forceinline__ void store_word(cursor &at, u32 offset, bool on, u64 word) {
  asm volatile("{\n\t"
               ".reg .pred on; .reg .u64 at;\n\t"
               "setp.ne.u32 on, %4, 0;\n\t"
               "lop3.b32 %0, %1, %2, %0, 0xE2;\n\t"
               "mov.b64 at, {%0, %3};\n\t"
               "@on st.global.u64 [at], %5;\n\t"
               "}"
               : "+r"(at.low)
               : "r"(offset), "r"(at.mask), "r"(at.high), "r"((u32)on), "l"(word)
               : "memory");
}

// The tag goes to the upper half of the head. As one 64-bit operation it works in place, which ptxas does
// not find otherwise; from sm_100 on it is the other way round, and the 64-bit form costs two more.
#if __CUDA_ARCH__ >= 1000
#define INK_I_TAG_CLOCK                                                                            \
  "mov.b64 {l, h}, now;\n\t"                                                                       \
  "xor.b32 h, h, %5;\n\t"
#define INK_I_STORE_CLOCK "@on st.global.v2.u32 [at], {l, h};\n\t"
#define INK_I_TAG_BITS(tag) ((tag) << 16)
#else
#define INK_I_TAG_CLOCK "xor.b64 now, now, %5;\n\t"
#define INK_I_STORE_CLOCK "@on st.global.u64 [at], now;\n\t"
#define INK_I_TAG_BITS(tag) ((u64)(tag) << INK_TAG_SHIFT)
#endif

// Stamps and stores a head in one piece of PTX, so that nothing slips between.
template <u32 Tag>
__device__ __forceinline__ void store_stamp(cursor &at, u32 offset, bool on) {
  asm volatile("{\n\t"
               ".reg .pred on; .reg .u32 l, h; .reg .u64 at, now;\n\t"
               "setp.ne.u32 on, %4, 0;\n\t"
               "mov.u64 now, %%clock64;\n\t"
               INK_I_TAG_CLOCK
               "lop3.b32 %0, %1, %2, %0, 0xE2;\n\t"
               "mov.b64 at, {%0, %3};\n\t"
               INK_I_STORE_CLOCK
               "}"
               : "+r"(at.low)
               : "r"(offset), "r"(at.mask), "r"(at.high), "r"((u32)on), "n"(INK_I_TAG_BITS(Tag))
               : "memory");
}

__device__ __forceinline__ u64 head_word(u32 tag, u64 clock) {
  return clock ^ (u64)tag << INK_TAG_SHIFT;
}
__device__ __forceinline__ u64 escape_word(u32 code, u64 hash, u64 clock) {
  return (clock & ~INK_CLOCK_MASK) ^ (hash | (u64)INK_TAG(INK_KIND_ESCAPE, code) << INK_TAG_SHIFT);
}

// base + index * size in one instruction.
__device__ __forceinline__ u64 address_of(u64 base, u32 index, u32 size) {
  return base + (u64)index * size;
}

// ---- global memory by its address, 16 bytes at once ---------------------------------------------

// Through a generic pointer every access would bring a path for shared memory. The loads are volatile:
// they are issued where they stand, so that one wait serves those that stand together.
template <u32 Offset>
__device__ __forceinline__ void load_u32x4(u64 at, u32 &a, u32 &b, u32 &c, u32 &d) {
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4+%5];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "l"(at), "n"(Offset));
}
template <u32 Offset> __device__ __forceinline__ void load_u32x2(u64 at, u32 &a, u32 &b) {
  asm volatile("ld.global.v2.u32 {%0, %1}, [%2+%3];" : "=r"(a), "=r"(b) : "l"(at), "n"(Offset));
}
template <u32 Offset> __device__ __forceinline__ void load_u64x2(u64 at, u64 &a, u64 &b) {
  asm volatile("ld.global.v2.u64 {%0, %1}, [%2+%3];" : "=l"(a), "=l"(b) : "l"(at), "n"(Offset));
}
template <u32 Offset> __device__ __forceinline__ u32 load_u32(u64 at) {
  u32 word;
  asm volatile("ld.global.u32 %0, [%1+%2];" : "=r"(word) : "l"(at), "n"(Offset));
  return word;
}
template <u32 Offset>
__device__ __forceinline__ void store_u32x4(u64 at, u32 a, u32 b, u32 c, u32 d) {
  asm volatile("st.global.v4.u32 [%0+%1], {%2, %3, %4, %5};"
               :
               : "l"(at), "n"(Offset), "r"(a), "r"(b), "r"(c), "r"(d)
               : "memory");
}
template <u32 Offset> __device__ __forceinline__ void store_u64x2(u64 at, u64 a, u64 b) {
  asm volatile("st.global.v2.u64 [%0+%1], {%2, %3};"
               :
               : "l"(at), "n"(Offset), "l"(a), "l"(b)
               : "memory");
}

template <u32 Offset> __device__ __forceinline__ void store_u64(u64 at, u64 a) {
  asm volatile("st.global.u64 [%0+%1], %2;" : : "l"(at), "n"(Offset), "l"(a) : "memory");
}

// Around the addition of a value that is the same in all threads ptxas builds a warp-wide aggregate, 15
// instructions for what one thread does: callers pass a 1 that it cannot see through.
template <u32 Offset> __device__ __forceinline__ void add_global(u64 at, u64 value) {
  asm volatile("red.global.add.u64 [%0+%1], %2;" : : "l"(at), "n"(Offset), "l"(value) : "memory");
}
template <u32 Offset> __device__ __forceinline__ u64 fetch_add_global(u64 at, u64 value) {
  u64 old;
  asm volatile("atom.global.add.u64 %0, [%1+%2], %3;"
               : "=l"(old)
               : "l"(at), "n"(Offset), "l"(value)
               : "memory");
  return old;
}
__device__ __forceinline__ u32 exchange_global(u64 at, u32 value) {
  u32 old;
  asm volatile("atom.global.exch.b32 %0, [%1], %2;" : "=r"(old) : "l"(at), "r"(value) : "memory");
  return old;
}

// Offsets that the code below uses; the layout is record.h's.
#if defined(__CUDACC_RTC__) // which has no offsetof, but what it is made of
#define INK_I_AT(type, field) ((u32)(u64)__INTADDR__(&((type *)0)->field))
#else
#define INK_I_AT(type, field) ((u32)__builtin_offsetof(type, field))
#endif
static_assert(INK_I_AT(ink_buffer, warps) == INK_I_AT(ink_buffer, flags) + 4 &&
                  INK_I_AT(ink_buffer, tracks_mask) % 16 == 0 &&
                  INK_I_AT(ink_buffer, one) == INK_I_AT(ink_buffer, tracks_mask) + 12 &&
                  INK_I_AT(ink_buffer, kernels_at) % 16 == 0 &&
                  INK_I_AT(ink_buffer, tracks_at) % 16 == 0 && INK_I_AT(ink_buffer, aux_at) % 16 == 0 &&
                  INK_I_AT(ink_buffer, aux_mask) == INK_I_AT(ink_buffer, aux_at) + 12,
              "the fields that opening reads together");
static_assert(INK_I_AT(ink_track, ticket) == 8 && INK_I_AT(ink_track, grid_dim) == 24 &&
                  INK_I_AT(ink_track, block_dim) == 36 && INK_I_AT(ink_track, thread) == 60 &&
                  INK_I_AT(ink_track, sm_open) == 68 && INK_I_AT(ink_track, open_clock0) == 80 &&
                  INK_I_AT(ink_track, close_clock0) == 104 && INK_I_AT(ink_track, words) == 128 &&
                  INK_I_AT(ink_track, aux_words) == 144,
              "the fields that opening and closing write together");

#endif // __CUDA_ARCH__

} // namespace ink_i

#endif
