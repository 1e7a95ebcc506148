// SPDX-License-Identifier: MIT
// flags: -std=c++14
// lists: :66:1: call helper in included: left: is in a file that is included here
// lists: :70:1: loop for in included: left: is in a file that is included here
// Low down: inline PTX with labels and clobbers, assumptions, macros in macros, includes in bodies, conditionals in
// the middle of statements, labels, volatile, line continuations, digraphs.
#include "../check.cuh"
#include "old_style.h"

#define CONCAT_(a, b) a##b
#define CONCAT(a, b) CONCAT_(a, b)
#define UNIQUE(name) CONCAT(name##_, __LINE__)
#define REPEAT2(what) what what
#define REPEAT4(what) REPEAT2(REPEAT2(what))
#define FOR_EACH(i, n) for (int i = 0, UNIQUE(end) = (n); i < UNIQUE(end); i++)
#define IF_BIG(v, then) do { if ((v) > 10) { then; } else (void)0; } while (0)
#define KERNEL(name, ...) __global__ void name(__VA_ARGS__)
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define BEGIN {
#define END }

namespace odd {
__device__ int helper(int n) { int s = n; for (int i = 0; i < 3; i++) s += i; return s; }
__device__ __noinline__ int far(int n) { volatile int s = n; while (s > 9) s = s - 3; return s; }
__device__ unsigned lane() { unsigned l; asm("mov.u32 %0, %%laneid;" : "=r"(l)); return l; }
__device__ int skip(int v) {
  int r;
  asm volatile("{\n\t.reg .pred p;\n\tsetp.gt.s32 p, %1, 10;\n\tmov.s32 %0, 1;\n\t@p bra DONE_%=;\n\tadd.s32 %0, %0, %1;\nDONE_%=:\n\t}"
               : "=r"(r) : "r"(v) : "memory");
  return r;
}
__global__ void ptx(int *x) {
  int i = threadIdx.x, y = 0;
  for (int k = 0; k < 2; k++) x[i] += skip(x[i]) + skip(k);
  asm volatile("add.s32 %0, %1, %2;" : "=r"(y) : "r"(x[i]), "n"(3) : "memory");
  asm("" : "+r"(y) :: "memory");
  asm volatile("membar.cta;" ::: "memory");
  asm volatile("bar.sync 0;");
  __asm__ __volatile__ ("mad.lo.s32 %0, %0, %1, %2;" : "+r" (y) : "r" (helper(2)), "r" (y));
  for (;;) { asm volatile("add.s32 %0, %0, 1;" : "+r"(y)); if (y > 20 + int(lane() & 1)) break; }
  x[i] += y;
}
__global__ void assumed(int *__restrict__ x) {
  const int i = threadIdx.x;
  __builtin_assume(i >= 0 && i < 64);
  if (x[i] < 0) __builtin_unreachable();
  int *p = (int *)__builtin_assume_aligned(x, 16);
  if (__builtin_expect(far(p[i]) > 3, 1)) p[i] += far(2);
  p[i] += __builtin_expect(helper(p[i]), 7) ? helper(1) : far(1);
  p[i] ^= __popc(helper(p[i])) + __ffs(far(p[i])) + min(helper(3), far(4)) + MIN(helper(1), helper(2));
}
KERNEL(macros, int *x) {
  int i = threadIdx.x;
  FOR_EACH(a, 3) FOR_EACH(b, 2) x[i] += a * helper(b);
  IF_BIG(x[i], x[i] = helper(x[i]); x[i]++);
  IF_BIG(helper(x[i]), FOR_EACH(k, 2) x[i] -= far(k));
  REPEAT4(x[i] += helper(1);)
  if (x[i] > 3) BEGIN x[i] += far(x[i]); END
  else BEGIN x[i]--; END
  x[i] += CONCAT(hel, per)(4) + (helper)(5) + (*&far)(6);
}
__global__ void included(int *x) {
  int i = threadIdx.x;
  {
#define PART 3
#include "part.inc"
  }
  if (x[i] > 2) {
#define PART 2
#include "part.inc"
  } else
    x[i] = helper(2);
  x[i] += helper(x[i]
#if defined(NEVER)
                 + far(1)
#else
                 + far(2)
#endif
  );
#if __CUDA_ARCH__ >= 750
  for (int k = 0; k < 2; k++)
#else
  for (int k = 0; k < 2; k++, x[i]++)
#endif
    x[i] += helper(k);
  node_t list[NODES] = {NODE_INIT(1, list + 1), NODE_INIT(x[i], list + 2), NODE_INIT(3, list + 3), NODE_INIT(4, 0)};
  x[i] += node_total(list) + node_total((&list[2]));
}
__global__ void jumps(int *x) {
  int i = threadIdx.x, n = 0;
  volatile int *v = x;
top: if (n++ < 2) { v[i] = v[i] + helper(n); goto top; }
  switch (x[i] & 3) case 1: case 2: x[i] += helper(1);
  switch (x[i] % 3) { int k; case 0: k = helper(2); x[i] += k; break; default: for (k = 0; k < 2; k++) { case 1: x[i] += far(3); } }
  if (x[i] > 5) goto out; else { ; }
  for (int a = 0; a < 2; a++) for (int b = 0; ; b++) { if (b > a) goto next; if (x[i] > 90) goto out; x[i] += helper(b); next: ; if (b > a) break; }
out:
  do x[i] += far(1); while (x[i] < helper(4));
  while (x[i] > 50) if (x[i] & 1) x[i] -= helper(3); else x[i] /= 2;
  for (int k = 0; k < 3; k++) ; for (int k = 0; k < 2; k++) { } for (int k = 0; k < 2; k++) { x[i] += helper(k); \
    x[i]--; } x[i] += helper(
      1), x[i] -= far(2); ;
  int t<:2:> = <%helper(1), far(2)%>; x[i] += t<:0:> + t[1];
  x[i] += sizeof(int[2]) + sizeof helper(3);
}
extern "C" __global__ void __launch_bounds__(64) plain_c(int *x) { int i = threadIdx.x; if (i < 60) { x[i] += helper(i); return; } x[i] = far(i); }
static __global__ void
__launch_bounds__(64, 1)
spread
  (
  int *x
  )
{
  const int i
    = threadIdx.x
    ;
  for
    (
    int k = 0;
    k < 2;
    ++k
    )
    x
      [i]
      += helper
        (k)
        ;
  if (x[i] > 3) { x[i] += helper(1); } /* a comment */ else /* another */ x[i] += far(1); // the last
} // spread
} // namespace odd

int main() {
  check<int>("ptx", [](int *x) { odd::ptx<<<1, 64>>>(x); });
  check<int>("assumed", [](int *x) { odd::assumed<<<1, 64>>>(x); });
  check<int>("macros", [](int *x) { odd::macros<<<1, 64>>>(x); });
  check<int>("included", [](int *x) { odd::included<<<1, 64>>>(x); });
  check<int>("jumps", [](int *x) { odd::jumps<<<1, 64>>>(x); });
  check<int>("plain_c", [](int *x) { odd::plain_c<<<1, 64>>>(x); });
  check<int>("spread", [](int *x) { odd::spread<<<1, 64>>>(x); });
}
