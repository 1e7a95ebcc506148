/* SPDX-License-Identifier: MIT */
/* Lanes of one warp in two functions at once: what lane 0 keeps in registers must not touch the other lanes' predicates,
 * which hold across a wait for lane 0. */
#include <cuda_runtime.h>

#include "check.h"

__device__ __noinline__ unsigned waits(volatile unsigned *board, unsigned x)
{
  unsigned y;
  asm volatile("{\n\t"
               ".reg .pred p, q, r, again; .reg .u32 w, a, b, c;\n\t"
               "and.b32 a, %2, 1; setp.ne.u32 p, a, 0;\n\t"
               "and.b32 b, %2, 2; setp.ne.u32 q, b, 0;\n\t"
               "and.b32 c, %2, 4; setp.ne.u32 r, c, 0;\n\t"
               "st.volatile.u32 [%1+36], 1;\n"
               "wait: ld.volatile.u32 w, [%1];\n\t"
               "setp.eq.u32 again, w, 0;\n\t"
               "@again bra wait;\n\t"
               "mov.u32 %0, 0;\n\t"
               "@p add.u32 %0, %0, 1;\n\t"
               "@q add.u32 %0, %0, 2;\n\t"
               "@r add.u32 %0, %0, 4;\n\t"
               "}"
               : "=&r"(y)
               : "l"(board), "r"(x)
               : "memory");
  return y;
}

__device__ __noinline__ unsigned works(volatile unsigned *board, unsigned x)
{
  unsigned values[8], sum = 0;
  while (!board[9]) { /* the others are at their wait */
  }
  for (int i = 0; i < 8; i++)
    values[i] = board[i + 1] * x;
  for (int i = 0; i < 8; i++) {
    board[i + 1] = values[i] * 3;
    sum += values[i];
  }
  board[0] = 1;
  return sum;
}

__global__ void apart(unsigned *board, unsigned *out)
{
  unsigned x = threadIdx.x;
  out[x] = x ? waits(board, x) : works(board, 5 + x);
}

int main()
{
  unsigned *board, *out;
  CHECK(cudaMallocManaged(&board, 16 * sizeof *board) == cudaSuccess);
  CHECK(cudaMallocManaged(&out, 32 * sizeof *out) == cudaSuccess);
  for (unsigned i = 0; i < 16; i++)
    board[i] = i && i < 9 ? ~0u / i : 0;
  apart<<<1, 32>>>(board, out);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  for (unsigned i = 1; i < 32; i++)
    CHECK(out[i] == (i & 7));
  return checks_failed != 0;
}
