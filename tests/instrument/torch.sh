#!/bin/bash
# SPDX-License-Identifier: MIT
# torch.sh INKMARK NVCC SIM: builds the PyTorch extension in projects/torch, as it is, with
# PYTORCH_NVCC="inkmark nvcc", runs it from Python on the simulated device, recorded, and looks for its
# names in the report. The Python is INKMARK_TORCH_PYTHON or python3; it needs torch for CUDA 13,
# setuptools and ninja. Skipped, with the reason, where these are not installed.
set -u
inkmark=$1 nvcc=$2 sim=$3
here=$(cd "$(dirname "$0")" && pwd)
python=${INKMARK_TORCH_PYTHON:-python3}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
skip() {
  echo "skipped: $*"
  exit 77
}
fail() {
  echo "FAILED: $*"
  exit 1
}
version=$("$python" -c 'import torch; print(torch.version.cuda)' 2>"$work/why") ||
  skip "'$python' has no torch: $(tail -n 1 "$work/why")"
[[ $version == 13.* ]] || skip "torch of '$python' is built for CUDA '$version', the simulated device is CUDA 13"
"$python" -c 'import setuptools, ninja' 2>"$work/why" || skip "$(tail -n 1 "$work/why")"

PATH=$(dirname "$inkmark"):$(dirname "$("$python" -c 'import sys; print(sys.executable)')"):$PATH
CUDA_HOME=$(dirname "$(dirname "$(realpath "$nvcc")")")
export PATH CUDA_HOME TORCH_CUDA_ARCH_LIST=7.5+PTX MAX_JOBS=2 INKMARK_STRICT=1
cp -r "$here/projects/torch" "$work/project" || exit 1
cd "$work/project" || exit 1
PYTORCH_NVCC="inkmark nvcc" "$python" setup.py build_ext --inplace >"$work/build.log" 2>&1 ||
  { tail -n 40 "$work/build.log"; fail "building the extension"; }
grep -n 'without marks\|nothing is marked' "$work/build.log" && fail "the extension was not marked"

# torch's libraries name their own folder of CUDA libraries first: only preloading puts another there
mkdir "$work/driver"
cc -shared -fPIC -o "$work/driver/libcuda.so.1" "$here/torch_driver.c" || fail "the stand-in for a driver"
LD_LIBRARY_PATH=$work/driver LD_PRELOAD=$sim/libcudart.so.13 \
  "$inkmark" record --device sim -o "$work/run.ink" -- "$python" use.py >"$work/out" 2>"$work/err" ||
  { cat "$work/out" "$work/err"; fail "the extension on the simulated device"; }
grep -q "^device inkmark simulated" "$work/out" || { cat "$work/out"; fail "another device was used"; }
"$inkmark" report "$work/run.ink" >"$work/report" || fail "the report"
cat "$work/report"
for name in 'kernel settle_kernel (settle_kernel.cu:17)' 'smooth (settle_kernel.cu:24)' '1 launch, 6 tracks'; do
  grep -qF "$name" "$work/report" || fail "the report lacks '$name'"
done
exit 0
