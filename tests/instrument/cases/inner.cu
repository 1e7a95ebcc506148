// SPDX-License-Identifier: MIT
// Functions inside of functions: lambdas of every kind, local classes, and marks in them.
namespace inner {
__device__ __noinline__ int spin(int n) { int s = n; for (int i = 0; i < 4; i++) s = s * 3 + i; return s; }
template <class F> __device__ int apply(F f, int n) { int s = 0; for (int i = 0; i < n; i++) s += f(i); return s; }
__global__ void lambdas(int *x) {
  const int i = threadIdx.x;
  int total = 0;
  auto by_reference = [&](int n) { for (int k = 0; k < n; k++) total += k; return total; };
  auto by_value = [=](int n) mutable { for (int k = 0; k < 2; k++) { int y = spin(k); for (int m = 0; m < 2; m++) y += m; n += y; } return n + i; };
  auto generic = [](auto n) { decltype(n) s = n; while (s > 3) s /= 2; return s; };
  constexpr auto square = [](int n) { int s = 0; for (int k = 0; k < n; k++) s += n; return s; };
  int list[square(2)] = {};
  auto nested = [&](int n) {
    auto deeper = [&](int m) { for (int k = 0; k < m; k++) total ^= k; return spin(total); };
    int s = 0;
    for (int k = 0; k < 2; k++) s += deeper(k + n);
    return s;
  };
  auto directed = [](int n) {
    int s = n;
    // prof: begin Inside
    s = spin(s);
    // prof: end Inside
    s += 2; // prof: mark Behind
    return s;
  };
  auto left_alone = [](int n) {
    // prof: off
    for (int k = 0; k < 3; k++) n += k;
    return n;
  };
  auto early = [&](int n) { for (int k = 0; k < 9; k++) if (k > n) return k; return spin(n); };
  x[i] += by_reference(3) + by_value(2) + generic(x[i]) + generic(x[i] * 1.f) + list[0] + nested(1) + directed(2) + left_alone(3) + early(x[i] & 7);
  x[i] += apply([&](int k) { int s = total; for (int m = 0; m < k; m++) s += m; return s; }, 3);
  for (int k = 0; k < 2; k++) x[i] += [&] { return spin(k) + spin(i); }();
}
__global__ void classes(int *x) {
  struct counter {
    int n;
    __device__ counter(int from) : n(from) { for (int k = 0; k < 2; k++) n += k; }
    __device__ int step(int by) { for (int k = 0; k < by; k++) n += spin(k); return n; }
    __device__ int operator()(int by) const { auto twice = [](int v) { int s = 0; for (int k = 0; k < 2; k++) s += v; return s; }; return twice(by) + n; }
  } c(x[threadIdx.x]);
  x[threadIdx.x] = c.step(3) + c(2);
}
inline void run() {
  check<int>("inner.lambdas", [](int *x) { lambdas<<<1, 64>>>(x); });
  check<int>("inner.classes", [](int *x) { classes<<<1, 64>>>(x); });
}
} // namespace inner
