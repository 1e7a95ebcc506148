// SPDX-License-Identifier: MIT
// Kernels whose machine code is counted, with MARKS marks each. FORM: 0 no marks, 1 inkmark, 2 a naive
// pointer that is bounds-tested (for bench/device), 3 the same with a 32-bit index.
#if FORM == 1
#include "inkmark/mark.cuh"
PROF_SECTIONS(Cost, Kernel, Load, Multiply, Store)
#define OPEN PROF_KERNEL(Kernel)
#define MARK(section) PROF_MARK(section)
#elif FORM == 2
enum { Load = 1, Multiply, Store };
__device__ unsigned long long *records;
#define OPEN                                                                                       \
  unsigned long long *p = records + blockIdx.x * 4096ull, *end = threadIdx.x == 0 ? p + 4096 : p
#define MARK(section)                                                                              \
  do {                                                                                             \
    if (p < end)                                                                                   \
      *p++ = (unsigned long long)(section) << 48 | ((unsigned long long)clock64() & 0xffffffffffff); \
  } while (0)
#elif FORM == 3
enum { Load = 1, Multiply, Store };
__device__ unsigned long long *records;
#define OPEN                                                                                       \
  unsigned long long *const ring = records + blockIdx.x * 4096ull;                                 \
  unsigned at = threadIdx.x == 0 ? 0 : 4096
#define MARK(section)                                                                              \
  do {                                                                                             \
    if (at < 4096)                                                                                 \
      ring[at++] = (unsigned long long)(section) << 48 |                                           \
                   ((unsigned long long)clock64() & 0xffffffffffff);                               \
  } while (0)
#else
#define OPEN
#define MARK(section)
#endif

#define ONE                                                                                        \
  sum = fmaf(sum, x, y);                                                                           \
  MARK(Load);
#define EIGHT ONE ONE ONE ONE ONE ONE ONE ONE
#if MARKS == 0
#define ALL
#elif MARKS == 8
#define ALL EIGHT
#elif MARKS == 24
#define ALL EIGHT EIGHT EIGHT
#elif MARKS == 56
#define ALL EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT
#endif

extern "C" __global__ void straight(float *out, float x, float y) {
  OPEN;
  float sum = out[threadIdx.x];
  ALL
  out[threadIdx.x] = sum;
}

extern "C" __global__ void rolled(float *out, float x, float y, int n) {
  OPEN;
  float sum = out[threadIdx.x];
#pragma unroll 1
  for (int i = 0; i < n; i++) {
    ALL
  }
  out[threadIdx.x] = sum;
}

#if FORM < 2
__device__ __forceinline__ float body(float sum, float x, float y) {
  ALL
  return sum;
}
extern "C" __global__ void in_called(float *out, float x, float y) {
  OPEN;
  out[threadIdx.x] = body(out[threadIdx.x], x, y);
}
#endif

// A tiled product. `tight` is held to the 32 registers a thread with which an SM holds the most of it.
constexpr int edge = 16;
#define PRODUCT(name, ...)                                                                         \
  extern "C" __global__ void __launch_bounds__(__VA_ARGS__)                                        \
      name(const float *a, const float *b, float *c, int n) {                                      \
    OPEN;                                                                                          \
    __shared__ float from_a[edge][edge], from_b[edge][edge];                                       \
    const int column = threadIdx.x % edge, row = threadIdx.x / edge;                               \
    float sums[4] = {};                                                                            \
    for (int k = 0; k < n; k += edge) {                                                            \
      from_a[row][column] = a[row * n + k + column];                                               \
      from_b[row][column] = b[(k + row) * n + column];                                             \
      __syncthreads();                                                                             \
      MARK(Load);                                                                                  \
      _Pragma("unroll") for (int j = 0; j < edge; j++)                                             \
        for (int s = 0; s < 4; s++)                                                                \
          sums[s] += from_a[row][j] * from_b[j][(column + 4 * s) % edge];                          \
      __syncthreads();                                                                             \
      MARK(Multiply);                                                                              \
    }                                                                                              \
    for (int s = 0; s < 4; s++)                                                                    \
      c[row * n + column + edge * s] = sums[s];                                                    \
    MARK(Store);                                                                                   \
  }
PRODUCT(tiled, edge *edge)
PRODUCT(tight, edge *edge, 8)
