#!/bin/bash
# SPDX-License-Identifier: MIT
# guarded_registers.sh INKMARK NVCC SIM: a kernel whose marks take registers that cost warps keeps them all, where the compiler can do with
# fewer: within the bound, without a spill. What has launch bounds gets no other. Each mark is recorded, the results are those of
# the plain program, and the marked text strips to the source.
. "$(dirname "$0")/recorded.sh" "$@"
code='-cudart shared -gencode arch=compute_80,code=[sm_80,compute_80] -Xptxas -v'
build() { env -u LD_PRELOAD "$@" 2>"$work/err" || { cat "$work/err"; fail "$*"; }; }
registers() { grep -A3 "entry function '_Z[0-9]*$1" "$work/err" | grep -o 'Used [0-9]*' | grep -o '[0-9]*'; }
build "$nvcc" $code guarded_registers.cu -o "$work/plain"
before=$(registers convolve)
INKMARK_GUARD=off build "$inkmark" nvcc "$nvcc" $code guarded_registers.cu -o "$work/all"
all=$(registers convolve)
INKMARK_KEEP=1 build "$inkmark" nvcc "$nvcc" $code guarded_registers.cu -o "$work/app"
after=$(registers convolve)
said=$(grep -o "guard: .*" "$work/err")
most=$(grep -o "^guard: 'convolve' has all marks, and [0-9]* registers at most: it would take" <<<"$said" | grep -o '[0-9]*')
echo "$before registers, $all with all marks, $after of $most that are allowed; $said"
[ -n "$most" ] && [ "$after" -le "$most" ] && [ "$all" -gt "$most" ] && [ $((before + 16)) -ge "$after" ] || fail 'the registers'
grep -q "'bounded'" <<<"$said" && fail "what has bounds of its own"
grep -A2 "entry function '_Z[0-9]*convolve" "$work/err" | grep -q ' 0 bytes stack frame, 0 bytes spill stores' || { cat "$work/err"; fail 'spills'; }
# what is kept of that and is damaged is found anew
for damage in 's/^0 [0-9]* /0 /' 's/^0 [0-9]* /0 0 /' 's/^end$//'; do
  rm -f "$work"/cache/result-*
  sed -i "$damage" "$work"/cache/guard-*
  build "$inkmark" nvcc "$nvcc" $code guarded_registers.cu -o "$work/again"
  [ "$(grep -o "guard: .*" "$work/err")" = "$said" ] || fail "damaged by $damage: $(cat "$work"/cache/guard-*)"
done
marked=$(find "$work" -path '*inkmark-*' -name guarded_registers.cu)
grep -A1 '^void$' "$marked" | grep -qF "/*ink[*/INK_REGISTERS($most) /*ink]*/convolve(" || fail "$(grep -n REGISTERS "$marked")"
[ "$(grep -c INK_REGISTERS "$marked")" = 1 ] || fail 'more than one bound'
"$inkmark" instrument --strip "$marked" -o "$work/stripped.cu" && cmp "$work/stripped.cu" guarded_registers.cu || fail 'it does not strip'
"$inkmark" record --device sim -o "$work/run.ink" -- "$work/app" >"$work/out" 2>&1 || { cat "$work/out"; fail recording; }
"$inkmark" record --device sim -o "$work/none.ink" -- "$work/plain" >"$work/expected" 2>/dev/null
result() { grep -E '^[0-9]+$' "$1"; }
[ -n "$(result "$work/out")" ] && [ "$(result "$work/out")" = "$(result "$work/expected")" ] || fail "$(cat "$work/out" "$work/expected")"
"$inkmark" report --format csv "$work/run.ink" >"$work/sections.csv" || fail report
python3 - "$work/sections.csv" <<'P' || { cat "$work/sections.csv"; fail 'the sections'; }
import csv, sys
rows = sorted((row['kernel'].split(' (')[0], row['section'].split(' (')[0], int(row['count'])) for row in csv.DictReader(open(sys.argv[1])))
# 2 blocks with a track each: one pass of the outermost loop's range, and 3 of what it sums
want = [(kernel, section, count) for kernel in ('bounded', 'convolve')
        for section, count in (('for c < channels', 2), ('for c < channels: pass', 6), ('for p < k', 6))]
assert [row for row in rows if row[1] != '(unmarked)'] == want, rows
P
exit 0
