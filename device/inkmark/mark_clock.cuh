// SPDX-License-Identifier: MIT
// Private: the kernel that reads clocks for the session (runtime/cuda/clock_catch.c): one reading of
// globaltimer, which ties it to the host's clock, or edges of globaltimer on every SM. One kernel does both,
// because each kernel of a file costs more bytes than its code. How many polls it may take is bounded.
#ifndef INKMARK_MARK_CLOCK_CUH
#define INKMARK_MARK_CLOCK_CUH

#include "inkmark/mark_word.cuh"
#include "inkmark/module.h"

namespace ink_i {
namespace { // one a file: the files of a program may be linked with different CUDA runtimes

#if defined(__CUDA_ARCH__)

// The clock is read once globaltimer's value is there: the predicate needs it. Without that the second read
// may be issued before the first has sampled the timer.
__device__ __forceinline__ void read_globaltimer_then_clock(u64 &ns, u64 &cycles) {
  cycles = 0;
  asm volatile("{\n\t.reg .pred _there;\n\t"
               "mov.u64 %0, %%globaltimer;\n\t"
               "setp.ne.s64 _there, %0, -1;\n\t"
               "@_there mov.u64 %1, %%clock64;\n\t}"
               : "=l"(ns), "+l"(cycles)
               :
               : "memory");
}

// An edge is seen where two readings in a row differ: the timer left the first one's value after the clock
// before that reading, and had reached the second one's by the clock after it.
__device__ __forceinline__ void catch_edges(ink_edge_slot *slot, u64 few_cycles, u64 most_cycles) {
  const u64 start = read_clock();
  u64 before = start, between, old_ns;
  u32 caught = 0;
  read_globaltimer_then_clock(old_ns, between);
#pragma unroll 1
  for (u32 polls = 0; polls < INK_EDGE_POLLS_MAX; polls++) {
    u64 now_ns, after;
    read_globaltimer_then_clock(now_ns, after);
    if (now_ns == old_ns) {
      before = between;
    } else {
      ink_edge_words *edge = &slot->edges[caught];
      edge->cycles0 = before;
      edge->cycles1 = after;
      edge->before_ns = old_ns;
      edge->global_ns = now_ns;
      if (++caught == INK_EDGES_MAX)
        break;
      // Where the timer's step is a multiple of a poll, all edges would be caught at the same place in it.
#pragma unroll 1
      for (u32 i = 0; i < caught; i++)
        asm volatile("" : : : "memory");
      before = read_clock();
      read_globaltimer_then_clock(old_ns, after);
    }
    between = after;
    if (after - start > (caught < 2 ? most_cycles : few_cycles))
      break;
  }
  slot->count = caught;
}

#endif

// slots NULL: one thread stores globaltimer in *ns. Else: one block of one thread for each SM, those that
// find their SM taken leave at once.
__global__ void clock_kernel(u64 *ns, ink_edge_slot *slots, u32 slot_count, u64 few_cycles,
                             u64 most_cycles) {
#if defined(__CUDA_ARCH__)
  if (!slots) {
    *ns = read_globaltimer();
    return;
  }
  const u32 sm = read_smid();
  if (sm < slot_count && atomicAdd(&slots[sm].taken, 1u) == 0)
    catch_edges(&slots[sm], few_cycles, most_cycles);
#endif
}

} // namespace
} // namespace ink_i

#endif
