#!/bin/bash
# SPDX-License-Identifier: MIT
# The headers under CUDA 12. PyPI has no nvcc 12 but its parts: NVRTC 12 compiles the device half,
# ptxas 12 assembles it, and clang 19 compiles both halves with CUDA 12's own headers.
# cuda12.sh SOURCE_FOLDER; exits with 77 (skipped) where .venv lacks the parts (tests/run.sh brings them)
set -eu
source=$1
packages=$(echo "$source"/.venv/lib/python3*/site-packages/nvidia)
nvrtc=$packages/cuda_nvrtc/lib/libnvrtc.so.12
runtime=$packages/cuda_runtime/include
ptxas=$packages/cuda_nvcc/bin/ptxas
for file in "$nvrtc" "$runtime/cuda_runtime_api.h" "$ptxas"; do
  [ -e "$file" ] || { echo "skipped: no $file (tests/run.sh brings it)"; exit 77; }
done
chmod +x "$ptxas"
"$ptxas" --version | grep release
python3 "$source/tests/package/nvrtc_compile.py" "$source/tests/package/kernel_only.cu" "$nvrtc" "$runtime" \
  "$source/device" "$ptxas" 75 80 90 100 120
# Both halves, by a compiler that takes CUDA 12's headers: clang 19 (14 knows only CUDA 11's).
if ! command -v clang++-19 >/dev/null; then
  echo "the host half is not tried: no clang++-19 (tests/run.sh brings it)"
  exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/bin" "$work/include" "$work/lib64" "$work/nvvm" "$work/shim"
cp -rs "$runtime/." "$packages/cuda_nvcc/include/." "$work/include/"
ln -s "$ptxas" "$work/bin/ptxas"
ln -s "$packages/cuda_nvcc/nvvm/libdevice" "$work/nvvm/libdevice"
touch "$work/shim/texture_fetch_functions.h" "$work/shim/curand_mtgp32_kernel.h" # clang includes them
for std in 14 17 20; do
  clang++-19 -x cuda --cuda-path="$work" --cuda-gpu-arch=sm_75 -std=c++$std -Wno-unknown-cuda-version \
    -isystem "$work/shim" -I "$source/device" -fsyntax-only "$source/tests/package/consumer/scale.cu"
  echo "clang 19, C++$std: both halves compile with $(grep -m1 -o 'CUDART_VERSION  *[0-9]*' \
    "$runtime/cuda_runtime_api.h")"
done
