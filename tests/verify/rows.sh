#!/bin/bash
# SPDX-License-Identifier: MIT
# rows.sh INKMARK NVCC ROOT: marks of a track of rows are not said to be removed, though none has a tag.
set -u
inkmark=$1 nvcc=$2 root=$3
. "$root/tests/nvdisasm.sh"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
"$nvcc" -I "$root/device" -O3 -arch=sm_90 -lineinfo -cubin -o "$work/rows.cubin" "$root/tests/verify/rows.cu" || exit 1
"$inkmark" verify "$work/rows.cubin" >"$work/said" || { cat "$work/said"; exit 1; }
if ! grep -q '^k(float\*, int) ' "$work/said" || ! grep -q 'Loop3run' "$work/said" || grep -q ' removed ' "$work/said"; then
  cat "$work/said"
  exit 1
fi
echo "rows: not judged"
