#!/bin/bash
# SPDX-License-Identifier: MIT
# broken.sh INKMARK: what the full parse, which has the toolkit's headers, says of sources with errors.
set -u
inkmark=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
fail() { echo "FAILED: $*"; cat err; failed=1; }
# says CODE TEXT...: of the source on standard input
says() {
  local code=$1
  shift
  cat >k.cu
  rm -f m.cu
  "$inkmark" instrument k.cu -o m.cu >out 2>err
  [ $? = "$code" ] || fail "the exit code is not $code"
  for text in "$@"; do grep -qF "$text" err || fail "not said: '$text'"; done
}
says 0 "k.cu:1:33: warning: clang says: unknown type name 'strange'" "'k.cu': 1 error in the full parse" \
  "m.cu: 2 kernels" <<'C'
__global__ void first(int *x) { strange y; x[0] = 1; }
__global__ void second(int *x) { x[0] = 2; }
C
says 0 "k.cu:1:10: warning: clang says: 'none.h' file not found" "flags go behind --, or use -p" "m.cu: 1 kernel" <<'C'
#include "none.h"
__global__ void k(int *x) { x[0] = 1; }
C
says 1 "k.cu:3:1: warning: clang says: expected '}'" "no kernel can be marked because of these errors" <<'C'
__global__ void k(int *x) {
  x[0] = 1;

C
[ -e m.cu ] && fail "a file was written that nothing was marked in"
says 0 "'k.cu': 4 errors in the full parse" "m.cu: 1 kernel" <<'C'
__global__ void k(int *x) { a1 b; a2 b2; a3 b3; a4 b4; }
C
[ "$(grep -c 'clang says' err)" = 3 ] || fail "not the first three errors"
# what a condition hides from clang, and may not hide from nvcc
hidden="is not seen: a condition around it names clang, with which it is parsed; nvcc may compile it"
says 0 "k.cu:2:1: warning: the kernel 'first' $hidden" "k.cu:6:20: warning: the kernel 'second' $hidden" "m.cu: 1 kernel" <<'C'
#ifndef __clang__
__global__ void first(int *p) { *p = 1; }
#endif
#if __clang_major__ > 3
#elif 1
template <class T> __global__ void second(T *p) { *p = 1; }
__global__ void declared(int *p);
#endif
#ifndef __clang__
#else
#if 0
__global__ void third(int *p) { *p = 1; }
#endif
#endif
__global__ void seen(int *p) { *p = 1; }
C
[ "$(grep -c 'is not seen' err)" = 2 ] || fail "other kernels are not seen either"
# what nvcc takes is no error, though clang alone calls it one
says 0 "m.cu: 2 kernels" <<'C'
__global__ void k(float *x) {
  extern __shared__ float shared[];
  __shared__ float other[32];
  assert(x);
  shared[threadIdx.x] = x[threadIdx.x] + (float)clock();
  other[threadIdx.x] = shared[0];
  x[0] = other[1];
}
static int least(int a, unsigned b, long c, size_t d, float e, double f) {
  return min(a, 3) + (int)(min(b, 3u) + max(a, b) + min(c, 5l) + max(d, c) + min(e, f) + max(f, 1.0) + max(4ull, 5ll));
}
__global__ void l(int *x, int n) {
  __shared__ alignas(128) int tile[64];
  unsigned rank;
  asm volatile("mov.u32 %0, %clusterid.x;\\n" : "=r"(rank));
  for (int i = 0; i < n; i++) {
    tile[i] = x[i];
    __syncthreads();
  }
  x[0] = min(n, 3) + max(x[1], n) + tile[rank];
}
#if !__NVCC__ || __CUDACC__ != 1 || CUDA_DOUBLE_MATH_FUNCTIONS != 1
#error "nvcc defines them as 1"
#endif
int host(int a) { return least(a, 2, 3, 4, 5, 6); }
C
grep -q 'clang says' err && fail "errors of a source that nvcc compiles"
grep -q 'errors* of the parse' err && fail "errors in a kernel that nvcc compiles"
grep -q 'PROF_SUM_BEGIN(syncthreads' m.cu || fail "what stands behind is not marked"
exit $failed
