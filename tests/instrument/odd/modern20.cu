// SPDX-License-Identifier: MIT
// flags: -std=c++20 -extended-lambda
// C++20: concepts, requires, abbreviated templates, lambdas with template parameters, likelihoods, designated
// initialisers, comparisons, loops with initialisers, consteval and constinit.
#include "../check.cuh"

namespace odd {
template <class T> concept number = requires(T a, T b) { a + b; { a * b } ; } && sizeof(T) >= 4;
template <class T> concept bag = requires(T t) { t.begin(); t.end(); typename T::item; };
struct ring {
  using item = int;
  int v[4];
  __device__ const int *begin() const { return v; }
  __device__ const int *end() const { return v + 4; }
  __device__ friend bool operator==(const ring &a, const ring &b) { for (int i = 0; i < 4; i++) if (a.v[i] != b.v[i]) return false; return true; }
};
__device__ ring make(int n) { ring r{}; for (int i = 0; i < 4; i++) r.v[i] = n * i; return r; }
template <number T> __device__ T power(T v, int n) { T r = 1; for (int i = 0; i < n; i++) r *= v; return r; }
template <class T> requires(sizeof(T) == 4) && number<T> __device__ T half(T v) { while (v > 10) v /= 2; return v; }
__device__ int total(const bag auto &b) { int s = 0; for (auto v : b) s += v; return s; }
__device__ auto mix(number auto a, number auto b) { auto s = a + b; for (int i = 0; i < 2; i++) s += b; return s; }
template <class T> struct holder {
  T v;
  __device__ T get() const requires number<T> { T s = v; for (int i = 0; i < 2; i++) s += i; return s; }
  __device__ int get() const requires(!number<T>) { int s = 1; for (int i = 0; i < 2; i++) s += i; return s; }
};
template <auto N> struct constant { static constexpr auto value = N; };
consteval int squared(int n) { int s = 0; for (int i = 0; i < n; i++) s += n; return s; }
struct options { int depth = 3; int width{2}; bool wrap = false; };
__device__ int run(options o) { int s = 0; for (int i = 0; i < o.depth; i++) s += o.width + o.wrap; return s; }
enum class mode { near, far };
__device__ int by(mode m, int n) {
  using enum mode;
  switch (m) {
  case near: for (int i = 0; i < 2; i++) n += i; break;
  case far: n *= 2;
  }
  return n;
}
template <number T> __global__ void concepts(T *x) {
  int i = threadIdx.x;
  x[i] += power(x[i] & 3, 3) + half(x[i]) + total(make(int(x[i]))) + T(mix(x[i], 2));
  if (total(make(2)) > 3 && power(T(2), 2) == 4) [[likely]] x[i] += holder<T>{x[i]}.get();
  else [[unlikely]] x[i] -= holder<char>{'a'}.get();
  for (int n = total(make(1)); auto v : make(n)) x[i] ^= v;
  x[i] += run({.depth = 2, .width = int(x[i] & 3)}) + run({.wrap = true}) + squared(5) + constant<7>::value;
}
__global__ void lambdas(int *x) {
  int i = threadIdx.x;
  auto add = []<class T, int N>(constant<N>, T v) { T s = v; for (int k = 0; k < N; k++) s += k; return s; };
  auto twice = [](auto f, auto... rest) requires(sizeof...(rest) > 0) { int s = 0; for (int k = 0; k < 2; k++) s += f(rest...); return s; };
  x[i] += add(constant<4>{}, x[i]) + twice([](int a, int b) { int s = a; for (int k = 0; k < b; k++) s += k; return s; }, x[i], 3);
  bool same = make(x[i]) == make(x[i]), other = make(1) != make(2);
  x[i] += same + other * 2 + by(mode::near, x[i]) + by(mode::far, 3);
  while (x[i] > 40) [[likely]] { x[i] -= by(mode::near, 7); if (x[i] & 1) [[unlikely]] continue; x[i]--; }
  switch (x[i] & 3) { [[likely]] case 0: x[i] += by(mode::far, 1); break; case 1: [[unlikely]] default: x[i]++; }
  if constexpr (requires { make(1).begin(); }) x[i] += total(make(3)); else x[i] = 0;
  [[maybe_unused]] constexpr int fixed = squared(3);
  if (constexpr auto n = squared(2); n > x[i]) x[i] = n;
  do [[likely]] { x[i]++; } while (by(mode::near, x[i]) < 9);
}
} // namespace odd

int main() {
  check<int>("concepts", [](int *x) { odd::concepts<<<1, 64>>>(x); });
  check<unsigned>("concepts.unsigned", [](unsigned *x) { odd::concepts<<<1, 64>>>(x); });
  check<int>("lambdas", [](int *x) { odd::lambdas<<<1, 64>>>(x); });
}
