// SPDX-License-Identifier: MIT
// Macros, pragmas and conditionals: never an edit inside of them, never half of one.
namespace macros {
__device__ int work(int n) { int s = n; for (int i = 0; i < 4; i++) s = s * 5 + i; return s; }
#define WHOLE(name) __global__ void name(int *x) { for (int i = 0; i < 3; i++) x[threadIdx.x] += work(i); }
WHOLE(whole)
#define HEAD(name) __global__ void name(int *x)
#define CALL(v) work(v)
#define EACH(i, n) for (int i = 0; i < n; i++)
#define CHECKED(expression) do { if ((expression) == 12345) return; } while (0)
#define NOTHING_ELSE work(3)
#define TWO(v) work(v); x[t]++
#define VALUE(v) (1 + (v))
#define ADD(to, v) to += (v)
#define TWICE(v) ((v) + (v))
#define TEXT(v) (sizeof(#v) + (v))
#define SIZE(v) (int)sizeof(v)
#define NEVER(v) 4
#define NESTED(v) VALUE(v)
#define LAST(v, ...) ((v) + __VA_ARGS__)
#define GIVEN(v, rest...) (rest)
#define PASTED(v) (v + 1##0)
#define STEP(v) do { v = work(v); v += work(v & 3); } while (0)
#define BLOCK(v) { v = work(v); v += work(v & 1); }
#define LOOP(v, n) for (int i_ = 0; i_ < (n); i_++) v = work(v);
#define LEAVES(v) do { v = work(v); if (v == 12345) return; } while (0)
#define SMALL(v) do { v = v * 3; } while (0)
#define OR_ELSE(v) else v = work(v)
#define WAITS() do { __syncthreads(); asm volatile("bar.sync 1, 64;"); } while (0)
#define BARRIER(id, n) asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(n))
#define BRACED_BARRIER(id) { asm volatile("bar.sync %0, 64;" ::"r"(id)); }
#define BEGIN {
#define END }
#define SEMI ;
HEAD(headed) {
  int t = threadIdx.x;
  x[t] = CALL(x[t]);
  EACH(i, 3) x[t] += work(i);
  CHECKED(work(t));
  x[t] += work(2) SEMI
  for (int i = 0; i < 2; i++) BEGIN x[t] += i; END
  x[t] += work(sizeof("for (;;) { work(1); }"));
}
__global__ void whole_statements(int *x) {
  int t = threadIdx.x;
  NOTHING_ELSE;
  if (t & 1) NOTHING_ELSE; else CALL(4);
  CALL(work(t)) ;
  TWO(5);
  for (int i = 0; i < 2; i++) ADD(x[t], work(i));
  NOTHING_ELSE, x[t]++;
  switch (t) { case 3: NOTHING_ELSE; default: x[t]++; }
}
__global__ void arguments(int *x) {
  int t = threadIdx.x, y = VALUE(work(t)) + VALUE(work(t + 1)), z = 0;
  ADD(y, work(t) * 2 + work(3));
  ADD(z, VALUE(work(t)));
  z += TWICE(work(1)) + TEXT(work(1)) + SIZE(work(1)) + NEVER(work(1)) + NESTED(work(1)) + PASTED(work(1));
  z += LAST(work(1), work(2)) + LAST(t, work(3)) + GIVEN(work(1), work(4)) + VALUE(CALL(2)) + VALUE(work(NOTHING_ELSE));
  if (VALUE(work(y)) > 3 && VALUE( /* first */ work( // then
      z)) != 4) z++;
  x[t] += y + z;
}
__global__ void braced(int *x) BEGIN x[threadIdx.x] += work(1); END
__global__ void pragmas(int *x) {
  int t = threadIdx.x;
#pragma unroll
  for (int i = 0; i < 4; i++) x[t] += work(i);
  if (t & 1)
#pragma unroll 2
    for (int i = 0; i < 4; i++)
      x[t] ^= i;
  _Pragma("unroll") for (int i = 0; i < 3; i++) x[t] += i;
  #pragma unroll 1
  for (int i = 0; i < 2; i++) {
    #pragma unroll
    for (int j = 0; j < 2; j++)
      x[t] += work(i + j); /* comment */ // another
  }
}
__global__ void conditionals(int *x) {
  int t = threadIdx.x;
#if defined(__CUDA_ARCH__)
  for (int i = 0; i < 3; i++) {
#else
  {
#endif
    x[t] += work(t);
  }
  for (int i = 0; i < 2; i++) {
#if 1
    x[t] += work(
#ifdef NEVER
        7
#else
        8
#endif
    );
#endif
  }
#if 0
  x[t] += work(99);
#endif
}
__global__ void statements(int *x, int n) {
  int v = x[threadIdx.x];
  STEP(v);
  BLOCK(v)
  LOOP(v, n)
  LEAVES(v);
  SMALL(v);
  if (n == 4) v++; OR_ELSE(v);
  if (n) STEP(v); else BLOCK(v)
  for (int i = 0; i < n; i++) {
    WAITS();
    BARRIER(1, 64);
    BRACED_BARRIER(2)
    STEP(v);
  }
  x[threadIdx.x] = v;
}
inline void run() {
  check<int>("macros.whole", [](int *x) { whole<<<1, 64>>>(x); });
  check<int>("macros.headed", [](int *x) { headed<<<1, 64>>>(x); });
  check<int>("macros.whole_statements", [](int *x) { whole_statements<<<1, 64>>>(x); });
  check<int>("macros.arguments", [](int *x) { arguments<<<1, 64>>>(x); });
  check<int>("macros.braced", [](int *x) { braced<<<1, 64>>>(x); });
  check<int>("macros.pragmas", [](int *x) { pragmas<<<1, 64>>>(x); });
  check<int>("macros.conditionals", [](int *x) { conditionals<<<1, 64>>>(x); });
  check<int>("macros.statements", [](int *x) { statements<<<1, 64>>>(x, 3); });
}
} // namespace macros
