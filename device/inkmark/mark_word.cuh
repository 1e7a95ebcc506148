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

// Whether a macro's argument is a name, with or without its table's in front: letters, digits, _ and ::, or beyond ASCII.
constexpr __host__ __device__ bool is_name(const char *text) {
  if (*text >= '0' && *text <= '9')
    return false;
  for (; *text; text++) {
    const char c = *text;
    const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (!word && c != ':' && c != ' ' && c != '$' && c != '\\' && (unsigned char)c < 128)
      return false;
  }
  return true;
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
// The thread's place in its warp. A warp's threads are 32 consecutive ones, so this is linear_thread() % 32.
__device__ __forceinline__ u32 read_lane() {
  u32 lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}
__device__ __forceinline__ u64 read_gridid() {
  u64 grid;
  asm("mov.u64 %0, %%gridid;" : "=l"(grid));
  return grid;
}
__device__ __forceinline__ u64 read_gridid_anew() {
  u64 grid;
  asm volatile("mov.u64 %0, %%gridid;" : "=l"(grid));
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
__device__ __forceinline__ u64 linear_cluster() {
#if __CUDA_ARCH__ >= 900
  u32 x, y, z, in_x, in_y;
  asm("mov.u32 %0, %%clusterid.x;\n\tmov.u32 %1, %%clusterid.y;\n\tmov.u32 %2, %%clusterid.z;" : "=r"(x), "=r"(y), "=r"(z));
  asm("mov.u32 %0, %%nclusterid.x;\n\tmov.u32 %1, %%nclusterid.y;" : "=r"(in_x), "=r"(in_y));
  return x + (u64)in_x * (y + (u64)in_y * z);
#else // a block is its own
  return blockIdx.x + (u64)gridDim.x * (blockIdx.y + (u64)gridDim.y * blockIdx.z);
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
// for keep last, the lowest bits of mask are set besides, which no offset has. So
// one comparison serves both ends, and no store can leave the ring.
struct cursor {
  u32 low, high, mask;
};

#if defined(__CUDA_ARCH__)

// Registers of PTX begin with _: ptxas crashes where one has the name of an extern "C" kernel.
//
// `bytes` counts every byte ever written; its low bits are the offset in the ring. It goes into the PTX as one 64-bit
// operand, and the PTX tests for the end of the ring: if the compiler saw the halves or differences, it would keep each
// of them in a register of its own through the loop. `on`, 0 or 1, goes in as a u32: a bool would be merged as a byte.
__device__ __forceinline__ void store_word(cursor &at, u64 bytes, u32 on, u64 word) {
  asm volatile("{\n\t"
               ".reg .pred _on; .reg .u64 _at; .reg .u32 _l, _h;\n\t"
               "setp.ne.u32 _on, %4, 0;\n\t"
               "mov.b64 {_l, _h}, %1;\n\t"
               "lop3.b32 %0, _l, %2, %0, 0xE2;\n\t"
               "mov.b64 _at, {%0, %3};\n\t"
               "@_on st.global.u64 [_at], %5;\n\t"
               "}"
               : "+r"(at.low)
               : "l"(bytes), "r"(at.mask), "r"(at.high), "r"(on), "l"(word)
               : "memory");
}
// A record's words, its head last: who copies a ring while a kernel stores (runtime/decode/open_ring.h) may find
// a record without its head, never a head without what it stands for. An escape is the word behind the head.
template <bool Escaped, u32 Length>
__device__ __forceinline__ void store_record(cursor &at, u64 bytes, u32 on, const u64 (&record)[Length]) {
  constexpr u32 head = Escaped ? Length - 2 : Length - 1;
#pragma unroll
  for (u32 i = 0; i < Length; i++)
    if (i != head)
      store_word(at, bytes + 8 * i, on, record[i]);
  store_word(at, bytes + 8 * head, on, record[head]);
}
// Off for good where the word at `bytes` is the ring's last.
__device__ __forceinline__ void stop_at_end(u32 &on, u64 bytes, u32 mask) {
  asm("{\n\t"
      ".reg .pred _on; .reg .u32 _l, _h;\n\t"
      "setp.ne.u32 _on, %0, 0;\n\t"
      "mov.b64 {_l, _h}, %1;\n\t"
      "setp.ne.and.u32 _on, _l, %2, _on;\n\t"
      "selp.u32 %0, 1, 0, _on;\n\t"
      "}"
      : "+r"(on)
      : "l"(bytes), "r"(mask));
}

// The tag goes to the upper half of the head. As one 64-bit operation it works in place, which ptxas does
// not find otherwise; from sm_100 on it is the other way round, and the 64-bit form costs two more.
#if __CUDA_ARCH__ >= 1000
#define INK_I_TAG_CLOCK                                                                            \
  "mov.b64 {_l, _h}, _now;\n\t"                                                                       \
  "xor.b32 _h, _h, %5;\n\t"
#define INK_I_STORE_CLOCK "@_on st.global.v2.u32 [_at], {_l, _h};\n\t"
#define INK_I_TAG_BITS(tag) ((tag) << 16)
#else
#define INK_I_TAG_CLOCK "xor.b64 _now, _now, %5;\n\t"
#define INK_I_STORE_CLOCK "@_on st.global.u64 [_at], _now;\n\t"
#define INK_I_TAG_BITS(tag) ((u64)(tag) << INK_TAG_SHIFT)
#endif

// Stamps and stores a head in one piece of PTX, so that nothing slips between.
template <u32 Tag>
__device__ __forceinline__ void store_stamp(cursor &at, u64 bytes, u32 &on) {
  asm volatile("{\n\t"
               ".reg .pred _on; .reg .u32 _l, _h, _o, _i; .reg .u64 _at, _now;\n\t"
               "setp.ne.u32 _on, %1, 0;\n\t"
               "mov.u64 _now, %%clock64;\n\t"
               INK_I_TAG_CLOCK
               "mov.b64 {_o, _i}, %2;\n\t"
               "lop3.b32 %0, _o, %3, %0, 0xE2;\n\t"
               "mov.b64 _at, {%0, %4};\n\t"
               INK_I_STORE_CLOCK
               "setp.ne.and.u32 _on, _o, %3, _on;\n\t"
               "selp.u32 %1, 1, 0, _on;\n\t"
               "}"
               : "+r"(at.low), "+r"(on)
               : "l"(bytes), "r"(at.mask), "r"(at.high), "n"(INK_I_TAG_BITS(Tag))
               : "memory");
}

__device__ __forceinline__ u64 head_word(u32 tag, u64 clock) {
  return clock ^ (u64)tag << INK_TAG_SHIFT;
}
__device__ __forceinline__ u64 escape_word(u32 code, u64 hash, u64 clock) {
  return (clock & ~INK_CLOCK_MASK) ^ (hash | (u64)INK_TAG(INK_KIND_ESCAPE, code) << INK_TAG_SHIFT);
}

// base + index * size in one instruction, where size is no constant too.
__device__ __forceinline__ u64 address_of(u64 base, u32 index, u32 size) {
  u64 at;
  asm("mul.wide.u32 %0, %1, %2;" : "=l"(at) : "r"(index), "r"(size));
  return base + at;
}

// ---- memory by its address, 16 bytes at once -----------------------------------------------------

// Through a generic pointer every access would bring a path for shared memory. The loads are volatile:
// they are issued where they stand, so that one wait serves those that stand together.
template <int Offset> __device__ __forceinline__ void load_u32x2(u64 at, u32 &a, u32 &b) {
  asm volatile("ld.global.v2.u32 {%0, %1}, [%2+%3];" : "=r"(a), "=r"(b) : "l"(at), "n"(Offset));
}
template <int Offset> __device__ __forceinline__ void load_u64(u64 at, u64 &word) {
  asm volatile("ld.global.u64 %0, [%1+%2];" : "=l"(word) : "l"(at), "n"(Offset));
}
template <int Offset> __device__ __forceinline__ void load_u64x2(u64 at, u64 &a, u64 &b) {
  asm volatile("ld.global.v2.u64 {%0, %1}, [%2+%3];" : "=l"(a), "=l"(b) : "l"(at), "n"(Offset));
}
template <int Offset> __device__ __forceinline__ void store_u64x2(u64 at, u64 a, u64 b) {
  asm volatile("st.global.v2.u64 [%0+%1], {%2, %3};"
               :
               : "l"(at), "n"(Offset), "l"(a), "l"(b)
               : "memory");
}
template <int Offset> __device__ __forceinline__ void store_u64(u64 at, u64 a) {
  asm volatile("st.global.u64 [%0+%1], %2;" : : "l"(at), "n"(Offset), "l"(a) : "memory");
}
// Offsets that the code below uses; the layout is record.h's.
#if defined(__CUDACC_RTC__) // which has no offsetof, but what it is made of
#define INK_I_AT(type, field) ((int)(u64)__INTADDR__(&((type *)0)->field))
#else
#define INK_I_AT(type, field) ((int)__builtin_offsetof(type, field))
#endif
#define INK_I_TRACK(field) (INK_I_AT(ink_device_track, field) - (int)sizeof(ink_device_track)) // from its ring
static_assert(INK_I_AT(ink_buffer, warps) == 8 && INK_I_AT(ink_buffer, warps_chosen) == 12 &&
                  INK_I_AT(ink_buffer, thread_mask) == 16 && INK_I_AT(ink_buffer, blocks_limit) == 20 &&
                  INK_I_AT(ink_buffer, tracks_mask) == 24 && INK_I_AT(ink_buffer, state_bytes) == 28 &&
                  INK_I_AT(ink_buffer, kernel_mask) == 32 && INK_I_AT(ink_buffer, last_block) == 36 &&
                  INK_I_AT(ink_buffer, sample_warps) == 40 && INK_I_AT(ink_buffer, sample_rate) == 44 &&
                  INK_I_AT(ink_buffer, block_bits_at) == 48 && INK_I_AT(ink_buffer, further) == 56 &&
                  INK_I_AT(ink_buffer, claim) == 64 && INK_I_AT(ink_kernel_slot, key) == 0 &&
                  INK_I_AT(ink_kernel_slot, enabled) == 8 && INK_I_AT(ink_device_state, ring) == 0 &&
                  INK_I_AT(ink_device_state, mask) == 8 && INK_I_AT(ink_device_state, word) == 12 &&
                  INK_I_AT(ink_device_state, aux_bytes) == 16 && INK_STATE_FREE == 0 &&
                  INK_STATE_CLOSED == 2 && INK_STATE_NO_PLACE == 0xf8f8f8f9 && INK_MASK_KEEP_LAST == 7 &&
                  INK_MASK_FLIGHT == 2 && INK_CLOSED_CALLED == 0x80000000,
              "the fields that opening and closing read and write together");
static_assert(INK_I_AT(ink_device_track, slot) == 0 && INK_I_AT(ink_device_track, state_at) == 8 &&
                  INK_I_AT(ink_device_track, ticket) == 16 && INK_I_AT(ink_device_track, grid_id) == 24 &&
                  INK_I_AT(ink_device_track, grid_dim) == 32 && INK_I_AT(ink_device_track, block_dim) == 48 &&
                  INK_I_AT(ink_device_track, block_index) == 64 && INK_I_AT(ink_device_track, open_clock0) == 80 &&
                  INK_I_AT(ink_device_track, instance) == 96 && INK_I_AT(ink_device_track, name_rows) == 104 &&
                  INK_I_AT(ink_device_track, close_clock0) == 112 && INK_I_AT(ink_device_track, bytes) == 128 &&
                  INK_I_AT(ink_device_track, aux_bytes) == 144 && INK_I_AT(ink_device_track, close_clock1) == 160 &&
                  INK_I_AT(ink_device_track, closing) == 168 && INK_I_AT(ink_device_track, role) == 176,
              "the rows that opening and closing write");

#endif // __CUDA_ARCH__

} // namespace ink_i

#endif
