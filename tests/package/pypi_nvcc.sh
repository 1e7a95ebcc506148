#!/bin/bash
# SPDX-License-Identifier: MIT
# Hides the installed CUDA toolkit and runs the README's commands, the demo first, on a copy of the sources:
# the set-up brings nvcc from PyPI, builds everything with it, and records. Exits with 77 (skipped) where
# PyPI cannot be reached. pypi_nvcc.sh SOURCE_FOLDER
set -eu
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pip="$source/.venv/bin/pip" # Debian's python3 comes without pip
[ -x "$pip" ] || pip="python3 -m pip"
if ! $pip download -q --no-deps -d "$work/try" \
  'nvidia-cuda-crt==13.0.*' >"$work/log" 2>&1; then
  tail -n 3 "$work/log"
  echo "skipped: PyPI cannot be reached"
  exit 77
fi
mkdir "$work/copy"
tar -C "$source" --exclude=./.git --exclude='./build*' --exclude=./.venv --exclude=./node_modules -cf - . |
  tar -C "$work/copy" -xf -
export INKMARK_HIDE_NVCC=1
unset CUDA_HOME CUDA_PATH LD_PRELOAD
bash "$work/copy/tests/package/readme.sh" "$work/copy"
expect() {
  grep -Eq -- "$1" "$work/copy/demo.said" || { cat "$work/copy/demo.said"; echo "no '$1' in what the demo says" >&2; exit 1; }
}
expect "^==> nvcc: $work/copy/.venv/"
expect "wrote 'solver.ink': 32 tracks, "
expect '^  UpdateGradient '
[ -s "$work/copy/build/demo/solver.pftrace" ] && [ -s "$work/copy/build/demo/solver.html" ]
grep -q "^INKMARK_NVCC:FILEPATH=$work/copy/.venv/" "$work/copy/build/CMakeCache.txt"
