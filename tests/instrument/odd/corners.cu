// SPDX-License-Identifier: MIT
// flags: -std=c++17
// lists: :47:3: loop for k < 3 in pragmas: left: a #pragma stands before it that is for a loop
// Corners of the grammar around calls and loops: pragma operators, splices, lifetimes, constant expressions, arrays
// by reference, pointers to functions, placement new, specialisations, dependent members.
#include "../check.cuh"
#include <new>

#define UNROLL _Pragma("unroll")
#define UNROLL_N(n) _Pragma(UNROLL_TEXT(unroll n))
#define UNROLL_TEXT(x) #x

namespace odd {
namespace {
struct two { int a, b; };
struct held_object { int v; __device__ explicit held_object(int n) : v(n) {} __device__ ~held_object() { v = 0; } __device__ explicit operator bool() const { return v > 3; } };
constexpr __host__ __device__ int fixed(int n) { int s = 0; for (int i = 0; i < n; i++) s += i; return s; }
__device__ int helper(int n) { int s = n; for (int i = 0; i < 3; i++) s += i; return s; }
__device__ two both(int n) { two t{n, 0}; for (int i = 0; i < 2; i++) t.b += n; return t; }
__device__ held_object object(int n) { for (int i = 0; i < 2; i++) n += i; return held_object(n); }
__device__ void touch(int *p) { for (int i = 0; i < 2; i++) p[i] += i; }
__device__ int (&part(int (&a)[4], int n))[4] { for (int i = 0; i < 4; i++) a[i] += n; return a; }
__device__ int *next(int *p, int *end) { for (int i = 0; i < 2 && p < end; i++) p++; return p == end ? nullptr : p; }
__device__ int counted(int n) { int s = 0; while (n > 0) n -= 2, s++; return s; }
using operation = int (*)(int);
__device__ operation choose(int n) { int k = 0; for (int i = 0; i < n; i++) k ^= 1; return k ? helper : static_cast<operation>(+[](int v) { return v + 1; }); }
__device__ float4 load(const int *p) { float4 v = make_float4(0, 0, 0, 0); for (int i = 0; i < 2; i++) v.x += float(p[i]), v.y -= 1; return v; }
template <int N> struct box { int v[N]; __device__ int at(int i) const { int s = 0; for (int k = 0; k <= i; k++) s += v[k % N]; return s; } template <int K> __device__ int times() const { int s = 0; for (int k = 0; k < K; k++) s += v[0]; return s; } };
template <class T> struct parent { T p; __device__ T up(T v) { for (int i = 0; i < 2; i++) v += p; return v; } static __device__ T all(T v) { T s = v; for (int i = 0; i < 2; i++) s += v; return s; } };
template <class T> struct child : parent<T> {
  using parent<T>::up;
  __device__ T run(T v) { T s = this->up(v) + up(v) + parent<T>::all(v) + child::all(v); for (int i = 0; i < 2; i++) s += this->p; return s; }
};
} // namespace

__global__ void pragmas(int *x) {
  int i = threadIdx.x;
  UNROLL for (int k = 0; k < 4; k++) x[i] += helper(k);
  UNROLL
  for (int k = 0; k < 4; k++) { x[i] ^= k; }
  UNROLL_N(2) for (int k = 0; k < 4; k++) x[i] += k;
  if (x[i] > 3) UNROLL for (int k = 0; k < 2; k++) x[i] -= helper(k);
  else
    _Pragma("unroll 1") for (int k = 0; k < 2; k++) x[i] += helper(k);
#pragma unroll 2
again:
  for (int k = 0; k < 3; k++) x[i] += helper(k);
  if (x[i] < 0) goto again;
#pragma unroll
  for (int k = 0; k < 2; k++)
#pragma unroll 1
    for (int m = 0; m < k; m++)
      x[i] += helper(m);
}
__global__ void lifetimes(int *x) {
  int i = threadIdx.x, a[4] = {1, 2, 3, x[i]};
  const two &t = both(x[i]);
  auto &&u = both(2);
  const auto &[p, q] = both(3);
  x[i] += t.a + u.b + p + q;
  if (held_object o = object(x[i])) x[i] += o.v; else x[i] -= o.v;
  if (const held_object &o = object(1); !o) x[i]++;
  x[i] += object(2) ? object(x[i]).v : int(bool(object(9)) && object(1));
  int (&r)[4] = part(a, 2);
  for (int v : part(a, 1)) x[i] += v;
  for (auto &&[b, c] : {both(1), both(2)}) x[i] += b * c;
  x[i] += part(part(a, 1), 2)[3] + r[0] + (*choose(3))(2) + choose(2)(x[i]) + (&helper)(1);
  for (int *e = next(x + 60, x + 64), n = 0; e && n < 2; n++, e = next(e, x + 64)) x[i] += n;
  int *w = a;
  while ((w = next(w, a + 4)) != nullptr && helper(*w) > 0) x[i]++;
  alignas(held_object) unsigned char raw[sizeof(held_object)];
  held_object *made = new (raw) held_object(helper(x[i]));
  x[i] += made->v, made->~held_object();
  float4 v = load(x), m[2] = {load(x + 1), make_float4(helper(1), helper(2), 3, 4)};
  v.x += load(x + 2).y, m[0].y += v.x;
  x[i] += int(v.x + m[0].y + m[1].x);
  two list[] = {{helper(1), helper(2)}, both(3), {.a = 1, .b = helper(2)}};
  x[i] += list[0].a + list[1].b + list[2].b + two{helper(3), 1}.a + [&]() -> two { return {helper(x[i]), counted(4)}; }().b;
  x[i] > 4 ? touch(a) : (void)x[i]++;
  x[i] ? touch(a), touch(a + 1) : touch(a + 2);
  x[i] += a[1] + ({ int s = helper(2); for (int k = 0; k < 2; k++) s += k; s * 2; });
}
__global__ void constants(int *x) {
  int i = threadIdx.x;
  constexpr int n = fixed(4);
  static const int once = 3;
  enum { first = fixed(3), second = first + fixed(2) };
  int a[fixed(3)] = {}, bits = 0;
  struct alignas(fixed(4) + 2) local { int low : fixed(3); } l{1};
  static_assert(fixed(3) == 3, "constant");
  switch (helper(x[i]) % 7) { case fixed(2): x[i]++; break; case fixed(3) + second: { x[i] += n; } break; default: bits = fixed(x[i] & 3); }
  x[i] += box<fixed(4)>{{x[i]}}.at(fixed(2)) + a[0] + l.low + bits + once + box<2>{{1, 2}}.times<fixed(3)>();
  if constexpr (fixed(3) > 2 && noexcept(helper(1)) == false) x[i] += helper(sizeof(box<fixed(3)>));
  using kind = decltype(helper(1));
  kind k = helper(kind(2)) or not helper(x[i]) and helper(3) bitand 1;
  x[i] += k + 1'000 - __alignof__(local) + int(sizeof(both(1)));
}
__global__ void splices(int *x) {
  int i = threadIdx.x;
  x[i] += hel\
per(1) + helper /* between */ (2) + helper // and behind
    (3);
  fo\
r (int k = 0; k < 2; k++) x[i] += k;
  for (int k = 0; k < 2; k++) /* here */ x[i] += helper(k) /* there */ ; // end
  int $money = helper(1), größe = helper(2), \u00e9t\u00e9 = helper(3);
  x[i] += $money + größe + été; /* } */ { ; } ;;
  const char *text = R"x(}"; helper(1) /*)x", quote = '"', brace = '}', escaped = '\'';
  x[i] += text[0] + quote + brace + escaped + "*/ } {"[3] + L'}' % 2 + u8"}"[0];
  if (x[i] & 1) for (int k = 0; k < 2; k++) if (k) x[i]++; else x[i] += helper(k); else for (;;) { if (helper(x[i]) > 3) break; x[i] += 5; }
  do if (x[i] > 2) x[i] -= helper(1); else break; while (x[i] > 30);
}
template <class T, int N = 2> __global__ void special(T *x) { child<T> c{{T(1)}}; x[threadIdx.x] += c.run(x[threadIdx.x]) + c.run(2); box<N> b{}; for (int k = 0; k < N; k++) x[k] += b.template times<N>() + T(helper(k)); }
template <> __global__ void special<int, 3>(int *x) { for (int k = 0; k < 3; k++) x[threadIdx.x] += helper(k); }
template __global__ void special<unsigned>(unsigned *x);
template <class... T> __device__ int folded(T... t) { int unused[] = {(helper(t), 0)...}; return (helper(t) + ...) + (0 + ... + helper(t * 2)) + unused[0] + int(sizeof...(t)); }
__global__ void packs(int *x) { int i = threadIdx.x; x[i] += folded(1, x[i], 'a'); (void)folded(2); for (int k = folded(1); k < folded(2, 3); k += folded(0, k)) x[i]++; }
} // namespace odd

int main() {
  check<int>("pragmas", [](int *x) { odd::pragmas<<<1, 64>>>(x); });
  check<int>("lifetimes", [](int *x) { odd::lifetimes<<<1, 1>>>(x); });
  check<int>("constants", [](int *x) { odd::constants<<<1, 64>>>(x); });
  check<int>("splices", [](int *x) { odd::splices<<<1, 64>>>(x); });
  check<int>("special", [](int *x) { odd::special<int, 3><<<1, 64>>>(x); });
  check<unsigned>("special.unsigned", [](unsigned *x) { odd::special<unsigned><<<1, 1>>>(x); });
  check<int>("packs", [](int *x) { odd::packs<<<1, 64>>>(x); });
}
