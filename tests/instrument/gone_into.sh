#!/bin/bash
# SPDX-License-Identifier: MIT
# gone_into.sh INKMARK NVCC SIM: the default marks what a kernel's pipeline does inside of the functions that it calls: their waits, by
# role, as sums of the loop around the call, as sums of their own loop, and, where the guard leaves no sums, as rows. Counts
# are those of the program, and its results are the plain program's.
. "$(dirname "$0")/recorded.sh" "$@"
code='-cudart shared -std=c++17 -gencode arch=compute_90,code=[sm_90,compute_90]'
said() { grep -vE '^inkmark:' "$1"; }
env -u LD_PRELOAD "$nvcc" $code gone_into.cu -o "$work/plain" || fail 'the plain program'
"$inkmark" record --device sim -o "$work/none.ink" -- "$work/plain" >"$work/expected" 2>/dev/null
for guard in off fix; do
  INKMARK_GUARD=$guard env -u LD_PRELOAD "$inkmark" nvcc "$nvcc" $code -Xptxas -v gone_into.cu -o "$work/app" 2>"$work/err" ||
    { cat "$work/err"; fail "$guard: does not compile"; }
  grep -E '[1-9][0-9]* bytes (stack|spill)' "$work/err" && fail "$guard: the kernel's cursor is in memory"
  "$inkmark" record --device sim -o "$work/$guard.ink" -- "$work/app" >"$work/out" 2>"$work/log" || { cat "$work/log"; fail "$guard: recording"; }
  [ -n "$(said "$work/out")" ] && [ "$(said "$work/out")" = "$(said "$work/expected")" ] || fail "$guard: $(cat "$work/out" "$work/expected")"
  "$inkmark" report --format csv "$work/$guard.ink" >"$work/$guard.csv" &&
    "$inkmark" report --by role --format csv "$work/$guard.ink" >"$work/$guard.roles.csv" || fail "$guard: report"
done
grep -q "guard: 'persistent' has no marks in loops but waits" "$work/err" || { cat "$work/err"; fail 'the guard'; }
cd "$work" || exit 1
python3 - <<'P' || { cat ./*.csv; fail 'the tables'; }
import csv
def counts(name):
    return {row['section'].split(' (')[0]: int(row['count']) for row in csv.DictReader(open(name)) if row['count']}
tiles, steps = 3, 5
sums, rows = counts('off.csv'), counts('fix.csv')
assert (sums['empty.wait'], sums['full.wait']) == (tiles * steps, tiles * steps), sums
assert (sums['load'], sums['mma'], sums['for tile < tiles']) == (tiles, tiles, 1), sums
assert (sums['sweep'], sums['for i < n: pass'], sums['__syncthreads']) == (2, 80, 80), sums
assert (rows['empty.wait'], rows['full.wait']) == (tiles * steps, tiles * steps), rows
for name in ('off.roles.csv', 'fix.roles.csv'):
    roles = {(row['section'].split(' (')[0], row['group'].split(' (')[0]) for row in csv.DictReader(open(name)) if row['count']}
    assert ('empty.wait', 'warp == 0') in roles and ('full.wait', 'else of warp == 0') in roles, roles
    assert ('full.wait', 'warp == 0') not in roles and ('empty.wait', 'else of warp == 0') not in roles, roles
P
exit 0
