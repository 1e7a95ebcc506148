// SPDX-License-Identifier: MIT
// Kernels with SECTIONS sections of one multiply-add each, timed by the macros that FORM chooses, for
// bench/peers.py to count. Headers of other projects come from the reader's own clones, by -I.
#include <stdint.h>

#define FORM_BARE 0
#define FORM_MARK 1
#define FORM_RANGE 2
#define FORM_NAIVE 3
#define FORM_SHARED 4
#define FORM_PACKED 5
#define FORM_FLASHINFER 6
#define FORM_IKP 7
#define FORM_WARPSCOPE 8
#define FORM_TVM 9
#define FORM_STRICT 10
#define FORM_LOADED 11
#define FORM_ROWS 12
#define FORM_ROWS_RANGE 13

#if FORM == FORM_MARK || FORM == FORM_RANGE || FORM == FORM_STRICT || FORM == FORM_LOADED
#include "inkmark/mark.cuh"
PROF_SECTIONS(Peers, Kernel, Load)
#define PARAMETERS
#define OPEN PROF_KERNEL(Kernel)
#define CLOSE
#if FORM == FORM_MARK // the section is the time since the last mark
#define BEGIN
#define END(held) PROF_MARK(Load)
#elif FORM == FORM_RANGE
#define BEGIN PROF_BEGIN(Load)
#define END(held) PROF_END(Load)
#elif FORM == FORM_STRICT
#define BEGIN
#define END(held) PROF_MARK_STRICT(Load, held)
#else
#define BEGIN
#define END(held) PROF_MARK_LOADED(Load, held)
#endif

#elif FORM == FORM_ROWS || FORM == FORM_ROWS_RANGE
#include "inkmark/mark.cuh"
PROF_SECTIONS(Peers, Load, Kernel)
#define PARAMETERS
#define OPEN PROF_KERNEL_ROWS(Kernel)
#define CLOSE
#if FORM == FORM_ROWS
#define BEGIN
#define END(held) PROF_MARK(Load)
#else
#define BEGIN PROF_BEGIN(Load)
#define END(held) PROF_END(Load)
#endif

#elif FORM == FORM_NAIVE // a bounds-tested pointer, two records a section
#define PARAMETERS , unsigned long long *records
#define OPEN                                                                                       \
  unsigned long long *p = records + blockIdx.x * 4096ull, *end = threadIdx.x == 0 ? p + 4096 : p
#define RECORD(tag)                                                                                \
  do {                                                                                             \
    if (p < end)                                                                                   \
      *p++ = (tag) << 48 | ((unsigned long long)clock64() & 0xffffffffffff);                       \
  } while (0)
#define BEGIN RECORD(1ull)
#define END(held) RECORD(2ull)
#define CLOSE

#elif FORM == FORM_SHARED // one mark a section into a masked ring in shared memory, copied out at the end
#define PARAMETERS , unsigned long long *records
#define OPEN                                                                                       \
  __shared__ unsigned long long ring[512];                                                         \
  const unsigned base = (unsigned)__cvta_generic_to_shared(ring);                                  \
  unsigned offset = 0;                                                                             \
  const unsigned on = threadIdx.x == 0
#define BEGIN
#define END(held)                                                                                     \
  do {                                                                                             \
    asm volatile("{ .reg .pred on; .reg .u32 at; .reg .u64 now;\n\t"                               \
                 "setp.ne.u32 on, %2, 0; mov.u64 now, %%clock64;\n\t"                              \
                 "xor.b64 now, now, 0x2000000000000; and.b32 at, %0, 0xff8; add.u32 at, at, %1;\n\t" \
                 "@on st.shared.u64 [at], now; }"                                                  \
                 :: "r"(offset), "r"(base), "r"(on) : "memory");                                   \
    offset += 8;                                                                                   \
  } while (0)
#define CLOSE                                                                                      \
  __syncthreads();                                                                                 \
  for (unsigned i = threadIdx.x; i < 512; i += blockDim.x)                                         \
    records[blockIdx.x * 512 + i] = ring[i];                                                       \
  if (on)                                                                                          \
  records[gridDim.x * 512 + blockIdx.x] = offset

#elif FORM == FORM_PACKED // begin and end in one record: 32 bits of the begin, 32 of the duration with the tag
#define PARAMETERS , unsigned long long *records
#define OPEN                                                                                       \
  const unsigned long long ring = (unsigned long long)(records + blockIdx.x * 4096ull);            \
  unsigned low = (unsigned)ring, offset = 0, begun;                                                \
  const unsigned high = (unsigned)(ring >> 32), mask = 4096 * 8 - 8, on = threadIdx.x == 0
#define BEGIN asm volatile("mov.u32 %0, %%clock;" : "=r"(begun) : : "memory")
#define END(held)                                                                                     \
  do {                                                                                             \
    asm volatile("{ .reg .pred on; .reg .u32 now; .reg .u64 at;\n\t"                               \
                 "setp.ne.u32 on, %4, 0; mov.u32 now, %%clock; sub.u32 now, now, %5;\n\t"          \
                 "xor.b32 now, now, 0x2000000; lop3.b32 %0, %1, %2, %0, 0xE2; mov.b64 at, {%0, %3};\n\t" \
                 "@on st.global.v2.u32 [at], {%5, now}; }"                                         \
                 : "+r"(low) : "r"(offset), "r"(mask), "r"(high), "r"(on), "r"(begun) : "memory"); \
    offset += 8;                                                                                   \
  } while (0)
#define CLOSE                                                                                      \
  if (on)                                                                                          \
  records[gridDim.x * 4096ull + blockIdx.x] = offset

#elif FORM == FORM_FLASHINFER
#define FLASHINFER_ENABLE_PROFILER
#include <flashinfer/profiler.cuh>
using namespace flashinfer;
struct closure_t {
  PROFILER_CLOSURE_PARAMS_DECL
};
struct params_t {
  PROFILER_PARAMS_DECL
};
#define PARAMETERS , params_t params
#define OPEN                                                                                       \
  closure_t closure;                                                                               \
  PROFILER_INIT(params, 0, closure, 0, 1, threadIdx.x == 0)
#define BEGIN PROFILER_EVENT_START(closure, 1)
#define END(held) PROFILER_EVENT_END(closure, 1)
#define CLOSE

#elif FORM == FORM_IKP
#include <intra_kernel_profiler/trace/macros.cuh>
#define PARAMETERS , intra_kernel_profiler::trace::GlobalBuffer buffer
#define OPEN                                                                                       \
  IKP_TRACE_CTX_TYPE(4096, 8) context;                                                             \
  IKP_TRACE_CTX_INIT(context)
#define BEGIN IKP_TRACE_REC_B(context, buffer, 1)
#define END(held) IKP_TRACE_REC_E(context, buffer, 1)
#define CLOSE IKP_TRACE_CTX_FLUSH(context, buffer)

#elif FORM == FORM_WARPSCOPE
#include <warpscope.cuh>
#define PARAMETERS , uint64_t *records
#define OPEN                                                                                       \
  ws::Profiler<true> profiler;                                                                     \
  profiler.init(records, gridDim.x, 0, 1, gridDim.x, threadIdx.x == 0, 4096)
#define BEGIN profiler.start(ws::Ev{1})
#define END(held) profiler.end(ws::Ev{1})
#define CLOSE profiler.finalize()

#elif FORM == FORM_TVM // peers.py makes this header from the reader's clone
#include "tvm_timers.h"
#define PARAMETERS , uint64_t *records
#define OPEN                                                                                       \
  uint64_t tag[1];                                                                                 \
  uint32_t at[1];                                                                                  \
  timer_init_cuda(records, tag, at, 1, 0)
#define BEGIN timer_start_cuda(1, records, tag, at, gridDim.x, threadIdx.x == 0)
#define END(held) timer_end_cuda(1, records, tag, at, gridDim.x, threadIdx.x == 0)
#define CLOSE timer_finalize_cuda(records, tag, at, gridDim.x, threadIdx.x == 0)

#else
#define PARAMETERS
#define OPEN
#define BEGIN
#define END(held)
#define CLOSE
#endif

#define ONE                                                                                        \
  BEGIN;                                                                                           \
  sum = fmaf(sum, x, y);                                                                           \
  END(sum);
#define EIGHT ONE ONE ONE ONE ONE ONE ONE ONE
#if SECTIONS == 8
#define ALL EIGHT
#elif SECTIONS == 24
#define ALL EIGHT EIGHT EIGHT
#elif SECTIONS == 40
#define ALL EIGHT EIGHT EIGHT EIGHT EIGHT
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

constexpr int edge = 16;
extern "C" __global__ void __launch_bounds__(edge *edge)
    tiled(const float *a, const float *b, float *c, int n PARAMETERS) {
  OPEN;
  __shared__ float from_a[edge][edge], from_b[edge][edge];
  const int column = threadIdx.x % edge, row = threadIdx.x / edge;
  float sums[4] = {};
  for (int k = 0; k < n; k += edge) {
    BEGIN;
    from_a[row][column] = a[row * n + k + column];
    from_b[row][column] = b[(k + row) * n + column];
    __syncthreads();
    END(k);
    BEGIN;
#pragma unroll
    for (int j = 0; j < edge; j++)
      for (int s = 0; s < 4; s++)
        sums[s] += from_a[row][j] * from_b[j][(column + 4 * s) % edge];
    __syncthreads();
    END(sums[0]);
  }
  for (int s = 0; s < 4; s++)
    c[row * n + column + edge * s] = sums[s];
  CLOSE;
}
