// SPDX-License-Identifier: MIT
// Private: what the macros of mark.cuh call. Two paths: marks in a kernel's body keep their cursor in
// registers (struct context); marks in functions that have no context find it in their warp's entry (struct called).
#ifndef INKMARK_MARK_IMPL_CUH
#define INKMARK_MARK_IMPL_CUH

#include "inkmark/mark_hold.cuh"
#include "inkmark/mark_rows.cuh"

// The buffer that kernels without an explicit argument record to; NULL: nothing is recorded. One per
// file, or one per program with -rdc=true, set by the registrar (mark_host.h). Programs of NVRTC that are linked
// into one module share one, a weak symbol: else nvJitLink refuses them, or leaves two of which one is set. (NVRTC
// before 13.5 does not see the attribute.)
#if defined(__CUDACC_RTC__) && __cplusplus >= 201703L
inline __device__ ink_buffer *INK_BUFFER_SYMBOL;
#elif defined(__CUDACC_RTC__)
__device__ __attribute__((weak)) ink_buffer *INK_BUFFER_SYMBOL;
#elif defined(__CUDACC_RDC__)
inline __device__ ink_buffer *INK_BUFFER_SYMBOL;
#else
static __device__ ink_buffer *INK_BUFFER_SYMBOL;
#endif

namespace ink_i {

// ---- where a kernel finds its buffer -----------------------------------------------------------

struct from_symbol {
  __device__ __forceinline__ ink_buffer *buffer() const { return INK_BUFFER_SYMBOL; }
};
struct from_argument {
  ink_buffer *argument;
  __device__ __forceinline__ ink_buffer *buffer() const { return argument; }
};

// ---- marks in a kernel's body ------------------------------------------------------------------

// What PROF_OPEN declares: closed by PROF_CLOSE.
template <class Source, u64 Table> class opened : public context {
  static constexpr u32 sum_slots = 8; // more sections than this, summed in one row, share slots: more records
  sum body_sums[sum_slots];
  u32 body_summed;
  bool own_threads; // the kernel chose which threads record: lanes of one warp may be at different places

public:
  template <u64 Bytes>
  __host__ __device__ __forceinline__ opened(Source source, u32 section, bool chosen, bool cond, instance<Bytes> name)
      : body_summed(0), own_threads(chosen) {
    table = Table;
    cursor &at = here.at;
#if defined(__CUDA_ARCH__)
    ink_buffer *buffer = source.buffer();
    asm("" : "=r"(at.low), "=r"(at.mask)); // any value: not used where high is 0
    if ((u32)(u64)buffer && (chosen ? cond : read_lane() == 0))
      open_track(__cvta_generic_to_global(buffer), INK_KERNEL_KEY(Table, section), chosen, name, at);
    here.on = at.high != 0; // outside of the branch: a plain predicate, not a merged byte
#endif
  }
  __host__ __device__ __forceinline__ opened &operator()() { return *this; }
  INK_I_NOT_COPIED(opened)
  __host__ __device__ __forceinline__ opened(const opened &) : context() { INK_I_BY_REFERENCE(sizeof(Source) == 0); }
  // A kernel's lambda may be handed down: through as many functions at no cost where they are inlined.
  __host__ __device__ __forceinline__ void fetch() { context::fetch(calls<4>()); }
  __host__ __device__ __forceinline__ void give() { context::give(calls<4>()); }

#if defined(__CUDA_ARCH__)
  template <u32 Section, u64 Hash> __device__ __forceinline__ void sum_begin() {
    begin_sum<Section, Hash>(body_sums, body_summed);
  }
  template <u32 Section, u64 Hash> __device__ __forceinline__ void sum_end() {
    end_sum<Section>(body_sums, body_summed);
  }
  template <u32 Section, u64 Hash> __device__ __forceinline__ void sum_clear() {
    clear_sum<Section, Hash>(body_sums, body_summed);
  }
  __device__ __forceinline__ void flush_sums() { flush(body_sums, body_summed); }

  __device__ __forceinline__ void close() {
    flush_sums();
    if (here.at.high)
      close_track(here.at, here.bytes, here.extra, own_threads);
    here.at.high = here.on = 0;
  }
#endif
};

// What PROF_KERNEL declares: closed at the end of the scope, where it still is open.
template <class Source, u64 Table> class kernel : public opened<Source, Table> {
public:
  template <u64 Bytes>
  __host__ __device__ __forceinline__ kernel(Source source, u32 section, bool chosen, bool cond, instance<Bytes> name)
      : opened<Source, Table>(source, section, chosen, cond, name) {}
  __host__ __device__ __forceinline__ ~kernel() {
#if defined(__CUDA_ARCH__)
    this->close();
#endif
  }
};

// ---- marks in called functions -----------------------------------------------------------------

// No state of its own: each mark looks at the entry of its warp and records only if this
// very thread opened a track in this block. Every record names its table, for the function may
// be compiled in another file than the kernel. Anew: nothing that one mark finds is kept for another.
template <bool Anew> struct found_marks {
  __host__ __device__ __forceinline__ void fetch() const {}
  __host__ __device__ __forceinline__ void give() const {}

#if defined(__CUDA_ARCH__)
  __device__ __forceinline__ u32 top_is_zero() const { return read_smid(); }
  template <u64 Hash> __device__ __forceinline__ bool is_usual() const { return true; }
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
  template <u32 Kind, u32 Section, u64 Hash>
  __device__ __forceinline__ void escaped(u32 escape, u64 payload) {
    const u64 now = read_clock();
    const u64 record[] = {payload, head_word(INK_TAG(Kind, Section), now), escape_word(escape, Hash, now)};
    put<true>(record);
  }
  template <u32 Kind, u32 Section, u64 Hash>
  __device__ __forceinline__ void escaped(u32 escape, u64 cluster, u64 key) {
    const u64 now = read_clock();
    const u64 record[] = {cluster, key, head_word(INK_TAG(Kind, Section), now), escape_word(escape, Hash, now)};
    put<true>(record);
  }
  template <u64 Hash> __device__ __forceinline__ void stamp_id(u32 section) {
    const u64 now = read_clock();
    const u64 record[] = {head_word(INK_TAG(INK_KIND_MARK, section), now),
                          escape_word(INK_ESCAPE_TABLE, Hash, now)};
    put<true>(record);
  }
  template <u64 Role> __device__ __forceinline__ void role() {
    static_assert(Role == 0, "inkmark: PROF_ROLE belongs where the track is open: in the body of a kernel behind its "
                             "PROF_KERNEL, or in a function that has its context");
  }
  template <u32 Section, u64 Hash> __device__ __forceinline__ void sum_begin() { no_sums<Hash>(); }
  template <u32 Section, u64 Hash> __device__ __forceinline__ void sum_end() { no_sums<Hash>(); }
  template <u64 Hash = 1> __device__ __forceinline__ void clocks() { no_sums<Hash>(); }
  __device__ __forceinline__ void close() const {}
  __device__ __forceinline__ void flush_sums() {}

private:
  template <u64 Hash> static __device__ __forceinline__ void no_sums() {
    static_assert(Hash == 0, "inkmark: PROF_SUM_BEGIN, PROF_SUM_END and PROF_CLOCKS belong in the "
                             "body of a kernel that has a PROF_KERNEL");
  }
  template <bool Escaped, u32 Length> static __device__ __forceinline__ void put(const u64 (&record)[Length]) {
#if !defined(INKMARK_NO_CALLED)
    const u32 place = Anew ? warp_place_anew() : warp_place();
    u64 state_at, bytes, extra;
    cursor at;
    if (!find_state<Anew>(place, state_at))
      return;
    const u32 mine = load_state<Anew>(place, state_at, at, bytes, extra);
    u64 end;
    const u32 on = fits_called<Length>(mine, at.mask, bytes, end);
    store_record<Escaped>(at, bytes, on, record);
    count_called<Length>(state_at, mine, end, extra);
#endif
  }
#endif
};
struct called : found_marks<false> {
  __host__ __device__ __forceinline__ called operator()() const { return *this; }
};

// ---- one function per macro, the same for both paths --------------------------------------------

#if defined(__CUDA_ARCH__)
#define INK_I_ON_DEVICE(...)                                                                       \
  context.fetch();                                                                                 \
  context.__VA_ARGS__;                                                                             \
  context.give()
#else
#define INK_I_ON_DEVICE(...)
#endif

#if defined(__CUDA_ARCH__)
// A mark beside a call that its context is lent to, or of another table. In a function with a context the code is short.
template <u32 Kind, u32 Section, u64 Hash, class Context> __device__ __forceinline__ void stamp_unusual(Context &context) {
  INK_I_ON_DEVICE(template stamp<Kind, Section, Hash>());
}
template <u32 Kind, u32 Section, u64 Hash> __device__ __forceinline__ void stamp_unusual(context &of) {
  of.stamp_unusual<Kind, Section, Hash>();
}
template <u32 Kind, u32 Section, u64 Hash> __device__ __forceinline__ void stamp_unusual(const bound &of) {
  stamp_unusual<Kind, Section, Hash>(*of.get());
}
#endif

template <u32 Kind, u32 Section, u64 Hash, class Context>
__host__ __device__ __forceinline__ void stamp(Context &&context) {
#if defined(__CUDA_ARCH__)
  if (context.template is_usual<Hash>())
    context.template stamp<Kind, Section, Hash>();
  else
    stamp_unusual<Kind, Section, Hash>(context);
#endif
}
template <u32 Kind, u32 Section, u64 Hash, class Context>
__host__ __device__ __forceinline__ void stamp_key(Context &&context, u64 key) {
  INK_I_ON_DEVICE(template stamp<Kind, Section, Hash>(key));
}
template <class Context>
__host__ __device__ __forceinline__ void iterate(Context &&context, long long row) {
  INK_I_ON_DEVICE(flush_sums());
  INK_I_ON_DEVICE(template stamp<INK_KIND_ITER, 0, 0>((u64)row));
}

// What can be closed: the size tells.
struct closes {
  char size[2];
};
template <class Source, u64 Table> __host__ __device__ closes close_of(opened<Source, Table> &context);
template <class Source, u64 Table, u32 Sections, u32 Own>
__host__ __device__ closes close_of(opened_rows<Source, Table, Sections, Own> &context);
template <u64 Table, u32 Sections, u32 Ranges, bool Checked>
__host__ __device__ char close_of(const rows_of<Table, Sections, Ranges, Checked> &context);
__host__ __device__ char close_of(const context &context);
__host__ __device__ char close_of(const bound &context);
__host__ __device__ char close_of(const called &context);

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
template <u32 Section, u64 Hash, class Context, class Type>
__host__ __device__ __forceinline__ void value(Context &&context, Type v) {
  const number n = number_of(v);
  (void)n;
  INK_I_ON_DEVICE(template value<Section, Hash>(n.escape, n.bits));
}
template <u32 Section, u64 Hash, class Context, class Type>
__host__ __device__ __forceinline__ void begin_with(Context &&context, Type v) {
  const number n = number_of(v);
  (void)n;
  INK_I_ON_DEVICE(template escaped<INK_KIND_BEGIN, Section, Hash>(n.escape, n.bits));
}
template <u32 Kind, u32 Escape, u32 Section, u64 Hash, class Context>
__host__ __device__ __forceinline__ void stamp_shared_key(Context &&context, u64 key) {
  if (Escape == INK_ESCAPE_CLUSTER) {
    INK_I_ON_DEVICE(template escaped<Kind, Section, Hash>(Escape, linear_cluster(), key));
  } else {
    INK_I_ON_DEVICE(template escaped<Kind, Section, Hash>(Escape, key));
  }
}
// index counts from 0. What is out of range becomes a section that the table does not have.
template <u64 Hash, u32 Count, class Context>
__host__ __device__ __forceinline__ void stamp_id(Context &&context, u64 index) {
  static_assert(Count < INK_SECTION_NONE, "inkmark: PROF_MARK_ID needs a table of at most 8,190 sections");
  INK_I_ON_DEVICE(template stamp_id<Hash>(index < Count ? (u32)index + 1 : INK_SECTION_NONE));
}
template <u64 Role, class Context> __host__ __device__ __forceinline__ void role(Context &&context) {
  INK_I_ON_DEVICE(template role<Role>());
}
template <u32 Section, u64 Hash, class Context>
__host__ __device__ __forceinline__ void sum_begin(Context &&context) {
  INK_I_ON_DEVICE(template sum_begin<Section, Hash>());
}
template <u32 Section, u64 Hash, class Context>
__host__ __device__ __forceinline__ void sum_end(Context &&context) {
  INK_I_ON_DEVICE(template sum_end<Section, Hash>());
}
template <class Context> __host__ __device__ __forceinline__ void sum_flush(Context &&context) {
  INK_I_ON_DEVICE(flush_sums());
}
template <class Context> __host__ __device__ __forceinline__ void close(Context &&context) {
  static_assert(sizeof close_of(context) > 1, "inkmark: PROF_CLOSE belongs in the function that has the PROF_OPEN");
  INK_I_ON_DEVICE(close());
}
template <class Context> __host__ __device__ __forceinline__ void clocks(Context &&context) {
  INK_I_ON_DEVICE(clocks());
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

template <class Type> struct bare { using type = Type; };
template <class Type> struct bare<Type &> { using type = Type; };
template <class Type> struct bare<Type &&> { using type = Type; };

} // namespace ink_i

#endif
