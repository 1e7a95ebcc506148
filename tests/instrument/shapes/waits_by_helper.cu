// SPDX-License-Identifier: MIT
// Both are, at the call, with names of their own; on by default where roles are.
#include <cstdint>
__device__ inline void mbar_wait(uint32_t bar, uint32_t phase) {
  asm volatile("{\n.reg .pred p;\nL:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra D;\nbra L;\nD:\n}" ::"r"(bar), "r"(phase) : "memory");
}
template <int N> __device__ inline void cp_wait() { asm volatile("cp.async.wait_group %0;" ::"n"(N)); }
struct barrier { uint32_t at; __device__ void wait(uint32_t phase) { mbar_wait(at, phase); } };
__global__ void waits(float *p, uint32_t bar, int n) {
  barrier b{bar};
  for (int i = 0; i < n; i++) {
    mbar_wait(bar, i & 1);
    b.wait(i & 1);
    cp_wait<0>();
    __syncthreads();
    asm volatile("cp.async.wait_all;");
    while (!*(volatile int *)p) {}
    p[i] += 1;
  }
}
