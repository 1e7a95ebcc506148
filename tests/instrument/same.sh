#!/bin/bash
# SPDX-License-Identifier: MIT
# same.sh INKMARK NVCC SIM BIN RULES: compiles every case without and with marks, through the front,
# runs both on the simulated device and compares what they print and what the compiler warns of.
# RULES: default, every, held and strict (values held, both sides without fused multiply-adds).
set -u
inkmark=$1 nvcc=$2 sim=$3 bin=$4 rules=$5
here=$(cd "$(dirname "$0")" && pwd)
cd "$here" || exit 1
mkdir -p "$bin"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export LD_LIBRARY_PATH=$sim INKMARK_SIM_SEED=1 INKMARK_STRICT=1 INKMARK_QUIET=1 TMPDIR=$work
flags=(-cudart shared -arch=compute_75 -std=c++17 -extended-lambda -Xcompiler -Wall,-Wextra -I. -I../../device)
case $rules in
default) export INKMARK_RULES="--root . --hold none" ;;
every) export INKMARK_RULES="--root . --hold none --calls --loops --waits --rows --depth 8" ;;
held) export INKMARK_RULES="--root . --calls --loops --waits --depth 8" ;;
strict) export INKMARK_RULES="--root . --hold strict --calls --loops --waits --depth 8" ;;
*) exit 2 ;;
esac
[ "$rules" = held ] || [ "$rules" = strict ] && flags+=(-fmad=false)
fail() {
  echo "FAILED: $*"
  exit 1
}
"$nvcc" "${flags[@]}" -DINKMARK_DISABLE all.cu -o "$work/before" 2>"$work/before.err" ||
  { cat "$work/before.err"; fail "the cases do not compile"; }
"$inkmark" nvcc "$nvcc" "${flags[@]}" -MD -MF "$work/d" all.cu -o "$work/after" 2>"$work/after.err" ||
  { cat "$work/after.err"; fail "the marked cases do not compile"; }
diff -u "$work/before.err" "$work/after.err" || fail "other warnings"
grep -q "$here/cases/control.cu" "$work/d" || fail "dependencies do not name the user's files"
grep -q "$work/inkmark" "$work/d" && fail "dependencies name files of ours"
"$work/before" >"$work/before.out" || fail "the program fails"
"$work/after" >"$work/after.out" || fail "the marked program fails"
diff -u "$work/before.out" "$work/after.out" || fail "other results"
grep -c "no error" "$work/before.out"
"$inkmark" record --device sim -o "$work/run.ink" -- "$work/after" >"$work/recorded.out" 2>"$work/record.err" ||
  { cat "$work/record.err"; fail "recording"; }
diff -u "$work/before.out" "$work/recorded.out" || fail "other results while recording"
"$inkmark" report "$work/run.ink" >"$work/report" || fail "the report"
for name in 'kernel returns (cases/control.cu:' 'kernel jumps (cases/control.cu:' 'kernel Solver' \
  'kernel directed (cases/waits.cu:' 'kernel nested (cases/control.cu:' 'for a < n (cases/control.cu:'; do
  grep -qF "$name" "$work/report" || { cat "$work/report"; fail "the report lacks '$name'"; }
done
exit 0
