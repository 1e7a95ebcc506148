#!/bin/bash
# SPDX-License-Identifier: MIT
# against.sh INKMARK NVCC ROOT: marked builds beside plain ones. wgmma.cu has matrix instructions in flight over a mark:
# a plain mark and ones that name another value leave them there, strict ones on the accumulators within a group make ptxas do
# them one by one, a strict or a loaded one behind it makes it wait for all.
set -u
inkmark=$1 nvcc=$2 root=$3
. "$root/tests/nvdisasm.sh"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
build() { # NAME DEFINES...: a cubin; ptxas' own warnings of it are no part of the test
  local name=$1
  shift
  "$nvcc" -I "$root/device" -O3 -std=c++17 -arch=sm_90a -lineinfo -DINKMARK_NO_COST "$@" -cubin -o "$work/$name.cubin" \
    "$root/tests/verify/wgmma.cu" 2>"$work/err" || { cat "$work/err"; exit 1; }
}
held() { # NAME CODE PATTERN...: the exit code, and what is said
  local name=$1 expected=$2 code
  shift 2
  "$inkmark" verify "$work/$name.cubin" --against "$work/plain.cubin" >"$work/said" 2>&1
  code=$?
  [ $code = "$expected" ] || fail "$name: exit code $code, expected $expected: $(cat "$work/said")"
  for pattern in "$@"; do
    grep -q -- "$pattern" "$work/said" || fail "$name: no '$pattern': $(cat "$work/said")"
  done
  grep -q "removed" "$work/said" && fail "$name: a mark that #if leaves out is called removed: $(cat "$work/said")"
}
build plain -DINKMARK_DISABLE -DFORM=1
for form in 1 2 3 4 5 6; do build form$form -DFORM=$form; done
held form1 0 "all held" "against  instructions"
held form2 0 "all held"
held form3 3 "serial   WARPGROUP.ARRIVE" "waits "
held form4 0 "all held"
held form6 3 "waits    .* times until nothing is in flight, 1 times in the plain build"
held form5 3 "waits    .* times until nothing is in flight, 1 times in the plain build"
"$inkmark" verify --format json --against "$work/plain.cubin" "$work/form3.cubin" | python3 -c '
import json, sys
k = json.load(sys.stdin)["kernels"][0]
assert k["harmed"] is True and k["plain"]["drains"] == 1 < k["counts"]["drains"], k
assert k["counts"]["inkmarks"] > 0 == k["plain"]["inkmarks"], k
' || fail "--format json"
"$inkmark" verify --against "$work/missing" "$work/form1.cubin" >"$work/said" 2>&1
[ $? = 1 ] || fail "a missing plain build: $(cat "$work/said")"
[ $failures = 0 ]
