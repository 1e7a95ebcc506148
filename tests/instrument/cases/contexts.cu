// SPDX-License-Identifier: MIT
// Called functions with marks: those that get the context of the kernel that calls them, and what forbids it.
#define DEVICE __device__ __forceinline__
#define CALLED(f, x) f(x)
#define MAKE_HEAD(name) __device__ int name(int n)
namespace contexts {
// a statement that takes time, for the rules to mark
struct tile {
  int v[4];
  // it doesn't matter what is in a comment: '"{(
  DEVICE int sum(int n) const {
    int s = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++)
      s += v[i & 3];
    return s;
  }
  static __device__ int of_class(int n) { for (int i = 0; i < n; i++) n ^= i; return n; }
  template <int N> __device__ int times(int n) { for (int i = 0; i < N; i++) n += sum(n & 7); return n; }
private:
  __device__ int hidden(int n) { for (int i = 0; i < 3; i++) n += v[i] + i; return n; }
public:
  [[nodiscard]] __device__ int shown(int n) { return hidden(n) + 1; }
  __device__ int operator()(int n) { for (int i = 0; i < n; i++) n ^= v[i & 3]; return n; }
  __device__ tile() { for (int i = 0; i < 4; i++) v[i] = i; }
};
template <class T> DEVICE auto trailing(T n) noexcept -> decltype(n + 1) { for (T i = 0; i < 5; ++i) n += i; return n; }
[[nodiscard]] inline __device__ int by_default(int n, int times = tile::of_class(3)) { while (times-- > 0) n += times; return n; }
static __device__ int only_here(int n) { for (int i = 0; i < 3; i++) n += i * n; return n; } __device__ int no_parameters() { int n = 1; for (int i = 0; i < 6; i++) n *= 3; return n; }
#if defined(CONTEXTS_OTHERWISE)
__device__ int in_branch(int n) { return n; }
#else
__device__ int in_branch(int n) { for (int i = 0; i < 3; i++) n += __LINE__; return n; }
#endif
__device__ int leads_on(int n) { return only_here(n) + trailing(n); }
__device__ int overloaded(int n) { for (int i = 0; i < 2; i++) n += i; return n; }
__device__ long overloaded(long n) { for (int i = 0; i < 3; i++) n -= i; return n; }
template <class... T> __device__ int pack(T... t) { int s = 0; int list[] = {t...}; for (int v : list) s += v; return s; }
template <class T> __device__ auto asks(T n) -> decltype(only_here(n), 1);
__global__ void given(int *x) {
  const int t = threadIdx.x;
  tile a;
  int y = a.sum(t);
  y += tile::of_class(t & 7);
  y += a.template times<3>(t & 7), y += trailing(t) + by_default(t);
  y += by_default(t, 2);
  for (int i = in_branch(t) & 1; i < no_parameters(); i += 1 + (leads_on(t) & 1)) y += i;
  int z1 = a.shown(only_here(t)), z2 = overloaded(t);
  y += (int)overloaded((long)t);
  if (pack(t, 2, 3) > 4) y += z1 + z2;
  decltype(only_here(2)) z = sizeof(only_here(t)) + (int)sizeof(decltype(&only_here));
  decltype(asks(1)) w = 2;
  x[t] += y + z + w;
}
// ---- calls whose templates decide
template <class M> struct pipeline { M m; __device__ int turn(int n) { int s = 0; for (int i = 0; i < 3; i++) s += m.load(n); return s; } };
struct by_one { __device__ int load(int n) { int s = 0; for (int i = 0; i < n; i++) s += i & 1; return s; } };
struct by_two { __device__ int load(int n) { int s = 0; for (int i = 0; i < n; i++) s += i & 2; return s; } };
template <class M> __global__ void decided(int *x) {
  pipeline<M> p;
  x[threadIdx.x] += p.turn(x[threadIdx.x] & 7);
}
template <class M> __global__ void never_made(int *x) { M m; x[threadIdx.x] += m.never(x[threadIdx.x]); }
struct not_made { __device__ int never(int n) { for (int i = 0; i < n; i++) n += i; return n; } };
// ---- objects that are called, and members that are defined outside of their class
template <int N> struct adds {
  int v;
  __device__ int operator()(int n) const { for (int i = 0; i < n; i++) n ^= v + i * N; return n; }
  template <class T> __device__ T operator()(T n, int times) { for (int i = 0; i < times; i++) n += T(i * v); return n; }
};
struct nothing { __device__ int operator()() { int n = 3; for (int i = 0; i < 5; i++) n *= 3; return n; } };
template <class T, int N> class outside {
  T v = N; int unused = 0; // a comment (with a bracket
public:
  __device__ T turn(T n, int times = 3); [[nodiscard]] static __device__ int of_class(int n);
  template <class U> DEVICE U any(U n);
  __device__ T operator()(T n) const;
};
template <class T, int N> __device__ T outside<T, N>::turn(T n, int times) { for (int i = 0; i < times; i++) n += v * i; return n + (*this)(n & 3); }
template <class T, int N> __device__ int outside<T, N>::of_class(int n) { for (int i = 0; i < n; i++) n ^= i; return n; }
template <class T, int N> template <class U> DEVICE U outside<T, N>::any(U n) { for (U i = 0; i < 3; i++) n += i; return n; }
template <class T, int N>
__device__ T outside<T, N>::operator()(T n) const {
  for (T i = 0; i < n; i++)
    n ^= v + i;
  return n;
}
struct plain { __device__ int turn(int n); };
__device__ int plain::turn(int n) { for (int i = 0; i < 4; i++) n += i; return n; }
template <class Op> __device__ int applies(Op op, int n) { return op(n) + 1; }
template <class Op> __global__ void objects(int *x) {
  const int t = threadIdx.x & 7;
  Op op{3}, ops[2] = {{1}, {2}};
  int y = op(t) + ops[t & 1](t) + Op{5}(t + 1) + nothing()() + applies(op, t);
  y += op(t, 4) + op.operator()(t);
  outside<int, 2> o;
  plain p;
  y += o.turn(t) + o.turn(t, 2) + o.of_class(t) + o.any(t) + o.template any<int>(t) + p.turn(t);
  x[threadIdx.x] += y;
}
// ---- heads that macros make in part: words that may stand twice, and others
#define OF_DEVICE DEVICE // of a macro too
#define RESULT int
OF_DEVICE RESULT by_words(int n) { for (int i = 0; i < n; i++) n += i; return n; }
#define IN_C extern "C" __device__
#define APART __noinline__
#define OF_APART __device__ APART
#define PACKED(n) __attribute__((aligned(n)))
#define OF_PACKED PACKED(16)
#define ANY template <class T>
IN_C int words_in_c(int n) { for (int i = 0; i < n; i++) n += i; return n; }
OF_APART int words_apart(int n) { for (int i = 0; i < n; i++) n -= i; return n; }
OF_PACKED __device__ int words_packed(int n) { for (int i = 0; i < n; i++) n ^= i; return n; }
ANY __device__ T words_any(T n) { for (int i = 0; i < n; i++) n ^= i; return n; }
__global__ void headed(int *x) {
  const int t = threadIdx.x & 7;
  x[threadIdx.x] += by_words(t) + words_in_c(t) + words_apart(t) + words_packed(t) + words_any(t);
}
// ---- for callers without one too
__device__ int taken(int n) { for (int i = 0; i < 2; i++) n += i; return n; }
__device__ int in_lambda(int n) { for (int i = 0; i < 3; i++) n += i; return n; }
__device__ int in_macro(int n) { for (int i = 0; i < 4; i++) n += i; return n; }
__device__ int below(int n) { for (int i = 0; i < 5; i++) n += i; return n; }
__device__ __noinline__ int apart(int n) { for (int i = 0; i < 2; i++) n += below(i); return n; }
__global__ void others(int *x) {
  int (*f)(int) = threadIdx.x & 1 ? taken : in_macro;
  auto lambda = [](int n) { return in_lambda(n) + 1; };
  int y = taken(2) + in_lambda(3) + CALLED(in_macro, 3) + in_macro(2);
  y += apart(2) + below(3);
  x[threadIdx.x] += y + f(2) + lambda(3);
}
// ---- what cannot have one
struct base {
  __device__ virtual int turn(int n) { for (int i = 0; i < 2; i++) n += i; return n; }
};
struct derived : base {
  __device__ int turn(int n) override { for (int i = 0; i < 3; i++) n -= i; return n; }
};
class keeper {
  int secret = 3;
  friend __device__ int looks_in(const keeper &k, int n);
};
__device__ int looks_in(const keeper &k, int n) { for (int i = 0; i < n; i++) n ^= k.secret; return n; }
__device__ int declared(int n);
__device__ int recursive(int n) { for (int i = 0; i < 2; i++) n += i; return n > 40 ? n : recursive(n + 9); }
__device__ int lasting(int n) { static int calls = 0; for (int i = 0; i < 2; i++) n += i; return n + 0 * calls++; }
__device__ int in_shared(int n) { __shared__ int all[64]; for (int i = 0; i < 2; i++) all[threadIdx.x] = n + i; return all[threadIdx.x]; }
__device__ int named_itself(int n) { for (int i = 0; i < 2; i++) n += __func__[i]; return n; }
MAKE_HEAD(by_macro) { for (int i = 0; i < 2; i++) n += i; return n; }
template <class T> __device__ T special(T n) { for (int i = 0; i < 2; i++) n += i; return n; }
template <> __device__ int special<int>(int n) { for (int i = 0; i < 2; i++) n -= i; return n; }
namespace deeper { __device__ int brought(int n) { for (int i = 0; i < 2; i++) n += i; return n; } }
using deeper::brought;
extern "C" __device__ int in_c(int n) { for (int i = 0; i < 2; i++) n += i; return n; }
__device__ int defines(int n) {
#define CONTEXTS_STEP 2
  for (int i = 0; i < CONTEXTS_STEP; i++) n += i;
#undef CONTEXTS_STEP
  return n;
}
__global__ void refused(int *x) {
  const int t = threadIdx.x;
  derived d;
  base *b = &d;
  keeper k;
  int y = b->turn(t) + looks_in(k, t & 3) + declared(t) + recursive(t) + lasting(t) + in_shared(t);
  y += named_itself(t) + by_macro(t) + special(t) + (int)special(1.5f) + brought(t) + in_c(t) + defines(t);
  struct local { __device__ int get(int n) { for (int i = 0; i < 2; i++) n += i; return n; } } in;
  x[t] += y + in.get(t) + tile()(t & 3);
}
__device__ int declared(int n) { for (int i = 0; i < 2; i++) n += i; return n; }
inline void run() {
  check<int>("contexts.given", [](int *x) { given<<<1, 64>>>(x); });
  check<int>("contexts.decided", [](int *x) { decided<by_one><<<1, 64>>>(x); decided<by_two><<<1, 64>>>(x); });
  check<int>("contexts.objects", [](int *x) { objects<adds<3>><<<1, 64>>>(x); });
  check<int>("contexts.headed", [](int *x) { headed<<<1, 64>>>(x); });
  check<int>("contexts.others", [](int *x) { others<<<1, 64>>>(x); });
  check<int>("contexts.refused", [](int *x) { refused<<<1, 64>>>(x); });
}
} // namespace contexts
