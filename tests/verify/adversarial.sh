#!/bin/bash
# SPDX-License-Identifier: MIT
# adversarial.sh INKMARK NVCC ROOT ARCH: the kernels of adversarial.cu with their marks plain, held, strict and
# loaded. What the assembler moves across held values is found by `inkmark verify`, and read from the machine
# code where it leaves no line behind; strict and loaded marks let nothing through.
set -u
inkmark=$1 nvcc=$2 root=$3 arch=$4
. "$root/tests/nvdisasm.sh"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
source=$root/tests/verify/adversarial.cu
failures=0
fail() { echo "FAILED sm_$arch: $*"; failures=$((failures + 1)); }
line_of() { grep -n "// $1\$" "$source" | cut -d: -f1; }

# build FORM SED: the kernels with their marks rewritten (line by line), and what verify says of them.
build() {
  mkdir "$work/$1" && sed -E "$2" "$source" >"$work/$1/adversarial.cu" || exit 1
  "$nvcc" -w -I "$root/device" -O3 "-arch=sm_$arch" -lineinfo -cubin -o "$work/$1.cubin" \
    "$work/$1/adversarial.cu" || exit 1
  "$inkmark" verify "$work/$1.cubin" >"$work/$1.said" 2>"$work/$1.err"
  code=$?
  "$INKMARK_NVDISASM" -c "$work/$1.cubin" >"$work/$1.sass" || exit 1
}
of() { awk -v k="$2" '$1 ~ /^[a-z_A-Z0-9]+$/ && / judged, /{on = $1 == k} on' "$work/$1.said"; }
count() { awk -v k=".text.$2:" '$0 == k{on = 1} /^\t\.section/{on = 0} on' "$work/$1.sass" | grep -cE "$3"; }

build plain 's/PROF_MARK\((\w+)[^)]*\)/PROF_MARK(\1)/'
[ $code = 3 ] || fail "plain: exit code $code"
build held ''
[ $code = 3 ] || fail "held: exit code $code"
for form in plain held; do
  of $form sinks | grep -q "moved    adversarial.cu:$(line_of 'sunk double'): .*MUL x 1" ||
    fail "$form: the double stayed: $(of $form sinks)"
  of $form sinks | grep -q "moved    adversarial.cu:$(line_of 'sunk conversion'): F2I" ||
    fail "$form: the conversion stayed: $(of $form sinks)"
done
of held fuses | grep -q "0 moved, 1 range of the source gone" || fail "held: fuses: $(of held fuses)"
of held fuses | grep -q "gone     adversarial.cu: no instruction of line .*, between First .* and Second .*, is left" ||
  fail "held: fuses: $(of held fuses)"
for kernel in two_chains exp_chain helpers unrolled pipelined folded invariant unreached alike; do
  of held $kernel | grep -q "all held" || fail "held: $kernel: $(of held $kernel)"
done
[ "$(count held fuses '\b(FMUL|FADD)\b')" = 0 ] || fail "held: the multiply and the add were not fused"

of held unreached | grep -q "removed  PROF_MARK(Second) at adversarial.cu:$(line_of 'removed mark') has no clock read" ||
  fail "held: unreached: $(of held unreached)"
of held alike | grep -q ": 3 stamps" || fail "held: alike: $(of held alike)" # where merged: 2, and one removed

build strict 's/PROF_MARK\(/PROF_MARK_STRICT(/'
[ $code = 0 ] || fail "strict: exit code $code: $(cat "$work/strict.said" "$work/strict.err")"
build loaded 's/PROF_MARK\(/PROF_MARK_LOADED(/'
[ $code = 0 ] || fail "loaded: exit code $code: $(cat "$work/loaded.said" "$work/loaded.err")"
for form in strict loaded; do
  [ "$(grep -c "all held" "$work/$form.said")" = 11 ] || fail "$form: not eleven kernels: $(cat "$work/$form.said")"
  [ "$(count $form fuses '\b(FMUL|FADD)\b')" = 2 ] || fail "$form: the multiply and the add were fused"
  of $form unrolled | grep -q "First at .* is there 4 times" || fail "$form: unrolled: $(of $form unrolled)"
done
# A loaded mark's clock read stands behind a store that is never made, whose predicate is made of the values.
waits='LOP3\.LUT P[0-9], R[0-9]+, .*0x80000000'
[ "$(count loaded pipelined "$waits")" -ge 2 ] || fail "loaded: pipelined waits for nothing"
[ "$(count strict pipelined "$waits")" = 0 ] || fail "strict: pipelined waits"
[ $failures = 0 ] && echo "sm_$arch: what held marks let through was found, strict and loaded marks let nothing"
exit $((failures > 0))
