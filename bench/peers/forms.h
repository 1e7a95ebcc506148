// SPDX-License-Identifier: MIT
// What a section is timed with: FORM chooses one of inkmark's macros, of the bench's own, or of another project, whose
// header comes from the reader's own copy by -I. A form of the reader's comes as FORM_HEADER; peers.md says what it defines.
#include <stdint.h>

#define FORM_BARE 0
#define FORM_INKMARK 1
#define FORM_STRICT 2
#define FORM_LOADED 3
#define FORM_NO_CONTEXT 4
#define FORM_ROWS 5
#define FORM_NAIVE 6
#define FORM_SHARED 7
#define FORM_PACKED 8
#define FORM_FLASHINFER 9
#define FORM_IKP 10
#define FORM_WARPSCOPE 11
#define FORM_TVM 12

#if defined(FORM_HEADER)
#include FORM_HEADER

#elif FORM >= FORM_INKMARK && FORM <= FORM_ROWS
#include "inkmark/mark.cuh"
#define PARAMETERS
#define ROW(i) PROF_ITER(i)
#if FORM == FORM_ROWS
PROF_SECTIONS(Peers, Load, Kernel) // Load in front of the kernel's own: it may be a range
#define TAKES(...) PROF_PARAMS_ROWS(Kernel, __VA_ARGS__)
#define OPEN PROF_OPEN_ROWS(Kernel)
#else
PROF_SECTIONS(Peers, Kernel, Load)
#define OPEN PROF_OPEN(Kernel)
#if FORM == FORM_NO_CONTEXT
#define TAKES(...) __VA_ARGS__
#define GIVES(...) __VA_ARGS__
#else
#define TAKES(...) PROF_PARAMS(__VA_ARGS__)
#endif
#endif
#if !defined(GIVES)
#define GIVES(...) PROF_ARGS(__VA_ARGS__)
#endif
#define CLOSE PROF_CLOSE()
#if FORM == FORM_STRICT
#define EVENT(held) PROF_MARK_STRICT(Load, held)
#elif FORM == FORM_LOADED
#define EVENT(held) PROF_MARK_LOADED(Load, held)
#else
#define EVENT(held) PROF_MARK(Load)
#define BEGIN PROF_BEGIN(Load)
#define END(held) PROF_END(Load)
#endif

#elif FORM == FORM_NAIVE // a bounds-tested pointer
#define PARAMETERS , unsigned long long *records
#define OPEN                                                                                       \
  unsigned long long *p = records + blockIdx.x * 4096ull, *end = threadIdx.x == 0 ? p + 4096 : p
#define TAKES(...) __VA_ARGS__, unsigned long long *&p, unsigned long long *end
#define GIVES(...) __VA_ARGS__, p, end
#define RECORD(tag)                                                                                \
  do {                                                                                             \
    if (p < end)                                                                                   \
      *p++ = (tag) << 48 | ((unsigned long long)clock64() & 0xffffffffffff);                       \
  } while (0)
#define BEGIN RECORD(1ull)
#define END(held) RECORD(2ull)
#define EVENT(held) RECORD(2ull)
#define CLOSE

#elif FORM == FORM_SHARED // one mark a section into a masked ring in shared memory, copied out at the end
#define PARAMETERS , unsigned long long *records
#define OPEN                                                                                       \
  __shared__ unsigned long long ring[512];                                                         \
  const unsigned base = (unsigned)__cvta_generic_to_shared(ring);                                  \
  unsigned offset = 0;                                                                             \
  const unsigned on = threadIdx.x == 0
#define TAKES(...) __VA_ARGS__, unsigned &offset, unsigned base, unsigned on
#define GIVES(...) __VA_ARGS__, offset, base, on
#define EVENT(held)                                                                                   \
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
  unsigned low = (unsigned)ring, offset = 0;                                                       \
  const unsigned high = (unsigned)(ring >> 32), mask = 4096 * 8 - 8, on = threadIdx.x == 0
#define TAKES(...) __VA_ARGS__, unsigned &low, unsigned &offset, unsigned high, unsigned mask, unsigned on
#define GIVES(...) __VA_ARGS__, low, offset, high, mask, on
#define BEGIN                                                                                      \
  unsigned begun;                                                                                  \
  asm volatile("mov.u32 %0, %%clock;" : "=r"(begun) : : "memory")
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
#define TAKES(...) __VA_ARGS__, closure_t &closure
#define GIVES(...) __VA_ARGS__, closure
#define BEGIN PROFILER_EVENT_START(closure, 1)
#define END(held) PROFILER_EVENT_END(closure, 1)
#define EVENT(held) PROFILER_EVENT_END(closure, 1) // its INSTANT does not move the pointer on
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
#define TAKES(...) __VA_ARGS__, ws::Profiler<true> &profiler
#define GIVES(...) __VA_ARGS__, profiler
#define BEGIN profiler.start(ws::Ev{1})
#define END(held) profiler.end(ws::Ev{1})
#define EVENT(held) profiler.inst(ws::Ev{1})
#define CLOSE profiler.finalize()

#elif FORM == FORM_TVM // count_sections.py makes this header from the reader's copy
#include "tvm_timers.h"
#define PARAMETERS , uint64_t *records
#define OPEN                                                                                       \
  uint64_t tag[1];                                                                                 \
  uint32_t at[1];                                                                                  \
  timer_init_cuda(records, tag, at, 1, 0)
#define TAKES(...) __VA_ARGS__, uint64_t *records, uint64_t(&tag)[1], uint32_t(&at)[1]
#define GIVES(...) __VA_ARGS__, records, tag, at
#define BEGIN timer_start_cuda(1, records, tag, at, gridDim.x, threadIdx.x == 0)
#define END(held) timer_end_cuda(1, records, tag, at, gridDim.x, threadIdx.x == 0)
#define EVENT(held) END(held)
#define CLOSE timer_finalize_cuda(records, tag, at, gridDim.x, threadIdx.x == 0)

#else
#define PARAMETERS
#define OPEN
#define TAKES(...) __VA_ARGS__
#define GIVES(...) __VA_ARGS__
#define BEGIN
#define END(held)
#define EVENT(held)
#define CLOSE
#endif
