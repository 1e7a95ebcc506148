#!/bin/bash
# SPDX-License-Identifier: MIT
# lines.sh INKMARK NVCC SIM: kernels marked line by line compute what they did, and the report has a row
# for each of their lines.
set -u
inkmark=$1 nvcc=$2 sim=$3
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export LD_LIBRARY_PATH=$sim INKMARK_SIM_SEED=1 INKMARK_STRICT=1 TMPDIR=$work
cd "$here" || exit 1
printf '#include "check.cuh"\n#include "cases/control.cu"\nint main() { control::run(); }\n' >"$work/main.cu"
flags=(-cudart shared -arch=compute_75 -std=c++17 -fmad=false -I.)
fail() { echo "FAILED: $*"; exit 1; }
"$nvcc" "${flags[@]}" "$work/main.cu" -o "$work/before" || exit 1
"$work/before" >"$work/before.out" || fail "the program fails"
for kernel in returns cases nested; do
  INKMARK_RULES="--root . --lines --kernel ^$kernel\$" "$inkmark" nvcc "$nvcc" "${flags[@]}" "$work/main.cu" \
    -o "$work/after" || fail "$kernel does not compile"
  "$inkmark" record --device sim -o "$work/$kernel.ink" -- "$work/after" >"$work/after.out" 2>"$work/err" ||
    { cat "$work/err"; fail "recording $kernel"; }
  diff -u "$work/before.out" "$work/after.out" || fail "other results of $kernel"
done
"$inkmark" report "$work/returns.ink" >"$work/report" || fail "the report"
for row in 'kernel returns (cases/control.cu:18)' 'for (int k = 0; k < 4; k++) (cases/control.cu:21)' \
  'x[i] += early(x[i]) (cases/control.cu:23)' 'x[i] += 1 (cases/control.cu:31)'; do
  grep -qF "$row" "$work/report" || { cat "$work/report"; fail "the report lacks '$row'"; }
done
