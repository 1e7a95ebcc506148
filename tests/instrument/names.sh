#!/bin/bash
# SPDX-License-Identifier: MIT
# names.sh INKMARK NVCC SIM: sections named by statements with commas, quotes, backslashes, `<` and UTF-8 come out
# of every output as they went in.
set -u
inkmark=$1 nvcc=$2 sim=$3
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export LD_LIBRARY_PATH=$sim INKMARK_SIM_SEED=1 INKMARK_STRICT=1 TMPDIR=$work
cd "$here" || exit 1
fail() { echo "FAILED: $*"; exit 1; }
for std in 14 17; do # the host compiler knows trigraphs by the former
  INKMARK_RULES="--root . --lines --kernel ^names$" "$inkmark" nvcc "$nvcc" -cudart shared -arch=compute_75 \
    -std=c++$std names.cu -o "$work/app" 2>"$work/err" || { cat "$work/err"; fail "does not compile as C++$std"; }
  "$inkmark" record --device sim -o "$work/run$std.ink" -- "$work/app" >"$work/out" 2>"$work/err" ||
    { cat "$work/err"; fail "recording"; }
done
cd "$work" || exit 1
for std in 14 17; do
  "$inkmark" report run$std.ink >report$std || fail "report"
  "$inkmark" report --format json run$std.ink >report.json || fail "report --format json"
  "$inkmark" report --format csv run$std.ink >report.csv || fail "report --format csv"
  "$inkmark" info --format json run$std.ink >info.json || fail "info --format json"
  for output in perfetto.pftrace chrome.json csv.csv json.json html.html; do # format.ending
    rm -rf "export.$output"
    "$inkmark" export -f "${output%.*}" -o "export.$output" run$std.ink >/dev/null 2>err || { cat err; fail "export $output"; }
  done
  python3 "$here/names.py" "$here/names.cu" report$std report.json report.csv info.json export.* || fail "C++$std"
done
