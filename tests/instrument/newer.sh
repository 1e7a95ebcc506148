#!/bin/bash
# SPDX-License-Identifier: MIT
# newer.sh INKMARK NVCC SIM: the waits of newer targets, which the simulated device has in part: what it
# has runs with the same results before and after; of all, the PTX holds the same waits.
set -u
inkmark=$1 nvcc=$2 sim=$3
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export LD_LIBRARY_PATH=$sim INKMARK_SIM_SEED=1 INKMARK_STRICT=1 TMPDIR=$work
export INKMARK_QUIET=1 INKMARK_RULES="--root . --calls --loops --waits --depth 8"
cd "$here" || exit 1
printf '#include "check.cuh"\n#include "cases/newer.cu"\nint main() { newer::run(); }\n' >"$work/main.cu"
flags=(-cudart shared -arch=compute_90 -std=c++17 -fmad=false -I.)
fail() { echo "FAILED: $*"; exit 1; }
waits() {
  grep -oE '^\s+(@\S+\s+)?(bar\.sync|barrier\.sync|bar\.warp\.sync|barrier\.cluster\.wait|mbarrier\.(try|test)_wait|cp\.async\.wait_(all|group)|griddepcontrol\.wait)' "$1" |
    sed 's/^\s*//; s/^@\S*\s*//' | sort | uniq -c
}
"$nvcc" "${flags[@]}" "$work/main.cu" -o "$work/before" 2>"$work/before.err" || fail "does not compile"
"$inkmark" nvcc "$nvcc" "${flags[@]}" "$work/main.cu" -o "$work/after" 2>"$work/after.err" ||
  { cat "$work/after.err"; fail "does not compile with marks"; }
diff "$work/before.err" "$work/after.err" || fail "other warnings"
"$work/before" >"$work/before.out" || fail "the program fails"
"$inkmark" record --device sim -o "$work/run.ink" -- "$work/after" >"$work/after.out" 2>"$work/err" ||
  { cat "$work/err"; fail "recording"; }
diff -u "$work/before.out" "$work/after.out" || fail "other results"
"$inkmark" report "$work/run.ink" >"$work/report" || fail "the report"
for row in 'wait (cases/newer.cu:18)' 'arrive_and_wait (cases/newer.cu:19)' 'consumer_wait (cases/newer.cu:36)' \
  'barrier_wait (cases/newer.cu:24)' '__pipeline_wait_prior (cases/newer.cu:41)' 'cp.async.wait (cases/newer.cu:42)'; do
  grep -qF "$row" "$work/report" || { cat "$work/report"; fail "the report lacks '$row'"; }
done
"$nvcc" "${flags[@]}" -ptx "$work/main.cu" -o "$work/before.ptx" 2>/dev/null || exit 1
"$inkmark" nvcc "$nvcc" "${flags[@]}" -ptx "$work/main.cu" -o "$work/after.ptx" 2>/dev/null || exit 1
waits "$work/before.ptx" >"$work/before.waits"
waits "$work/after.ptx" >"$work/after.waits"
cat "$work/before.waits"
[ "$(wc -l <"$work/before.waits")" -ge 5 ] || fail "the waits of the PTX were not found"
diff -u "$work/before.waits" "$work/after.waits" || fail "other waits in the PTX"
