#!/bin/bash
# SPDX-License-Identifier: MIT
# bounds.sh INKMARK COUNT: tests/corpus.sh --bounds holds where it should, and says what does not: a kernel without marks,
# a call in no section. Processor time is left out: a busy machine changes it.
set -u
inkmark=$1 count=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export TMPDIR=$work CORPUS_COUNT=$count
times="off_median=99 off_worst=99 cold_median=99 cold_worst=99 warm_median=99"
failed=0
fail() { echo "FAILED: $*"; cat "$work/out"; failed=1; }
python3 -c 'import sys; sys.path.insert(0, sys.argv[1]); import corpus_bounds as b; sys.exit(77 * (not b.find_tool("cuobjdump")))' "$here" ||
  { echo "no cuobjdump"; exit 77; }
mkdir "$work/good" "$work/bad"
cat >"$work/good/k.cu" <<'C'
__device__ int step(int v, int n) {
  for (int i = 0; i < n; i++)
    v = v * 3 + (v >> 2) - (i ^ v) + (v % 7) * (v & 31);
  return v;
}
template <class T> __global__ void k(T *x, int n) {
  for (int i = 0; i < n; i++) {
    x[i] = step(x[i], n);
    __syncthreads();
  }
  x[0] = step(x[1], n);
}
void go(int *p) {
  k<int><<<1, 32>>>(p, 5);
  k<unsigned><<<1, 32>>>((unsigned *)p, 5);
}
C
{ cat "$work/good/k.cu"; echo '__global__ void unmarked(int *x, int n) { // prof: off'; echo '  x[0] = step(x[1], n);'; echo '}'; } >"$work/bad/k.cu"
bounds() { CORPUS_BOUNDS="$times $2" "$here/../corpus.sh" --bounds "$work/$1" "$inkmark" >"$work/out" 2>&1; }
bounds good registers_p90=99 || fail "the bounds of the good source do not hold"
grep -q "2 entries" "$work/out" || fail "not both instances are seen"
grep -q "not trivial: 4, in a section 4" "$work/out" || fail "the calls and the loop of the kernel"
mkdir "$work/unnamed" && { echo 'namespace {'; sed '/^void go/i }' "$work/good/k.cu"; } >"$work/unnamed/k.cu"
bounds unnamed registers_p90=99 && grep -q "2 entries" "$work/out" || fail "kernels in an unnamed namespace are not found again"
bounds good registers_p90=-1 && fail "no bound is too low"
grep -q "bound registers_p90 .* DOES NOT HOLD" "$work/out" || fail "the registers are not said"
bounds bad registers_p90=99 && fail "a kernel without marks is none"
grep -q "^unstamped *k.cu: unmarked" "$work/out" || fail "the kernel without a clock read is not named"
grep -q "^in no section *k.cu:18:10 call" "$work/out" || fail "the call in no section is not named"
exit $failed
