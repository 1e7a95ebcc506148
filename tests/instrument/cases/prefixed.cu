// SPDX-License-Identifier: MIT
// Statements that begin with a macro: a pragma, a namespace, the head of a loop. Marks go before the macro.
#define PREFIXED_UNROLL _Pragma("unroll")
#define PREFIXED_AGAIN PREFIXED_UNROLL
#define PREFIXED_PRAGMA #pragma unroll
#ifdef __clang__
#define PREFIXED_EACH _Pragma("unroll")
#else
#define PREFIXED_EACH #pragma unroll
#endif
#define PREFIXED_NOTHING
#define PREFIXED_NS prefixed::lib
#define PREFIXED_LOOP(i, n) for (int i = threadIdx.x & 1; i < (n); i += 2)
#define PREFIXED_TWO x += 1; lib
#define PREFIXED_WHOLE(i, n)                                                                                           \
  for (int i = 0; i < n; i++)                                                                                          \
  x ^= i
#define PREFIXED_DO(x) _Pragma(#x)
#define PREFIXED_TIMES(n) PREFIXED_DO(unroll n)
#define PREFIXED_BOTH PREFIXED_DO(unroll)
#define PREFIXED_OVER(i, n) PREFIXED_TIMES(1) for (int i = 0; i < (n); ++i)
#define PREFIXED_IF(x) if (x) PREFIXED_TIMES(2)
namespace prefixed {
namespace lib {
__device__ int f(int x) {
  for (int i = 0; i < 8; i++)
    x = x * 3 + i;
  return x;
}
template <bool B = true> __device__ void g(int &x) {
  for (int i = 0; i < 8; i++)
    x = x * 5 + i;
}
} // namespace lib
__global__ void calls(int *p) {
  int x = p[threadIdx.x];
  x = PREFIXED_NS::f(x);
  PREFIXED_NS::g(x);
  PREFIXED_NS::template g<false>(x);
  if (x & 1)
    PREFIXED_NS::g(x);
  if (PREFIXED_NS::f(x) > 3 && PREFIXED_NS::f(x + 1) < 100)
    x++;
  PREFIXED_TWO::g(x);
  p[threadIdx.x] = x;
}
__global__ void loops(int *p, int n) {
  int x = p[threadIdx.x];
  PREFIXED_UNROLL
  for (int i = 0; i < n; ++i)
    x = lib::f(x);
  PREFIXED_AGAIN for (int i = 0; i < n; ++i) { x = lib::f(x + i); }
  x++;
  PREFIXED_PRAGMA
  for (int i = 0; i < n; ++i)
    x = lib::f(x);
  PREFIXED_EACH
  for (int i = 0; i < n; ++i)
    x = lib::f(x - i);
  if (n)
    PREFIXED_NOTHING for (int i = 0; i < n; i++) {
      PREFIXED_UNROLL for (int j = 0; j < 4; j++) x = lib::f(x);
    }
  PREFIXED_LOOP(i, n) { x = lib::f(x + i); }
  for (int i = 0; i < n; i++)
    PREFIXED_LOOP(j, 4) x = lib::f(x + j);
  PREFIXED_WHOLE(k, n);
  p[threadIdx.x] = x;
}
// pragmas that a macro makes of its argument, and loops that it begins behind one
__global__ void arguments(int *p, int n) {
  int x = p[threadIdx.x];
  PREFIXED_TIMES(4)
  for (int i = 0; i < n; ++i) x = lib::f(x);
  if (n > 2) PREFIXED_TIMES(1) for (int i = 0; i < n; ++i) { x = lib::f(x + i); } else x++;
  PREFIXED_BOTH for (int i = 0; i < n; ++i) x = lib::f(x + i);
  PREFIXED_OVER(k, n) { x = lib::f(x + k); }
  PREFIXED_IF(n) for (int i = 0; i < n; ++i) x = lib::f(x - i);
  p[threadIdx.x] = x;
}
inline void run() {
  check<int>("prefixed calls", [](int *p) { calls<<<1, 64>>>(p); });
  check<int>("prefixed loops", [](int *p) { loops<<<1, 64>>>(p, 3); });
  check<int>("prefixed arguments", [](int *p) { arguments<<<1, 64>>>(p, 3); });
}
} // namespace prefixed
