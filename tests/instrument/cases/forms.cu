// SPDX-License-Identifier: MIT
// The forms that functions come in, and what stands around kernels in host code.
#include <cooperative_groups.h>
#include <stdexcept>
namespace forms {
namespace { __device__ int hidden(int n) { int s = 0; for (int i = 0; i < n; i++) s += i; return s; } }
template <class... T> __device__ int sum_of(T... t) { int s = 0; int list[] = {t...}; for (int v : list) s += v; return s; }
template <int N> struct table {
  int v[N];
  __device__ int get(int n) const;
  template <int M> friend __global__ void befriended(int *x, table<M> t);
};
template <int N> __global__ void befriended(int *x, table<N> t) { for (int i = 0; i < N; i++) x[threadIdx.x] += t.get(i); }
template <int N> __device__ int table<N>::get(int n) const { int s = n; for (int i = 0; i < N; i++) s += v[i]; return s; }
struct shape {
  __device__ virtual int area(int n) const { for (int i = 0; i < 2; i++) n += i; return n; }
};
struct square : shape {
  __device__ int area(int n) const override { int s = 0; for (int i = 0; i < n; i++) s += n; return s; }
};
__device__ auto trailing(int n) noexcept -> int { for (int i = 0; i < 3; ++i) n ^= i; return n; }
[[nodiscard]] __device__ __forceinline__ static int attributed(int n) { for (int i = 0; i < 3; ++i) n += 2; return n; }
__device__ int by_default(int n, int times = 2) { while (times--) n += times; return n; }
__device__ int two_ways(int n) {
  if (n > 5) { for (int i = 0; i < 2; i++) n--; return n; } else if (n > 3) return trailing(n);
  else if (n > 1) { n += hidden(n); } else n = 7;
  return n;
}
template <class T, T Value> __global__ __launch_bounds__(128) void valued(T *x) {
  T s = Value;
  for (T i = 0; i < T(3); i++) s += i;
  x[threadIdx.x] += s;
}
template <> __global__ void valued<int, 9>(int *x) { for (int i = 0; i < 2; i++) x[threadIdx.x] -= i; }
template __global__ void valued<int, 2>(int *);
extern "C" {
__global__ void in_c_block(int *x) { x[threadIdx.x] = hidden(x[threadIdx.x] & 7); }
}
static __global__ void everything(int *x) {
  const int t = threadIdx.x;
  square s;
  const shape *any = &s;
  x[t] += sum_of(1, t, x[t]) + any->area(x[t] & 3) + trailing(t) + attributed(t) + by_default(t) + two_ways(t & 7);
  for (int i = 0; i < 4; i++)
    switch (i) {
    case 0: continue;
    case 1: { if (t & 1) break; x[t] += hidden(2); }
    // falls through
    default: x[t]++;
    }
  for (int i = 0, j = 5; i < j; i++, --j) { x[t] += i * j; }
  for (unsigned char c = 250; c != 2; ++c) x[t] += c;
  int k = 3;
  for (; k;) { --k; if (k == 1) goto done; x[t] += k; }
done:;
  if (int y = x[t] & 1; y) x[t] += y; else { ; }
  { { x[t] += hidden(3), x[t] += hidden(4); } }
  x[t] += ({ int inner = hidden(2); inner + 1; });
}
__global__ void together(int *x) {
  auto grid = cooperative_groups::this_grid();
  x[threadIdx.x + blockIdx.x * blockDim.x] += 1;
  grid.sync();
  x[threadIdx.x + blockIdx.x * blockDim.x] += x[63];
}
struct guard {
  int *count;
  ~guard() { for (int i = 0; i < 3; i++) ++*count; }
};
inline int host_side(int n) try {
  int seen = 0;
  {
    guard g{&seen};
    for (int i = 0; i < n; i++)
      if (i == 2) throw std::runtime_error("two");
  }
  return seen;
} catch (const std::exception &) {
  return -1;
}
inline void run() {
  table<3> t = {{1, 2, 3}};
  void (*pointer)(int *) = valued<int, 4>;
  check<int>("forms.befriended", [=](int *x) { befriended<3><<<1, 64>>>(x, t); });
  check<int>("forms.valued", [=](int *x) { pointer<<<1, 64>>>(x); valued<int, 9><<<1, 64>>>(x); valued<int, 2><<<1, 64>>>(x); });
  check<int>("forms.in_c_block", [](int *x) { in_c_block<<<1, 64>>>(x); });
  check<int>("forms.everything", [](int *x) { everything<<<1, 64>>>(x); });
  check<int>("forms.together", [](int *x) { void *a[] = {&x}; cudaLaunchCooperativeKernel((void *)together, dim3(1), dim3(64), a); });
  printf("forms.host %d %d\n", host_side(2), host_side(3));
}
} // namespace forms
