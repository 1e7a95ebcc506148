// SPDX-License-Identifier: MIT
// Extended lambdas: written in host code, run by a kernel template of the user's own.
namespace extended {
__device__ int turn(int n) { int s = n; for (int i = 0; i < 4; i++) s = s * 3 + i; return s; }
template <class F> __global__ void each(int *x, F f) { x[threadIdx.x] = f(x[threadIdx.x], (int)threadIdx.x); }
template <class F> void launch(int *x, F f) { each<<<1, 64>>>(x, f); }
inline int on_host(int n) { auto plain = [](int k) { for (int i = 0; i < 3; i++) k += i; return k; }; return plain(n); }
inline void device_only(int *x) {
  int add = on_host(1);
  launch(x, [=] __device__(int v, int t) {
    for (int i = 0; i < 3; i++)
      v += turn(i + add);
    return v + turn(t) * turn(v);
  });
}
inline void both_sides(int *x) {
  auto f = [] __host__ __device__(int v, int t) -> int {
    for (int i = 0; i < t % 5; i++) v ^= i;
    return v;
  };
  int *y = x + f(1, 3) * 0;
  each<<<1, 64>>>(y, f);
}
inline void run() {
  check<int>("extended.device_only", device_only);
  check<int>("extended.both_sides", both_sides);
}
} // namespace extended
