#!/bin/bash
# SPDX-License-Identifier: MIT
# odd.sh INKMARK NVCC SIM FILE: a program of its own, of forms that few write, compiled with the flags that it
# names before and after, with every rule on: it compiles with the same warnings, and prints the same on the simulated device, with
# its marks dormant and recorded.
set -u
inkmark=$1 nvcc=$2 sim=$3 file=$4
here=$(cd "$(dirname "$0")" && pwd)
cd "$here" || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export LD_LIBRARY_PATH=$sim INKMARK_SIM_SEED=1 INKMARK_STRICT=1 TMPDIR=$work
export INKMARK_QUIET=1 INKMARK_RULES="--root . --calls --loops --waits --depth 8"
read -ra own <<<"$(sed -n 's#^// flags: ##p' "$file")"
flags=(-cudart shared -arch=compute_75 -fmad=false -Xcompiler "-Wall,-Wextra" "${own[@]}")
fail() {
  echo "FAILED: $*"
  exit 1
}
"$nvcc" "${flags[@]}" "$file" -o "$work/before" 2>"$work/before.err" ||
  { cat "$work/before.err"; fail "'$file' does not compile"; }
"$inkmark" nvcc "$nvcc" "${flags[@]}" "$file" -o "$work/after" 2>"$work/after.err" ||
  { cat "$work/after.err"; fail "the marked '$file' does not compile"; }
# clang takes some of what nvcc takes for an error, and the front says in which kernels: that is no warning of nvcc's
sed -i "/^inkmark: .*: warning: [0-9]* errors\{0,1\} of the parse in '/d" "$work/after.err"
diff -u "$work/before.err" "$work/after.err" || fail "other warnings"
"$work/before" >"$work/before.out" || { cat "$work/before.out"; fail "the program fails"; }
"$work/after" >"$work/after.out" || fail "the marked program fails"
diff -u "$work/before.out" "$work/after.out" || fail "other results"
"$inkmark" record --device sim -o "$work/run.ink" -- "$work/after" >"$work/recorded.out" 2>"$work/record.err" ||
  { cat "$work/record.err"; fail "recording"; }
diff -u "$work/before.out" "$work/recorded.out" || fail "other results while recording"
"$inkmark" report "$work/run.ink" >"$work/report" || fail "the report"
grep -q "^kernel " "$work/report" || fail "nothing was recorded"
grep -E "problem|broken" "$work/report" && fail "the recording has problems"
# every kernel is marked, and its calls, loops and waits are
"$inkmark" instrument --list --calls --loops --waits --depth 8 --root . "$file" -- "${own[@]}" >"$work/list" || fail "--list"
marked=$(grep -c ": marked" "$work/list") left=$(grep -c ": left" "$work/list")
echo "'$file': $marked places marked, $left left alone"
grep "kernel .*: left" "$work/list" && fail "a kernel is left alone"
sed -n 's#^// lists: ##p' "$file" >"$work/wanted" # what the file wants to stand in the list, as regular expressions
while read -r line; do
  grep -qE -- "$line" "$work/list" || fail "the list lacks '$line': $(cat "$work/list")"
done <"$work/wanted"
[ "$marked" -gt 3 ] || fail "hardly anything is marked"
[ -z "${SHOW:-}" ] || { cat "$work/list" "$work/report"; }
exit 0
