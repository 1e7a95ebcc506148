// SPDX-License-Identifier: MIT
// Shapes of kernels that people write, marked: CRTP, lambdas in lambdas, erased and virtual calls, groups, folds, recursion.
// check_siblings.py has the passes of each section, counted by hand.
#include <cooperative_groups.h>
#include <cstdio>
#include <inkmark/mark.cuh>
namespace cg = cooperative_groups;
PROF_SECTIONS(Sib, Kernel, Load, Work, Store, Inner, Wait, Role, Task, Sum)
#define T blockDim.x

// 1 CRTP with context
template <class D> struct Base {
  __device__ __forceinline__ float run(PROF_PARAMS(float x, int n)) {
    for (int i = 0; i < n; i++) {
      PROF_ITER(i);
      x = static_cast<D *>(this)->step(PROF_ARGS(x, i));
      PROF_MARK(Work, x);
    }
    return x;
  }
};
struct Mul : Base<Mul> { __device__ float step(PROF_PARAMS(float x, int i)) { PROF_MARK(Load); return x * 1.25f + i; } };
struct Add : Base<Add> { __device__ __noinline__ float step(PROF_PARAMS(float x, int i)) { PROF_MARK(Inner); return x + i; } };
template <class D> __global__ void crtp(float *p, int n) {
  PROF_KERNEL(Kernel);
  D d;
  p[threadIdx.x] = d.run(PROF_ARGS(p[threadIdx.x], n));
  PROF_MARK(Store);
}
template __global__ void crtp<Mul>(float *, int);
template __global__ void crtp<Add>(float *, int);

// 2 lambdas in lambdas
__global__ void lambdas(float *p, int n) {
  PROF_KERNEL(Kernel);
  float x = p[threadIdx.x];
  auto outer = [&](int i) {
    PROF_MARK(Load);
    auto inner = [&](float y) {
      PROF_MARK(Inner, y);
      auto third = [&] { PROF_SCOPE(Task); PROF_MARK(Work); return y * 3; };
      return third() + i;
    };
    x = inner(x) + inner(x + 1);
    PROF_MARK_STRICT(Store, x);
  };
  for (int i = 0; i < n; i++) outer(i);
  p[threadIdx.x] = x;
}

// 3 function-like functor, type erased
struct Fn { float (*call)(void *, float); void *of; };
struct Ctx { float k; };
__device__ float call_it(void *of, float x) { PROF_MARK(Inner); return x * static_cast<Ctx *>(of)->k; }
__global__ void erased(float *p, int n) {
  PROF_KERNEL(Kernel);
  Ctx c{2.f + n};
  Fn f{call_it, &c};
  float x = p[threadIdx.x];
  for (int i = 0; i < n; i++) { x = f.call(f.of, x); PROF_MARK(Work, x); }
  p[threadIdx.x] = x;
}
// 4 virtual functions
struct V { virtual __device__ float go(float x) = 0; };
struct V1 : V { __device__ float go(float x) override { PROF_MARK(Inner); return x + 1; } };
struct V2 : V { __device__ float go(float x) override { PROF_BEGIN(Task); x *= 2; PROF_END(Task, x); return x; } };
__global__ void virtuals(float *p, int n) {
  PROF_KERNEL(Kernel);
  V1 a; V2 b; V *v[2] = {&a, &b};
  float x = p[threadIdx.x];
  for (int i = 0; i < n; i++) { x = v[(i + (int)p[0]) & 1]->go(x); PROF_MARK(Work); }
  p[threadIdx.x] = x;
}
// 5 cg coalesced and tiles
__global__ void coalesced(float *p, int n) {
  PROF_KERNEL(Kernel);
  cg::thread_block b = cg::this_thread_block();
  auto tile = cg::tiled_partition<8>(b);
  float x = p[threadIdx.x];
  if (threadIdx.x % 3 == 0) {
    cg::coalesced_group g = cg::coalesced_threads();
    PROF_MARK(Load);
    x += g.size() + g.shfl(x, 0);
    PROF_MARK(Inner, x);
  }
  for (int o = 4; o; o /= 2) { x += tile.shfl_down(x, o); PROF_MARK(Work, x); }
  b.sync();
  p[threadIdx.x] = x;
  PROF_MARK(Store);
}
// 6 constexpr if, variadic template, __grid_constant__
struct P { float *p; int n; float k[8]; };
template <bool Marked, int... Is> __global__ void folded(const __grid_constant__ P a) {
  PROF_OPEN(Kernel);
  float x = a.p[threadIdx.x];
  if constexpr (Marked) PROF_MARK(Load);
  auto one = [&](auto i) { x = x * a.k[decltype(i)::v] + i.v; PROF_MARK(Work, x); };
  struct dummy {};
  int unused[] = {([&] { x += Is; PROF_MARK(Inner); }(), 0)...};
  (void)unused;
  struct I2 { enum { v = 2 }; };
  one(I2());
  a.p[threadIdx.x] = x;
  PROF_CLOSE();
}
template __global__ void folded<true, 1, 2, 3>(const __grid_constant__ P);
template __global__ void folded<false, 4>(const __grid_constant__ P);
// 7 launch bounds of 1,024, maxreg
__global__ void __launch_bounds__(1024, 1) wide(float *p, int n) {
  PROF_KERNEL(Kernel);
  float a[16];
  for (int i = 0; i < 16; i++) a[i] = p[threadIdx.x * 16 + i];
  PROF_MARK(Load);
  for (int j = 0; j < n; j++) { PROF_ITER(j); for (int i = 0; i < 16; i++) a[i] = a[i] * a[(i + 1) % 16] + j; PROF_MARK(Work); }
  for (int i = 0; i < 16; i++) p[threadIdx.x * 16 + i] = a[i];
  PROF_MARK(Store);
}
#if __CUDACC_VER_MAJOR__ >= 12
__global__ void __maxnreg__(40) narrow(float *p, int n) {
  PROF_KERNEL_ROWS(Kernel);
  float a[16];
  for (int i = 0; i < 16; i++) a[i] = p[threadIdx.x * 16 + i];
  for (int j = 0; j < n; j++) { PROF_ITER(j); for (int i = 0; i < 16; i++) a[i] = a[i] * a[(i + 1) % 16] + j; PROF_MARK(Work); }
  for (int i = 0; i < 16; i++) p[threadIdx.x * 16 + i] = a[i];
}
#endif
// 8 warp-specialised with named barriers
__global__ void named(float *p, int n) {
  PROF_OPEN(Kernel);
  __shared__ float buffer[2][32];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (warp == 0) {
    PROF_ROLE(Role);
    for (int i = 0; i < n; i++) {
      if (i > 1) asm volatile("bar.sync %0, 64;" ::"r"(3 + i % 2) : "memory");
      PROF_MARK(Wait);
      buffer[i % 2][lane] = p[lane] + i;
      asm volatile("bar.arrive %0, 64;" ::"r"(1 + i % 2) : "memory");
      PROF_MARK(Load);
    }
    PROF_CLOSE();
  } else {
    PROF_ROLE(Task);
    float x = 0;
    for (int i = 0; i < n; i++) {
      PROF_ITER(i);
      asm volatile("bar.sync %0, 64;" ::"r"(1 + i % 2) : "memory");
      PROF_MARK(Wait);
      x += buffer[i % 2][lane];
      if (i + 2 < n) asm volatile("bar.arrive %0, 64;" ::"r"(3 + i % 2) : "memory");
      PROF_MARK(Work, x);
    }
    p[32 + lane] = x;
    PROF_CLOSE();
  }
}
// 9 recursion
__device__ __noinline__ int fib(PROF_PARAMS(int n)) { PROF_EVENT(Inner); return n < 2 ? n : fib(PROF_ARGS(n - 1)) + fib(PROF_ARGS(n - 2)); }
__global__ void recursive(float *p, int n) { PROF_KERNEL(Kernel); p[threadIdx.x] = fib(PROF_ARGS(n)); PROF_MARK(Work); }
// 10 switch, goto, early returns, do-while with marks as single statements
__global__ void ways(float *p, int n) {
  PROF_KERNEL(Kernel);
  if (n < 0) return;
  float x = p[threadIdx.x];
  if (x < 0) PROF_MARK(Load); else PROF_MARK(Store);
  do PROF_MARK(Inner); while (--n > 3);
  switch (n) { case 0: PROF_MARK(Load); break; case 1: { PROF_SCOPE(Task); if (x > 1) return; } [[fallthrough]]; default: PROF_MARK(Work); }
  for (;;) { PROF_SCOPE(Inner); if (x > 4) break; x += 1; continue; }
  p[threadIdx.x] = x;
}
// 11 member objects, context in a class template's nested class; copies of an object
template <class E> struct Outer { struct In { PROF_MEMBER() E k; __device__ E run(E x) { PROF_MARK(Inner); return x * k; } }; In in; };
__global__ void members(float *p, int n) {
  PROF_KERNEL(Kernel);
  Outer<float> o; o.in.k = 3; PROF_BIND(o.in);
  auto copy = o;
  p[threadIdx.x] = o.in.run(p[threadIdx.x]) + copy.in.run(n);
  PROF_MARK(Work);
}
// 12 sums, values of many types
__global__ void values(float *p, int n) {
  PROF_KERNEL(Kernel);
  float x = p[threadIdx.x];
  for (int i = 0; i < n; i++) {
    PROF_ITER(i);
    for (int j = 0; j < 3; j++) { PROF_SUM_BEGIN(Sum); x += j; PROF_SUM_END(Sum, x); }
    PROF_VALUE(Inner, (short)i); PROF_VALUE(Inner, 3u); PROF_VALUE(Inner, x); PROF_VALUE(Inner, 1.0); PROF_VALUE(Inner, (unsigned char)1); PROF_VALUE(Inner, true);
    PROF_BEGIN_WITH(Task, i); PROF_END(Task);
    PROF_MARK_ID(Sib, i % 8);
  }
  PROF_SUM_FLUSH();
  PROF_CLOCKS();
  p[threadIdx.x] = x;
}
// 13 inner loop of a generic lambda handed to a __noinline__ template
template <class F> __device__ __noinline__ float times(PROF_PARAMS(float x, int n, F f)) { for (int i = 0; i < n; i++) { x = f(x, i); PROF_MARK(Work, x); } return x; }
__global__ void handed(float *p, int n) { PROF_KERNEL(Kernel); auto f = [](auto y, int i) { PROF_LAMBDA(); PROF_MARK(Inner, y); return y * 2 + i; }; p[threadIdx.x] = times(PROF_ARGS(p[threadIdx.x], n, f)); }
// 14 structured bindings and array held, bool held
struct Two { float a; int b; };
__device__ __forceinline__ Two two(PROF_PARAMS(float x)) { PROF_MARK(Inner); return {x * 2, 3}; }
__global__ void bindings(float *p, int n) {
  PROF_KERNEL(Kernel);
  auto [a, b] = two(PROF_ARGS(p[threadIdx.x]));
  PROF_MARK(Load, a, b);
  bool odd = n & 1; double d = a; float4 v = {a, a, a, a}; short h[4] = {1, 2, 3, 4};
  PROF_MARK(Work, odd, d, v, h);
  PROF_MARK_STRICT(Store, d, v.x);
  p[threadIdx.x] = odd ? (float)d + v.x + h[1] : b;
}
// 15 cooperative launch
__global__ void grid_wide(float *p, int n) {
  PROF_KERNEL(Kernel);
  cg::grid_group g = cg::this_grid();
  for (int i = 0; i < n; i++) { p[g.thread_rank()] += 1; PROF_MARK(Work); g.sync(); PROF_MARK(Wait); }
}

static int fail(const char *what, cudaError_t e) { printf("%s: %s\n", what, cudaGetErrorString(e)); return 1; }
#define RUN(name, threads, ...) do { for (int i = 0; i < 16384; i++) p[i] = i % 7; name<<<2, threads>>>(__VA_ARGS__); cudaError_t e = cudaDeviceSynchronize(); if (e) return fail(#name, e); double s = 0; for (int i = 0; i < 16384; i++) s += p[i] * (i % 13 + 1); printf("%s %.9g\n", #name, s); } while (0)
int main() {
  float *p;
  if (cudaMallocManaged(&p, 16384 * 4)) return 1;
  RUN(crtp<Mul>, 64, p, 5); RUN(crtp<Add>, 64, p, 5); RUN(lambdas, 64, p, 3); RUN(erased, 32, p, 4); RUN(virtuals, 32, p, 5); RUN(coalesced, 64, p, 2);
  P a{p, 3, {1, 2, 3, 4, 5, 6, 7, 8}};
  RUN((folded<true, 1, 2, 3>), 32, a); RUN((folded<false, 4>), 32, a);
  RUN(wide, 1024, p, 2); RUN(narrow, 128, p, 2); RUN(named, 64, p, 6); RUN(recursive, 32, p, 5); RUN(ways, 64, p, 5); RUN(members, 32, p, 5); RUN(values, 32, p, 3); RUN(handed, 32, p, 3); RUN(bindings, 32, p, 3);
  for (int i = 0; i < 16384; i++) p[i] = 0;
  int n = 2; void *args[] = {&p, &n};
  if (cudaLaunchCooperativeKernel((void *)grid_wide, dim3(2), dim3(32), args, 0, nullptr)) return 1;
  cudaError_t e = cudaDeviceSynchronize(); if (e) return fail("grid", e);
  printf("grid %g %g\n", p[0], p[63]);
  return 0;
}
