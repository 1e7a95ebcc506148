#!/bin/bash
# SPDX-License-Identifier: MIT
# guarded_rows.sh INKMARK NVCC SIM: a kernel without registers for sums keeps the waits of its loop and its passes as rows of two stamps each:
# as many as the loop has passes, the loop around it as a range, and what it calls outside of the loops. No spill in the machine code, and the results of the plain program.
. "$(dirname "$0")/recorded.sh" "$@"
code='-cudart shared -gencode arch=compute_80,code=[sm_80,compute_80]'
env -u LD_PRELOAD "$nvcc" $code guarded_rows.cu -o "$work/plain" || fail 'the plain program'
env -u LD_PRELOAD "$inkmark" nvcc "$nvcc" $code -Xptxas -v guarded_rows.cu -o "$work/app" 2>"$work/err" ||
  { cat "$work/err"; fail 'does not compile'; }
grep -q "guard: 'product' has no marks in loops but waits: it would spill [0-9]* bytes more" "$work/err" ||
  { cat "$work/err"; fail 'the guard'; }
grep -A2 "entry function '_Z7product" "$work/err" | grep -q ' 0 bytes spill stores, 0 bytes spill loads' ||
  { cat "$work/err"; fail 'spills are left'; }
"$inkmark" record --device sim -o "$work/run.ink" -- "$work/app" >"$work/out" 2>&1 || { cat "$work/out"; fail recording; }
"$inkmark" record --device sim -o "$work/none.ink" -- "$work/plain" >"$work/expected" 2>/dev/null
said() { grep -E '^[0-9]+$' "$1"; }
[ -n "$(said "$work/out")" ] && [ "$(said "$work/out")" = "$(said "$work/expected")" ] || fail "$(cat "$work/out" "$work/expected")"
cd "$work" || exit 1
"$inkmark" report run.ink >text && "$inkmark" report --by iteration --format csv run.ink >rows.csv || fail report
cat text
grep -q '^  marks: what they cost in tracks of rows was not measured, and is in the times' text || fail 'what the marks cost'
grep 'taken out' text && fail 'a cost that was not measured is taken out'
python3 - <<'P' || { cat rows.csv; fail 'the table'; }
import csv
rows = [row for row in csv.DictReader(open('rows.csv'))]
waits = {(row['section'].split(':')[-1].rstrip(')'), row['group']) for row in rows if row['section'].startswith('__syncthreads')}
assert waits == {(line, str(i)) for line in ('23', '28') for i in range(5)}, waits
passes = {row['group']: int(row['total_cycles']) for row in rows if row['section'].startswith('for step < n: pass')}
assert set(passes) == {str(i) for i in range(5)} and min(passes.values()) > 10000, passes
around = [(row['count'], int(row['total_cycles'])) for row in rows if row['section'].startswith('for again < times')]
assert len(around) == 1 and around[0][0] == '1' and around[0][1] >= sum(passes.values()), around  # both passes of the loop around
outside = [row['group'] for row in rows if row['section'].startswith('clear')]
assert outside == [''], outside  # in a row without a number
P
exit 0
