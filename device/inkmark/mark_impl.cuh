// SPDX-License-Identifier: MIT
// Private: opening and closing a track, and storing records, for the macros of mark.cuh. The layout
// is record.h's. Two paths: marks in a kernel's body keep their cursor in registers (class kernel);
// marks in the functions that it calls keep it in shared memory (class called, entry()).
#ifndef INKMARK_MARK_IMPL_CUH
#define INKMARK_MARK_IMPL_CUH

#include "inkmark/mark_hold.cuh"
#include "inkmark/record.h"

#ifndef INKMARK_WARPS
#define INKMARK_WARPS 32 // the most warps a block of a marked kernel has; 48 bytes of shared each
#endif

// The buffer that kernels without an explicit argument record to; NULL: nothing is recorded. One per
// file, or one per program with -rdc=true, set by the registrar (mark_host.h).
#if defined(__CUDACC_RTC__)
extern "C" __device__ ink_buffer *ink_current;
__device__ ink_buffer *ink_current;
#elif defined(__CUDACC_RDC__)
inline __device__ ink_buffer *ink_current;
#else
static __device__ ink_buffer *ink_current;
#endif

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

// ---- what marks in called functions find in shared memory ----------------------------------------

#if !defined(INKMARK_NO_SHARED)
// Shared memory keeps what the last block left there, so an entry counts only for the thread and the
// grid that it names, mixed with a constant that other data does not hold by chance. A block need not
// be named: closing clears the entry, and where a thread left without closing its track stays open
// for good, so nothing else lies in the ring that a later block of the grid would write to.
struct __align__(16) state_entry {
  uint4 who;         // grid (lower half), thread ^ entry_magic, the ring's address: lower, upper half
  ulonglong2 counts; // offset in bytes (not masked), extra words
  uint4 ring;        // mask as in cursor; the track's own ring: lower, upper half; unused
};
static_assert(sizeof(state_entry) == 48, "the state is meant to stay small");
constexpr u32 entry_magic = 0x9d6b6e69u;

// One symbol for the whole program, with -rdc=true too (weak, merged by nvlink).
inline __device__ state_entry *state() {
  static __shared__ state_entry entries[INKMARK_WARPS];
  return entries;
}
__device__ __forceinline__ bool has_entry(u32 thread) {
  return INKMARK_WARPS >= 32 || thread / 32 < INKMARK_WARPS;
}
#endif

// ---- opening and closing -----------------------------------------------------------------------

__device__ __forceinline__ bool block_selected(u32 block, u32 block_bits, u64 block_bits_at) {
  if (block_bits == 0)
    return true;
  return block < block_bits && (load_u32<0>(address_of(block_bits_at, block / 32, 4)) >> (block & 31) & 1);
}

// The kernel's slot; false: no table named it (counted), or it is filtered out. The lower half of a
// key is never 0: it ends in a section's id.
__device__ __forceinline__ bool find_kernel(u64 buffer, u64 kernels_at, u32 kernel_mask, u32 one,
                                            u64 key, u32 *slot) {
#pragma unroll 1
  for (u32 i = INK_KERNEL_HASH(key);; i++) {
    u64 found, enabled;
    *slot = i & kernel_mask;
    load_u64x2<INK_I_AT(ink_kernel_slot, key)>(address_of(kernels_at, *slot, sizeof(ink_kernel_slot)), found, enabled);
    if (found == key)
      return (u32)enabled != 0;
    if ((u32)found == 0) {
      add_global<INK_I_AT(ink_buffer, unknown)>(buffer, one);
      return false;
    }
  }
}

// Claims a free track: FREE or, with keep last, CLOSED. False: none.
__device__ __forceinline__ bool claim_track(u64 buffer, u64 tracks_at, u32 tracks_mask, u32 one,
                                            bool keep_first, u64 *ticket) {
#pragma unroll 1
  for (u32 tries = tracks_mask;; tries--) {
    *ticket = fetch_add_global<INK_I_AT(ink_buffer, claim)>(buffer, one);
    if (keep_first && *ticket > tracks_mask)
      return false;
    const u32 index = (u32)*ticket & tracks_mask;
    if (exchange_global(address_of(tracks_at, index, sizeof(ink_track)), INK_TRACK_OPEN) !=
        INK_TRACK_OPEN)
      return true;
    if (tries == 0)
      return false;
  }
}

__device__ __forceinline__ void open_shared(u64 aux, u32 mask, const cursor &at, u32 thread) {
#if !defined(INKMARK_NO_SHARED)
  if (!has_entry(thread))
    return;
  state_entry *entry = state() + thread / 32;
  entry->who = make_uint4((u32)read_gridid(), thread ^ entry_magic, (u32)aux, (u32)(aux >> 32));
  entry->counts = make_ulonglong2(0, 0);
  entry->ring = make_uint4(mask, at.low, at.high, 0);
#endif
}

__device__ __forceinline__ void write_header(u64 track, u32 kernel, u64 ticket, u32 thread) {
  const u64 grid = read_gridid();
  store_u32x4<0>(track, INK_TRACK_OPEN, kernel, (u32)ticket, (u32)(ticket >> 32));
  store_u32x4<16>(track, (u32)grid, (u32)(grid >> 32), INK_I_READ_HERE("nctaid.x"),
                  INK_I_READ_HERE("nctaid.y"));
  store_u32x4<32>(track, INK_I_READ_HERE("nctaid.z"), INK_I_READ_HERE("ntid.x"),
                  INK_I_READ_HERE("ntid.y"), INK_I_READ_HERE("ntid.z"));
  store_u32x4<48>(track, INK_I_READ_HERE("ctaid.x"), INK_I_READ_HERE("ctaid.y"),
                  INK_I_READ_HERE("ctaid.z"), thread);
  store_u32x4<64>(track, read_cluster_rank(), read_smid(), 0, 0);
  const u64 clock0 = read_clock();
  const u64 global_ns = read_globaltimer();
  const u64 clock1 = read_clock();
  store_u64x2<80>(track, clock0, global_ns);
  store_u64x2<96>(track, clock1, 0);
}

// A cursor whose mask is 0: this thread does not record.
__device__ __forceinline__ cursor open_track(u64 buffer, u64 key, u32 thread, bool chosen) {
  cursor at = {0, 0, 0};
  u32 flags, warps, tracks_mask, kernel_mask, block_bits, reserved, one, slot;
  u64 kernels_at, block_bits_at, tracks_at, rings_at, aux_at, ticket;
  load_u32x2<INK_I_AT(ink_buffer, flags)>(buffer, flags, warps);
  load_u32x4<INK_I_AT(ink_buffer, tracks_mask)>(buffer, tracks_mask, kernel_mask, block_bits, reserved);
  load_u64x2<INK_I_AT(ink_buffer, kernels_at)>(buffer, kernels_at, block_bits_at);
  asm("bfe.u32 %0, %1, %2, 1;" : "=r"(one) : "r"(warps), "r"(thread / 32));
  if (!(flags & INK_BUFFER_ON) || !(chosen || thread == 0 || (flags & INK_BUFFER_PER_WARP)) ||
      one == 0 || !block_selected(linear_block(), block_bits, block_bits_at) ||
      !find_kernel(buffer, kernels_at, kernel_mask, one, key, &slot))
    return at;
  load_u64x2<INK_I_AT(ink_buffer, tracks_at)>(buffer, tracks_at, rings_at);
  const bool keep_first = flags & INK_BUFFER_KEEP_FIRST;
  if (!claim_track(buffer, tracks_at, tracks_mask, one, keep_first, &ticket)) {
    add_global<INK_I_AT(ink_kernel_slot, missed)>(
        address_of(kernels_at, slot, sizeof(ink_kernel_slot)), one);
    return at;
  }
  const u32 index = (u32)ticket & tracks_mask;
  u32 aux_low, aux_high, ring_mask, aux_mask;
  load_u32x4<INK_I_AT(ink_buffer, aux_at)>(buffer, aux_low, aux_high, ring_mask, aux_mask);
  aux_at = (u64)aux_high << 32 | aux_low;
  const u32 keep_last_bit = keep_first ? 0 : 2;
  const u64 ring = address_of(rings_at, index, ring_mask + 8);
  at.low = (u32)ring;
  at.high = (u32)(ring >> 32);
  at.mask = ring_mask | keep_last_bit;
  open_shared(address_of(aux_at, index, aux_mask + 8), aux_mask | keep_last_bit, at, thread);
  write_header(address_of(tracks_at, index, sizeof(ink_track)), slot, ticket, thread);
  return at;
}

// Finds the track again from the ring that it was given: no register is kept for it meanwhile.
__device__ __forceinline__ void close_track(u64 buffer, const cursor &at, u64 words, u64 extra,
                                            u32 thread) {
  const u64 clock0 = read_clock();
  const u64 global_ns = read_globaltimer();
  const u64 clock1 = read_clock();
  const u32 low = at.low & ~at.mask;
  u32 tracks_mask, kernel_mask, block_bits, one;
  u64 tracks_at, rings_at, aux_words = 0, aux_extra = 0;
  load_u32x4<INK_I_AT(ink_buffer, tracks_mask)>(buffer, tracks_mask, kernel_mask, block_bits, one);
  load_u64x2<INK_I_AT(ink_buffer, tracks_at)>(buffer, tracks_at, rings_at);
  const u32 shift = load_u32<INK_I_AT(ink_buffer, ring_shift)>(buffer);
#if !defined(INKMARK_NO_SHARED)
  state_entry *entry = state() + thread / 32;
  if (has_entry(thread) && entry->ring.y == low && entry->ring.z == at.high) {
    aux_words = entry->counts.x >> 3;
    aux_extra = entry->counts.y;
    entry->who.y = 0;
  }
#endif
  const u64 index = (((u64)at.high << 32 | low) - rings_at) >> shift;
  if (index > tracks_mask)
    return; // the buffer was exchanged under a running kernel: touch nothing
  const u64 track = address_of(tracks_at, (u32)index, sizeof(ink_track));
  u64 kernels_at, block_bits_at;
  const u32 slot = load_u32<INK_I_AT(ink_track, kernel)>(track);
  load_u64x2<INK_I_AT(ink_buffer, kernels_at)>(buffer, kernels_at, block_bits_at);
  asm volatile("st.global.u32 [%0+%1], %2;"
               :
               : "l"(track), "n"(INK_I_AT(ink_track, sm_close)), "r"(read_smid())
               : "memory");
  store_u64<INK_I_AT(ink_track, close_clock0)>(track, clock0);
  store_u64x2<112>(track, global_ns, clock1);
  store_u64x2<128>(track, words, extra);
  store_u64x2<144>(track, aux_words, aux_extra);
  const u64 at_slot = address_of(kernels_at, slot, sizeof(ink_kernel_slot));
  add_global<INK_I_AT(ink_kernel_slot, tracks)>(at_slot, one);
  add_global<INK_I_AT(ink_kernel_slot, marks)>(at_slot, words - extra + aux_words - aux_extra);
  add_global<INK_I_AT(ink_kernel_slot, words)>(at_slot, words + aux_words);
  __threadfence(); // the host reads a track only when it finds it closed
  asm volatile("st.volatile.global.u32 [%0], %1;" : : "l"(track), "r"((u32)INK_TRACK_CLOSED) : "memory");
}

#endif // __CUDA_ARCH__

// ---- where a kernel finds its buffer -----------------------------------------------------------

struct from_symbol {
  __device__ __forceinline__ ink_buffer *buffer() const { return ink_current; }
};
struct from_argument {
  ink_buffer *argument;
  __device__ __forceinline__ ink_buffer *buffer() const { return argument; }
};

// ---- sums: count, total, min and max in registers ----------------------------------------------

constexpr u32 sum_slots = 8; // more sections than this, summed in one row, share slots: more records

struct sum {
  u32 section; // 0: empty
  u64 hash, begun;
  u64 count, total, least, most;
};

// ---- marks in a kernel's body ------------------------------------------------------------------

template <class Source, u64 Table> class kernel {
  Source source;
  cursor at;
  bool on;           // this thread records, and its ring is not full
  u32 offset;        // 8 a word, not masked
  u64 words, extra;  // exact past the wrap of offset
  sum sums[sum_slots];

public:
  __host__ __device__ __forceinline__ kernel(Source from, u32 section, bool chosen, bool cond)
      : source(from), at{0, 0, 0}, on(false), offset(0), words(0), extra(0), sums{} {
#if defined(__CUDA_ARCH__)
    ink_buffer *buffer = source.buffer();
    const u32 thread = linear_thread();
    if (buffer && (chosen ? cond : (thread & 31) == 0))
      at = open_track(__cvta_generic_to_global(buffer), INK_KERNEL_KEY(Table, section), thread,
                      chosen);
    on = at.mask != 0; // outside of the branch: a plain predicate, not a merged byte
#endif
  }
  __host__ __device__ __forceinline__ ~kernel() {
#if defined(__CUDA_ARCH__)
    flush_sums();
    if (at.mask)
      close_track(__cvta_generic_to_global(source.buffer()), at, words, extra, linear_thread());
#endif
  }
  kernel(const kernel &) = delete;
  kernel &operator=(const kernel &) = delete;
  __host__ __device__ __forceinline__ kernel &operator()() { return *this; }

#if defined(__CUDA_ARCH__)
  template <u32 Kind, u32 Section, u64 Hash> __device__ __forceinline__ void stamp() {
    if (Hash == Table || Section == 0) {
      store_stamp<INK_TAG(Kind, Section)>(at, offset, on);
      on = on && offset != at.mask;
      offset += 8;
      words += 1;
    } else {
      const u64 now = read_clock();
      const u64 record[] = {head_word(INK_TAG(Kind, Section), now),
                            escape_word(INK_ESCAPE_TABLE, Hash, now)};
      put(record);
    }
  }
  template <u32 Kind, u32 Section, u64 Hash> __device__ __forceinline__ void stamp(u64 payload) {
    const u64 now = read_clock();
    if (Hash == Table || Section == 0) {
      const u64 record[] = {payload, head_word(INK_TAG(Kind, Section), now)};
      put(record);
    } else {
      const u64 record[] = {payload, head_word(INK_TAG(Kind, Section), now),
                            escape_word(INK_ESCAPE_TABLE, Hash, now)};
      put(record);
    }
  }
  template <u32 Section, u64 Hash>
  __device__ __forceinline__ void value(u32 escape, u64 payload) {
    const u64 now = read_clock();
    const u64 record[] = {payload, head_word(INK_TAG(INK_KIND_INSTANT, Section), now),
                          escape_word(escape, Hash, now)};
    put(record);
  }
  __device__ __forceinline__ void clocks() {
    const u64 before = read_clock();
    const u64 ns = read_globaltimer();
    const u64 after = read_clock();
    const u64 record[] = {before, after, ns, head_word(INK_TAG(INK_KIND_INSTANT, 0), after),
                          escape_word(INK_ESCAPE_CLOCKS, 0, after)};
    put(record);
  }
  template <u32 Section, u64 Hash> __device__ __forceinline__ void sum_begin() {
    sum &slot = sums[Section % sum_slots];
    if (slot.section != Section || slot.hash != Hash) { // known at compile time but for shared slots
      flush(slot);
      slot.section = Section;
      slot.hash = Hash;
      slot.least = ~0ull;
    }
    slot.begun = read_clock();
  }
  template <u32 Section, u64 Hash> __device__ __forceinline__ void sum_end() {
    sum &slot = sums[Section % sum_slots];
    const u64 cycles = read_clock() - slot.begun;
    slot.count += 1;
    slot.total += cycles;
    slot.least = cycles < slot.least ? cycles : slot.least;
    slot.most = cycles > slot.most ? cycles : slot.most;
  }
  __device__ __forceinline__ void flush_sums() {
#pragma unroll
    for (u32 i = 0; i < sum_slots; i++)
      flush(sums[i]);
  }

private:
  template <u32 N> __device__ __forceinline__ void put(const u64 (&record)[N]) {
#pragma unroll
    for (u32 i = 0; i + 1 < N; i++) // does the whole record fit? else the ring is full from here on
      on = on && offset + 8 * i != at.mask;
#pragma unroll
    for (u32 i = 0; i < N; i++)
      store_word(at, offset + 8 * i, on, record[i]);
    on = on && offset + 8 * (N - 1) != at.mask;
    offset += 8 * N;
    words += N;
    extra += N - 1;
  }
  __device__ __forceinline__ void flush(sum &slot) {
    if (slot.count == 0)
      return;
    const u64 now = read_clock();
    const u64 record[] = {slot.count, slot.total, slot.least, slot.most,
                          head_word(INK_TAG(INK_KIND_INSTANT, slot.section), now),
                          escape_word(INK_ESCAPE_SUM, slot.hash, now)};
    put(record);
    slot.count = slot.total = slot.most = 0;
    slot.least = ~0ull;
  }
#endif
};

// ---- marks in called functions -----------------------------------------------------------------

// No state of its own: each mark looks at the shared entry of its warp and records only if this
// very thread opened a track in this block. Every record names its table, for the function may
// be compiled in another file than the kernel.
struct called {
  __host__ __device__ __forceinline__ called operator()() const { return *this; }

#if defined(__CUDA_ARCH__)
  template <u32 Kind, u32 Section, u64 Hash> __device__ __forceinline__ void stamp() {
    const u64 now = read_clock();
    const u64 record[] = {head_word(INK_TAG(Kind, Section), now),
                          escape_word(INK_ESCAPE_TABLE, Hash, now)};
    put(record);
  }
  template <u32 Kind, u32 Section, u64 Hash> __device__ __forceinline__ void stamp(u64 payload) {
    const u64 now = read_clock();
    if (Section == 0) { // ITER: no section, no table
      const u64 record[] = {payload, head_word(INK_TAG(Kind, Section), now)};
      put(record);
    } else {
      const u64 record[] = {payload, head_word(INK_TAG(Kind, Section), now),
                            escape_word(INK_ESCAPE_TABLE, Hash, now)};
      put(record);
    }
  }
  template <u32 Section, u64 Hash>
  __device__ __forceinline__ void value(u32 escape, u64 payload) {
    const u64 now = read_clock();
    const u64 record[] = {payload, head_word(INK_TAG(INK_KIND_INSTANT, Section), now),
                          escape_word(escape, Hash, now)};
    put(record);
  }
  template <u32 Section, u64 Hash> __device__ __forceinline__ void sum_begin() { no_sums<Hash>(); }
  template <u32 Section, u64 Hash> __device__ __forceinline__ void sum_end() { no_sums<Hash>(); }
  template <u64 Hash = 1> __device__ __forceinline__ void clocks() { no_sums<Hash>(); }
  __device__ __forceinline__ void flush_sums() {}

private:
  template <u64 Hash> static __device__ __forceinline__ void no_sums() {
    static_assert(Hash == 0, "inkmark: PROF_SUM_BEGIN, PROF_SUM_END and PROF_CLOCKS belong in the "
                             "body of a kernel that has a PROF_KERNEL");
  }
  template <u32 N> static __device__ __forceinline__ void put(const u64 (&record)[N]) {
#if !defined(INKMARK_NO_SHARED)
    const u32 thread = linear_thread();
    if (!has_entry(thread))
      return;
    state_entry *entry = state() + thread / 32;
    const uint4 who = entry->who;
    if (who.y != (thread ^ entry_magic) || who.x != (u32)read_gridid())
      return;
    const ulonglong2 counts = entry->counts;
    const u32 mask = entry->ring.x;
    cursor at = {who.z, who.w, mask};
    // Keep first: does the whole record fit? What did not fit was counted, so nothing fits after it.
    const bool on = (mask & 2) || (counts.x <= mask - 8 * (N - 1));
#pragma unroll
    for (u32 i = 0; i < N; i++)
      store_word(at, (u32)counts.x + 8 * i, on, record[i]);
    entry->counts = make_ulonglong2(counts.x + 8 * N, counts.y + (N - 1));
#endif
  }
#endif
};

// ---- one function per macro, the same for both paths --------------------------------------------

#if defined(__CUDA_ARCH__)
#define INK_I_ON_DEVICE(statement) statement
#else
#define INK_I_ON_DEVICE(statement)
#endif

template <u32 Kind, u32 Section, u64 Hash, class Context>
__host__ __device__ __forceinline__ void stamp(Context &&context) {
  INK_I_ON_DEVICE((context.template stamp<Kind, Section, Hash>()));
}
template <u32 Kind, u32 Section, u64 Hash, class Context>
__host__ __device__ __forceinline__ void stamp_key(Context &&context, u64 key) {
  INK_I_ON_DEVICE((context.template stamp<Kind, Section, Hash>(key)));
}
template <class Context>
__host__ __device__ __forceinline__ void iterate(Context &&context, long long row) {
  INK_I_ON_DEVICE(context.flush_sums());
  INK_I_ON_DEVICE((context.template stamp<INK_KIND_ITER, 0, 0>((u64)row)));
}

// A number as 64 bits, and the escape that says how to read them.
struct number {
  u32 escape;
  u64 bits;
};
__host__ __device__ __forceinline__ number number_of(double v) {
  number n = {INK_ESCAPE_VALUE_F64, 0};
  memcpy(&n.bits, &v, 8);
  return n;
}
__host__ __device__ __forceinline__ number number_of(float v) { return number_of((double)v); }
template <class Integer> __host__ __device__ __forceinline__ number number_of(Integer v) {
  return (Integer)-1 < (Integer)0 ? number{INK_ESCAPE_VALUE_I64, (u64)(long long)v}
                                  : number{INK_ESCAPE_VALUE_U64, (u64)v};
}
template <u32 Section, u64 Hash, class Context, class T>
__host__ __device__ __forceinline__ void value(Context &&context, T v) {
  const number n = number_of(v);
  (void)n;
  INK_I_ON_DEVICE((context.template value<Section, Hash>(n.escape, n.bits)));
}
template <u32 Section, u64 Hash, class Context>
__host__ __device__ __forceinline__ void sum_begin(Context &&context) {
  INK_I_ON_DEVICE((context.template sum_begin<Section, Hash>()));
}
template <u32 Section, u64 Hash, class Context>
__host__ __device__ __forceinline__ void sum_end(Context &&context) {
  INK_I_ON_DEVICE((context.template sum_end<Section, Hash>()));
}
template <class Context> __host__ __device__ __forceinline__ void clocks(Context &&context) {
  INK_I_ON_DEVICE(context.clocks());
}

template <u32 Section, u64 Hash, class Context> class scope {
  Context &context;

public:
  __host__ __device__ __forceinline__ explicit scope(Context &in) : context(in) {
    stamp<INK_KIND_BEGIN, Section, Hash>(context);
  }
  __host__ __device__ __forceinline__ ~scope() { stamp<INK_KIND_END, Section, Hash>(context); }
  scope(const scope &) = delete;
  scope &operator=(const scope &) = delete;
};
template <u32 Section, u64 Hash> class scope<Section, Hash, called> {
  called context;

public:
  __host__ __device__ __forceinline__ explicit scope(called) {
    stamp<INK_KIND_BEGIN, Section, Hash>(context);
  }
  __host__ __device__ __forceinline__ ~scope() { stamp<INK_KIND_END, Section, Hash>(context); }
  scope(const scope &) = delete;
  scope &operator=(const scope &) = delete;
};

template <class T> struct bare { using type = T; };
template <class T> struct bare<T &> { using type = T; };
template <class T> struct bare<T &&> { using type = T; };

} // namespace ink_i

#endif
