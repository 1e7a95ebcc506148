#!/bin/bash
# SPDX-License-Identifier: MIT
# bench_front.sh INKMARK NVCC [FILE.cu...]: what `inkmark nvcc` costs a build: processor seconds (user and
# system, with all processes under it; the least of three) of nvcc alone, of the front without and with
# rules, and how large the PTX becomes. Without files: the test suite's program of every construct and
# its project's main file.
set -u
inkmark=$1 nvcc=$2
shift 2
root=$(cd "$(dirname "$0")/../.." && pwd)
[ $# -gt 0 ] || set -- "$root/tests/instrument/all.cu" "$root/tests/instrument/projects/src/main.cu"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export TMPDIR=$work INKMARK_STRICT=1
TIMEFORMAT="%U %S"

# seconds COMMAND...: the least of three, or nothing when it fails
seconds() {
  local least="" now
  for _ in 1 2 3; do
    now=$({ time "$@" >"$work/said" 2>&1 || echo failed >>"$work/failed"; } 2>&1 | awk '{ print $1 + $2 }')
    [ -e "$work/failed" ] && { rm "$work/failed"; sed -n 1,5p "$work/said" >&2; return 1; }
    least=$(awk "BEGIN { print \"$least\" == \"\" || $now < \"$least\" + 0 ? $now : \"$least\" }")
  done
  echo "$least"
}

printf '%-28s %-34s %9s %7s %9s\n' file rules seconds factor "PTX bytes"
row() { # row NAME RULES COMMAND...
  local name=$1 rules=$2 took
  shift 2
  took=$(seconds "$@") || { printf '%-28s %-34s failed\n' "$name" "$rules"; failed=1; return; }
  [ -n "${plain:-}" ] || plain=$took
  printf '%-28s %-34s %9.2f %7.2f %9s\n' "$name" "$rules" "$took" \
    "$(awk "BEGIN { print $took / $plain }")" "$(stat -c %s "$work/out.ptx" 2>/dev/null || echo -)"
  rm -f "$work/out.ptx"
}
failed=0
for file in "$@"; do
  name=$(basename "$file") plain=""
  words=(-ptx -arch=compute_80 -std=c++17 "-I$(dirname "$file")" "-I$root/tests/instrument/projects/include"
    "$file" -o "$work/out.ptx")
  row "$name" "nvcc alone" "$nvcc" "${words[@]}"
  for rules in "--kernels-only" "" "--calls --loops --waits --depth 8"; do
    INKMARK_RULES="--root $root $rules" row "$name" "${rules:-default}" "$inkmark" nvcc "$nvcc" "${words[@]}"
  done
  row "$name" "the rewriter alone, every rule" "$inkmark" instrument "$file" -o "$work/marked.cu" --calls --loops \
    --waits --depth 8 -- "${words[@]}"
done
exit $failed
