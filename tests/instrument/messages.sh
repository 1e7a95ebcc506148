#!/bin/bash
# SPDX-License-Identifier: MIT
# messages.sh INKMARK: what the command says of wrong use, of directives that cannot be followed and of
# broken sources, and with which exit code.
set -u
inkmark=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
expect() { # code, text that the messages hold, arguments...
  local code=$1 text=$2
  shift 2
  "$inkmark" instrument "$@" >out 2>err
  local got=$?
  if [ $got != "$code" ] || ! grep -qF "$text" err out; then
    echo "FAILED: $* gave $got, expected $code and '$text'"
    cat err
    failed=1
  fi
}
kernel() { printf '__global__ void k(int *x, int n) {\n%b\n}\n' "$1" >k.cu; }
expect 2 "needs FILE" --list
expect 2 "exclude each other" --list --diff k.cu
expect 2 "is not a regular expression" --list --kernel '(' k.cu
expect 1 "cannot read 'none.cu'" --list none.cu
expect 1 "is a directory" --list .
kernel '// prof: begin A\nx[0]++;'
expect 1 "has no end in its block" k.cu -o m.cu --header-less
[ -e m.cu ] && { echo "FAILED: a file was written"; failed=1; }
kernel 'x[0]++; // prof: end A'
expect 1 "without a 'prof: begin'" k.cu -o m.cu --header-less
kernel '// prof: begin A\n// prof: begin B\n// prof: end A\n// prof: end B'
expect 1 "but 'B' began last, at line 3" k.cu -o m.cu --header-less
kernel '// prof: begin A\nif (n) return;\nx[0]++; // prof: end A'
expect 1 "is left on a way around its end" k.cu -o m.cu --header-less
kernel 'for (int i = 0; i < n; i++) {\n// prof: begin A\n}\n// prof: end A'
expect 1 "error: ends 'A' in another block" k.cu --list --header-less
kernel 'x[0] = /* prof: mark A */ 3;'
expect 1 "does not stand between statements" k.cu -o m.cu --header-less
kernel '// prof: nonsense'
expect 1 "is none of mark, begin" k.cu -o m.cu --header-less
printf '__global__ void k(int *x) { x[0] = missing(; }\n#include "none.h"\nint }' >broken.cu
expect 0 "" broken.cu -o broken.out.cu --header-less
printf 'no CUDA here' >plain.cu
expect 0 "" plain.cu -o plain.out.cu --header-less
cmp plain.cu plain.out.cu || { echo "FAILED: a file without kernels was changed"; failed=1; }
printf 'a /*ink[*/ b' >damaged.cu
expect 1 "an insertion has no end" --strip damaged.cu -o x.cu
exit $failed
