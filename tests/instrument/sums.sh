#!/bin/bash
# SPDX-License-Identifier: MIT
# sums.sh INKMARK NVCC SIM: what a loop's last iteration sums is in that iteration's row, and lies in its own
# loop alone, with the default rules and --rows.
set -u
inkmark=$1 nvcc=$2 sim=$3
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export LD_LIBRARY_PATH=$sim INKMARK_SIM_SEED=1 INKMARK_STRICT=1 TMPDIR=$work
cd "$here" || exit 1
fail() { echo "FAILED: $*"; exit 1; }
INKMARK_RULES="--root . --rows" "$inkmark" nvcc "$nvcc" -cudart shared -arch=compute_75 sums.cu -o "$work/app" 2>"$work/err" ||
  { cat "$work/err"; fail 'does not compile'; }
"$inkmark" record --device sim -o "$work/run.ink" -- "$work/app" >"$work/out" 2>&1 || { cat "$work/out"; fail recording; }
cd "$work" || exit 1
"$inkmark" report --by iteration --format csv run.ink >rows.csv || fail report
cat rows.csv
row() { # SECTION'S LINE, ROW: "COUNT TOTAL"
  awk -F, -v "line=(sums.cu:$1)" -v row="$2" 'index($7, line) && $5 == row { print $11, $13 }' rows.csv
}
short=$(row 6 0) long=$(row 6 3)
[ "${short% *}" = 1 ] && [ "$short" = "$(row 6 1)" ] && [ "$short" = "$(row 6 2)" ] || fail "rows 0 to 2 of the first: $short"
[ "${long% *}" = 1 ] && [ "${long#* }" -gt $((50 * ${short#* })) ] || fail "the last row has '$long', the others '$short'"
for i in 0 1 2 3; do
  [ -n "$(row 12 $i)" ] && [ "$(row 12 $i)" = "$(row 12 0)" ] || fail "row $i of the second: $(row 12 $i)"
done
[ -z "$(row 6 '')$(row 12 '')" ] || fail "sums without a row"
"$inkmark" report run.ink >report || fail report
grep -q ', loop' report && { cat report; fail 'a sum in two loops'; }
exit 0
