#!/bin/bash
# SPDX-License-Identifier: MIT
# Where there is no nvcc, the library and the command still build, and read captures.
# without_nvcc.sh SOURCE_FOLDER
set -eu
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake -S "$source" -B "$work/build" -G Ninja -DINKMARK_NVCC=OFF \
  -DCMAKE_BUILD_TYPE=Debug -DINKMARK_BUILD_BENCH=OFF >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
grep -q 'no nvcc: the library and the command are built' "$work/log" || { cat "$work/log"; exit 1; }
cmake --build "$work/build" --parallel 2 --target inkmark inkmark_preload make_captures \
  >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cd "$work"
build/tests/cli/make_captures
build/cli/inkmark report solver.ink | grep -q LineSearch
if build/cli/inkmark record --device sim -- true 2>message; then
  echo "record --device sim worked without a simulated device" >&2
  exit 1
fi
grep -q 'the simulated device is not installed' message || { cat message; exit 1; }
