// SPDX-License-Identifier: MIT
// flags: -std=c++17 -extended-lambda --expt-relaxed-constexpr
// lists: :34:25: call cut in bindings: marked
// lists: :36:21: call cut in bindings: marked
// C++17 as CUDA code has it: structured bindings, if constexpr, statements with initialisers, folds, operators,
// policies in the way of CUB, attributes, nested lambdas.
#include "../check.cuh"

namespace odd {
struct span { int first, count; };
__device__ __forceinline__ span cut(int i) { span s{i, 0}; while (s.count < (i & 3)) s.count++; return s; }
struct grid_point {
  int a[3];
  __device__ int &operator[](int i) { return a[i]; }
  __device__ const int &operator[](int i) const { return a[i]; }
  __device__ int operator()(int i, int j = 1) const { int s = 0; for (int k = 0; k < j; k++) s += a[(i + k) % 3]; return s; }
  __device__ explicit operator bool() const { return a[0] != 0; }
  __device__ operator int() const { int s = 0; for (int v : a) s += v; return s; }
};
__device__ grid_point operator+(const grid_point &p, const grid_point &q) {
  grid_point r{};
  for (int i = 0; i < 3; i++) r[i] = p[i] + q[i];
  return r;
}
__device__ grid_point &operator+=(grid_point &p, int v) { for (auto &a : p.a) a += v; return p; }
__device__ grid_point operator-(grid_point p) { for (int &a : p.a) a = -a; return p; }
__device__ grid_point &operator++(grid_point &p) { return p += 1; }
__device__ bool operator<(const grid_point &p, const grid_point &q) { return int(p) < int(q); }
__device__ int operator""_twice(unsigned long long v) { int s = 0; for (unsigned long long i = 0; i < v; i++) s += 2; return s; }
__device__ grid_point point(int v) { grid_point p{}; for (int i = 0; i < 3; i++) p[i] = v + i; return p; }

__global__ void bindings(int *x) {
  int i = threadIdx.x;
  auto [first, count] = cut(x[i]);
  for (auto [f, n] = cut(x[i] + 1); n > 0; n--) x[i] += f + n;
  if (auto [a, b] = cut(x[i]); a > b) x[i] += a;
  else if (const auto &[c, d] = cut(x[i] + 2); c < 9) x[i] -= d;
  int pair[2] = {first, count};
  auto &[u, v] = pair;
  u += 3, v *= 2;
  x[i] += pair[0] * pair[1];
}
__global__ void operators(int *x) {
  int i = threadIdx.x;
  grid_point p = point(x[i]) + point(i), q = -p + point(2);
  p += 5, ++p;
  if (p < q || !p || point(x[i])) x[i] += p(1, 3) + q(0);
  while (q(0) < 3 && ++q < p) x[i]++;
  x[i] += 7_twice + point(1)[2] + (p + q)(2, 2) + int(-p);
  for (grid_point r = point(0); r < point(4); ++r) x[i] += r;
}
template <class... T> __device__ int sum(T... t) { int s = 0; ((s += t), ...); for (int k = 0; k < int(sizeof...(T)); k++) s ^= k; return s; }
template <int... I> struct list { static constexpr int count = sizeof...(I); };
template <int... I, class F> __device__ void each(list<I...>, F f) { (f(list<I>{}, I), ...); }
template <class T, class... Rest> __device__ int measure(const T &t, const Rest &...rest) {
  int n = int(sizeof(t));
  for (int i = 0; i < 2; i++) n += i;
  if constexpr (sizeof...(Rest) > 0) return n + measure(rest...);
  else return n;
}
__global__ void variadic(int *x) {
  int i = threadIdx.x, total = 0;
  each(list<3, 1, 4, 1, 5>{}, [&](auto l, int v) { for (int k = 0; k < v; k++) total += decltype(l)::count + k; });
  x[i] += sum(1, total, x[i]) + sum() + measure(1, 2.0, 'c', x[i]) + sum(sum(1, 2), sum(3, 4));
}
template <int Threads, int Items, bool Strided> struct policy { enum { threads = Threads, items = Items }; static constexpr bool strided = Strided; };
template <class Policy, class T> struct agent {
  struct storage { T partial[Policy::threads]; };
  storage &temp;
  __device__ explicit agent(storage &t) : temp(t) {}
  template <int N> __device__ __forceinline__ void load(const T *in, T (&items)[N]) {
#pragma unroll
    for (int k = 0; k < N; ++k)
      if constexpr (Policy::strided) items[k] = in[(k * Policy::threads + threadIdx.x) & 63];
      else items[k] = in[(threadIdx.x * N + k) & 63];
  }
  template <class Op> __device__ T reduce(const T *in, Op op) {
    T items[Policy::items];
    load(in, items);
    T value = items[0];
#pragma unroll
    for (int k = 1; k < Policy::items; ++k) value = op(value, items[k]);
    temp.partial[threadIdx.x] = value;
    __syncthreads();
    for (int step = Policy::threads / 2; step > 0; step >>= 1, __syncthreads())
      if (int(threadIdx.x) < step) temp.partial[threadIdx.x] = op(temp.partial[threadIdx.x], temp.partial[threadIdx.x + step]);
    return temp.partial[0];
  }
};
template <class Policy, class T, class Op> __launch_bounds__(int(Policy::threads)) __global__ void reduce(T *x, Op op) {
  using agent_t = agent<Policy, T>;
  __shared__ typename agent_t::storage temp;
  T all = agent_t(temp).reduce(x, op);
  __syncthreads();
  if (threadIdx.x == 0) x[0] = all;
  [[maybe_unused]] const int unused = 0;
}
enum class kind : unsigned char { small, large, huge };
__device__ kind kind_of(int v) { int n = 0; while (v > 3) v /= 2, n++; return n > 2 ? kind::huge : n ? kind::large : kind::small; }
template <class T> __device__ auto convert(T v) {
  if constexpr (sizeof(T) > 4) { long long s = 0; for (int k = 0; k < 3; k++) s += v; return s; }
  else { int s = 1; for (int k = 0; k < 3; k++) s += v; return s; }
}
__global__ void choices(int *x) {
  int i = threadIdx.x;
  switch (const kind k = kind_of(x[i]); k) {
  case kind::small: x[i]++; [[fallthrough]];
  case kind::large: { x[i] += 2; break; }
  default: x[i] += convert(x[i]) + int(convert(3LL));
  }
  if (int n = cut(x[i]).count; n == 2) x[i] = n;
  else x[i] += n ? cut(n).first : cut(1).count;
  auto recursive = [](auto &&self, int n) -> int { int s = n; for (int k = 0; k < 2; k++) s += k; return n > 0 ? s + self(self, n - 1) : 1; };
  x[i] += recursive(recursive, 3);
  auto outer = [=, y = x[i]](int a) mutable { auto inner = [&y, a] { for (int k = 0; k < a; k++) y += k; return y; }; return inner() + inner(); };
  x[i] += outer(2) + outer(3);
  x[i] += [&]() -> int { for (int k = 0;; k++) if (k * k > x[i] % 50) return k; }();
}
struct base { int v; __device__ explicit base(int n) : v(n) {} __device__ virtual int run(int n) { int s = v; for (int k = 0; k < n; k++) s += k; return s; } };
struct derived final : base { __device__ explicit derived(int n) : base(n) {} __device__ int run(int n) override { return base::run(n) * 2 + (n > 1 ? run(n - 1) : 0); } };
template <class D> struct curious { __device__ int go(int n) { int s = 0; for (int k = 0; k < n; k++) s += static_cast<D *>(this)->step(k); return s; } };
struct stepper : curious<stepper> { __device__ int step(int k) { int s = 0; for (int m = 0; m <= k; m++) s += m; return s; } };
inline namespace versioned { template <class T, int N> struct fixed { T v[N]{}; __device__ T *begin() { return v; } __device__ T *end() { return v + N; } }; }
template <int N> __device__ fixed<int, N> fill(int n) { fixed<int, N> f; for (int &v : f) v = n++; return f; }
__global__ void classes(int *x) {
  int i = threadIdx.x;
  derived d(x[i]);
  base &b = d;
  x[i] += b.run(3) + stepper{}.go(4) + d.base::run(1);
  for (int v : fill<4>(x[i])) x[i] ^= v;
  int (derived::*member)(int) = &derived::run;
  x[i] += (d.*member)(2);
  union { float f; int n; } bits{};
  bits.n = x[i] & 0xffff;
  struct { int low : 5, high : 7; } packed{x[i] & 15, 3};
  x[i] += bits.n + packed.low * packed.high;
  static_assert(sizeof(packed) == 4 && noexcept(1 + 1), "local");
}
} // namespace odd

int main() {
  check<int>("bindings", [](int *x) { odd::bindings<<<1, 64>>>(x); });
  check<int>("operators", [](int *x) { odd::operators<<<1, 64>>>(x); });
  check<int>("variadic", [](int *x) { odd::variadic<<<1, 64>>>(x); });
  check<int>("reduce", [](int *x) { odd::reduce<odd::policy<64, 2, true>><<<1, 64>>>(x, [] __device__(int a, int b) { return a > b ? a : b; }); });
  check<int>("reduce2", [](int *x) { odd::reduce<odd::policy<32, 3, false>><<<1, 32>>>(x, [] __device__(int a, int b) { int s = a; for (int k = 0; k < 2; k++) s += b; return s; }); });
  check<int>("choices", [](int *x) { odd::choices<<<1, 64>>>(x); });
  check<int>("classes", [](int *x) { odd::classes<<<1, 64>>>(x); });
}
