#!/bin/bash
# SPDX-License-Identifier: MIT
# Hides the installed CUDA toolkit: the set-up of demo.sh and run.sh brings nvcc from PyPI, and what
# it compiles runs and is recorded. Exits with 77 (skipped) where PyPI cannot be reached.
# pypi_nvcc.sh SOURCE_FOLDER BUILD_FOLDER
set -eu
source=$1 build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck disable=SC2034 # setup.sh reads it
root=$work
. "$source/cmake/setup.sh"
if ! python3 -m pip download -q --no-deps -d "$work/try" 'nvidia-cuda-crt==13.0.*' >"$work/log" 2>&1; then
  tail -n 3 "$work/log"
  echo "skipped: PyPI cannot be reached"
  exit 77
fi
export INKMARK_HIDE_NVCC=1
unset CUDA_HOME CUDA_PATH
setup_cuda
case $(command -v nvcc) in
  "$work"/.venv/*) ;;
  *) echo "nvcc is $(command -v nvcc), not the one from PyPI" >&2; exit 1 ;;
esac
nvcc -arch=compute_75 -cudart shared -I "$source/device" "$source/tests/package/consumer/scale.cu" \
  -o "$work/scale"
cd "$work"
"$build/cli/inkmark" record --device sim -o scale.ink -- ./scale
"$build/cli/inkmark" report -f csv scale.ink | grep -q 'Run,section,,Scale,Multiply,0,0,0,12,0,'
# and a whole build of inkmark configures with it
cmake -S "$source" -B "$work/build" -G Ninja -DINKMARK_NVCC="$(command -v nvcc)" >"$work/log" 2>&1 ||
  { cat "$work/log"; exit 1; }
