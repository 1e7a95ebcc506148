#!/bin/bash
# SPDX-License-Identifier: MIT
# strict_runs.sh INKMARK NVCC ROOT: on the simulated device strict and loaded marks record what they should and
# change no value.
set -u
inkmark=$1 nvcc=$2 root=$3
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
"$nvcc" -I "$root/device" -O3 -std=c++17 -fmad=false -arch=compute_90 -cudart shared -o runs \
  "$root/tests/verify/strict_runs.cu" || exit 1
"$inkmark" record -o runs.ink -- ./runs >said 2>err || { cat said err; exit 1; }
grep -qx "0 different" said || { echo "FAILED: values changed: $(cat said)"; exit 1; }
"$inkmark" report runs.ink >table || exit 1
for wanted in "Body 6" "Loads 6" "Called 4"; do # 2 blocks, 3 rounds; the called function twice a block
  sed -E 's/ \(called\)//' table | awk '{print $1, $2}' | grep -qx "$wanted" ||
    { echo "FAILED: no '$wanted' in"; cat table; exit 1; }
done
echo "values unchanged, marks recorded"
