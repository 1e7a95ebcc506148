// SPDX-License-Identifier: MIT
// Kernels whose lines say at their end into which section's time their instructions must fall, or into which of several.
#include "inkmark/mark.cuh"

PROF_SECTIONS(Mapped, Run, Fetch, Wait, Work, Inner, Again, Deep, Walk)

#ifdef OTHER_BUILD
#define SIGN -
#else
#define SIGN +
#endif

__global__ void loop(const float *x, const float *w, float *out, int rounds) {
  PROF_KERNEL(Run);
  __shared__ float tile[256];
  float sum = 0;
#pragma unroll 1
  for (int r = 0; r < rounds; r++) {
    PROF_ITER(r);
    float next = x[(blockIdx.x * rounds + r) * 256 + threadIdx.x]; // in Fetch
    PROF_MARK(Fetch, next);
    tile[threadIdx.x] = next * w[r]; // in Wait
    __syncthreads(); // in Wait
    PROF_MARK(Wait);
    PROF_EVENT(Deep); // closes nothing
    for (int i = 0; i < 4; i++)
      sum = sum * tile[threadIdx.x ^ i] SIGN tile[i]; // in Work
    PROF_MARK(Work, sum);
    __syncthreads(); // in (unmarked)
  }
  out[blockIdx.x * 256 + threadIdx.x] = sum; // in (epilogue)
}

__global__ void ranges(const float *x, float *out) {
  PROF_KERNEL(Run);
  PROF_BEGIN(Work);
  float a = x[threadIdx.x]; // in Work
  __syncthreads(); // in Work
  PROF_BEGIN(Inner);
  float b = x[threadIdx.x + 256]; // in Inner
  __syncthreads(); // in Inner
  PROF_END(Inner);
  __syncthreads(); // in Work
  float c = x[threadIdx.x + 512]; // in Work
  PROF_END(Work);
  __syncthreads(); // in (unmarked)
  PROF_BEGIN(Again);
  a += x[threadIdx.x + 768]; // in Again
  __syncthreads(); // in Again
  PROF_END(Again);
  out[threadIdx.x] = a + b + c; // in (epilogue)
}

__device__ __noinline__ int walk(const int *next, int at) {
  for (int i = 0; at >= 0 && i < 100; i++)
    at = next[at] ^ i; // in Walk | Deep
  return at;
}

__global__ void calls(const int *next, int *out) {
  PROF_KERNEL(Run);
  int at = walk(next, threadIdx.x); // in Walk
  PROF_MARK(Walk, at);
  __syncthreads(); // in Deep
  at = walk(next, at & 255); // in Deep
  PROF_MARK(Deep, at);
  out[threadIdx.x] = at; // in (epilogue)
}
