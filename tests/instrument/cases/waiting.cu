// SPDX-License-Identifier: MIT
// Functions that do nothing but wait, loops that spin, and what waits and works; sums of what is in long loops.
namespace waiting {
__device__ int arrived, steady[8] = {3, 1, 4, 1, 5, 9, 2, 6};
__device__ inline void mbar_wait(unsigned bar, unsigned phase) {
#if __CUDA_ARCH__ >= 900
  asm volatile("{\n.reg .pred p;\nL%=:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra L%=;\n}" ::"r"(bar), "r"(phase) : "memory");
#else
  __nanosleep(bar & phase & 1);
#endif
}
struct barrier { unsigned at; __device__ void wait(unsigned phase) { mbar_wait(at, phase); } };
struct named { int id; __device__ void sync() const { asm volatile("bar.sync %0, 64;" ::"r"(id) : "memory"); } };
struct stage { named *full; };
template <int N> __device__ inline void all_of(named *bars) { for (int i = 0; i < N; i++) bars[i].sync(); }
__device__ int read_flag(const int *p) { int v; asm volatile("ld.volatile.global.s32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); return v; }
__device__ void wait_for(const int *p) { while (read_flag(p) == 0) __nanosleep(20); }
__device__ void settle(const int *p) { wait_for(p); }
__device__ void whole_grid(int n) { // a barrier of one's own
  __syncthreads();
  if (threadIdx.x == 0) { atomicAdd(&arrived, 1); while (*(volatile int *)&arrived < n) {} }
  __syncthreads();
}
__device__ void add_behind(int *x) { __syncthreads(); x[threadIdx.x] += 1; } // it works too
__device__ int drain(int *x) { int s = 0; for (int i = 0; i < 4; i++) s += *(volatile int *)(x + i); return s; } // no wait
__global__ void helpers(int *x) {
  __shared__ volatile int ready;
  named bar{1}, both[2] = {{2}, {3}};
  stage stages{both};
  bar.sync();
  stages.full[1].sync();
  all_of<2>(both);
  if (threadIdx.x == 0) ready = 1;
  while (!ready) {}
  x[threadIdx.x] |= 1;
  wait_for(x);
  settle(x);
  whole_grid(1);
  add_behind(x);
  x[threadIdx.x] += drain(steady);
  for (;;) { if (read_flag(x) != 0) break; }
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
template <class Bar, int Stages> __global__ void pipeline(int *x, int n) {
  Bar bars[Stages];
  for (int i = 0; i < Stages; i++) bars[i].at = i;
  auto arrive = [&](int s) { if (threadIdx.x == 0) bars[s].wait(1); };
  for (int tile = 0; tile < n; tile++) {
    for (int i = 0; i < n; i++) {
      bars[i % Stages].wait(i / Stages & 1);
      x[threadIdx.x] += i;
      arrive(i % Stages);
      __syncwarp();
    }
    if (__syncthreads_or(tile)) x[threadIdx.x] ^= tile;
    x[threadIdx.x] += drain(steady) + drain(steady + 4);
  }
}
__global__ void many(int *x, int n) { // more than there are sums for
  for (int i = 0; i < n; i++) {
    x[threadIdx.x] += i; __syncthreads(); x[threadIdx.x] *= 3; __syncthreads();
    x[threadIdx.x] += i; __syncthreads(); x[threadIdx.x] *= 3; __syncthreads();
    x[threadIdx.x] += i; __syncthreads(); x[threadIdx.x] *= 3; __syncthreads();
    x[threadIdx.x] += i; __syncthreads(); x[threadIdx.x] *= 3; __syncthreads();
  }
  for (int k = 0; k < 100; k++) { // few enough for rows
    add_behind(x); __syncthreads();
  }
}
inline void run() {
  check<int>("waiting.helpers", [](int *x) { helpers<<<1, 64>>>(x); });
  check<int>("waiting.pipeline", [](int *x) { pipeline<barrier, 2><<<1, 64>>>(x, 5); });
  check<int>("waiting.many", [](int *x) { many<<<1, 64>>>(x, 3); });
}
} // namespace waiting
