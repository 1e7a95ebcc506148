// SPDX-License-Identifier: MIT
// Private: what the macros of mark.cuh call. Two paths: marks in a kernel's body keep their cursor in
// registers (class kernel); marks in the functions that it calls keep it in shared memory (class called).
#ifndef INKMARK_MARK_IMPL_CUH
#define INKMARK_MARK_IMPL_CUH

#include "inkmark/mark_hold.cuh"
#include "inkmark/mark_track.cuh"

// The buffer that kernels without an explicit argument record to; NULL: nothing is recorded. One per
// file, or one per program with -rdc=true, set by the registrar (mark_host.h). Programs of NVRTC that are linked
// into one module share one, a weak symbol: else nvJitLink refuses them, or leaves two of which one is set. (NVRTC
// before 13.5 does not see the attribute.)
#if defined(__CUDACC_RTC__) && __cplusplus >= 201703L
inline __device__ ink_buffer *ink_current;
#elif defined(__CUDACC_RTC__)
__device__ __attribute__((weak)) ink_buffer *ink_current;
#elif defined(__CUDACC_RDC__)
inline __device__ ink_buffer *ink_current;
#else
static __device__ ink_buffer *ink_current;
#endif

namespace ink_i {

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
  cursor at;         // high is 0 where this thread does not record
  u32 on;            // 1: this thread records, and its ring is not full
  u64 bytes;         // 8 a word, not masked
  u64 extra;         // words
  sum sums[sum_slots];

public:
  __host__ __device__ __forceinline__ kernel(Source from, u32 section, bool chosen, bool cond)
      : source(from), at{0, 0, 0}, on(0), bytes(0), extra(0), sums{} {
#if defined(__CUDA_ARCH__)
    ink_buffer *buffer = source.buffer();
    asm("" : "=r"(at.low), "=r"(at.mask)); // any value: not used where high is 0
    if (buffer && (chosen ? cond : read_lane() == 0))
      open_track(__cvta_generic_to_global(buffer), INK_KERNEL_KEY(Table, section), chosen, at);
    on = at.high != 0; // outside of the branch: a plain predicate, not a merged byte
#endif
  }
  __host__ __device__ __forceinline__ ~kernel() {
#if defined(__CUDA_ARCH__)
    flush_sums();
    if (at.high)
      close_track(at, bytes, extra);
#endif
  }
  kernel(const kernel &) = delete;
  kernel &operator=(const kernel &) = delete;
  __host__ __device__ __forceinline__ kernel &operator()() { return *this; }

#if defined(__CUDA_ARCH__)
  // A word whose uppermost bit is 0, which no compiler knows: addresses have fewer bits.
  __device__ __forceinline__ u32 top_is_zero() const { return at.high; }
  template <u32 Kind, u32 Section, u64 Hash> __device__ __forceinline__ void stamp_at(u64 now) {
    if (Hash == Table) {
      const u64 record[] = {head_word(INK_TAG(Kind, Section), now)};
      put<false>(record);
    } else {
      const u64 record[] = {head_word(INK_TAG(Kind, Section), now),
                            escape_word(INK_ESCAPE_TABLE, Hash, now)};
      put<true>(record);
    }
  }
  template <u32 Kind, u32 Section, u64 Hash> __device__ __forceinline__ void stamp() {
    if (Hash == Table || Section == 0) {
      store_stamp<INK_TAG(Kind, Section)>(at, bytes, on);
      bytes += 8;
    } else {
      stamp_at<Kind, Section, Hash>(read_clock());
    }
  }
  template <u32 Kind, u32 Section, u64 Hash> __device__ __forceinline__ void stamp(u64 payload) {
    const u64 now = read_clock();
    if (Hash == Table || Section == 0) {
      const u64 record[] = {payload, head_word(INK_TAG(Kind, Section), now)};
      put<false>(record);
    } else {
      const u64 record[] = {payload, head_word(INK_TAG(Kind, Section), now),
                            escape_word(INK_ESCAPE_TABLE, Hash, now)};
      put<true>(record);
    }
  }
  template <u32 Section, u64 Hash>
  __device__ __forceinline__ void value(u32 escape, u64 payload) {
    const u64 now = read_clock();
    const u64 record[] = {payload, head_word(INK_TAG(INK_KIND_INSTANT, Section), now),
                          escape_word(escape, Hash, now)};
    put<true>(record);
  }
  __device__ __forceinline__ void clocks() {
    const u64 before = read_clock();
    const u64 ns = read_globaltimer();
    const u64 after = read_clock();
    const u64 record[] = {before, after, ns, head_word(INK_TAG(INK_KIND_INSTANT, 0), after),
                          escape_word(INK_ESCAPE_CLOCKS, 0, after)};
    put<true>(record);
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
  template <bool Escaped, u32 N> __device__ __forceinline__ void put(const u64 (&record)[N]) {
#pragma unroll
    for (u32 i = 0; i + 1 < N; i++) // does the whole record fit? else the ring is full from here on
      stop_at_end(on, bytes + 8 * i, at.mask);
    store_record<Escaped>(at, bytes, on, record);
    stop_at_end(on, bytes + 8 * (N - 1), at.mask);
    bytes += 8 * N;
    extra += N - 1;
  }
  __device__ __forceinline__ void flush(sum &slot) {
    if (slot.count == 0)
      return;
    const u64 now = read_clock();
    const u64 record[] = {slot.count, slot.total, slot.least, slot.most,
                          head_word(INK_TAG(INK_KIND_INSTANT, slot.section), now),
                          escape_word(INK_ESCAPE_SUM, slot.hash, now)};
    put<true>(record);
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
  __device__ __forceinline__ u32 top_is_zero() const { return read_smid(); }
  template <u32 Kind, u32 Section, u64 Hash> __device__ __forceinline__ void stamp() {
    stamp_at<Kind, Section, Hash>(read_clock());
  }
  template <u32 Kind, u32 Section, u64 Hash> __device__ __forceinline__ void stamp_at(u64 now) {
    const u64 record[] = {head_word(INK_TAG(Kind, Section), now),
                          escape_word(INK_ESCAPE_TABLE, Hash, now)};
    put<true>(record);
  }
  template <u32 Kind, u32 Section, u64 Hash> __device__ __forceinline__ void stamp(u64 payload) {
    const u64 now = read_clock();
    if (Section == 0) { // ITER: no section, no table
      const u64 record[] = {payload, head_word(INK_TAG(Kind, Section), now)};
      put<false>(record);
    } else {
      const u64 record[] = {payload, head_word(INK_TAG(Kind, Section), now),
                            escape_word(INK_ESCAPE_TABLE, Hash, now)};
      put<true>(record);
    }
  }
  template <u32 Section, u64 Hash>
  __device__ __forceinline__ void value(u32 escape, u64 payload) {
    const u64 now = read_clock();
    const u64 record[] = {payload, head_word(INK_TAG(INK_KIND_INSTANT, Section), now),
                          escape_word(escape, Hash, now)};
    put<true>(record);
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
  template <bool Escaped, u32 N> static __device__ __forceinline__ void put(const u64 (&record)[N]) {
#if !defined(INKMARK_NO_SHARED)
    const u32 thread = linear_thread();
    if (!has_entry(thread))
      return;
    const u32 entry = entry_of(thread);
    u32 grid, who, low, high;
    load_shared_u32x4<0>(entry, grid, who, low, high);
    if (who != thread || grid != ((u32)read_gridid() ^ entry_magic))
      return;
    u64 bytes, extra;
    load_shared_u64x2<INK_I_AT(state_entry, bytes)>(entry, bytes, extra);
    const u32 mask = (low ^ (low + 8)) | 7;
    cursor at = {low, high, mask};
    // Keep first: does the whole record fit? What did not fit was counted, so nothing fits after it.
    const bool on = (low & 1) || bytes <= mask - 8 * (N - 1);
    store_record<Escaped>(at, bytes, on, record);
    store_shared_u64x2<INK_I_AT(state_entry, bytes)>(entry, bytes + 8 * N, extra + (N - 1));
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
template <class Context> __host__ __device__ __forceinline__ void sum_flush(Context &&context) {
  INK_I_ON_DEVICE(context.flush_sums());
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
