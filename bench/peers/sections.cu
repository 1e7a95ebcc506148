// SPDX-License-Identifier: MIT
// Kernels with SECTIONS sections of one multiply-add each, timed by one event or by a begin and an end (EVENTS) of the form
// that forms.h gives: in straight line, in a loop, in a loop with the form's ROW at its head, in an inlined function, in one
// that is not inlined; and a kernel that 64 registers just hold. count_sections.py compiles and counts them.
#include "forms.h"

#if !defined(EVENT)
#define NO_EVENT
#define EVENT(held)
#endif
#if !defined(END)
#define NO_PAIR
#define BEGIN
#define END(held)
#endif
#if (EVENTS == 1 && defined(NO_EVENT)) || (EVENTS == 2 && defined(NO_PAIR))
#error "this form has no section of so many events"
#endif

#if EVENTS == 1
#define FROM
#define TO(held) EVENT(held)
#else
#define FROM BEGIN
#define TO(held) END(held)
#endif

#define ONE                                                                                        \
  {                                                                                                \
    FROM;                                                                                          \
    sum = fmaf(sum, x, y);                                                                         \
    TO(sum);                                                                                       \
  }
#define EIGHT ONE ONE ONE ONE ONE ONE ONE ONE
#if SECTIONS == 8
#define ALL EIGHT
#define TIMES(one) one one one one one one one one
#elif SECTIONS == 40
#define ALL EIGHT EIGHT EIGHT EIGHT EIGHT
#define TIMES(one) one one one one one one one one one one one one one one one one one one one one \
                   one one one one one one one one one one one one one one one one one one one one
#endif

extern "C" __global__ void straight(float *out, float x, float y PARAMETERS) {
  OPEN;
  float sum = out[threadIdx.x];
  ALL
  out[threadIdx.x] = sum;
  CLOSE;
}

extern "C" __global__ void rolled(float *out, float x, float y, int n PARAMETERS) {
  OPEN;
  float sum = out[threadIdx.x];
#pragma unroll 1
  for (int i = 0; i < n; i++) {
    ALL
  }
  out[threadIdx.x] = sum;
  CLOSE;
}

#if defined(ROW)
extern "C" __global__ void rows(float *out, float x, float y, int n PARAMETERS) {
  OPEN;
  float sum = out[threadIdx.x];
#pragma unroll 1
  for (int i = 0; i < n; i++) {
    ROW(i);
    ALL
  }
  out[threadIdx.x] = sum;
  CLOSE;
}
#endif

#if defined(TAKES)
static __device__ __forceinline__ void once(TAKES(float &sum, float x, float y)) {
  ONE
}

extern "C" __global__ void inlined(float *out, float x, float y, int n PARAMETERS) {
  OPEN;
  float sum = out[threadIdx.x];
#pragma unroll 1
  for (int i = 0; i < n; i++) {
    TIMES(once(GIVES(sum, x, y));)
  }
  out[threadIdx.x] = sum;
  CLOSE;
}

static __device__ __noinline__ float all(TAKES(float sum, float x, float y)) {
  ALL
  return sum;
}

extern "C" __global__ void called(float *out, float x, float y PARAMETERS) {
  OPEN;
  out[threadIdx.x] = all(GIVES(out[threadIdx.x], x, y));
  CLOSE;
}
#endif

// Like attention: a running maximum, a sum, 32 accumulators and 16 values of a row; three sections a pass.
extern "C" __global__ void __launch_bounds__(256, 4)
    attention(const float *rows_of_q, const float *keys, const float *values, float *out, int n PARAMETERS) {
  OPEN;
  __shared__ float some_keys[16][16], some_values[16][32];
  const int at_row = threadIdx.x;
  float row[16], sums[32], most = -1e30f, total = 0;
#pragma unroll
  for (int i = 0; i < 16; i++)
    row[i] = rows_of_q[(blockIdx.x * 256 + at_row) * 16 + i];
#pragma unroll
  for (int i = 0; i < 32; i++)
    sums[i] = 0;
  for (int k = 0; k < n; k += 16) {
    {
      FROM;
      some_keys[at_row >> 4][at_row & 15] = keys[k * 16 + at_row];
      some_values[at_row >> 5][at_row & 31] = values[k * 32 + at_row];
      some_values[(at_row >> 5) + 8][at_row & 31] = values[k * 32 + 256 + at_row];
      TO(k);
    }
    {
      FROM;
      __syncthreads();
      TO(k);
    }
    {
      FROM;
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
      TO(sums[0]);
    }
  }
#pragma unroll
  for (int i = 0; i < 32; i++)
    out[(blockIdx.x * 256 + at_row) * 32 + i] = sums[i] / total;
  CLOSE;
}
