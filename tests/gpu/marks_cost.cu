// SPDX-License-Identifier: MIT
// What one mark of each kind costs the thread that executes it: cycles of a loop of back-to-back
// marks, less those of the empty loop. One line a kind: NAME CYCLES. Recorded it shows the price of
// a stored mark, not recorded that of a dormant one.
#include "inkmark/mark.cuh"

#include <cstdio>
#include <cstdlib>

PROF_SECTIONS(Cost, Kernel, A)

constexpr int rounds = 64, unrolled = 8;

__device__ __noinline__ void called() { PROF_MARK(A); }
__device__ __noinline__ void with_context(PROF_PARAMS()) { PROF_MARK(A); }

// Times `unrolled` times the statement, in a rolled loop; the slot's first pass warms the caches.
#define TIME(slot, statement)                                                                      \
  for (int pass = 0; pass < 2; pass++) {                                                           \
    const long long begin = clock64();                                                             \
    _Pragma("unroll 1") for (int i = 0; i < rounds; i++) {                                         \
      statement; statement; statement; statement; statement; statement; statement; statement;      \
      asm volatile("" ::: "memory");                                                               \
    }                                                                                              \
    cycles[slot] = clock64() - begin;                                                              \
  }

constexpr int slots = 15, row_slots = 12; // from row_slots on of a track of rows, the first of them an empty loop again
static const char *const names[slots] = {"empty",   "mark",       "begin+end", "event", "iter",
                                         "value", "async_begin", "sum",       "called_mark",
                                         "strict_mark", "loaded_mark", "context_mark", "empty", "row_mark", "row_iter"};

__global__ void cost_kernel(long long *out) {
  PROF_KERNEL(Kernel);
  long long cycles[slots];
  TIME(0, asm volatile("" ::: "memory"));
  TIME(1, PROF_MARK(A));
  TIME(2, { PROF_BEGIN(A); PROF_END(A); });
  TIME(3, PROF_EVENT(A));
  TIME(4, PROF_ITER(i));
  TIME(5, PROF_VALUE(A, i));
  TIME(6, PROF_ASYNC_BEGIN(A, i));
  TIME(7, { PROF_SUM_BEGIN(A); PROF_SUM_END(A); });
  TIME(8, called());
  int held = (int)out[0]; // one value: what each adds to "mark" is its price
  TIME(9, PROF_MARK_STRICT(A, held));
  TIME(10, PROF_MARK_LOADED(A, held));
  TIME(11, with_context(PROF_ARGS()));
  if (threadIdx.x == 0)
    for (int i = 0; i < row_slots; i++)
      out[i] = cycles[i] + (held == -1); // never -1: the values are used
}

__global__ void rows_kernel(long long *out) {
  PROF_KERNEL_ROWS(Kernel);
  long long cycles[slots];
  TIME(12, asm volatile("" ::: "memory"));
  TIME(13, PROF_MARK(A));
  TIME(14, PROF_ITER(i));
  if (threadIdx.x == 0)
    for (int i = row_slots; i < slots; i++)
      out[i] = cycles[i];
}

int main() {
  long long *out, cycles[slots];
  if (cudaMalloc(&out, sizeof cycles) != cudaSuccess)
    return 1;
  if (cudaMemset(out, 0, sizeof cycles) != cudaSuccess)
    return 1;
  cost_kernel<<<1, 32>>>(out);
  rows_kernel<<<1, 32>>>(out);
  if (cudaMemcpy(cycles, out, sizeof cycles, cudaMemcpyDeviceToHost) != cudaSuccess)
    return 1;
  for (int i = 1; i < slots; i++)
    if (i != row_slots)
      printf("%s %.1f\n", names[i], (double)(cycles[i] - cycles[i < row_slots ? 0 : row_slots]) / (rounds * unrolled));
  return 0;
}
