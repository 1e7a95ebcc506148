#!/bin/bash
# SPDX-License-Identifier: MIT
# long_loop.sh INKMARK NVCC SIM: with the default rules a loop of 20,000 passes has count, total, least and most of
# its passes and of what is in them, and what stands before and behind it is whole.
set -u
inkmark=$1 nvcc=$2 sim=$3
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export LD_LIBRARY_PATH=$sim INKMARK_SIM_SEED=1 INKMARK_STRICT=1 INKMARK_RULES="--root ." TMPDIR=$work
cd "$here" || exit 1
fail() { echo "FAILED: $*"; exit 1; }
env -u LD_PRELOAD "$inkmark" nvcc "$nvcc" -cudart shared -arch=compute_75 long_loop.cu -o "$work/app" 2>"$work/err" ||
  { cat "$work/err"; fail 'does not compile'; }
"$inkmark" record --device sim -o "$work/run.ink" -- "$work/app" >"$work/out" 2>&1 || { cat "$work/out"; fail recording; }
cd "$work" || exit 1
"$inkmark" report run.ink >text && "$inkmark" report --format csv run.ink >rows.csv || fail report
cat text
python3 - <<'P' || fail 'the table'
import csv
rows = {row['section'].split(' (long_loop.cu:')[0] + ':' + row['section'].split(':')[-1].rstrip(')'): row
        for row in csv.DictReader(open('rows.csv'))}
number = lambda name, what: int(float(rows[name][what]))
wanted = {'for i < m:7': 1, 'for k < n:8': 1, 'for k < n: pass:8': 20000, 'step:9': 20000, '__syncthreads:10': 20000, 'heavy:12': 1}
for name, count in wanted.items():
    assert name in rows, (name, list(rows))
    assert number(name, 'count') == count, (name, rows[name])
one = 'for k < n: pass:8'
assert number(one, 'max_cycles') > 10 * number(one, 'min_cycles'), rows[one] # the last pass
assert number('step:9', 'total_cycles') <= number(one, 'total_cycles') <= number('for k < n:8', 'total_cycles')
P
grep -E 'dropped|not in what was kept|unknown' text && fail 'something was lost'
exit 0
