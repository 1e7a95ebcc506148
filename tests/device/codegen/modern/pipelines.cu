// SPDX-License-Identifier: MIT
// Kernels of Hopper and Blackwell in which one thing differs from the next: how accumulators of wgmma are begun and
// fenced while a function's marks stand over a group in flight, what is marked in the loop that stores them, a method
// of a functor behind an mbarrier, tcgen05, a cluster, a tiled product. ON: with marks, as docs/modern-kernels.md says.
#include <cstdint>

#include "inkmark/mark.cuh"

PROF_SECTIONS(Pipelines, Body, Full, Issue, Wait, Load, Store)

#if !ON
#undef PROF_KERNEL
#undef PROF_OPEN
#undef PROF_CLOSE
#undef PROF_PARAMS
#undef PROF_ARGS
#undef PROF_MARK
#undef PROF_ITER
#define PROF_KERNEL(...)
#define PROF_OPEN(...)
#define PROF_CLOSE()
#define PROF_PARAMS(...) __VA_ARGS__
#define PROF_ARGS(...) __VA_ARGS__
#define PROF_MARK(...)
#define PROF_ITER(...)
#endif

__device__ __forceinline__ uint32_t shared_at(const void *at) { return (uint32_t)__cvta_generic_to_shared(at); }
__device__ __forceinline__ void wait_for(uint32_t barrier, int phase) {
  asm volatile("{.reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1; @done bra.uni there;\n\t"
               "bra.uni again; there:}"
               :
               : "r"(barrier), "r"(phase)
               : "memory");
}

#define FOUR(form, r, i) form(r[i]), form(r[i + 1]), form(r[i + 2]), form(r[i + 3])
#define ALL(form, r)                                                                                                 \
  FOUR(form, r, 0), FOUR(form, r, 4), FOUR(form, r, 8), FOUR(form, r, 12), FOUR(form, r, 16), FOUR(form, r, 20),        \
      FOUR(form, r, 24), FOUR(form, r, 28)
#define LIST                                                                                                         \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, " \
  "%25, %26, %27, %28, %29, %30, %31}"

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
__device__ __forceinline__ void multiply(float (&d)[32], uint64_t a, uint64_t b, int keep = 1) {
  asm volatile("{.reg .pred p; setp.ne.b32 p, %34, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 " LIST
               ", %32, %33, p, 1, 1, 0, 0;}"
               : ALL("+f", d)
               : "l"(a), "l"(b), "r"(keep));
}
__device__ __forceinline__ void fence() { asm volatile("wgmma.fence.sync.aligned;" : : : "memory"); }
__device__ __forceinline__ void fence(float (&d)[32]) {
#pragma unroll
  for (int i = 0; i < 32; i++)
    asm volatile("" : "+f"(d[i]) : : "memory");
  fence();
}
__device__ __forceinline__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory"); }
template <int Groups> __device__ __forceinline__ void wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" : : "n"(Groups) : "memory");
}
template <int Groups> __device__ __forceinline__ void wait_marked(PROF_PARAMS()) {
  PROF_MARK(Issue);
  wait<Groups>();
  PROF_MARK(Wait);
}

enum { Zeroed = 1, Scaled = 2, Peeled = 4, Fenced = 8 };
template <int How> __device__ __forceinline__ void product(float *out, uint64_t a, uint64_t b, int n) {
  PROF_OPEN(Body);
  float d[32];
  if (How & Zeroed)
    for (int i = 0; i < 32; i++)
      d[i] = 0;
  fence();
  if (How & Peeled) {
    multiply(d, a, b, 0);
    commit();
    a += 8;
  }
#pragma unroll 1
  for (int i = How & Peeled ? 1 : 0; i < n; i++) {
    if (How & Fenced)
      fence(d);
    multiply(d, a, b, How & Scaled ? i > 0 : 1);
    multiply(d, a + 2, b + 2);
    multiply(d, a + 4, b + 4);
    commit();
    wait_marked<1>(PROF_ARGS());
    if (How & Fenced)
      fence(d);
    a += 8;
    b += 8;
  }
  wait<0>();
  for (int i = 0; i < 32; i++)
    out[threadIdx.x + i * 128] = d[i];
  PROF_CLOSE();
}
#define PRODUCT(name, how)                                                                                           \
  extern "C" __global__ void __launch_bounds__(128) name(float *out, uint64_t a, uint64_t b, int n) {                  \
    product<how>(out, a, b, n);                                                                                        \
  }
PRODUCT(zeroed, Zeroed)
PRODUCT(zeroed_fenced, Zeroed | Fenced)
PRODUCT(first_scale_zero, Scaled)
PRODUCT(peeled, Peeled)
PRODUCT(peeled_fenced, Peeled | Fenced)

// What the loop that stores the accumulators has. It is unrolled by hand: a mark in it may keep nvcc from that.
template <bool Rows> __device__ __forceinline__ void stores(float *out, uint64_t a, uint64_t b, int n) {
  PROF_OPEN(Body);
  float d[32] = {};
  fence();
#pragma unroll 1
  for (int i = 0; i < n; i++) {
    multiply(d, a, b);
    multiply(d, a + 2, b + 2);
    commit();
    wait<1>();
    a += 8;
  }
  wait<0>();
  if (Rows) {
#pragma unroll
    for (int i = 0; i < 32; i++) {
      PROF_ITER(i);
      out[threadIdx.x + i * 128] = d[i];
    }
  } else {
#pragma unroll
    for (int i = 0; i < 32; i++) {
      PROF_MARK(Store);
      out[threadIdx.x + i * 128] = d[i];
    }
  }
  PROF_CLOSE();
}
extern "C" __global__ void __launch_bounds__(128) stores_rows(float *out, uint64_t a, uint64_t b, int n) {
  stores<true>(out, a, b, n);
}
extern "C" __global__ void __launch_bounds__(128) stores_marks(float *out, uint64_t a, uint64_t b, int n) {
  stores<false>(out, a, b, n);
}

struct Mainloop {
  __device__ __forceinline__ void run(PROF_PARAMS(float (&d)[32], uint64_t a, uint64_t b, int n)) {
#pragma unroll 1
    for (int i = 0; i < n; i++) {
      wait_for(64 * (i & 3), (i >> 2) & 1);
      PROF_MARK(Full);
      fence();
      multiply(d, a, b);
      multiply(d, a + 2, b + 2);
      multiply(d, a + 4, b + 4);
      commit();
      PROF_MARK(Issue);
      wait<1>();
      PROF_MARK(Wait);
      a += 8;
      b += 8;
    }
    wait<0>();
  }
};
struct Gemm {
  float *out;
  uint64_t a, b;
  int n;
  __device__ void operator()() {
    PROF_OPEN(Body);
    float d[32] = {};
    Mainloop().run(PROF_ARGS(d, a, b, n));
    for (int i = 0; i < 32; i++)
      out[threadIdx.x + i * 128] = d[i];
    PROF_CLOSE();
  }
};
extern "C" __global__ void __launch_bounds__(128) functor(const __grid_constant__ Gemm gemm) {
  Gemm own = gemm;
  own();
}
#endif

#if defined(__CUDA_ARCH_FEAT_SM100_ALL)
__device__ __forceinline__ bool elect() {
  uint32_t is = 0;
  asm volatile("{.reg .pred x; elect.sync _|x, 0xffffffff; @x mov.s32 %0, 1;}" : "+r"(is));
  return is;
}
extern "C" __global__ void __launch_bounds__(128) tensor_memory(float *out, uint64_t a, uint64_t b, int n) {
  __shared__ uint64_t barrier;
  __shared__ uint32_t at;
  PROF_KERNEL(Body);
  const int warp = threadIdx.x / 32;
  if (warp == 0)
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 64;" : : "r"(shared_at(&at)));
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" : : "r"(shared_at(&barrier)));
  __syncthreads();
  const uint32_t d = at;
  for (int i = 0; i < n; i++) {
    if (warp == 1 && elect()) {
#pragma unroll
      for (int k = 0; k < 4; k++)
        asm volatile("{.reg .pred p; setp.ne.b32 p, %3, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, 0x8100490, p;}"
                     :
                     : "r"(d), "l"(a + 2 * k), "l"(b + 2 * k), "r"(i | k));
      asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];"
                   :
                   : "r"(shared_at(&barrier))
                   : "memory");
      PROF_MARK(Issue);
    }
    wait_for(shared_at(&barrier), i & 1);
    PROF_MARK(Wait);
  }
  asm volatile("tcgen05.fence::after_thread_sync;" : : : "memory");
  float r[32];
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x32.b32 " LIST ", [%32];" : ALL("=f", r) : "r"(d + (warp << 21)));
  PROF_MARK(Load);
  asm volatile("tcgen05.wait::ld.sync.aligned;" : : : "memory");
#pragma unroll
  for (int k = 0; k < 32; k++)
    out[k * 128 + threadIdx.x] = r[k] * 2;
  PROF_MARK(Store);
  __syncthreads();
  if (warp == 0)
    asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 64;" : : "r"(d));
}
#endif

extern "C" __global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(256) cluster(float *out, int n) {
  PROF_KERNEL(Body);
  __shared__ float mine[256];
  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  float sum = 0;
  for (int i = 0; i < n; i++) {
    mine[threadIdx.x] = sum + threadIdx.x;
    PROF_MARK(Store);
    asm volatile("barrier.cluster.arrive.release.aligned;" : : : "memory");
    PROF_MARK(Issue);
    asm volatile("barrier.cluster.wait.acquire.aligned;" : : : "memory");
    PROF_MARK(Wait);
    uint32_t theirs;
    float value;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(theirs) : "r"(shared_at(&mine[255 - threadIdx.x])), "r"((rank + 1) & 3));
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(theirs) : "memory");
    sum += value;
    PROF_MARK(Load, sum);
    asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" : : : "memory");
  }
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}

extern "C" __global__ void __launch_bounds__(256) tiles(const float *a, const float *b, float *c, int n) {
  PROF_KERNEL(Body);
  __shared__ float as[16][16], bs[16][16];
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < n; t += 16) {
    as[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + column];
    __syncthreads();
    PROF_MARK(Load);
#pragma unroll
    for (int k = 0; k < 16; k++)
      sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
    __syncthreads();
    PROF_MARK(Wait, sum);
  }
  c[row * n + column] = sum;
}

// A loop that indexes registers and that nvcc unrolls by itself, here by hand.
extern "C" __global__ void unrolled_rows(float *x, int n) {
  PROF_KERNEL(Body);
  float d[32] = {};
  for (int j = 0; j < n; j++)
#pragma unroll
    for (int i = 0; i < 32; i++)
      d[i] = d[i] * 1.5f + x[j * 32 + i];
#pragma unroll
  for (int i = 0; i < 32; i++) {
    PROF_ITER(i);
    x[threadIdx.x + i * 128] = d[i];
  }
}
