// SPDX-License-Identifier: MIT
// A product by wgmma with a group in flight over the marks, accumulators zeroed by assignment: the loop in the
// kernel's body, and in a method of a functor that is given the context. ROW, ISSUED and WAITED stand in
// the loop: marks, or nothing in the plain build.
#include <cstdint>

#include "inkmark/mark.cuh"

PROF_SECTIONS(Wgmma, Body, Issue, Wait)

#if !defined(ROW)
#define ROW
#endif
#if !defined(WAITED)
#define WAITED
#endif
#if defined(ISSUED)
#define OPEN PROF_KERNEL(Body)
#define PARAMS PROF_PARAMS
#define ARGS PROF_ARGS
#else
#define OPEN
#define PARAMS(...) __VA_ARGS__
#define ARGS(...) __VA_ARGS__
#define ISSUED
#endif

#define EIGHT(d, i)                                                                                              \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]),    \
      "+f"(d[i + 7])
__device__ __forceinline__ void multiply(float (&d)[32], uint64_t a, uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
               "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, "
               "%21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, 1, 1, 1, 0, 0;"
               : EIGHT(d, 0), EIGHT(d, 8), EIGHT(d, 16), EIGHT(d, 24)
               : "l"(a), "l"(b));
}
__device__ __forceinline__ void fence() { asm volatile("wgmma.fence.sync.aligned;" : : : "memory"); }
__device__ __forceinline__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory"); }
template <int Groups> __device__ __forceinline__ void wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" : : "n"(Groups) : "memory");
}

struct Mainloop {
  __device__ __forceinline__ void run(PARAMS(float (&d)[32], uint64_t a, uint64_t b, int n)) {
#pragma unroll 1
    for (int i = 0; i < n; i++) {
      ROW;
      fence();
      multiply(d, a, b);
      multiply(d, a + 2, b + 2);
      commit();
      ISSUED;
      wait<1>();
      WAITED;
      a += 8;
      b += 8;
    }
    wait<0>();
  }
};

extern "C" __global__ void __launch_bounds__(128) in_method(float *out, uint64_t a, uint64_t b, int n) {
  OPEN;
  float d[32] = {};
  Mainloop().run(ARGS(d, a, b, n));
  for (int i = 0; i < 32; i++)
    out[threadIdx.x + i * 128] = d[i];
}

extern "C" __global__ void __launch_bounds__(128) in_body(float *out, uint64_t a, uint64_t b, int n) {
  OPEN;
  float d[32] = {};
  fence();
  for (int i = 0; i < n; i++) {
    ROW;
    multiply(d, a, b);
    multiply(d, a + 2, b + 2);
    commit();
    ISSUED;
    wait<1>();
    WAITED;
    a += 8;
    b += 8;
  }
  wait<0>();
  for (int i = 0; i < 32; i++)
    out[threadIdx.x + i * 128] = d[i];
}
