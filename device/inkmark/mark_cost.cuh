// SPDX-License-Identifier: MIT
// Private: the kernel that measures what marks cost, on this device and in this very build. The session
// launches it at arming with a buffer of its own (runtime/cuda/cost_measure.c): marks of each kind back
// to back between two clock reads, through the same code as the program's marks. With a NULL buffer the
// same code measures marks that record nothing.
#ifndef INKMARK_MARK_COST_CUH
#define INKMARK_MARK_COST_CUH

#include "inkmark/mark_impl.cuh"
#include "inkmark/module.h"

namespace ink_i {
namespace { // one a file, as the code of the marks is

#if defined(__CUDA_ARCH__)

// What a mark costs is a matter of how many words it puts: a MARK, a BEGIN, an END and an INSTANT differ in a constant, and
// so do an ITER and the marks of ASYNC in a kernel's body, a VALUE and those of ASYNC in a called function. So three
// pieces of code are measured in six rows, which halves what every marked file has to be compiled.
template <u32 What, u32 Count, class Context>
__device__ __forceinline__ void marks_to_measure(Context &at) {
  constexpr u64 table = INK_COST_TABLE;
#pragma unroll
  for (u32 i = 0; i < Count; i++) {
    switch (What) {
    case INK_COST_MARK:
      at.template stamp<INK_KIND_MARK, 1, table>();
      break;
    case INK_COST_ITER:
      at.template stamp<INK_KIND_ITER, 0, 0>((u64)i);
      break;
    case INK_COST_VALUE:
      at.template value<1, table>(INK_ESCAPE_VALUE_U64, (u64)i);
      break;
    default:
      break;
    }
  }
}

__device__ __forceinline__ void keep_sample(u64 *samples, u32 row, u32 round, u64 cycles) {
  if (threadIdx.x == 0)
    samples[row * INK_COST_ROUNDS + round] = cycles;
}

// As in a function that is not inlined: what its first mark has to find out is found out in each call.
template <u32 What> __device__ __noinline__ void marks_in_a_function() {
  called function;
  marks_to_measure<What, INK_COST_MARKS_CALLED>(function);
}

template <u32 What>
__device__ __forceinline__ void marks_of_a_round(kernel<from_argument, INK_COST_TABLE> &body) {
  marks_to_measure<What, INK_COST_MARKS>(body);
}
template <u32 What> __device__ __forceinline__ void marks_of_a_round(called &) {
  marks_in_a_function<What>();
}

template <u32 What, class Context>
__device__ __forceinline__ void measure_marks(Context &at, u64 *samples, u32 row) {
#pragma unroll 1
  for (u32 round = 0; round < INK_COST_ROUNDS; round++) {
    const u64 before = read_clock();
    marks_of_a_round<What>(at);
    const u64 cycles = read_clock() - before;
    keep_sample(samples, row, round, cycles);
  }
}

// Rows in the order of their numbers, which is that of the ring. `Async` is the row whose code that of ASYNC is.
template <u32 Async, class Context>
__device__ __forceinline__ void measure_each(Context &at, u64 *samples, u32 first) {
#pragma unroll 1
  for (u32 what = INK_COST_MARK; what <= INK_COST_ASYNC; what++) {
    const u32 code = what == INK_COST_ASYNC ? Async : what;
    if (code == INK_COST_ITER)
      measure_marks<INK_COST_ITER>(at, samples, first + what);
    else if (code == INK_COST_VALUE)
      measure_marks<INK_COST_VALUE>(at, samples, first + what);
    else
      measure_marks<INK_COST_MARK>(at, samples, first + what);
  }
}

// Pairs of a sum one after another, of which the compiler joins what it can: no pair costs less.
__device__ __forceinline__ void measure_sums(kernel<from_argument, INK_COST_TABLE> &body,
                                             u64 *samples) {
#pragma unroll 1
  for (u32 round = 0; round < INK_COST_ROUNDS; round++) {
    const u64 before = read_clock();
#pragma unroll
    for (u32 i = 0; i < INK_COST_MARKS; i++) {
      body.template sum_begin<1, INK_COST_TABLE>();
      body.template sum_end<1, INK_COST_TABLE>();
    }
    const u64 cycles = read_clock() - before;
    keep_sample(samples, INK_COST_SUM, round, cycles);
  }
}

// A loop as programs have it, with a little work, and a pair or none. It comes before any
// other sum: that the pair's slot is its own is looked at in each turn, as it is there.
template <bool Pair>
__device__ __forceinline__ u64 loop_of_sums(kernel<from_argument, INK_COST_TABLE> &body, u32 &work) {
  const u64 before = read_clock();
#pragma unroll 1
  for (u32 i = 0; i < INK_COST_MARKS; i++) {
    if (Pair) {
      body.template sum_begin<1, INK_COST_TABLE>();
      body.template sum_end<1, INK_COST_TABLE>();
    }
    asm volatile("mad.lo.u32 %0, %0, 1664525, 1013904223;" : "+r"(work));
  }
  return read_clock() - before;
}

__device__ __forceinline__ void
measure_sums_in_a_loop(kernel<from_argument, INK_COST_TABLE> &body, u64 *samples) {
  u32 work = threadIdx.x;
#pragma unroll 1
  for (u32 round = 0; round < INK_COST_ROUNDS; round++) {
    const u64 with = loop_of_sums<true>(body, work);
    keep_sample(samples, INK_COST_SUM_LOOP, round, with - loop_of_sums<false>(body, work));
  }
  samples[INK_COST_WHOLE * INK_COST_ROUNDS + 2 + (threadIdx.x & 1)] = work; // else it would be left out
}

__device__ __forceinline__ void measure_body(prof_buffer buffer, u64 *samples) {
  kernel<from_argument, INK_COST_TABLE> body(from_argument{buffer.device}, 1, false, false, instance<0>{nullptr});
  // The first record: what lies between the opening's clock and a first mark's.
  body.template stamp<INK_KIND_MARK, 1, INK_COST_TABLE>();
  measure_each<INK_COST_ITER>(body, samples, 0);
  called function;
  measure_each<INK_COST_VALUE>(function, samples, INK_COST_CALLED);
  measure_marks<INK_COST_NOTHING>(body, samples, INK_COST_NOTHING);
  measure_sums_in_a_loop(body, samples);
  measure_sums(body, samples);
}

#endif

// samples: [INK_COST_ROWS][INK_COST_ROUNDS] cycles.
__global__ void mark_cost_kernel(prof_buffer buffer, u64 *samples) {
#if defined(__CUDA_ARCH__) && !defined(INKMARK_COUNTS_ALONE) // the guard of `inkmark nvcc` looks at the user's kernels
  const u64 before = read_clock();
  measure_body(buffer, samples);
  const u64 after = read_clock();
  if (threadIdx.x == 0) { // of opening and closing: the host takes what lies between off
    samples[INK_COST_WHOLE * INK_COST_ROUNDS] = before;
    samples[INK_COST_WHOLE * INK_COST_ROUNDS + 1] = after;
  }
#endif
}

} // namespace
} // namespace ink_i

#endif
