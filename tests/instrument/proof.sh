#!/bin/bash
# SPDX-License-Identifier: MIT
# proof.sh INKMARK NVCC ROOT ARCH: marks proof.cu, compiles it to machine code and has `inkmark verify`
# say whether each section's work lies between its stamps: all of it with the values that the rewriter
# finds, not all of it with --hold none (or the test would show nothing).
set -u
inkmark=$1 nvcc=$2 root=$3 arch=$4
. "$root/tests/nvdisasm.sh"
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failures=0
fail() { echo "FAILED sm_$arch: $*"; failures=$((failures + 1)); }

# build NAME OPTIONS...: marks, puts every insertion on a line of its own (a disassembly has lines, no
# columns), compiles, and leaves what verify says in NAME.said
build() {
  local name=$1
  shift
  "$inkmark" instrument "$here/proof.cu" -o "$work/marked.cu" --root "$here" "$@" -- -std=c++17 2>"$work/$name.err" ||
    { cat "$work/$name.err"; fail "marking"; }
  python3 - "$work/marked.cu" "$work/$name.cu" <<'P' || exit 1
import re, sys
text = open(sys.argv[1]).read().replace("/*ink[*/", "\n/*ink[*/").replace("/*ink]*/", "/*ink]*/\n")
open(sys.argv[2], "w").write(re.sub(r'^#line \d+ ?("[^"]*")?', "", text, flags=re.M))
P
  "$nvcc" -I "$root/device" -O3 -std=c++17 "-arch=sm_$arch" -lineinfo -cubin -o "$work/$name.cubin" \
    "$work/$name.cu" || exit 1
  "$inkmark" verify "$work/$name.cubin" >"$work/$name.said" 2>"$work/err"
}
of() { awk -v k="$2" '/ judged, /{on = index($0, k)} on' "$work/$1.said"; }

kernels='calls chains exponentials accumulators hashes templates<float> templates<int>'
build held --kernels-only
build plain --kernels-only --hold none
for kernel in $kernels; do
  of held "slides_$kernel" | grep -q "all held" || fail "$kernel, held: $(of held "slides_$kernel")"
done
# what the compiler does not leave in place by itself, without held values; from sm_100 on plain marks keep all of these
[ "$arch" -ge 100 ] || grep -q "slides_.* moved" "$work/plain.said" ||
  fail "all stays in place without held values: $(cat "$work/plain.said")"
grep " judged, " "$work/held.said" "$work/plain.said" | sed 's/.*\.said://'

# straight-line arithmetic that waits for its loads
build strict --kernels-only --hold strict
for kernel in $kernels waits_for_loads; do
  of strict "$kernel" | grep -q "all held" || fail "$kernel, strict: $(of strict "$kernel")"
done
of held waits_for_loads | grep -q "moved" || fail "waits_for_loads is in place with --hold auto"
grep -q "'a' and others in 'waits_for_loads' comes straight from a load" "$work/held.err" ||
  fail "no remark on waits_for_loads"
grep -q "comes straight" "$work/strict.err" && fail "--hold strict gives the remark on loads"

# Ranges around calls, in statements and inside of expressions: the machine code passes a beginning, the
# call, an end, and so on. (verify takes the marks of an expression for anywhere in its statement: see
# tests/verify/expressions.sh.)
between() { # how many stamps lie between consecutive calls of `pure`
  "$inkmark" verify --listing -k slides_ranges "$work/$1.cubin" |
    awk '/CLOCKLO.*<== /{stamps++} /CALL.*pure/{if (calls++) printf "%d ", stamps; stamps = 0}'
}
build ranges --calls
build ranges_plain --calls --hold none
[ "$(between ranges)" = "2 2 2 2 2 " ] || fail "ranges, stamps between calls: $(between ranges)"
if [ "$arch" -lt 100 ] && [ "$(between ranges_plain)" = "2 2 2 2 2 " ]; then
  fail "ranges stay in place without held values"
fi
[ $failures = 0 ]
