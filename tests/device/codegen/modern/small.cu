// SPDX-License-Identifier: MIT
// Small kernels whose registers and shared memory are counted, and one with 32 accumulators that 64 registers
// just hold. ON: with marks; ROWS: and with PROF_ITER; HELD: that one alone.
#include "inkmark/mark.cuh"

PROF_SECTIONS(Small, Kernel, A, B, C)

#if ON
#if !defined(OPEN)
#define OPEN PROF_KERNEL(Kernel)
#endif
#define MARK(section) PROF_MARK(section)
#else
#define OPEN
#define MARK(section)
#endif
#if !defined(CLOSE) // PROF_CLOSE() where OPEN is PROF_OPEN(Kernel)
#define CLOSE
#endif
#if ROWS
#define ROW(i) PROF_ITER(i)
#else
#define ROW(i)
#endif

#define TWO                                                                                        \
  x = fmaf(x, y, z);                                                                               \
  MARK(A);                                                                                         \
  x = fmaf(x, y, z);                                                                               \
  MARK(B);
#define KERNELS(name, ...)                                                                         \
  extern "C" __global__ void __VA_ARGS__ name##_straight(float *out, float y, float z) {           \
    OPEN;                                                                                          \
    float x = out[threadIdx.x];                                                                    \
    TWO TWO TWO TWO out[threadIdx.x] = x;                                                          \
  }                                                                                                \
  extern "C" __global__ void __VA_ARGS__ name##_loop(float *out, float y, float z, int n) {        \
    OPEN;                                                                                          \
    float x = out[threadIdx.x];                                                                    \
    _Pragma("unroll 1") for (int i = 0; i < n; i++) {                                              \
      ROW(i);                                                                                      \
      TWO TWO TWO TWO                                                                              \
    }                                                                                              \
    out[threadIdx.x] = x;                                                                          \
  }
#if !defined(HELD)
KERNELS(free)
KERNELS(bounded, __launch_bounds__(1024))

// Where the dynamic segment begins.
extern __shared__ char dynamic[];
extern "C" __global__ void segment(unsigned *out) {
  OPEN;
  *out = (unsigned)__cvta_generic_to_shared(dynamic);
}
#endif

// Like attention: a running maximum, a sum, 32 accumulators and 16 values of a row.
extern "C" __global__ void __launch_bounds__(256, 4)
    held_to_64(const float *rows, const float *keys, const float *values, float *out, int n) {
  OPEN;
  __shared__ float some_keys[16][16], some_values[16][32];
  const int at = threadIdx.x;
  float row[16], sums[32], most = -1e30f, total = 0;
#pragma unroll
  for (int i = 0; i < 16; i++)
    row[i] = rows[(blockIdx.x * 256 + at) * 16 + i];
#pragma unroll
  for (int i = 0; i < 32; i++)
    sums[i] = 0;
  for (int k = 0; k < n; k += 16) {
    ROW(k);
    MARK(A);
    some_keys[at >> 4][at & 15] = keys[k * 16 + at];
    some_values[at >> 5][at & 31] = values[k * 32 + at];
    some_values[(at >> 5) + 8][at & 31] = values[k * 32 + 256 + at];
    __syncthreads();
    MARK(B);
#pragma unroll 1
    for (int j = 0; j < 16; j++) {
      float score = 0;
#pragma unroll
      for (int i = 0; i < 16; i++)
        score = fmaf(row[i], some_keys[j][i], score);
      const float now = fmaxf(most, score), scale = __expf(most - now), weight = __expf(score - now);
      most = now;
      total = total * scale + weight;
#pragma unroll
      for (int i = 0; i < 32; i++)
        sums[i] = fmaf(sums[i], scale, weight * some_values[j][i]);
    }
    __syncthreads();
    MARK(C);
  }
#pragma unroll
  for (int i = 0; i < 32; i++)
    out[(blockIdx.x * 256 + at) * 32 + i] = sums[i] / total;
  CLOSE;
}
