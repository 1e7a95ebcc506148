#!/bin/bash
# SPDX-License-Identifier: MIT
# verify.sh INKMARK NVCC ROOT ARCH: compiles the kernels with seeded leaks for one architecture and holds
# what `inkmark verify` says against what is seeded: every leak found, no false alarm, on the examples
# neither.
set -u
inkmark=$1 nvcc=$2 root=$3 arch=$4
. "$root/tests/nvdisasm.sh"
INKMARK_CUOBJDUMP=$(nvidia_tool cuobjdump)
export INKMARK_CUOBJDUMP
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
source=$root/tests/verify/leaks.cu
failures=0
fail() { echo "FAILED sm_$arch: $*"; failures=$((failures + 1)); }
line_of() { grep -n "// $1\$" "$source" | cut -d: -f1; }

"$nvcc" -I "$root/device" -O3 "-arch=sm_$arch" -lineinfo -cubin -o "$work/leaks.cubin" "$source" || exit 1
"$inkmark" verify "$work/leaks.cubin" >"$work/said" 2>"$work/err"
code=$?
[ $code = 3 ] || fail "exit code $code, expected 3: $(cat "$work/err")"
of() { awk -v k="$1" '$1 ~ /^[a-z_A-Z0-9]+$/ && / judged, /{on = $1 == k} on' "$work/said"; }

# leak KERNEL COUNT LINE: that line's instructions are reported as moved, that many of them.
leak() {
  of "$1" | grep -q "moved    leaks.cu:$3: .* x $2\$" || fail "$1: line $3, $2 instructions: $(of "$1")"
}
for kernel in chain_holds call_holds sink_holds memory_holds folded_holds row_holds inner_holds; do
  of $kernel | grep -q "all held" || fail "$kernel: $(of $kernel)"
done
leak chain_leaks 10 "$(line_of 'chain of Second')"
of chain_leaks | grep -q "leaks.cu:$(line_of 'chain of First')" && fail "chain_leaks: First's own chain"
leak sink_leaks 5 "$(line_of 'chain that sinks')"
of sign_leaks | grep -q "moved    leaks.cu:.*: SHF.R.S32.HI x 1\$" || fail "sign_leaks: $(of sign_leaks)"
if [ "$arch" -ge 90 ]; then
  of joined_leaks |
    grep -q "gone     leaks.cu: no instruction of line $(line_of 'joined with the next'), between First .* and Second .*, is left" ||
    fail "joined_leaks: $(of joined_leaks)"
else # the assembler for these targets leaves both operations
  of joined_leaks | grep -q "all held\|held as far as could be judged" || fail "joined_leaks: $(of joined_leaks)"
fi
# The same, where a line has the number of the header's line that stamps: ptxas writes no row for it.
stamps_at=$(grep -n '"n"(INK_I_TAG_BITS(Tag))' "$root/device/inkmark/mark_word.cuh" | cut -d: -f1)
awk -v at=$((stamps_at - 7)) 'BEGIN { print "#include <inkmark/mark.cuh>\nPROF_SECTIONS(Numbers, Kernel, First, Second, Third)"; for (i = 3; i <= at; i++) print "" }
  /void joined_leaks/ { on = 1 } on && n++ < 10' "$source" >"$work/numbers.cu"
[ "$(sed -n "${stamps_at}p" "$work/numbers.cu")" = "  x = x & 0x54321u;" ] || fail "numbers: line $stamps_at: $(sed -n "${stamps_at}p" "$work/numbers.cu")"
"$nvcc" -I "$root/device" -O3 "-arch=sm_$arch" -lineinfo -cubin -o "$work/numbers.cubin" "$work/numbers.cu" || exit 1
"$inkmark" verify "$work/numbers.cubin" >"$work/numbers" 2>&1
grep -q "line $stamps_at" "$work/numbers" && fail "numbers: $(cat "$work/numbers")"
grep -q "not judged" "$work/numbers" || fail "numbers: $(cat "$work/numbers")"
if [ "$arch" -lt 100 ]; then
  of call_leaks | grep -q "leaks.cu:$(line_of 'call of First'): CALL" || fail "call_leaks: $(of call_leaks)"
else # the compiler for these targets leaves pure calls where they are
  of call_leaks | grep -q "all held" || fail "call_leaks: $(of call_leaks)"
fi

for example in solver matmul pipeline megakernel; do
  [ $example = pipeline ] && [ "$arch" -lt 90 ] && continue # its instructions are of sm_90 and newer
  "$nvcc" -I "$root/device" -O3 -std=c++17 "-arch=sm_$arch" -lineinfo -cubin -o "$work/$example.cubin" \
    "$root/examples/$example.cu" || exit 1
  "$inkmark" verify "$work/$example.cubin" >"$work/said" 2>"$work/err" ||
    fail "$example: $(cat "$work/said" "$work/err")"
  cat "$work/said"
done

if [ "$arch" = 90 ]; then # the other ways in and out
  "$inkmark" verify --format json "$work/leaks.cubin" | python3 -c '
import json, sys
kernels = {k["kernel"]: k for k in json.load(sys.stdin)["kernels"]}
assert kernels["chain_leaks"]["moved"] == 10, kernels["chain_leaks"]
assert kernels["chain_holds"]["moved"] == 0
assert [s["name"] for s in kernels["chain_leaks"]["stamps"]] == ["First", "Second", "Third"]
' || fail "--format json"
  "$inkmark" verify --listing -k chain_leaks "$work/leaks.cubin" | grep -c "<== PROF_MARK" | grep -qx 3 ||
    fail "--listing"
  # Sections that a header without an instruction names, which no listing has: the same words.
  mkdir "$work/own" "$work/apart"
  cp "$root/tests/verify/adversarial.cu" "$work/own/adversarial.cu"
  grep '^PROF_SECTIONS' "$work/own/adversarial.cu" >"$work/apart/sections.h"
  sed 's|^PROF_SECTIONS.*|#include "sections.h"|' "$work/own/adversarial.cu" >"$work/apart/adversarial.cu"
  for where in own apart; do
    "$nvcc" -w -I "$root/device" -O3 -arch=sm_90 -lineinfo -cubin -o "$work/$where/a.cubin" "$work/$where/adversarial.cu" || exit 1
    "$inkmark" verify "$work/$where/a.cubin" >"$work/$where/said"
    [ $? = 3 ] || fail "sections in a header: $where: $(cat "$work/$where/said")"
  done
  diff "$work/own/said" "$work/apart/said" || fail "sections in a header are named otherwise"
  # The same of a file of another device layout, whose tables have its number.
  sed -i 's/inkmark table 5/inkmark table 1/' "$work/apart/a.cubin"
  grep -aq 'inkmark table 1' "$work/apart/a.cubin" || fail "the tables of a cubin begin with other words"
  "$inkmark" verify "$work/apart/a.cubin" >"$work/apart/said"
  diff "$work/own/said" "$work/apart/said" || fail "sections of another layout are named otherwise"
  "$nvcc" -I "$root/device" -arch=sm_90 -cubin -o "$work/plain.cubin" "$source" || exit 1
  "$inkmark" verify "$work/plain.cubin" 2>&1 | grep -q "build with -lineinfo" || fail "no -lineinfo"
  "$nvcc" -I "$root/device" -arch=compute_90 -cudart shared -o "$work/ptx" "$root/examples/matmul.cu" || exit 1
  if [ -n "$INKMARK_CUOBJDUMP" ]; then
    "$nvcc" -I "$root/device" -arch=sm_90 -lineinfo -cudart shared -o "$work/app" "$root/examples/matmul.cu" || exit 1
    "$inkmark" verify "$work/app" | grep -q "all held" || fail "a program: $("$inkmark" verify "$work/app" 2>&1)"
    "$inkmark" verify "$work/ptx" >/dev/null 2>"$work/err"
    [ $? = 1 ] && grep -q "no machine code" "$work/err" || fail "a program with PTX only: $(cat "$work/err")"
  fi
  "$inkmark" verify -k chain_leeks "$work/leaks.cubin" >/dev/null 2>"$work/err"
  [ $? = 1 ] && grep -q "no kernel matches 'chain_leeks' in .*, which has 'chain_leaks'" "$work/err" ||
    fail "a name that is not there: $(cat "$work/err")"
  for bad in /nonexistent "$work" /dev/null; do
    "$inkmark" verify "$bad" >/dev/null 2>"$work/err"
    code=$?
    [ $code = 1 ] && [ "$(wc -l <"$work/err")" = 1 ] || fail "$bad: exit code $code: $(cat "$work/err")"
  done
  INKMARK_NVDISASM=/nonexistent "$inkmark" verify "$work/app" >/dev/null 2>"$work/err" && fail "no tool"
fi
[ $failures = 0 ] && echo "sm_$arch: every seeded leak found, no false alarm"
exit $((failures > 0))
