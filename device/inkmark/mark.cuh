// SPDX-License-Identifier: MIT
// inkmark: named marks inside CUDA kernels. Include this header in a .cu file, name the sections, open a track at the
// top of a kernel, and mark:
//
// @code{.cu}
// #include <inkmark/mark.cuh>
// PROF_SECTIONS(Solver, Step, LineSearch, UpdateConstraint)
//
// __device__ float search(const float *x) { return 0.5f * x[threadIdx.x]; }
// __device__ void update(float *x, float a) { x[threadIdx.x] += a; }
//
// __global__ void step(float *x, int n) {
//   PROF_KERNEL(Step);
//   for (int i = 0; i < n; i++) {
//     PROF_ITER(i);
//     float a = search(x);
//     PROF_MARK(LineSearch, a);       // the time since the last mark was LineSearch; a is held
//     update(x, a);
//     PROF_MARK(UpdateConstraint);
//   }
// }
//
// int main() {
//   float *x;
//   if (cudaMalloc(&x, 32 * sizeof(float)))
//     return 1;
//   step<<<1, 32>>>(x, 3);
//   return cudaDeviceSynchronize();
// }
// @endcode
//
// Until `inkmark record` or a session arms the program, marks store nothing. If INKMARK_DISABLE is defined, marks
// vanish: the PTX is byte for byte that of the code without them. The header needs C++14 or newer, sm_75 or newer,
// and nvcc 12 or 13, or NVRTC. With -rdc=true below C++17 the compilers warn of an inline variable. docs/macros.md
// has the measured cost of each macro.
//
// WHAT A STAMP ORDERS. The clock read is `asm volatile` with a memory clobber: loads, stores, barriers and other
// volatile asm stay on their side of it. Arithmetic and calls without side effects do NOT stay: name their results in
// the mark. A stamp says when work was issued, not when it completed: a load may still be in flight when the section
// that issued it ends.
//
// HELD VALUES. PROF_MARK(S, x, y, ...): the code that computes x and y stays before the stamp, and the code that uses
// them stays after it. This takes no instruction. A mark can hold any number of automatic, non-const scalars
// (integers, floats, half types), vectors and small arrays. It cannot hold pointers. Do not hold a reference to
// memory: it costs a load and a store. If a value is held between a multiply and an add, the two are not fused, so bits
// can differ from the unmarked build unless it has -fmad=false. The assembler may still move what the PTX holds:
// `inkmark verify` shows that, and PROF_MARK_STRICT prevents it.
//
// WHO RECORDS. Thread 0 of each block records, or lane 0 of each warp: the host chooses at run time. With
// PROF_KERNEL_IF the kernel chooses. All other threads execute the marks but store nothing.
//
// COST in machine instructions, nvcc 13.0, sm_75 to sm_120 (codegen.cost counts them). A mark in a kernel's body
// takes 5 in straight line and 6 in a rolled loop (7 on sm_75). A mark in an inlined function with PROF_PARAMS takes
// the same. A mark in a called function without PROF_PARAMS takes 35 to 47. Opening and closing take about 200, of
// which 95 to 98 run if the thread gets a track at once. Marks take 0 to 3 registers more in a tiled matrix
// product.
#ifndef INKMARK_MARK_CUH
#define INKMARK_MARK_CUH

#include "inkmark/record.h"

#define INK_I_JOIN(a, b) INK_I_JOIN_(a, b)
#define INK_I_JOIN_(a, b) a##b
#define INK_I_64TH(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20,   \
                   a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35, a36, a37, a38,    \
                   a39, a40, a41, a42, a43, a44, a45, a46, a47, a48, a49, a50, a51, a52, a53, a54, a55, a56,    \
                   a57, a58, a59, a60, a61, a62, a63, a64, ...)                                                 \
  a64
#define INK_I_HAS_COMMA(...)                                                                                    \
  INK_I_64TH(__VA_ARGS__, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,   \
             1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, \
             1, 0, 0)

#if defined(INKMARK_DISABLE) || !(defined(__CUDACC__) || defined(__CUDACC_RTC__) || defined(__CUDA__))

#define PROF_SECTIONS(table, ...)
#define PROF_KERNEL(...) ((void)0)
#define PROF_KERNEL_IF(...) ((void)0)
#define PROF_OPEN(...) ((void)0)
#define PROF_OPEN_IF(...) ((void)0)
#define PROF_CLOSE() ((void)0)
#define PROF_KERNEL_ROWS(...) ((void)0)
#define PROF_KERNEL_ROWS_IF(...) ((void)0)
#define PROF_OPEN_ROWS(...) ((void)0)
#define PROF_OPEN_ROWS_IF(...) ((void)0)
#define PROF_PARAMS_ROWS(...) INK_I_JOIN(INK_I_BEHIND_S_, INK_I_HAS_COMMA(__VA_ARGS__))(__VA_ARGS__)
#define INK_I_BEHIND_S_0(S)
#define INK_I_BEHIND_S_1(S, ...) __VA_ARGS__
#define PROF_LAMBDA() ((void)0)
#define PROF_PARAMS(...) __VA_ARGS__
#define PROF_ARGS(...) __VA_ARGS__
#define PROF_ARGS_OFF(...) __VA_ARGS__
#define PROF_MEMBER()
#define PROF_BIND(object) ((void)0)
#define PROF_ROLE(...) ((void)0)
#define PROF_MARK(...) ((void)0)
#define PROF_MARK_STRICT(...) ((void)0)
#define PROF_MARK_LOADED(...) ((void)0)
#define PROF_MARK_ID(...) ((void)0)
#define PROF_BEGIN(...) ((void)0)
#define PROF_BEGIN_WITH(...) ((void)0)
#define PROF_END(...) ((void)0)
#define PROF_SCOPE(...) ((void)0)
#define PROF_ITER(...) ((void)0)
#define PROF_ITER_END() ((void)0)
#define PROF_EVENT(...) ((void)0)
#define PROF_VALUE(...) ((void)0)
#define PROF_ASYNC_BEGIN(...) ((void)0)
#define PROF_ASYNC_END(...) ((void)0)
#define PROF_ASYNC_BEGIN_BLOCK(...) ((void)0)
#define PROF_ASYNC_END_BLOCK(...) ((void)0)
#define PROF_ASYNC_BEGIN_CLUSTER(...) ((void)0)
#define PROF_ASYNC_END_CLUSTER(...) ((void)0)
#define PROF_ASYNC_BEGIN_GRID(...) ((void)0)
#define PROF_ASYNC_END_GRID(...) ((void)0)
#define PROF_SUM_BEGIN(...) ((void)0)
#define PROF_SUM_END(...) ((void)0)
#define PROF_SUM_FLUSH() ((void)0)
#define PROF_CLOCKS() ((void)0)

#else

#if __cplusplus < 201402L
#error "inkmark/mark.cuh needs C++14 or newer: compile with -std=c++14, -std=c++17 or -std=c++20"
#endif

#include "inkmark/mark_strict.cuh"
#if !defined(__CUDACC_RTC__)
#include "inkmark/mark_host.h"
#endif

// A table's names travel inside every module too, as text that no code refers to: no registrar hands over those
// of a module that comes by the driver's API. docs/format.md has the form.
#define INK_I_TEXT(number) INK_I_TEXT_(number)
#define INK_I_TEXT_(number) #number
#define INK_I_TABLE_TEXT(name, sections)                                                           \
  namespace {                                                                                      \
  __device__ __attribute__((used, unused)) const char ink_table_text[] =                           \
      INK_TABLE_TEXT_MAGIC "\0" name "\0" sections "\0" __FILE__ "\0" INK_I_TEXT(__LINE__);         \
  }

// What `ink_ctx_()` means in a function that has no PROF_KERNEL of its own.
static __host__ __device__ __forceinline__ ink_i::called ink_ctx_() { return ink_i::called(); }

// What a macro looks sections up in: in a namespace with tables of its own, those and the enclosing ones.
namespace names_of_PROF_SECTIONS {}

// Names the sections of one table, up to 8,191 of them, at namespace scope. Write a section by its bare name
// (PROF_MARK(Step)), or as Table::Step if two tables have the name. Files may share a table through a header. The
// names do not clash with anything else in the program. (INK_TABLE of rewritten.cuh has the same shape.)
#define PROF_SECTIONS(table, ...) INK_I_SECTIONS(table, #table, __VA_ARGS__) // a macro may hold the names
#define INK_I_SECTIONS(table, text, ...)                                                           \
  namespace ink_n_##table {                                                                        \
  namespace ink_outer = names_of_PROF_SECTIONS;                                                    \
  namespace {                                                                                      \
  enum id : unsigned short { ink_none, __VA_ARGS__, ink_behind_the_last };                         \
  constexpr __host__ __device__ unsigned long long ink_table_hash(id) {                            \
    return ::ink_i::hash48(text, #__VA_ARGS__);                                                    \
  }                                                                                                \
  __attribute__((unused)) constexpr __host__ __device__ unsigned ink_table_count(id) {             \
    return ink_behind_the_last - 1;                                                                \
  }                                                                                                \
  }                                                                                                \
  static_assert(ink_behind_the_last <= INK_SECTION_MAX + 1,                                        \
                "a table of PROF_SECTIONS has more than 8,191 sections");                          \
  INK_I_TABLE_TEXT(text, #__VA_ARGS__)                                                             \
  INK_I_REGISTER_TABLE(text, #__VA_ARGS__)                                                         \
  }                                                                                                \
  namespace names_of_PROF_SECTIONS {                                                               \
  using namespace ink_n_##table::ink_outer;                                                        \
  using namespace ink_n_##table;                                                                   \
  namespace table = ink_n_##table;                                                                 \
  }

// Opens this thread's track, and closes it on every way out of the enclosing scope. PROF_KERNEL(Step) records to the
// buffer with which the host armed the program. PROF_KERNEL(buf, Step) records to the prof_buffer argument buf. Use
// it once in a kernel, before any other mark. It may stand in a branch that only some threads take. About 200
// instructions for opening and closing, of which 12 run where nothing is recorded.
#define PROF_KERNEL(...)                                                                           \
  INK_I_THIRD(__VA_ARGS__, INK_I_KERNEL_ARGUMENT, INK_I_KERNEL_SYMBOL, )(kernel, __VA_ARGS__, false, false)
// The same, recorded by the threads for which `cond` holds: PROF_KERNEL_IF(lane == elected, Step) or
// PROF_KERNEL_IF(cond, buf, Step). Marks in called functions are kept for one of them in each warp.
#define PROF_KERNEL_IF(cond, ...)                                                                  \
  INK_I_THIRD(__VA_ARGS__, INK_I_KERNEL_ARGUMENT, INK_I_KERNEL_SYMBOL, )(kernel, __VA_ARGS__, true, (cond))
// Opens a track without closing it. PROF_CLOSE() closes it, at the end of each role's code. So no code stands after
// the branches of the roles, where it would cost a producer's loop its uniform registers. If a thread leaves its track
// open, the track is stored as open and named. It is given back once another block has its warp's place.
#define PROF_OPEN(...)                                                                             \
  INK_I_THIRD(__VA_ARGS__, INK_I_KERNEL_ARGUMENT, INK_I_KERNEL_SYMBOL, )(opened, __VA_ARGS__, false, false)
#define PROF_OPEN_IF(cond, ...)                                                                    \
  INK_I_THIRD(__VA_ARGS__, INK_I_KERNEL_ARGUMENT, INK_I_KERNEL_SYMBOL, )(opened, __VA_ARGS__, true, (cond))
#define PROF_CLOSE() ::ink_i::close(ink_ctx_())

// The same with a track of rows. PROF_ITER takes the next row, and PROF_MARK(S) stores one 32-bit clock in the slot
// of S in that row: 2 instructions. If a section is passed twice in a row, the last pass is kept. These macros may be
// used: MARK and its _STRICT and _LOADED forms, ITER, ROLE, and BEGIN, END and SCOPE of sections that stand in front
// of the kernel's own in PROF_SECTIONS. A row has up to 60 slots: one for each section, and two more for each section
// in front of the kernel's own.
#define PROF_KERNEL_ROWS(...)                                                                      \
  INK_I_THIRD(__VA_ARGS__, INK_I_ROWS_ARGUMENT, INK_I_ROWS_SYMBOL, )(kernel_rows, __VA_ARGS__, false, false)
#define PROF_KERNEL_ROWS_IF(cond, ...)                                                             \
  INK_I_THIRD(__VA_ARGS__, INK_I_ROWS_ARGUMENT, INK_I_ROWS_SYMBOL, )(kernel_rows, __VA_ARGS__, true, (cond))
#define PROF_OPEN_ROWS(...)                                                                        \
  INK_I_THIRD(__VA_ARGS__, INK_I_ROWS_ARGUMENT, INK_I_ROWS_SYMBOL, )(opened_rows, __VA_ARGS__, false, false)
#define PROF_OPEN_ROWS_IF(cond, ...)                                                               \
  INK_I_THIRD(__VA_ARGS__, INK_I_ROWS_ARGUMENT, INK_I_ROWS_SYMBOL, )(opened_rows, __VA_ARGS__, true, (cond))

// The context as a parameter. If a function has it and is inlined, its marks cost what they cost in the kernel's
// body. Call `void run(PROF_PARAMS(float *x, int n))` as `run(PROF_ARGS(x, n))`, from the body, from a lambda [&] in
// the body, or from another function with PROF_PARAMS. There may be up to 62 parameters, or none. If the function is
// not inlined, its marks cost more, and those of the body cost the same. PROF_SUM in the function is recorded at the
// function's PROF_ITER or at the end of the call. If no track is open, use PROF_ARGS_OFF: then the function records
// nothing.
#define PROF_PARAMS(...) INK_I_IF_ANY(INK_I_PARAMS_SOME, INK_I_PARAMS_NONE, __VA_ARGS__)(__VA_ARGS__)
#define PROF_ARGS(...) INK_I_IF_ANY(INK_I_ARGS_SOME, INK_I_ARGS_NONE, __VA_ARGS__)(__VA_ARGS__)
// PROF_PARAMS for functions that kernels with PROF_KERNEL_ROWS(S) call. The call has PROF_ARGS.
#define PROF_PARAMS_ROWS(...) INK_I_JOIN(INK_I_PARAMS_ROWS_, INK_I_HAS_COMMA(__VA_ARGS__))(__VA_ARGS__)
#define PROF_ARGS_OFF(...) INK_I_IF_ANY(INK_I_OFF_SOME, INK_I_OFF_NONE, __VA_ARGS__)(__VA_ARGS__)
// The context as a member of an object, for all of its functions. Write `struct Loop { PROF_MEMBER() int n; ... };`
// and, where the track is open, `PROF_BIND(loop);`. Marks cost the same as long as the functions are inlined. If one
// is not inlined, the caller's marks have their cursor in memory too. If an object was not bound, its marks record
// nothing.
#define PROF_MEMBER() ::ink_i::bound ink_ctx_;
#define PROF_BIND(object) ((object).ink_ctx_.bind(::ink_i::binder(ink_ctx_)))
// Names this thread's track by a section of any table: PROF_ROLE(Producer). Put it where the track is open. If there
// are several, the last one holds. It is one store, and does not change the marks.
#define PROF_ROLE(S)                                                                               \
  ::ink_i::role<INK_KERNEL_KEY(ink_table_hash(names_of_PROF_SECTIONS::S), names_of_PROF_SECTIONS::S)>(ink_ctx_())

// Put this at the top of a lambda that does not capture the context: its marks are recorded as those of a called
// function.
#define PROF_LAMBDA()                                                                              \
  const ::ink_i::called ink_ctx_ = ::ink_i::called();                                              \
  (void)ink_ctx_

// The time since this level's last stamp belongs to section S. PROF_MARK(S, x, y, ...) holds values,
// as every macro below does.
#define PROF_MARK(...) INK_I_STAMP(INK_KIND_MARK, __VA_ARGS__, ::ink_i::end_of_values())

// PROF_MARK with values that the assembler cannot move either. (It can sink, hoist or fuse the values of PROF_MARK:
// docs/verify.md.) Each value is made to depend on the clock read. This takes one instruction for each 32 bits of the
// values, and one more for the mark. A multiply before the mark and an add after it are never fused.
#define PROF_MARK_STRICT(S, ...) INK_I_TIED(false, S, __VA_ARGS__)
// The same, and the clock is read only when the values are there, so their loads have landed. The section's time is
// then the time of the work, not of its issue. The mark waits, as the first use of the values would.
#define PROF_MARK_LOADED(S, ...) INK_I_TIED(true, S, __VA_ARGS__)

// PROF_MARK of a section that is known only at run time: the section of Table with this index, from 0. If the table
// does not have the index, the mark is counted as unknown, and its time belongs to no section. 2 instructions more.
#define PROF_MARK_ID(Table, ...) INK_I_ID(Table, __VA_ARGS__, ::ink_i::end_of_values())

// A nested range: its time is S's, inside of whatever section is around it. Ranges end in the order
// opposite to that in which they began.
#define PROF_BEGIN(...) INK_I_STAMP(INK_KIND_BEGIN, __VA_ARGS__, ::ink_i::end_of_values())
#define PROF_END(...) INK_I_STAMP(INK_KIND_END, __VA_ARGS__, ::ink_i::end_of_values())
// PROF_BEGIN with a number, the argument of its slice: any integer, float or double. 3 words.
#define PROF_BEGIN_WITH(S, ...) INK_I_BEGIN_WITH(S, __VA_ARGS__, ::ink_i::end_of_values())
// A range that ends with the enclosing scope, on every way out of it. It is a declaration, so it cannot be the only
// statement of an `if`.
#define PROF_SCOPE(...)                                                                            \
  INK_I_SCOPE(INK_I_JOIN(ink_scope_, __LINE__), __VA_ARGS__, ::ink_i::end_of_values())

// The row of the per-iteration table from here on, at this level: any 64-bit integer. 2 words.
#define PROF_ITER(...) INK_I_ITER(__VA_ARGS__, ::ink_i::end_of_values())
// Put this after the loop: what follows is in no row, at this level.
#define PROF_ITER_END() ::ink_i::iterate(ink_ctx_(), (long long)::ink_i::no_row)

// A point in time. Moves no stamp.
#define PROF_EVENT(...) INK_I_STAMP(INK_KIND_INSTANT, __VA_ARGS__, ::ink_i::end_of_values())
// A number at this time: an integer, float or double (convert half types). 3 words. Moves no stamp.
#define PROF_VALUE(S, ...) INK_I_VALUE(S, __VA_ARGS__, ::ink_i::end_of_values())

// Ranges that may overlap each other and everything else, told apart by a 64-bit key. 2 words.
#define PROF_ASYNC_BEGIN(S, ...)                                                                   \
  INK_I_ASYNC(INK_KIND_ASYNC_BEGIN, S, __VA_ARGS__, ::ink_i::end_of_values())
#define PROF_ASYNC_END(S, ...)                                                                     \
  INK_I_ASYNC(INK_KIND_ASYNC_END, S, __VA_ARGS__, ::ink_i::end_of_values())

// The same, but another thread of the block, the cluster or the grid may end the range. It can show the flight of a
// copy, from where it is issued to where it has landed. 3 words, of a cluster 4. Both threads must record, so choose
// them by PROF_KERNEL_IF, or record per warp.
#define PROF_ASYNC_BEGIN_BLOCK(S, ...) INK_I_SHARED_KEY(INK_KIND_ASYNC_BEGIN, INK_ESCAPE_BLOCK, S, __VA_ARGS__)
#define PROF_ASYNC_END_BLOCK(S, ...) INK_I_SHARED_KEY(INK_KIND_ASYNC_END, INK_ESCAPE_BLOCK, S, __VA_ARGS__)
#define PROF_ASYNC_BEGIN_CLUSTER(S, ...) INK_I_SHARED_KEY(INK_KIND_ASYNC_BEGIN, INK_ESCAPE_CLUSTER, S, __VA_ARGS__)
#define PROF_ASYNC_END_CLUSTER(S, ...) INK_I_SHARED_KEY(INK_KIND_ASYNC_END, INK_ESCAPE_CLUSTER, S, __VA_ARGS__)
#define PROF_ASYNC_BEGIN_GRID(S, ...) INK_I_SHARED_KEY(INK_KIND_ASYNC_BEGIN, INK_ESCAPE_GRID, S, __VA_ARGS__)
#define PROF_ASYNC_END_GRID(S, ...) INK_I_SHARED_KEY(INK_KIND_ASYNC_END, INK_ESCAPE_GRID, S, __VA_ARGS__)

// Count, total, least and most cycles of a range that is passed too often to record each time. They are kept in
// registers, and stored as one record of 6 words at the next PROF_ITER or at the kernel's end. This needs a context.
#define PROF_SUM_BEGIN(...) INK_I_SUM(sum_begin, __VA_ARGS__, ::ink_i::end_of_values())
#define PROF_SUM_END(...) INK_I_SUM(sum_end, __VA_ARGS__, ::ink_i::end_of_values())
// Records the sums here, in the current row. Put it after a loop, before the PROF_END of the range that the loop's
// rows are in. Otherwise the sums of the last row are recorded later, outside of that range and without their row.
#define PROF_SUM_FLUSH() ::ink_i::sum_flush(ink_ctx_())

// For kernels that run for milliseconds: records a clock64-globaltimer-clock64 triple here, so that inkmark sees a
// change of the clock rate inside the kernel. This needs a context. 5 words.
#define PROF_CLOCKS() ::ink_i::clocks(ink_ctx_())

// ---- private ------------------------------------------------------------------------------------

#define INK_I_THIRD(a, b, c, ...) c
#define INK_I_SECTION(S) names_of_PROF_SECTIONS::S, ink_table_hash(names_of_PROF_SECTIONS::S)
#define INK_I_NAME(S)                                                                              \
  static_assert(::ink_i::is_name(#S), "inkmark: a section is a name of PROF_SECTIONS; one that is known at run time " \
                                      "only is marked by PROF_MARK_ID(Table, index)")

// Is there an argument? Without __VA_OPT__, which C++14 and 17 lack: an empty one in front of () makes INK_I_COMMA
// an invocation, and so a comma, where neither of the two does so alone.
#define INK_I_COMMA(...) ,
#define INK_I_IF_ANY(some, none, ...)                                                              \
  INK_I_CHOOSE(INK_I_HAS_COMMA(__VA_ARGS__), INK_I_HAS_COMMA(INK_I_COMMA __VA_ARGS__),              \
               INK_I_HAS_COMMA(__VA_ARGS__()), INK_I_HAS_COMMA(INK_I_COMMA __VA_ARGS__()), some, none)
#define INK_I_CHOOSE(a, b, c, d, some, none) INK_I_CHOOSE_(a, b, c, d, some, none)
#define INK_I_CHOOSE_(a, b, c, d, some, none) INK_I_THIRD_OF(INK_I_EMPTY_##a##b##c##d, none, some, )
#define INK_I_THIRD_OF(...) INK_I_THIRD(__VA_ARGS__)
#define INK_I_EMPTY_0001 ,
#define INK_I_PARAMS_NONE() ::ink_i::context &ink_ctx_
#define INK_I_PARAMS_SOME(...) ::ink_i::context &ink_ctx_, __VA_ARGS__
#define INK_I_ROWS_OF(S)                                                                           \
  ::ink_i::rows_of<ink_table_hash(names_of_PROF_SECTIONS::S), ink_table_count(names_of_PROF_SECTIONS::S), \
                   (unsigned)names_of_PROF_SECTIONS::S - 1, ::ink_i::rows_checked>
#define INK_I_PARAMS_ROWS_0(S) INK_I_ROWS_OF(S) &ink_ctx_
#define INK_I_PARAMS_ROWS_1(S, ...) INK_I_ROWS_OF(S) &ink_ctx_, __VA_ARGS__
#define INK_I_LENT decltype(::ink_i::lent_as(ink_ctx_))
#define INK_I_ARGS_NONE() ::ink_i::lending<INK_I_LENT>(INK_I_LENT(), ::ink_i::lender(ink_ctx_)).get()
#define INK_I_ARGS_SOME(...) INK_I_ARGS_NONE(), __VA_ARGS__
#define INK_I_OFF_NONE() ::ink_i::lent_nothing(::ink_i::context())
#define INK_I_OFF_SOME(...) ::ink_i::lent_nothing(::ink_i::context()), __VA_ARGS__

#define INK_I_KERNEL_SYMBOL(type, S, chosen, cond)                                                 \
  ::ink_i::type<::ink_i::from_symbol, ink_table_hash(names_of_PROF_SECTIONS::S)> ink_ctx_(         \
      ::ink_i::from_symbol(), names_of_PROF_SECTIONS::S, chosen, cond, INK_I_INSTANCE)
#define INK_I_KERNEL_ARGUMENT(type, buf, S, chosen, cond)                                          \
  ::ink_i::type<::ink_i::from_argument, ink_table_hash(names_of_PROF_SECTIONS::S)> ink_ctx_(       \
      ::ink_i::from_argument{(buf).device}, names_of_PROF_SECTIONS::S, chosen, cond, INK_I_INSTANCE)
#define INK_I_ROWS_SYMBOL(type, S, chosen, cond)                                                   \
  ::ink_i::type<::ink_i::from_symbol, ink_table_hash(names_of_PROF_SECTIONS::S),                   \
                ink_table_count(names_of_PROF_SECTIONS::S), (unsigned)names_of_PROF_SECTIONS::S>   \
      ink_ctx_(::ink_i::from_symbol(), names_of_PROF_SECTIONS::S, chosen, cond, INK_I_INSTANCE)
#define INK_I_ROWS_ARGUMENT(type, buf, S, chosen, cond)                                            \
  ::ink_i::type<::ink_i::from_argument, ink_table_hash(names_of_PROF_SECTIONS::S),                 \
                ink_table_count(names_of_PROF_SECTIONS::S), (unsigned)names_of_PROF_SECTIONS::S>   \
      ink_ctx_(::ink_i::from_argument{(buf).device}, names_of_PROF_SECTIONS::S, chosen, cond, INK_I_INSTANCE)
#define INK_I_INSTANCE ::ink_i::instance<sizeof(__PRETTY_FUNCTION__)>{__PRETTY_FUNCTION__}

#define INK_I_STAMP(kind, S, ...)                                                                  \
  do {                                                                                             \
    INK_I_NAME(S);                                                                                 \
    ::ink_i::hold(__VA_ARGS__);                                                                    \
    ::ink_i::stamp<kind, INK_I_SECTION(S)>(ink_ctx_());                                            \
    ::ink_i::hold(__VA_ARGS__);                                                                    \
  } while (0)
#define INK_I_TIED(loaded, S, ...)                                                                 \
  do {                                                                                             \
    INK_I_NAME(S);                                                                                 \
    ::ink_i::hold(__VA_ARGS__);                                                                    \
    ::ink_i::stamp_tied<loaded, INK_KIND_MARK, INK_I_SECTION(S)>(ink_ctx_(), __VA_ARGS__);         \
    ::ink_i::hold(__VA_ARGS__);                                                                    \
  } while (0)
#define INK_I_SCOPE(name, S, ...)                                                                  \
  ::ink_i::hold(__VA_ARGS__);                                                                      \
  ::ink_i::scope<INK_I_SECTION(S), typename ::ink_i::bare<decltype(ink_ctx_())>::type> name(ink_ctx_());    \
  ::ink_i::hold(__VA_ARGS__)
#define INK_I_ITER(row, ...)                                                                       \
  do {                                                                                             \
    ::ink_i::hold(__VA_ARGS__);                                                                    \
    ::ink_i::iterate(ink_ctx_(), (long long)(row));                                                \
    ::ink_i::hold(__VA_ARGS__);                                                                    \
  } while (0)
#define INK_I_VALUE(S, v, ...)                                                                     \
  do {                                                                                             \
    INK_I_NAME(S);                                                                                 \
    ::ink_i::hold(__VA_ARGS__);                                                                    \
    ::ink_i::value<INK_I_SECTION(S)>(ink_ctx_(), (v));                                             \
    ::ink_i::hold(__VA_ARGS__);                                                                    \
  } while (0)
#define INK_I_BEGIN_WITH(S, v, ...)                                                                \
  do {                                                                                             \
    INK_I_NAME(S);                                                                                 \
    ::ink_i::hold(__VA_ARGS__);                                                                    \
    ::ink_i::begin_with<INK_I_SECTION(S)>(ink_ctx_(), (v));                                        \
    ::ink_i::hold(__VA_ARGS__);                                                                    \
  } while (0)
#define INK_I_ID(table, index, ...)                                                                \
  do {                                                                                             \
    constexpr auto ink_last = names_of_PROF_SECTIONS::table::ink_behind_the_last;                  \
    ::ink_i::hold(__VA_ARGS__);                                                                    \
    ::ink_i::stamp_id<ink_table_hash(ink_last), ink_last - 1>(ink_ctx_(), (unsigned long long)(index)); \
    ::ink_i::hold(__VA_ARGS__);                                                                    \
  } while (0)
#define INK_I_SHARED_KEY(kind, escape, ...) INK_I_SHARED_KEY_(kind, escape, __VA_ARGS__, ::ink_i::end_of_values())
#define INK_I_SHARED_KEY_(kind, escape, S, key, ...)                                               \
  do {                                                                                             \
    INK_I_NAME(S);                                                                                 \
    ::ink_i::hold(__VA_ARGS__);                                                                    \
    ::ink_i::stamp_shared_key<kind, escape, INK_I_SECTION(S)>(ink_ctx_(), (unsigned long long)(key)); \
    ::ink_i::hold(__VA_ARGS__);                                                                    \
  } while (0)
#define INK_I_ASYNC(kind, S, key, ...)                                                             \
  do {                                                                                             \
    INK_I_NAME(S);                                                                                 \
    ::ink_i::hold(__VA_ARGS__);                                                                    \
    ::ink_i::stamp_key<kind, INK_I_SECTION(S)>(ink_ctx_(), (unsigned long long)(key));             \
    ::ink_i::hold(__VA_ARGS__);                                                                    \
  } while (0)
#define INK_I_SUM(function, S, ...)                                                                \
  do {                                                                                             \
    INK_I_NAME(S);                                                                                 \
    ::ink_i::hold(__VA_ARGS__);                                                                    \
    ::ink_i::function<INK_I_SECTION(S)>(ink_ctx_());                                               \
    ::ink_i::hold(__VA_ARGS__);                                                                    \
  } while (0)

#if !defined(INK_I_REGISTER_TABLE)
#define INK_I_REGISTER_TABLE(name, sections)
#endif

#endif
#endif
