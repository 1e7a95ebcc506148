#!/bin/bash
# SPDX-License-Identifier: MIT
# nested.sh INKMARK NVCC: called functions with the kernel's context are inlined and its cursor is in registers: no function of
# theirs and no local memory is left in the PTX.
set -u
inkmark=$1 nvcc=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cp "$here/nested.cu" "$work" && cd "$work" || exit 1
export INKMARK_STRICT=1 INKMARK_QUIET=1 INKMARK_RULES="--root . --calls --loops --rows --depth 8"
failed=0
"$inkmark" instrument --list nested.cu --root . --calls --loops --rows --depth 8 >list 2>&1 || { cat list; exit 1; }
[ "$(grep -c 'context .*: marked$' list)" = 4 ] || { echo "FAILED: not all have the context"; grep context list; failed=1; }
"$inkmark" nvcc "$nvcc" -arch=compute_80 -ptx nested.cu -o nested.ptx || exit 1
grep -q 'globaltimer' nested.ptx || { echo "FAILED: nothing is marked"; failed=1; }
grep -E '__local_depot|^\.func.*ink_with' nested.ptx && { echo "FAILED: in memory, or not inlined"; failed=1; }
# a macro of the command line in a function's head is looked into as one of the text
cat >head.cu <<'C'
__device__ HEAD int headed(int n) { for (int i = 0; i < n; i++) n ^= i; return n; }
__global__ void k(int *x) { x[0] = headed(3); }
C
while IFS='|' read -r head what; do
  "$inkmark" instrument --list head.cu --root . --loops --depth 2 -- "-DHEAD=$head" >list 2>&1
  grep -qF "context headed: $what" list || { echo "FAILED: with '$head' not '$what'"; cat list; failed=1; }
done <<'W'
__forceinline__|marked
__forceinline__ __attribute__((noinline))|left: it is not inlined
W
# objects that are called, one of them of a library that is not marked: the call gives no context then
mkdir -p project library
cat >library/twice.cuh <<'C'
struct twice { __device__ int operator()(int n) const { for (int i = 0; i < n; i++) n += i & 1; return n; } };
C
cat >project/k.cu <<'C'
#include "../library/twice.cuh"
struct once { __device__ int operator()(int n) const { for (int i = 0; i < n; i++) n ^= i; return n; } };
struct body { __device__ int operator()(int *x) const; };
__device__ int body::operator()(int *x) const { for (int i = 0; i < x[0]; i++) x[i] += x[i + 1]; return x[2]; }
template <class Op> __global__ void mixed(int *x) { Op op; x[0] = op(x[1]); }
template <class Op> __global__ void alone(int *x) { Op op; x[0] = op(x); x[1] = op(x + 1); }
void go(int *x) { mixed<once><<<1, 32>>>(x); mixed<twice><<<1, 32>>>(x); alone<body><<<1, 32>>>(x); }
C
export INKMARK_RULES="--root project --calls --loops --rows --depth 8"
"$inkmark" instrument --list project/k.cu $INKMARK_RULES >list 2>&1
grep -qF "context operator(): left: another instance calls a function outside of the project there" list ||
  { echo "FAILED: the call of a library's object"; cat list; failed=1; }
grep -qE "k.cu:4:[0-9]+: context operator\(\): marked$" list || { echo "FAILED: the object that is defined outside of its class"; cat list; failed=1; }
"$inkmark" nvcc "$nvcc" -arch=compute_80 -ptx project/k.cu -o objects.ptx || { echo "FAILED: objects do not compile"; failed=1; }
sed -n '/entry .*alone/,/^}/p' objects.ptx >alone.ptx
grep -q globaltimer alone.ptx || { echo "FAILED: 'alone' has no track"; failed=1; }
grep -E '__local_depot' alone.ptx && { echo "FAILED: the object's marks have their cursor in memory"; failed=1; }
exit $failed
