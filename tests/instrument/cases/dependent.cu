// SPDX-License-Identifier: MIT
// Calls in the middle of expressions whose type depends on a template, and that give objects or references:
// what they give is neither copied nor moved, lives as long, and has the same value category.
namespace dependent {
template <class A, class B> struct is_same { static constexpr bool value = false; };
template <class A> struct is_same<A, A> { static constexpr bool value = true; };
struct fixed { // can be neither copied nor moved
  int v;
  __device__ explicit fixed(int x) : v(x) {}
  fixed(const fixed &) = delete;
  fixed &operator=(const fixed &) = delete;
};
struct counted { // shows each copy, move and destruction in its result
  int v, *log;
  __device__ counted(int x, int *l) : v(x), log(l) {}
  __device__ counted(const counted &o) : v(o.v + 100), log(o.log) {}
  __device__ counted(counted &&o) : v(o.v + 1000), log(o.log) {}
  __device__ ~counted() { *log = *log * 3 + v; }
  __device__ operator int() const { return v; }
};
struct four { int v[4]; };
struct many { int v[40]; };
template <class T> __device__ T mixed(T x) { T s = x; for (int i = 0; i < 5; i++) s = s * 3 + i; return s; }
template <class T> __device__ auto deduced(T x) { T s = 0; for (int i = 0; i < 3; i++) s += x; return s; }
template <class T> __device__ T &chosen(T *x, int n) { int k = 0; for (int i = 0; i < n; i++) k ^= i; return x[k & 63]; }
template <class T> __device__ decltype(auto) same(T *x) { for (int i = 0; i < 2; i++) x[0] += i; return (x[0]); }
template <class T> __device__ T &&expiring(T *x) { for (int i = 0; i < 2; i++) x[0] += i; return static_cast<T &&>(x[0]); }
template <class T> __device__ void change(T &x) { for (int i = 0; i < 3; i++) x += i; }
template <class T> __device__ fixed make_fixed(T x) { int s = x; for (int i = 0; i < 3; i++) s += i; return fixed(s); }
template <class T> __device__ counted make(T x, int *l) { int s = x; for (int i = 0; i < 3; i++) s += i; return counted(s, l); }
template <class T> __device__ four make_four(T x) { four f = {}; for (int i = 0; i < 4; i++) f.v[i] = x + i; return f; }
template <class T> __device__ const many make_many(T x) { many m = {}; for (int i = 0; i < 40; i++) m.v[i] = x + i; return m; }
__device__ int pick(int x) { int s = x; for (int i = 0; i < 3; i++) s ^= i; return s; }
__device__ unsigned pick(unsigned x) { unsigned s = x; for (int i = 0; i < 3; i++) s += i; return s; }
__device__ counted pick(const counted &x) { for (int i = 0; i < 2; i++) *x.log += i; return counted(x.v + 1, x.log); }
constexpr __device__ int either(int x) { int s = 0; for (int i = 0; i < x; i++) s += i; return s; }
__device__ unsigned either(unsigned x) { unsigned s = 0; for (unsigned i = 0; i < x; i++) s += i; return s; }
__device__ int category(int &) { return 1; }
__device__ int category(const int &) { return 2; }
__device__ int category(int &&) { return 3; }
__device__ int category(counted &&c) { return c.v; }
__device__ int by_value(counted a, counted b) { return a.v * 7 + b.v; }
struct pair { counted first, second; };
template <class T> __global__ void values(T *x) {
  int i = threadIdx.x;
  T y = mixed(x[i]) + deduced(x[i]);
  chosen(x, 5) = chosen(x, 6) + mixed(y);
  y += pick(x[i]) + pick(y) * 2;
  static_assert(is_same<decltype(chosen(x, 1)), T &>::value && is_same<decltype(mixed(y)), T>::value, "");
  decltype(mixed(y)) z = sizeof(mixed(y)) + pick(y) + noexcept(mixed(y));
  if (mixed(y) > 3 && pick(z) < 100 || deduced(y) == 7) y++;
  for (T k = mixed(y) & 1; (mixed(k) & 7) < 5 && k < 9; k += 1 + (pick(k) & 1)) y += k;
  while ((mixed(y) & 3) != 0 && (pick(y) & 8) == 0) y++;
  z = y & 1 ? mixed(y) : T(pick(z));
  change(y), z += mixed(y);
  same(x) += expiring(x) + expiring(x) + category(expiring(x)) + category(chosen(x, 3)) + category(mixed(y));
  T &&kept = same(x) > 3 ? expiring(x) : expiring(x + 1);
  kept += either(y & 7) + either(T(3)) + make_four(y).v[2] + make_many(z).v[33];
  const four held[2] = {make_four(y), make_four(z)};
  x[i] = y * 5 + z + held[1].v[3];
}
template <class T> __global__ void objects(T *x) {
  int log = 1;
  fixed a = make_fixed(x[1]);
  const fixed &b = x[2] ? make_fixed(x[3]) : make_fixed(x[4]);
  const counted &longer = make(make(x[1], &log), &log);
  x[5] = log;
  {
    pair p = {make(x[5], &log), make(x[6], &log)};
    counted one = x[7] ? make(x[7], &log) : make(x[8], &log), two(make(x[9], &log));
    x[7] = p.first.v + p.second.v + one + two + by_value(make(x[8], &log), make(x[9], &log));
  }
  x[8] = make(x[10], &log).v + make(x[11], &log).v + pick(make(x[12], &log)).v + category(make(x[13], &log));
  if (make(x[14], &log).v + mixed(x[15]) > 3) x[9]++;
  for (int k = 0; make(k, &log).v + mixed(k) < 9 && k < 3; k++) x[10] += pick(k) + pick(T(k));
  auto made = [&](T n) { return make(n, &log); };
  x[11] = made(3).v + make(4, &log).v + a.v + b.v + longer.v;
  x[12] = log;
}
inline void run() {
  check<int>("dependent.values", [](int *x) { values<<<1, 1>>>(x); });
  check<unsigned>("dependent.unsigned", [](unsigned *x) { values<<<1, 1>>>(x); });
  check<int>("dependent.objects", [](int *x) { objects<<<1, 1>>>(x); });
}
} // namespace dependent
