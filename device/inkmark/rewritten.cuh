// SPDX-License-Identifier: MIT
// What text made by `inkmark instrument` uses besides the macros of mark.cuh: a section table with the
// text that reports show, and a range around a call inside of an expression. Not for use by hand.
#ifndef INKMARK_REWRITTEN_CUH
#define INKMARK_REWRITTEN_CUH

#include "inkmark/mark.cuh"

#if defined(INKMARK_DISABLE) || !(defined(__CUDACC__) || defined(__CUDACC_RTC__) || defined(__CUDA__))

#define INK_TABLE(...)
#define INK_BEFORE(S) ((void)0)
#define INK_AFTER(S) (
#define INK_BEHIND(S) ((void)0)

#else

namespace ink_i {

// Ends the range of S behind the call whose value it is given, and hands the value on.
template <u32 Section, u64 Hash, class Context, class T>
__host__ __device__ __forceinline__ T after(Context &&context, T value) {
  stamp<INK_KIND_END, Section, Hash>(context);
  return value;
}

} // namespace ink_i

// PROF_SECTIONS with the sections' texts apart from their identifiers, and the hash of both made
// beforehand: thousands of names cost the compiler no time.
#define INK_TABLE(table, hash, text, ...)                                                          \
  namespace ink_n_##table {                                                                        \
  namespace ink_outer = ink_sections;                                                              \
  namespace {                                                                                      \
  enum id : unsigned short { ink_none, __VA_ARGS__ };                                              \
  constexpr __host__ __device__ unsigned long long ink_table_hash(id) { return hash; }             \
  }                                                                                                \
  INK_I_REGISTER_TABLE(#table, text)                                                               \
  }                                                                                                \
  namespace ink_sections {                                                                         \
  using namespace ink_n_##table::ink_outer;                                                        \
  using namespace ink_n_##table;                                                                   \
  namespace table = ink_n_##table;                                                                 \
  }

// `(INK_BEFORE(S), INK_AFTER(S) f(x)))` for `f(x)`: the value is f's; for a void f
// `(INK_BEFORE(S), f(x), INK_BEHIND(S))`. The text of the call stands outside of every macro.
#define INK_BEFORE(S) ::ink_i::stamp<INK_KIND_BEGIN, INK_I_SECTION(S)>(ink_ctx_())
#define INK_AFTER(S) ::ink_i::after<INK_I_SECTION(S)>(ink_ctx_(),
#define INK_BEHIND(S) ::ink_i::stamp<INK_KIND_END, INK_I_SECTION(S)>(ink_ctx_())

#endif
#endif
