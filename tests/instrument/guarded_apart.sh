#!/bin/bash
# SPDX-License-Identifier: MIT
# guarded_apart.sh INKMARK NVCC SIM: a kernel that spills without marks keeps those outside of its loops, and its roles. It has no byte of
# stack more in the machine code. Each warp's track is closed, with what each role calls, and the results are those of the plain program.
. "$(dirname "$0")/recorded.sh" "$@"
code='-cudart shared -gencode arch=compute_80,code=[sm_80,compute_80] -Xptxas -v'
env -u LD_PRELOAD "$nvcc" $code guarded_apart.cu -o "$work/plain" 2>"$work/plain.err" || fail 'the plain program'
env -u LD_PRELOAD "$inkmark" nvcc "$nvcc" $code guarded_apart.cu -o "$work/app" 2>"$work/err" ||
  { cat "$work/err"; fail 'does not compile'; }
grep -q "2 roles, [0-9]* sections; guard: 'products' has no marks in loops, and those outside take no registers: it would spill" "$work/err" ||
  { cat "$work/err"; fail 'the guard'; }
spilled() { grep -A2 "entry function '_Z8products" "$1" | awk '/bytes stack frame/ { print $1, $5 + $9 }'; }
read -r stack bytes <<<"$(spilled "$work/plain.err")"
read -r stack_now bytes_now <<<"$(spilled "$work/err")"
echo "stack $stack, then $stack_now; spilled $bytes, then $bytes_now"
[ "$bytes" -gt 0 ] && [ "$bytes_now" -le "$bytes" ] && [ "$stack_now" -le "$stack" ] || fail 'spills'
"$inkmark" record --device sim -o "$work/run.ink" -- "$work/app" >"$work/out" 2>&1 || { cat "$work/out"; fail recording; }
"$inkmark" record --device sim -o "$work/none.ink" -- "$work/plain" >"$work/expected" 2>/dev/null
said() { grep -E '^[0-9]+$' "$1"; }
[ -n "$(said "$work/out")" ] && [ "$(said "$work/out")" = "$(said "$work/expected")" ] || fail "$(cat "$work/out" "$work/expected")"
cd "$work" || exit 1
"$inkmark" report run.ink >text && "$inkmark" report --format csv run.ink >sections.csv && "$inkmark" report --by role run.ink >roles || fail report
cat text roles
grep -qw 'open' text && fail 'a track is open'
python3 - <<'P' || { cat sections.csv; fail 'the sections'; }
import csv
counts = {row['section'].split(' (')[0]: int(row['count']) for row in csv.DictReader(open('sections.csv'))}
want = {'clear': 64, '__syncthreads': 64, 'product': 32, 'twice': 32, 'for i < n * 512': 32}  # 2 blocks of 32 warps, half of them in each role
got = {name: counts.get(name) for name in want}
assert got == want, counts
P
exit 0
