// SPDX-License-Identifier: MIT
// What text made by `inkmark instrument` uses besides the macros of mark.cuh: a section table with the
// text that reports show, and a range around a call inside of an expression. Not for use by hand.
#ifndef INKMARK_REWRITTEN_CUH
#define INKMARK_REWRITTEN_CUH

#include "inkmark/mark.cuh"

#if defined(INKMARK_DISABLE) || !(defined(__CUDACC__) || defined(__CUDACC_RTC__) || defined(__CUDA__))

#define INK_TABLE(...)
#define INK_REGISTERS(most)
#define INK_BEFORE(...) ((void)0)
#define INK_AFTER(S) (
#define INK_AFTER_HELD(S) (
#define INK_BEHIND(S) ((void)0)
#define INK_FLUSH_AT_END() ((void)0)
#define INK_SUM_SCOPE(...) ((void)0)
#define INK_SUM_CLEAR(S) ((void)0)
#define INK_KERNEL_APART(...) ((void)0)
#define INK_KERNEL_APART_IF(...) ((void)0)
#define INK_FIRST_LANE() false
#define INK_ELECTED_LANE() false
#define INK_UNTIL(S) ((void)0)
#define INK_UNTIL_HELD(S) ((void)0)
#define INK_UNTIL_END(S) ((void)0)
#define INK_BEGIN_STRICT(...) ((void)0)
#define INK_END_STRICT(...) ((void)0)
#define INK_BEFORE_STRICT(...) ((void)0)
#define INK_AFTER_STRICT(S) (
#define INK_UNTIL_STRICT(S) ((void)0)
#define INK_CONTEXTS 0
#define INK_WITH(name) name
#define INK_OBJECT()
#define INK_CONTEXT(...)
#define INK_UNUSED()

#else

#include "inkmark/mark_apart.cuh"

// Of a kernel that marks would make take so many registers that fewer of its blocks fit. CUDA 12.4 and newer have the attribute.
#if defined(__maxnreg__) && !(defined(__clang__) && defined(__CUDA__)) // clang that compiles CUDA has it not
#define INK_REGISTERS(most) __maxnreg__(most)
#else
#define INK_REGISTERS(most)
#endif

namespace ink_i {

// ---- values of types that the rewriter could not see ----

struct not_held {};
__host__ __device__ __forceinline__ void hold_one(not_held &) {}
#if defined(__CUDA_ARCH__)
__device__ __forceinline__ void tie_one(u32, not_held &) {}
#endif

template <class Type> struct can_hold { // the half types are classes of two bytes
  static constexpr bool value = __is_class(Type) && sizeof(Type) == 2;
};
#define INK_I_CAN_HOLD(Type)                                                                       \
  template <> struct can_hold<Type> { static constexpr bool value = true; };
#define INK_I_CAN_HOLD_VECTORS(Type)                                                               \
  INK_I_CAN_HOLD(Type##1) INK_I_CAN_HOLD(Type##2) INK_I_CAN_HOLD(Type##3) INK_I_CAN_HOLD(Type##4)
INK_I_CAN_HOLD(bool) INK_I_CAN_HOLD(char) INK_I_CAN_HOLD(signed char) INK_I_CAN_HOLD(unsigned char)
INK_I_CAN_HOLD(short) INK_I_CAN_HOLD(unsigned short) INK_I_CAN_HOLD(int) INK_I_CAN_HOLD(unsigned)
INK_I_CAN_HOLD(long) INK_I_CAN_HOLD(unsigned long) INK_I_CAN_HOLD(long long)
INK_I_CAN_HOLD(unsigned long long) INK_I_CAN_HOLD(float) INK_I_CAN_HOLD(double)
INK_I_CAN_HOLD_VECTORS(int) INK_I_CAN_HOLD_VECTORS(uint) INK_I_CAN_HOLD_VECTORS(float)
INK_I_CAN_HOLD(double1) INK_I_CAN_HOLD(double2) INK_I_CAN_HOLD(double3)
INK_I_CAN_HOLD(char4) INK_I_CAN_HOLD(uchar4) INK_I_CAN_HOLD(short2) INK_I_CAN_HOLD(ushort2)
INK_I_CAN_HOLD(short4) INK_I_CAN_HOLD(ushort4) INK_I_CAN_HOLD(longlong1) INK_I_CAN_HOLD(longlong2)
template <class Type, unsigned long Length> struct can_hold<Type[Length]> {
  static constexpr bool value = can_hold<Type>::value && Length <= 32;
};

template <bool> struct held_as {
  template <class Type> static __host__ __device__ __forceinline__ Type &it(Type &value) { return value; }
};
template <> struct held_as<false> {
  template <class Type> static __host__ __device__ __forceinline__ not_held it(Type &) { return not_held(); }
};
template <class Type>
__host__ __device__ __forceinline__ auto maybe(Type &value)
    -> decltype(held_as<can_hold<Type>::value>::it(value)) {
  return held_as<can_hold<Type>::value>::it(value);
}

// ---- ranges around calls inside of expressions ----

// Ends the range of S behind the call whose value it is given, and hands the value on.
template <u32 Section, u64 Hash, class Context, class Type>
__host__ __device__ __forceinline__ Type after(Context &&context, Type value) {
  stamp<INK_KIND_END, Section, Hash>(context);
  return value;
}

// The same, and what computes the value stays before the stamp.
template <u32 Section, u64 Hash, class Context, class Type>
__host__ __device__ __forceinline__ Type after_held(Context &&context, Type value) {
  hold(maybe(value));
  stamp<INK_KIND_END, Section, Hash>(context);
  hold(maybe(value));
  return value;
}

// The same with a strict mark.
template <u32 Section, u64 Hash, class Context, class Type>
__host__ __device__ __forceinline__ Type after_strict(Context &&context, Type value) {
  hold(maybe(value));
  stamp_tied<false, INK_KIND_END, Section, Hash>(context, maybe(value));
  hold(maybe(value));
  return value;
}

// `until(...), f(x)`: ends the range behind the call where its value can be handed on without a trace,
// else, when this temporary goes, with the full expression: an object is then f's own, neither copied
// nor moved, and what is a prvalue stays one. Which of the two, overload resolution finds.
enum until_kind : unsigned char { until_call, until_call_held, until_call_strict, until_end };

template <until_kind Kind, u32 Section, u64 Hash, class Context> class until {
  Context context; // kernel &, or called
  bool open = true;

public:
  __host__ __device__ __forceinline__ explicit until(Context in) : context(in) {}
  __host__ __device__ __forceinline__ ~until() {
    if (open)
      stamp<INK_KIND_END, Section, Hash>(context);
  }
  template <class Type> __host__ __device__ __forceinline__ void end(Type &value) {
    if (Kind == until_call_strict)
      stamp_tied<false, INK_KIND_END, Section, Hash>(context, maybe(value));
    else
      stamp<INK_KIND_END, Section, Hash>(context);
    open = false;
  }
  until(const until &) = delete;
  until &operator=(const until &) = delete;
};

// What a comma gives for a right operand of type T: nothing where the built-in comma has to do it.
template <class Type, bool Plain> struct handed_on {};
template <class Type> struct handed_on<Type, true> { using type = Type; };
template <class Type> struct handed_on<const Type, true> { using type = Type; };
template <class Type>
struct value_behind
    : handed_on<Type, __is_trivially_copyable(Type) && __is_trivially_constructible(Type, Type &&) && sizeof(Type) <= 64> {};
template <class Type> struct value_behind<Type &> { using type = Type &; };

template <until_kind Kind, u32 Section, u64 Hash, class Context, class Type>
__host__ __device__ __forceinline__ auto operator,(until<Kind, Section, Hash, Context> &&range, Type &&value) ->
    typename handed_on<typename value_behind<Type>::type, Kind != until_end>::type {
  if (Kind != until_call)
    hold(maybe(value));
  range.end(value);
  if (Kind != until_call)
    hold(maybe(value));
  return value;
}

// Behind the PROF_SCOPE of a loop: what its last row summed is recorded before that range ends, on every way out.
template <class Context> class flushed {
  Context &context;

public:
  __host__ __device__ __forceinline__ explicit flushed(Context &in) : context(in) {}
  __host__ __device__ __forceinline__ ~flushed() { sum_flush(context); }
  flushed(const flushed &) = delete;
  flushed &operator=(const flushed &) = delete;
};

template <u32 Section, u64 Hash, class Context> __host__ __device__ __forceinline__ void sum_clear(Context &&context) {
  INK_I_ON_DEVICE(template sum_clear<Section, Hash>());
}

// The lane that records for its warp in a kernel with roles: the first one, or, where an elected lane does the work,
// the one that elect.sync of the whole warp names.
__host__ __device__ __forceinline__ bool is_first_lane() {
#if defined(__CUDA_ARCH__)
  return read_lane() == 0;
#else
  return false;
#endif
}
__host__ __device__ __forceinline__ bool is_elected_lane() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  u32 elected;
  asm volatile("{\n.reg .pred p;\n.reg .b32 leader;\nelect.sync leader|p, %1;\nselp.u32 %0, 1, 0, p;\n}"
               : "=r"(elected)
               : "r"(__activemask()));
  return elected != 0;
#else
  return is_first_lane();
#endif
}

// The sum of a loop's passes: from here to the end of the body, on every way out of it.
template <u32 Section, u64 Hash, class Context> class summed {
  Context &context;

public:
  __host__ __device__ __forceinline__ explicit summed(Context &in) : context(in) { sum_begin<Section, Hash>(context); }
  __host__ __device__ __forceinline__ ~summed() { sum_end<Section, Hash>(context); }
  summed(const summed &) = delete;
  summed &operator=(const summed &) = delete;
};

} // namespace ink_i

// A value whose type depends on a template: held if it turns out to be one that marks hold.
#define INK_MAYBE(x) ::ink_i::maybe(x)

// PROF_SECTIONS with the sections' texts apart from their identifiers, and the hash of both made
// beforehand: thousands of names cost the compiler no time.
#define INK_TABLE(table, hash, text, ...)                                                          \
  namespace ink_n_##table {                                                                        \
  namespace ink_outer = names_of_PROF_SECTIONS;                                                    \
  namespace {                                                                                      \
  enum id : unsigned short { ink_none, __VA_ARGS__, ink_behind_the_last };                         \
  constexpr __host__ __device__ unsigned long long ink_table_hash(id) { return hash; }             \
  __attribute__((unused)) constexpr __host__ __device__ unsigned ink_table_count(id) {             \
    return ink_behind_the_last - 1;                                                                \
  }                                                                                                \
  }                                                                                                \
  static_assert(ink_behind_the_last <= INK_SECTION_MAX + 1,                                        \
                "a table of PROF_SECTIONS has more than 8,191 sections");                          \
  INK_I_TABLE_TEXT(#table, text)                                                                   \
  INK_I_REGISTER_TABLE(#table, text)                                                               \
  }                                                                                                \
  namespace names_of_PROF_SECTIONS {                                                               \
  using namespace ink_n_##table::ink_outer;                                                        \
  using namespace ink_n_##table;                                                                   \
  namespace table = ink_n_##table;                                                                 \
  }

// `(INK_BEFORE(S), INK_AFTER(S) f(x)))` for `f(x)`: the value is f's; for a void f
// `(INK_BEFORE(S), f(x), INK_BEHIND(S))`. The text of the call stands outside of every macro.
// INK_BEFORE(S, y) holds y, INK_AFTER_HELD the value of the call.
#define INK_BEFORE(...) INK_I_BEFORE(__VA_ARGS__, ::ink_i::end_of_values())
#define INK_I_BEFORE(S, ...)                                                                       \
  (::ink_i::hold(__VA_ARGS__), ::ink_i::stamp<INK_KIND_BEGIN, INK_I_SECTION(S)>(ink_ctx_()),       \
   ::ink_i::hold(__VA_ARGS__))
#define INK_FLUSH_AT_END()                                                                         \
  ::ink_i::flushed<typename ::ink_i::bare<decltype(ink_ctx_())>::type> ink_flushed_(ink_ctx_())
// Before the loop that the sum is in. The rewriter's tables give all sums of an outermost loop a slot each.
#define INK_SUM_CLEAR(S) ::ink_i::sum_clear<INK_I_SECTION(S)>(ink_ctx_())
#define INK_FIRST_LANE() ::ink_i::is_first_lane()
#define INK_ELECTED_LANE() ::ink_i::is_elected_lane()
#define INK_SUM_SCOPE(...) INK_I_SUM_SCOPE(__VA_ARGS__, ::ink_i::end_of_values())
#define INK_I_SUM_SCOPE(S, ...)                                                                    \
  ::ink_i::hold(__VA_ARGS__);                                                                      \
  const ::ink_i::summed<INK_I_SECTION(S), typename ::ink_i::bare<decltype(ink_ctx_())>::type> ink_summed_( \
      ink_ctx_());                                                                                 \
  ::ink_i::hold(__VA_ARGS__)
#define INK_AFTER_HELD(S) ::ink_i::after_held<INK_I_SECTION(S)>(ink_ctx_(),
#define INK_AFTER(S) ::ink_i::after<INK_I_SECTION(S)>(ink_ctx_(),
// `(INK_BEFORE(S), INK_UNTIL(S), f(x))`: for a call that may give an object or a reference, or whose type
// depends on a template. INK_UNTIL_END for what may be an rvalue reference, and where a comma operator of the
// user's could be taken: never hands anything on, and its comma is the built-in one, as for void.
#define INK_UNTIL(S) INK_I_UNTIL(until_call, S)
#define INK_UNTIL_HELD(S) INK_I_UNTIL(until_call_held, S)
#define INK_UNTIL_END(S) static_cast<void>(INK_I_UNTIL(until_end, S))
#define INK_I_UNTIL(kind, S) ::ink_i::until<::ink_i::kind, INK_I_SECTION(S), decltype(ink_ctx_())>(ink_ctx_())
// --hold strict, where there are values: PROF_MARK_STRICT's way for the rewriter's ranges.
#define INK_BEGIN_STRICT(S, ...)                                                                   \
  do {                                                                                             \
    INK_I_STRICT(INK_KIND_BEGIN, S, __VA_ARGS__);                                                  \
  } while (0)
#define INK_END_STRICT(S, ...)                                                                     \
  do {                                                                                             \
    INK_I_STRICT(INK_KIND_END, S, __VA_ARGS__);                                                    \
  } while (0)
#define INK_BEFORE_STRICT(S, ...) INK_I_STRICT(INK_KIND_BEGIN, S, __VA_ARGS__)
#define INK_I_STRICT(kind, S, ...)                                                                 \
  (::ink_i::hold(__VA_ARGS__),                                                                     \
   ::ink_i::stamp_tied<false, kind, INK_I_SECTION(S)>(ink_ctx_(), __VA_ARGS__),                    \
   ::ink_i::hold(__VA_ARGS__))
#define INK_AFTER_STRICT(S) ::ink_i::after_strict<INK_I_SECTION(S)>(ink_ctx_(),
#define INK_UNTIL_STRICT(S) INK_I_UNTIL(until_call_strict, S)
#define INK_BEHIND(S) ::ink_i::stamp<INK_KIND_END, INK_I_SECTION(S)>(ink_ctx_())
// `INK_WITH(f)(INK_CONTEXT(,) x)` for `f(x)`: calls the copy of f that stands behind it, which has PROF_PARAMS. The
// context itself, not lent as by PROF_ARGS: the copies are inlined, and with a context for each call nvcc 13.0 keeps
// some in memory, two that are in use in one place of the stack. `op INK_OBJECT()(INK_CONTEXT(,) x)` for `op(x)`.
#define INK_CONTEXTS 1
#define INK_WITH(name) ink_with_##name
#define INK_OBJECT() .ink_with_call
#define INK_CONTEXT(...) ink_ctx_ __VA_ARGS__
// The first parameter of a copy that gets what PROF_KERNEL(S) declares, with the sums of the kernel's body. S: any
// section of the kernel's table.
#define INK_PARAMS(S) ::ink_i::opened<::ink_i::from_symbol, ink_table_hash(names_of_PROF_SECTIONS::S)> &ink_ctx_
#define INK_UNUSED() __attribute__((unused))
#if defined(__CUDA_ARCH__)
#define INK_INLINED() __attribute__((always_inline))
#else
#define INK_INLINED()
#endif

#endif
#endif
