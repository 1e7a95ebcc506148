#!/bin/bash
# SPDX-License-Identifier: MIT
# division.sh INKMARK NVCC ROOT ARCH: verify names the reciprocal that leaves a loop (on sm_80), with what helps; where the
# divisor is named in the mark in front of it, all is held.
set -u
inkmark=$1 nvcc=$2 root=$3 arch=$4
. "$root/tests/nvdisasm.sh"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
"$nvcc" -I "$root/device" -O3 "-arch=sm_$arch" -lineinfo -cubin -o "$work/division.cubin" "$root/tests/verify/division.cu" || exit 1
"$inkmark" verify "$work/division.cubin" >"$work/said"
of() { awk -v k="$1" '/ judged, /{on = $1 == k} on' "$work/said"; }
failures=0
fail() { echo "FAILED sm_$arch: $*"; failures=$((failures + 1)); }
for kernel in loaded_named strict_named; do
  of $kernel | grep -q "all held" || fail "$kernel: $(of $kernel)"
done
line=$(grep -n '// reciprocal$' "$root/tests/verify/division.cu" | cut -d: -f1)
if [ "$arch" = 80 ]; then # elsewhere this compiler keeps it
  of loaded | grep -q "moved    division.cu:$line: .*MUFU.RCP" || fail "loaded: $(of loaded)"
  of loaded | grep -q "the divisor is the same in every round" || fail "loaded: no advice: $(of loaded)"
fi
[ $failures = 0 ] && echo "sm_$arch: named"
exit $((failures > 0))
