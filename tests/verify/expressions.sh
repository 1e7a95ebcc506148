#!/bin/bash
# SPDX-License-Identifier: MIT
# expressions.sh INKMARK NVCC ROOT ARCH: calls in expressions, marked by the rewriter. Of statements of
# several lines nothing is said to have moved that has not, whether the marks are to be seen in the text
# (each on a line of its own) or only in the rewriter's copy of it; a call that left its statement is said to.
set -u
inkmark=$1 nvcc=$2 root=$3 arch=$4
. "$root/tests/nvdisasm.sh"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failures=0
fail() { echo "FAILED sm_$arch: $*"; failures=$((failures + 1)); }

# said FILE KERNEL: what verify says of it
said() {
  "$nvcc" -I "$root/device" -O3 -std=c++17 "-arch=sm_$arch" -lineinfo -cubin -o "$work/it.cubin" "$1" || exit 1
  "$inkmark" verify "$work/it.cubin" 2>&1 | awk -v k="$2" '/ judged, /{on = index($1, k)} on'
}
split() { # every insertion on a line of its own
  python3 - "$1" "$2" <<'P' || exit 1
import re, sys
text = open(sys.argv[1]).read().replace("/*ink[*/", "\n/*ink[*/").replace("/*ink]*/", "/*ink]*/\n")
open(sys.argv[2], "w").write(re.sub(r'^#line \d+ ?("[^"]*")?', "", text, flags=re.M))
P
}
mark() { # mark SOURCE OUTPUT OPTIONS...
  local source=$1 output=$2
  shift 2
  "$inkmark" instrument "$source" -o "$output" --root "$(dirname "$source")" --calls "$@" -- -std=c++17 2>"$work/err" ||
    { cat "$work/err"; exit 1; }
}

mark "$root/tests/verify/expressions.cu" "$work/marked.cu"
split "$work/marked.cu" "$work/split.cu"
for form in marked split; do
  found=$(said "$work/$form.cu" expressions)
  grep -q " [1-9][0-9]* instructions judged, all held" <<<"$found" || fail "$form: $found"
done

proof=$root/tests/instrument/proof.cu
mark "$proof" "$work/ranges.cu"
split "$work/ranges.cu" "$work/ranges_split.cu"
found=$(said "$work/ranges_split.cu" slides_ranges)
grep -q "all held" <<<"$found" || fail "ranges: $found"
if [ "$arch" -lt 100 ]; then # the compiler for these moves pure calls
  mark "$proof" "$work/plain.cu" --hold none
  split "$work/plain.cu" "$work/plain_split.cu"
  found=$(said "$work/plain_split.cu" slides_ranges)
  grep -q "moved .*CALL" <<<"$found" || fail "a call that left its statement: $found"
fi
[ $failures = 0 ]
