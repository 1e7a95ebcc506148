// SPDX-License-Identifier: MIT
// Templates, specialisations, members, lambdas, constexpr and functions for both sides.
namespace templates {
template <class T> __device__ T power(T x, int n) { T r = 1; for (int i = 0; i < n; i++) r *= x; return r; }
template <> __device__ int power<int>(int x, int n) { int r = 1; for (int i = 0; i < n; i++) r = (r * x) & 0xffff; return r; }
template <class T, int N> struct small {
  T v[N];
  __device__ T total() const { T t = 0; for (T e : v) t += e; return t; }
  __device__ void fill(T x) { for (int i = 0; i < N; i++) v[i] = power(x, i); }
};
template <class T, int N> __global__ void of_small(T *x) {
  small<T, N> s;
  s.fill(x[threadIdx.x]);
  x[threadIdx.x] = s.total();
}
template <class T, bool Twice> __global__ void chosen(T *x) {
  T y = x[threadIdx.x];
  if constexpr (Twice) y = power(y, 2) + power(y, 3);
  else y = power(y, 1);
  T list[] = {y, T(y + 1), T(2)};
  for (T e : list)
    y += power(e, 2);
  x[threadIdx.x] = y;
}
constexpr __host__ __device__ int square(int n) { int s = 0; for (int i = 0; i < n; i++) s += n; return s; }
static_assert(square(3) == 9, "");
__host__ __device__ inline int shared_by_both(int n) { int s = 0; for (int i = 0; i < n; i++) s += square(i); return s; }
__device__ int recursive(int n) { return n <= 1 ? 1 : n + recursive(n - 1); }
__device__ int plus_one(int n) { return n + 1; }
typedef int (*function)(int);
__device__ function through(int n) { return n & 1 ? recursive : plus_one; }
extern "C" __global__ void __launch_bounds__(64, 1) with_c_name(int *x) {
  const int i = threadIdx.x;
  auto local = [&](int n) { int s = n; for (int k = 0; k < 3; k++) s += shared_by_both(k); return s; };
  struct inner { __device__ int get(int n) { for (int k = 0; k < 2; k++) n += k; return n; } } in;
  x[i] = local(x[i]) + in.get(2) + recursive(x[i] & 7) + square(3);
  x[i] += through(i)(4);
  int a[square(2)] = {};
  x[i] += a[0];
}
extern "C"__global__ void without_blank(int *x) { for (int i = 0; i < 3; i++) x[threadIdx.x] += recursive(i); }
__global__ void by_value(const __grid_constant__ int n, int *x) { for (int i = 0; i < n; ++i) x[threadIdx.x] += i; }
inline void run() {
  check<int>("templates.small", [](int *x) { of_small<int, 4><<<1, 64>>>(x); });
  check<unsigned>("templates.chosen", [](unsigned *x) { chosen<unsigned, true><<<1, 64>>>(x); });
  check<long>("templates.chosen_not", [](long *x) { chosen<long, false><<<1, 64>>>(x); });
  check<int>("templates.c_name", [](int *x) { with_c_name<<<1, 64>>>(x); x += shared_by_both(3) - 5; });
  check<int>("templates.without_blank", [](int *x) { without_blank<<<1, 64>>>(x); });
  check<int>("templates.by_value", [](int *x) { by_value<<<1, 64>>>(3, x); });
}
} // namespace templates
