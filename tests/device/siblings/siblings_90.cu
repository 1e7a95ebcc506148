// SPDX-License-Identifier: MIT
// The same of sm_90 and C++20: concepts, clusters, programmatic launches, a pipeline of mbarriers whose producers have 24 registers.
// check_siblings.py has the passes of each section, counted by hand.
#include <cooperative_groups.h>
#include <cstdio>
#include <concepts>
#include <inkmark/mark.cuh>
namespace cg = cooperative_groups;
PROF_SECTIONS(Sib, Kernel, Load, Work, Store, Inner, Wait, Producer, Consumer)
PROF_SECTIONS(Other, OKernel, Far)
// c++20 concepts, abbreviated templates, requires
template <class S> concept Stage = requires(S s, float x) { s.scale; };
struct S1 { float scale; };
template <Stage S> struct Loop { S s; __device__ __forceinline__ float run(PROF_PARAMS(float x, std::integral auto n)) requires(sizeof(S) > 0) {
  for (decltype(n) i = 0; i < n; i++) { PROF_ITER(i); x = x * s.scale + i; PROF_MARK(Work, x); PROF_MARK(Far); } return x; } };
__global__ void concepts20(float *p, int n) { PROF_KERNEL(Kernel); Loop<S1> l{{2}}; auto f = [&]<class U>(U u) { PROF_MARK(Inner); return u + 1; }; p[threadIdx.x] = f(l.run(PROF_ARGS(p[threadIdx.x], n))); }
// cluster with distributed shared memory, cross-thread ranges
__global__ void __cluster_dims__(2, 1, 1) clustered(float *p, int n) {
  PROF_OPEN(Kernel);
  __shared__ float mine[64];
  cg::cluster_group c = cg::this_cluster();
  for (int i = 0; i < n; i++) {
    PROF_ITER(i);
    mine[threadIdx.x] = p[threadIdx.x] + i + c.block_rank();
    PROF_ASYNC_BEGIN_CLUSTER(Work, i * 2 + c.block_rank());
    c.sync();
    PROF_MARK(Wait);
    float other = *c.map_shared_rank(&mine[threadIdx.x], c.block_rank() ^ 1);
    PROF_MARK_LOADED(Load, other);
    PROF_ASYNC_END_CLUSTER(Work, i * 2 + (c.block_rank() ^ 1));
    c.sync();
    p[64 * blockIdx.x + threadIdx.x] = other;
    PROF_MARK(Store);
  }
  PROF_CLOSE();
}
// PDL
__global__ void pdl(float *p, int n) {
  PROF_KERNEL(Kernel);
  float x = n;
  asm volatile("griddepcontrol.wait;" ::: "memory");
  PROF_MARK(Wait);
  x += p[threadIdx.x];
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  PROF_MARK(Work, x);
  p[threadIdx.x] = x;
}
// setmaxnreg 24 producer, mbarrier pipeline, consumer 240
__device__ __forceinline__ unsigned sm(const void *q) { return (unsigned)__cvta_generic_to_shared(q); }
__device__ __forceinline__ void wait(unsigned long long *b, int phase) {
  asm volatile("{\n.reg .pred p;\nagain: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra again;\n}" ::"r"(sm(b)), "r"(phase) : "memory");
}
struct Pipe {
  unsigned long long full[2], empty[2];
  float data[2][128];
  __device__ __forceinline__ void produce(PROF_PARAMS(const float *p, int n)) {
    for (int i = 0; i < n; i++) {
      wait(&empty[i & 1], (i >> 1 & 1) ^ 1);
      PROF_MARK(Wait);
      data[i & 1][threadIdx.x % 128] = p[threadIdx.x % 128] + i;
      asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(sm(&full[i & 1])) : "memory");
      PROF_MARK(Load);
    }
  }
  template <int K> __device__ __forceinline__ float consume(PROF_PARAMS(int n)) {
    float acc[K] = {};
    for (int i = 0; i < n; i++) {
      PROF_ITER(i);
      wait(&full[i & 1], i >> 1 & 1);
      PROF_MARK(Wait);
#pragma unroll
      for (int k = 0; k < K; k++) acc[k] += data[i & 1][(threadIdx.x + k) % 128] * (k + 1);
      asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(sm(&empty[i & 1])) : "memory");
      PROF_MARK(Work);
    }
    float x = 0;
    for (int k = 0; k < K; k++) x += acc[k];
    return x;
  }
};
template <int K> __global__ void __launch_bounds__(384, 1) piped(float *p, int n) {
  PROF_OPEN(Kernel);
  __shared__ Pipe pipe;
  if (threadIdx.x == 0) for (int i = 0; i < 2; i++) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 128;" ::"r"(sm(&pipe.full[i])) : "memory");
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 256;" ::"r"(sm(&pipe.empty[i])) : "memory");
  }
  __syncthreads();
  if (threadIdx.x < 128) {
#if defined(WITH_SETMAXNREG) // which needs sm_90a
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
#endif
    PROF_ROLE(Producer);
    pipe.produce(PROF_ARGS(p, n));
    PROF_CLOSE();
  } else {
#if defined(WITH_SETMAXNREG) // which needs sm_90a
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
#endif
    PROF_ROLE(Consumer);
    p[threadIdx.x] = pipe.consume<K>(PROF_ARGS(n));
    PROF_CLOSE();
  }
}
template __global__ void piped<100>(float *, int);
template __global__ void piped<200>(float *, int);
// a module-like struct kernel: static __global__? thin wrapper around operator()
template <class K> __global__ void thin(const __grid_constant__ typename K::Params params) { K()(params); }
struct Op { struct Params { float *p; int n; }; __device__ __forceinline__ void operator()(const Params &q) { PROF_KERNEL(Kernel); Loop<S1> l{{3}}; q.p[threadIdx.x] = l.run(PROF_ARGS(q.p[threadIdx.x], q.n)); PROF_MARK(Store); } };
template __global__ void thin<Op>(const __grid_constant__ Op::Params);
static int fail(const char *what, cudaError_t e) { printf("%s: %s\n", what, cudaGetErrorString(e)); return 1; }
#define RUN(name, blocks, threads, ...) do { for (int i = 0; i < 16384; i++) p[i] = i % 7; name<<<blocks, threads>>>(__VA_ARGS__); cudaError_t e = cudaDeviceSynchronize(); if (e) return fail(#name, e); double s = 0; for (int i = 0; i < 16384; i++) s += p[i] * (i % 13 + 1); printf("%s %.9g\n", #name, s); } while (0)
int main() {
  float *p;
  if (cudaMallocManaged(&p, 16384 * 4)) return 1;
  RUN(concepts20, 2, 32, p, 4); RUN(clustered, 2, 64, p, 3); RUN(pdl, 1, 32, p, 3); RUN(piped<100>, 1, 384, p, 5); RUN(piped<200>, 1, 384, p, 5);
  RUN(thin<Op>, 1, 32, Op::Params{p, 3});
  return 0;
}
