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

// The address of the word at `offset` is (offset & mask) | base, one lop3, with `high` above it: rings
// are aligned to their size. offset counts from 0 in multiples of 8. For keep first, mask is that of
// the ring, so offset equals it at the ring's last word, and recording stops there for good; for keep
// last, mask has bit 1 set besides, which no offset equals and which changes no address. So one
// comparison serves both ends, and no store can leave the ring.
struct cursor {
  u32 base, high, mask, offset;
};

#if defined(__CUDA_ARCH__)

__device__ __forceinline__ void store_word(const cursor &at, u32 offset, bool on, u64 word) {
  asm volatile("{\n\t"
               ".reg .pred on; .reg .u32 low; .reg .u64 at;\n\t"
               "setp.ne.u32 on, %4, 0;\n\t"
               "lop3.b32 low, %0, %1, %2, 0xEA;\n\t"
               "mov.b64 at, {low, %3};\n\t"
               "@on st.global.u64 [at], %5;\n\t"
               "}"
               :
               : "r"(offset), "r"(at.mask), "r"(at.base), "r"(at.high), "r"((u32)on), "l"(word)
               : "memory");
}

// Stamps and stores a head in one piece of PTX, so that nothing slips between.
template <u32 Tag>
__device__ __forceinline__ void store_stamp(const cursor &at, u32 offset, bool on) {
  asm volatile("{\n\t"
               ".reg .pred on; .reg .u32 low, l, h; .reg .u64 at, now;\n\t"
               "setp.ne.u32 on, %4, 0;\n\t"
               "mov.u64 now, %%clock64;\n\t"
               "mov.b64 {l, h}, now;\n\t"
               "xor.b32 h, h, %5;\n\t"
               "lop3.b32 low, %0, %1, %2, 0xEA;\n\t"
               "mov.b64 at, {low, %3};\n\t"
               "@on st.global.v2.u32 [at], {l, h};\n\t"
               "}"
               :
               : "r"(offset), "r"(at.mask), "r"(at.base), "r"(at.high), "r"((u32)on), "n"(Tag << 16)
               : "memory");
}

__device__ __forceinline__ u64 head_word(u32 tag, u64 clock) {
  return clock ^ (u64)tag << INK_TAG_SHIFT;
}
__device__ __forceinline__ u64 escape_word(u32 code, u64 hash, u64 clock) {
  return (clock & ~INK_CLOCK_MASK) ^ (hash | (u64)INK_TAG(INK_KIND_ESCAPE, code) << INK_TAG_SHIFT);
}

// Atomics by their global address: through a generic pointer each would bring a path for shared memory.
// The addend comes from memory (ink_buffer::one): around the addition of a constant ptxas builds a
// warp-wide aggregate, 15 instructions for what one thread does.
__device__ __forceinline__ void add_global(u64 *at, u64 value) {
  asm volatile("red.global.add.u64 [%0], %1;"
               :
               : "l"(__cvta_generic_to_global(at)), "l"(value)
               : "memory");
}
__device__ __forceinline__ u64 fetch_add_global(u64 *at, u64 value) {
  u64 old;
  asm volatile("atom.global.add.u64 %0, [%1], %2;"
               : "=l"(old)
               : "l"(__cvta_generic_to_global(at)), "l"(value)
               : "memory");
  return old;
}
__device__ __forceinline__ u32 exchange_global(u32 *at, u32 value) {
  u32 old;
  asm volatile("atom.global.exch.b32 %0, [%1], %2;"
               : "=r"(old)
               : "l"(__cvta_generic_to_global(at)), "r"(value)
               : "memory");
  return old;
}

// ---- opening and closing -----------------------------------------------------------------------

// `buffer` is a copy of the buffer's header: read at once, before the atomics make the loads wait.
__device__ __forceinline__ bool block_selected(const ink_buffer &buffer) {
  const u32 block = linear_block();
  if (buffer.block_bits == 0)
    return true;
  return block < buffer.block_bits &&
         (((const u32 *)buffer.block_bits_at)[block / 32] >> (block & 31) & 1);
}

// The kernel's slot, or NULL: no table named it (counted), or it is filtered out.
__device__ __forceinline__ ink_kernel_slot *find_kernel(const ink_buffer &buffer, u64 *unknown,
                                                        u64 key) {
  ink_kernel_slot *slots = (ink_kernel_slot *)buffer.kernels_at;
#pragma unroll 1
  for (u32 i = INK_KERNEL_HASH(key);; i++) {
    ink_kernel_slot *slot = slots + (i & buffer.kernel_mask);
    if (slot->key == key)
      return slot->enabled ? slot : nullptr;
    if (slot->key == 0) {
      add_global(unknown, buffer.one);
      return nullptr;
    }
  }
}

// Claims a free track: FREE or, with keep last, CLOSED. False: none.
__device__ __forceinline__ bool claim_track(const ink_buffer &buffer, u64 *claim, u64 *ticket) {
  ink_track *tracks = (ink_track *)buffer.tracks_at;
#pragma unroll 1
  for (u32 tries = 0; tries <= buffer.tracks_mask; tries++) {
    *ticket = fetch_add_global(claim, buffer.one);
    if ((buffer.flags & INK_BUFFER_KEEP_FIRST) && *ticket > buffer.tracks_mask)
      return false;
    if (exchange_global(&tracks[*ticket & buffer.tracks_mask].state, INK_TRACK_OPEN) !=
        INK_TRACK_OPEN)
      return true;
  }
  return false;
}

__device__ __forceinline__ void make_cursor(cursor *at, u64 ring, u32 mask, bool keep_first) {
  at->base = (u32)ring;
  at->high = (u32)(ring >> 32);
  at->mask = keep_first ? mask : mask | 2u;
  at->offset = 0;
}

#if !defined(INKMARK_NO_SHARED)
// What marks in called functions find in shared memory: valid only if it names this grid, block and
// thread, since shared memory keeps what the last block left there.
struct __align__(16) state_entry {
  u64 grid;
  u32 block, thread;
  cursor at; // at.mask 0: the ring is full, count only
  u64 words, extra;
};
static_assert(sizeof(state_entry) == 48, "the state is meant to stay small");

// One symbol for the whole program, with -rdc=true too (weak, merged by nvlink).
inline __device__ state_entry *state() {
  static __shared__ state_entry entries[INKMARK_WARPS];
  return entries;
}
#endif

__device__ __forceinline__ void open_shared(const ink_buffer &buffer, u32 index, u32 thread) {
#if !defined(INKMARK_NO_SHARED)
  if (thread / 32 >= INKMARK_WARPS)
    return;
  state_entry *entry = state() + thread / 32;
  make_cursor(&entry->at, buffer.aux_at + ((u64)index << buffer.aux_shift), buffer.aux_mask,
              buffer.flags & INK_BUFFER_KEEP_FIRST);
  entry->words = 0;
  entry->extra = 0;
  entry->grid = read_gridid();
  entry->block = linear_block();
  entry->thread = thread;
#endif
}

__device__ __forceinline__ void write_header(ink_track *track, u32 kernel, u64 ticket, u32 thread) {
  track->kernel = kernel;
  track->ticket = ticket;
  track->grid_id = read_gridid();
  track->grid_dim[0] = gridDim.x;
  track->grid_dim[1] = gridDim.y;
  track->grid_dim[2] = gridDim.z;
  track->block_dim[0] = blockDim.x;
  track->block_dim[1] = blockDim.y;
  track->block_dim[2] = blockDim.z;
  track->block_index[0] = blockIdx.x;
  track->block_index[1] = blockIdx.y;
  track->block_index[2] = blockIdx.z;
  track->thread = thread;
  track->cluster_rank = read_cluster_rank();
  track->sm_open = read_smid();
  track->open_clock0 = read_clock();
  track->open_global_ns = read_globaltimer();
  track->open_clock1 = read_clock();
}

// Who records: `cond` when the kernel chose, else lane 0 of each warp or thread 0 of the block.
__device__ __forceinline__ bool elected(const ink_buffer *buffer, u32 thread, bool chosen,
                                        bool cond) {
  const u32 lanes = buffer->flags & INK_BUFFER_PER_WARP ? 31u : ~0u;
  return (chosen ? cond : (thread & lanes) == 0) && (buffer->warps >> (thread / 32) & 1);
}

// at->mask is 0 where this thread does not record.
__device__ __forceinline__ cursor open_track(ink_buffer *shared_buffer, u64 key, u32 thread) {
  const ink_buffer buffer = *shared_buffer;
  cursor at = {0, 0, 0, 0};
  ink_kernel_slot *slot = block_selected(buffer)
                              ? find_kernel(buffer, (u64 *)&shared_buffer->unknown, key)
                              : nullptr;
  if (!slot)
    return at;
  u64 ticket;
  if (!claim_track(buffer, (u64 *)&shared_buffer->claim, &ticket)) {
    add_global((u64 *)&slot->missed, buffer.one);
    return at;
  }
  const u32 index = (u32)ticket & buffer.tracks_mask;
  open_shared(buffer, index, thread);
  make_cursor(&at, buffer.rings_at + ((u64)index << buffer.ring_shift), buffer.ring_mask,
              buffer.flags & INK_BUFFER_KEEP_FIRST);
  write_header((ink_track *)buffer.tracks_at + index,
               (u32)(slot - (ink_kernel_slot *)buffer.kernels_at), ticket, thread);
  return at;
}

// Finds the track again from the ring that it was given: no register is kept for it meanwhile.
__device__ __forceinline__ void close_track(ink_buffer *buffer, const cursor &at, u64 words,
                                            u64 extra) {
  const u64 clock0 = read_clock();
  const u64 global_ns = read_globaltimer();
  const u64 clock1 = read_clock();
  const u64 index = (((u64)at.high << 32 | at.base) - buffer->rings_at) >> buffer->ring_shift;
  if (index > buffer->tracks_mask)
    return; // the buffer was exchanged under a running kernel: touch nothing
  ink_track *track = (ink_track *)buffer->tracks_at + index;
  u64 aux_words = 0, aux_extra = 0;
#if !defined(INKMARK_NO_SHARED)
  const u32 thread = linear_thread();
  state_entry *entry = state() + thread / 32;
  if (thread / 32 < INKMARK_WARPS && entry->thread == thread && entry->grid == read_gridid() &&
      entry->block == linear_block()) {
    aux_words = entry->words;
    aux_extra = entry->extra;
    entry->thread = ~0u;
  }
#endif
  track->sm_close = read_smid();
  track->close_clock0 = clock0;
  track->close_global_ns = global_ns;
  track->close_clock1 = clock1;
  track->words = words;
  track->extra = extra;
  track->aux_words = aux_words;
  track->aux_extra = aux_extra;
  ink_kernel_slot *slot = (ink_kernel_slot *)buffer->kernels_at + track->kernel;
  add_global((u64 *)&slot->tracks, buffer->one);
  add_global((u64 *)&slot->marks, words - extra + aux_words - aux_extra);
  add_global((u64 *)&slot->words, words + aux_words);
  __threadfence(); // the host reads a track only when it finds it closed
  exchange_global(&track->state, INK_TRACK_CLOSED);
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
  bool on; // this thread records, and its ring is not full
  u64 words, extra;
  sum sums[sum_slots];

public:
  __host__ __device__ __forceinline__ kernel(Source from, u32 section, bool chosen, bool cond)
      : source(from), at{0, 0, 0, 0}, on(false), words(0), extra(0), sums{} {
#if defined(__CUDA_ARCH__)
    ink_buffer *buffer = source.buffer();
    const u32 thread = linear_thread();
    if (buffer && (buffer->flags & INK_BUFFER_ON) && elected(buffer, thread, chosen, cond))
      at = open_track(buffer, INK_KERNEL_KEY(Table, section), thread);
    on = at.mask != 0; // outside of the branch: a plain predicate, not a merged byte
#endif
  }
  __host__ __device__ __forceinline__ ~kernel() {
#if defined(__CUDA_ARCH__)
    flush_sums();
    if (at.mask)
      close_track(source.buffer(), at, words, extra);
#endif
  }
  kernel(const kernel &) = delete;
  kernel &operator=(const kernel &) = delete;
  __host__ __device__ __forceinline__ kernel &operator()() { return *this; }

#if defined(__CUDA_ARCH__)
  template <u32 Kind, u32 Section, u64 Hash> __device__ __forceinline__ void stamp() {
    if (Hash == Table || Section == 0) {
      store_stamp<INK_TAG(Kind, Section)>(at, at.offset, on);
      on = on && at.offset != at.mask;
      at.offset += 8;
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
      on = on && at.offset + 8 * i != at.mask;
#pragma unroll
    for (u32 i = 0; i < N; i++)
      store_word(at, at.offset + 8 * i, on, record[i]);
    on = on && at.offset + 8 * (N - 1) != at.mask;
    at.offset += 8 * N;
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
  __device__ __forceinline__ void flush_sums() {}

private:
  template <u32 N> static __device__ __forceinline__ void put(const u64 (&record)[N]) {
#if !defined(INKMARK_NO_SHARED)
    const u32 thread = linear_thread();
    if (thread / 32 >= INKMARK_WARPS)
      return;
    state_entry *entry = state() + thread / 32;
    if (entry->thread != thread || entry->grid != read_gridid() || entry->block != linear_block())
      return;
    const cursor at = entry->at;
    bool on = at.mask != 0;
#pragma unroll
    for (u32 i = 0; i + 1 < N; i++)
      on = on && at.offset + 8 * i != at.mask;
#pragma unroll
    for (u32 i = 0; i < N; i++)
      store_word(at, at.offset + 8 * i, on, record[i]);
    on = on && at.offset + 8 * (N - 1) != at.mask;
    entry->at.mask = on ? at.mask : 0;
    entry->at.offset = at.offset + 8 * N;
    entry->words += N;
    entry->extra += N - 1;
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
