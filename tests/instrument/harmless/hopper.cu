// SPDX-License-Identifier: MIT
// wgmma whose accumulators are in flight over a mark, and warps that gave their registers away.
#include <cstdint>
__device__ __forceinline__ void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> __device__ __forceinline__ void wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}
__device__ __forceinline__ void mma(float (&d)[8], uint64_t a, uint64_t b) {
  asm volatile("{wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {%0,%1,%2,%3,%4,%5,%6,%7}, %8, %9, 1, 1, 1, 0, 0;}"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
               : "l"(a), "l"(b));
}
__global__ void __launch_bounds__(128) wgmma_store(float *out, uint64_t da, uint64_t db, int n) {
  float d[8] = {};
  fence();
  for (int i = 0; i < n; i++) {
    mma(d, da, db);
    mma(d, da + 2, db + 2);
    commit();
    wait<1>();
    da += 8; db += 8;
  }
  wait<0>();
  for (int i = 0; i < 8; i++) out[threadIdx.x + i * 128] = d[i];
}
template <int N> __device__ __forceinline__ void dealloc() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N)); }
__device__ void step(float *p, int n) { for (int i = 0; i < n; i++) p[i] = p[i] * 2 + 1; }
__global__ void __launch_bounds__(384, 1) special(float *p, int n) {
  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    for (int i = 0; i < n; i++) step(p + i, n); // left
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    for (int i = 0; i < n; i++) step(p + 2 * i, n);
  }
}
__global__ void __launch_bounds__(384, 1) with_forty(float *p, int n) {
  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    for (int i = 0; i < n; i++) p[i] = p[i] * 2 + 1;
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  }
}
