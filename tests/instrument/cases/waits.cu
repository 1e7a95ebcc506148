// SPDX-License-Identifier: MIT
// Barriers and waits, remarks, and comment directives.
#include <cooperative_groups.h>
namespace waits {
namespace cg = cooperative_groups;
__device__ int flag;
__device__ int relax(int v) { for (int i = 0; i < 3; i++) v = v * 3 + 1; return v; }
__global__ void barriers(int *x) {
  __shared__ int tile[64];
  int t = threadIdx.x;
  tile[t] = x[t];
  __syncthreads();
  for (int i = 0; i < 3; i++) {
    x[t] += tile[(t + i) & 63];
    if (__syncthreads_count(t > i) > 32) x[t]++;
    __syncwarp();
    for (int j = 0; j < 2; j++) { x[t] += j; __syncthreads(); }
  }
  cg::thread_block block = cg::this_thread_block();
  block.sync();
  cg::sync(block);
  asm volatile("bar.sync 0;" ::: "memory");
  if (t == 0) { __threadfence(); x[t] = relax(x[t]); }
}
__global__ void spinning(int *x) {
  volatile int *f = &flag;
  long long start = clock64();
  while (*f != 0 && clock64() - start < 100)
    ;
  while (atomicCAS(&flag, 5, 5) == 5) {}
  x[threadIdx.x] += 1;
}
__global__ void directed(int *x) {
  int t = threadIdx.x;
  float y = x[t];
  for (int it = 0; it < 3; it++) {
    // prof: iteration it
    y = y * 0.5f + 1;
    // prof: mark LineSearch
    /* prof: begin Inner */
    for (int k = 0; k < 2; k++) { // prof: loop Sweep
      y += k;
    }
    // prof: end Inner
    y *= 2; // prof: mark Scale
  }
  x[t] = (int)y;
}
// prof: off
__global__ void not_this(int *x) { for (int i = 0; i < 3; i++) x[threadIdx.x] += relax(i); }
__global__ void nor_this(int *x) {
  // prof: off
  for (int i = 0; i < 3; i++) x[threadIdx.x] += relax(i);
}
inline void run() {
  check<int>("waits.barriers", [](int *x) { barriers<<<1, 64>>>(x); });
  check<int>("waits.spinning", [](int *x) { spinning<<<1, 64>>>(x); });
  check<int>("waits.directed", [](int *x) { directed<<<1, 64>>>(x); });
  check<int>("waits.not_this", [](int *x) { not_this<<<1, 64>>>(x); nor_this<<<1, 64>>>(x); });
}
} // namespace waits
