// SPDX-License-Identifier: MIT
// Sections that hold nothing but passes of PROF_SUM, records of sums, and clock triples: without the
// marks' cost, nothing of them but loops is left.
#include "inkmark/mark.cuh"

#include <cstdio>

PROF_SECTIONS(Sums, Passes, Alone, Apart, Rolled, Bare, Triples, Full, One, Four, Nothing, Pass, Other, Short, Clocks)

__global__ void passes(int *out) {
  PROF_KERNEL(Passes);
  PROF_MARK(Nothing);
  PROF_SUM_BEGIN(Pass);
  PROF_SUM_END(Pass);
  PROF_MARK(One);
  for (int i = 0; i < 4; i++) { // unrolled
    PROF_SUM_BEGIN(Pass);
    PROF_SUM_END(Pass);
  }
  PROF_MARK(Four);
  PROF_ITER(1); // the sum's record
  PROF_MARK(Short);
  PROF_SUM_BEGIN(Pass);
  PROF_SUM_END(Pass);
  PROF_SUM_BEGIN(Other);
  PROF_SUM_END(Other);
  PROF_MARK(One);
  PROF_ITER(2); // two records
  PROF_MARK(Short);
  out[threadIdx.x] = 1;
}

// Passes with no mark between them and the row's ITER: they can be nowhere else.
__global__ void alone(int *out) {
  PROF_KERNEL(Alone);
  PROF_ITER(0);
  for (int i = 1; i < 4; i++) { // unrolled
    PROF_SUM_BEGIN(Pass);
    PROF_SUM_END(Pass);
    PROF_SUM_BEGIN(Pass);
    PROF_SUM_END(Pass);
    PROF_ITER(i);
  }
  out[threadIdx.x] = 1;
}

// The same without the passes.
__global__ void apart(int *out) {
  PROF_KERNEL(Apart);
  PROF_ITER(0);
  for (int i = 1; i < 4; i++)
    PROF_ITER(i);
  out[threadIdx.x] = 1;
}

// A loop as programs have it, with a pair around a little work, and the same loop without the pair.
__global__ void rolled(int *out, int n) {
  PROF_KERNEL(Rolled);
  unsigned x = threadIdx.x;
  PROF_ITER(0);
#pragma unroll 1
  for (int k = 0; k < n; k++) {
    PROF_SUM_BEGIN(Pass, x);
    x = x * 1664525u + 1013904223u;
    PROF_SUM_END(Pass, x);
  }
  PROF_ITER(1);
  out[threadIdx.x] = (int)x;
}

__global__ void bare(int *out, int n) {
  PROF_KERNEL(Bare);
  unsigned x = threadIdx.x;
  PROF_ITER(0);
#pragma unroll 1
  for (int k = 0; k < n; k++) {
    asm volatile("" : "+r"(x));
    x = x * 1664525u + 1013904223u;
    asm volatile("" : "+r"(x));
  }
  PROF_ITER(1);
  out[threadIdx.x] = (int)x;
}

__global__ void triples(int *out) {
  PROF_KERNEL(Triples);
  PROF_MARK(Nothing);
  PROF_CLOCKS();
  PROF_MARK(Clocks);
  PROF_CLOCKS();
  PROF_CLOCKS();
  PROF_MARK(Clocks);
  out[threadIdx.x] = 1;
}

// Passes with content: the sum and what is around it must add up.
__global__ void full(int *out, int n) {
  PROF_KERNEL(Full);
  unsigned x = threadIdx.x;
  for (int i = 0; i < n; i++) {
    PROF_ITER(i);
    for (int k = 0; k < 8; k++) {
      PROF_SUM_BEGIN(Pass, x);
      for (int j = 0; j < 3; j++)
        x = x * 1664525u + 1013904223u;
      PROF_SUM_END(Pass, x);
    }
    PROF_MARK(Four, x);
    PROF_CLOCKS();
  }
  out[threadIdx.x] = (int)x;
}

int main() {
  int *out;
  if (cudaMalloc(&out, 32 * sizeof *out) != cudaSuccess)
    return 1;
  passes<<<2, 32>>>(out);
  alone<<<2, 32>>>(out);
  apart<<<2, 32>>>(out);
  rolled<<<2, 32>>>(out, 50);
  bare<<<2, 32>>>(out, 50);
  triples<<<2, 32>>>(out);
  full<<<3, 32>>>(out, 5);
  const cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess)
    printf("%s\n", cudaGetErrorString(error));
  return error != cudaSuccess;
}
