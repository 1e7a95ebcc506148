// SPDX-License-Identifier: MIT
// Private: tracks of rows. A mark is the clock's lower half in its section's slot of the row that PROF_ITER took, two
// instructions. Tables, slots and rows are known when the kernel is compiled: what a row cannot hold is refused there.
#ifndef INKMARK_MARK_ROWS_CUH
#define INKMARK_MARK_ROWS_CUH

#include "inkmark/mark_context.cuh"

namespace ink_i {

#if defined(INKMARK_ROWS_CHECK)
constexpr bool rows_checked = true;
#else
constexpr bool rows_checked = false;
#endif
constexpr u64 no_row = 1ull << 63; // of what comes before the first PROF_ITER and behind PROF_ITER_END

// The smallest power of two of words that holds a head and that many slots.
constexpr __host__ __device__ u32 row_words_log2(u32 slots) {
  return slots <= 4 ? 2 : slots <= 12 ? 3 : slots <= 28 ? 4 : 5;
}

#if defined(__CUDA_ARCH__)

// Takes the row that begins at `bytes`, which count from the opening; none, for good, where the row before was the last
// one of a ring that keeps the first: see cursor. Clears its first `Clear` times 16 bytes of slots; the comparisons of
// constants cost nothing. The head is stored last: who copies the ring meanwhile finds the old row or a whole new one.
#define INK_I_CLEAR(n, offset)                \
  "setp.ge.and.u32 _some, %6, " #n ", _on;\n\t" \
  "@_some st.global.v2.u64 [_at+" #offset "], {_zero, _zero};\n\t"
template <u32 Clear> __device__ __forceinline__ void take_row(cursor &at, u32 &on, u64 bytes, u64 row) {
  asm volatile("{\n\t"
               ".reg .pred _on, _some; .reg .u32 _l, _h; .reg .u64 _at, _zero, _now;\n\t"
               "setp.ne.u32 _on, %1, 0;\n\t"
               "mov.b64 {_l, _h}, %2;\n\t"
               "sub.u32 _h, _l, 8;\n\t"
               "setp.ne.and.u32 _on, _h, %3, _on;\n\t"
               "selp.u32 %1, 1, 0, _on;\n\t"
               "lop3.b32 %0, _l, %3, %0, 0xE2;\n\t"
               "mov.b64 _at, {%0, %4};\n\t"
               "mov.u64 _zero, 0;\n\t"
               INK_I_CLEAR(1, 16) INK_I_CLEAR(2, 32) INK_I_CLEAR(3, 48) INK_I_CLEAR(4, 64) INK_I_CLEAR(5, 80)
               INK_I_CLEAR(6, 96) INK_I_CLEAR(7, 112) INK_I_CLEAR(8, 128) INK_I_CLEAR(9, 144) INK_I_CLEAR(10, 160)
               INK_I_CLEAR(11, 176) INK_I_CLEAR(12, 192) INK_I_CLEAR(13, 208) INK_I_CLEAR(14, 224) INK_I_CLEAR(15, 240)
               "mov.u64 _now, %%clock64;\n\t"
               "@_on st.global.v2.u64 [_at], {%5, _now};\n\t"
               "}"
               : "+r"(at.low), "+r"(on)
               : "l"(bytes), "r"(at.mask), "r"(at.high), "l"(row), "n"(Clear)
               : "memory");
}
template <int Offset> __device__ __forceinline__ void stamp_slot(const cursor &at, u32 on) {
  asm volatile("{\n\t"
               ".reg .pred _on; .reg .u64 _at; .reg .u32 _now;\n\t"
               "setp.ne.u32 _on, %2, 0;\n\t"
               "mov.b64 _at, {%0, %1};\n\t"
               "mov.u32 _now, %%clock;\n\t"
               "@_on st.global.u32 [_at+%3], _now;\n\t"
               "}"
               :
               : "r"(at.low), "r"(at.high), "r"(on), "n"(Offset)
               : "memory");
}
template <int Offset> __device__ __forceinline__ void store_slot(const cursor &at, u32 on, u32 now) {
  asm volatile("{\n\t"
               ".reg .pred _on; .reg .u64 _at;\n\t"
               "setp.ne.u32 _on, %2, 0;\n\t"
               "mov.b64 _at, {%0, %1};\n\t"
               "@_on st.global.u32 [_at+%3], %4;\n\t"
               "}"
               :
               : "r"(at.low), "r"(at.high), "r"(on), "n"(Offset), "r"(now)
               : "memory");
}
// INKMARK_ROWS_CHECK: was this slot written in this row? Then the row's count of such passes is one more.
template <int Offset, int Count> __device__ __forceinline__ void count_pass(const cursor &at, u32 on) {
  asm volatile("{\n\t"
               ".reg .pred _on; .reg .u64 _at; .reg .u32 _was;\n\t"
               "setp.ne.u32 _on, %2, 0;\n\t"
               "mov.b64 _at, {%0, %1};\n\t"
               "mov.u32 _was, 0;\n\t"
               "@_on ld.global.u32 _was, [_at+%3];\n\t"
               "setp.ne.and.u32 _on, _was, 0, _on;\n\t"
               "@_on ld.global.u32 _was, [_at+%4];\n\t"
               "add.u32 _was, _was, 1;\n\t"
               "@_on st.global.u32 [_at+%4], _was;\n\t"
               "}"
               :
               : "r"(at.low), "r"(at.high), "r"(on), "n"(Offset), "n"(Count)
               : "memory");
}

#endif

// The context of a kernel whose track is of rows, and of functions with PROF_PARAMS_ROWS. No context& can be made of it:
// marks of records would go into the rows.
template <u64 Table, u32 Sections, u32 Ranges, bool Checked> class rows_of : protected context {
  static_assert(Sections + 2 * Ranges + Checked <= INK_ROWS_SLOTS_MAX,
                "inkmark: a row holds at most 60 slots: one for each section of the table, two more for each section in "
                "front of the kernel's own, which may be a range");
  static constexpr int row_bytes = 8 << row_words_log2(Sections + 2 * Ranges + Checked);
  static constexpr int check_at = 16 + 4 * (Sections + 2 * Ranges);

  friend __host__ __device__ __forceinline__ context *lender_at(rows_of *of) { return of; }
  friend class lending<rows_of>;

public:
  static constexpr u32 rows = INK_ROWS(row_words_log2(Sections + 2 * Ranges + Checked), Sections, Ranges, Checked);

  __host__ __device__ __forceinline__ rows_of() {}
  __host__ __device__ __forceinline__ rows_of &operator()() { return *this; }
  INK_I_NOT_COPIED(rows_of)
  __host__ __device__ __forceinline__ rows_of(const rows_of &) { INK_I_BY_REFERENCE(Sections == 0); }
  using context::fetch;
  using context::give;

#if defined(__CUDA_ARCH__)
  using context::role;
  using context::top_is_zero;

  template <u32 Kind, u32 Section, u64 Hash> static constexpr __device__ __forceinline__ int slot_at() {
    static_assert(Hash == Table, "inkmark: a mark of a track of rows names a section of the kernel's own table");
    static_assert(Kind == INK_KIND_MARK || Kind == INK_KIND_BEGIN || Kind == INK_KIND_END,
                  "inkmark: a track of rows (PROF_KERNEL_ROWS) has no PROF_EVENT");
    static_assert(Kind == INK_KIND_MARK || Section <= Ranges,
                  "inkmark: in a track of rows the ranges are the sections in front of the kernel's own in PROF_SECTIONS");
    return Kind == INK_KIND_MARK ? 12 + 4 * (int)Section
                                 : 12 + 4 * (int)Sections + 8 * (int)Section - (Kind == INK_KIND_BEGIN ? 4 : 0);
  }
  template <u64 Hash> __device__ __forceinline__ bool is_usual() const { return !is_lent; }
  template <u32 Kind, u32 Section, u64 Hash> __device__ __forceinline__ void stamp() {
    constexpr int at = slot_at<Kind, Section, Hash>();
    if (Checked)
      count_pass<at, check_at>(here.at, here.on);
    stamp_slot<at>(here.at, here.on);
  }
  template <u32 Kind, u32 Section, u64 Hash> __device__ __forceinline__ void stamp_at(u64 now) {
    constexpr int at = slot_at<Kind, Section, Hash>();
    if (Checked)
      count_pass<at, check_at>(here.at, here.on);
    store_slot<at>(here.at, here.on, (u32)now);
  }
  template <u32 Kind, u32 Section, u64 Hash> __device__ __forceinline__ void stamp(u64 row) {
    static_assert(Kind == INK_KIND_ITER, "inkmark: a track of rows (PROF_KERNEL_ROWS) has no PROF_ASYNC");
    place next = here;
    take_row<(Sections + 2 * Ranges + Checked + 3) / 4>(next.at, next.on, next.bytes, row);
    next.bytes += row_bytes;
    here = next;
  }
  template <u32 Section, u64 Hash> __device__ __forceinline__ void value(u32, u64) {
    static_assert(Hash == 0, "inkmark: a track of rows (PROF_KERNEL_ROWS) has no PROF_VALUE");
  }
  template <u32 Kind, u32 Section, u64 Hash> __device__ __forceinline__ void escaped(u32, u64, u64 = 0) {
    static_assert(Hash == 0, "inkmark: a track of rows (PROF_KERNEL_ROWS) has no PROF_BEGIN_WITH and no PROF_ASYNC");
  }
  template <u64 Hash> __device__ __forceinline__ void stamp_id(u32) {
    static_assert(Hash == 0, "inkmark: a track of rows (PROF_KERNEL_ROWS) has no PROF_MARK_ID");
  }
  template <u32 Section, u64 Hash> __device__ __forceinline__ void sum_begin() {
    static_assert(Hash == 0, "inkmark: a track of rows (PROF_KERNEL_ROWS) has no PROF_SUM");
  }
  template <u32 Section, u64 Hash> __device__ __forceinline__ void sum_end() {}
  template <u64 Hash = 1> __device__ __forceinline__ void clocks() {
    static_assert(Hash == 0, "inkmark: a track of rows (PROF_KERNEL_ROWS) has no PROF_CLOCKS");
  }
  __device__ __forceinline__ void flush_sums() {}
  __device__ __forceinline__ void close() {} // refused before: see mark_impl.cuh

protected:
  // The first row, of what comes before the first PROF_ITER. A ring that is shorter than a row gets none.
  __device__ __forceinline__ void first_row() {
    here.on = here.at.high != 0 && (here.at.mask | 7) >= row_bytes - 1;
    stamp<INK_KIND_ITER, 0, 0>(no_row);
  }
  __device__ __forceinline__ void close_rows(bool chosen) {
    if (here.at.high)
      close_track(here.at, here.bytes, here.bytes / 8 - here.bytes / row_bytes, chosen);
    here.at.high = here.on = 0;
  }
#endif
};

template <u64 Table, u32 Sections, u32 Ranges, bool Checked>
__host__ __device__ rows_of<Table, Sections, Ranges, Checked> lent_as(rows_of<Table, Sections, Ranges, Checked> &of);

// PROF_BIND: marks of an object are records.
struct no_records {
  char size[2];
};
__host__ __device__ char records_of(const volatile void *of);
__host__ __device__ char records_of(struct called (*function)());
template <u64 Table, u32 Sections, u32 Ranges, bool Checked>
__host__ __device__ no_records records_of(rows_of<Table, Sections, Ranges, Checked> *of);
template <class From> __host__ __device__ __forceinline__ context *binder(From &of) {
  static_assert(sizeof records_of(&of) == 1, "inkmark: PROF_BIND needs a track of records, not one of PROF_KERNEL_ROWS");
  return lender(of);
}

// PROF_OPEN_ROWS. The kernel's own section is Sections' number Ranges + 1.
template <class Source, u64 Table, u32 Sections, u32 Own>
class opened_rows : public rows_of<Table, Sections, Own - 1, rows_checked> {
  bool own_threads; // as of `opened`

public:
  template <u64 Bytes>
  __host__ __device__ __forceinline__ opened_rows(Source source, u32 section, bool chosen, bool cond,
                                                  instance<Bytes> name)
      : own_threads(chosen) {
#if defined(__CUDA_ARCH__)
    cursor &at = this->here.at;
    ink_buffer *buffer = source.buffer();
    asm("" : "=r"(at.low), "=r"(at.mask)); // any value: not used where high is 0
    if ((u32)(u64)buffer && (chosen ? cond : read_lane() == 0))
      open_track(__cvta_generic_to_global(buffer), INK_KERNEL_KEY(Table, section), chosen,
                 instance<Bytes | (u64)opened_rows::rows << 32>{name.text}, at);
    this->first_row();
#endif
  }
  __host__ __device__ __forceinline__ opened_rows &operator()() { return *this; }
  INK_I_NOT_COPIED(opened_rows)
  __host__ __device__ __forceinline__ void fetch() { context::fetch(calls<4>()); }
  __host__ __device__ __forceinline__ void give() { context::give(calls<4>()); }
#if defined(__CUDA_ARCH__)
  __device__ __forceinline__ void close() { this->close_rows(own_threads); }
#endif
};
template <class Source, u64 Table, u32 Sections, u32 Own>
class kernel_rows : public opened_rows<Source, Table, Sections, Own> {
public:
  template <u64 Bytes>
  __host__ __device__ __forceinline__ kernel_rows(Source source, u32 section, bool chosen, bool cond, instance<Bytes> name)
      : opened_rows<Source, Table, Sections, Own>(source, section, chosen, cond, name) {}
  __host__ __device__ __forceinline__ ~kernel_rows() {
#if defined(__CUDA_ARCH__)
    this->close();
#endif
  }
};

} // namespace ink_i

#endif
