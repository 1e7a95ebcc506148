#!/bin/bash
# SPDX-License-Identifier: MIT
# nvcc_macros.sh PRINTER INKMARK NVCC: the macros of the rewriter's parse against those that nvcc gives its own
# preprocessor, for every architecture that nvcc lists and for the flags that define some; and a file whose
# kernels stand behind them.
set -u
printer=$1 inkmark=$2 nvcc=$3
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0 compared=0
: >e.cu
cuda=$(dirname "$(readlink -f "$nvcc")")/..
[ -r "$cuda/include/cuda_runtime_api.h" ] || { echo "no headers beside '$nvcc'"; exit 77; }
# the device pass of the newest architecture is the last that has the macro
same() { # what nvcc is asked
  "$nvcc" "$@" --dryrun -c e.cu 2>&1 | grep -E -e ' -E .*-D__CUDA_ARCH__=|-D__CUDA_ARCH__=.* -E ' | tail -1 | grep -oE -e ' -D[A-Za-z_0-9]+(=[^ ]+)?' |
    tr -d ' ' | sort -u >theirs
  "$printer" "$cuda" "$@" | sort -u >ours
  [ -s theirs ] || { echo "FAILED: nvcc says nothing for $*"; failed=1; }
  diff theirs ours || { echo "FAILED: other macros for $*"; failed=1; }
  compared=$((compared + 1))
}
for arch in $("$nvcc" --help | grep -oE "'(sm|compute)_[0-9]+[af]?'" | tr -d "'" | sort -u); do
  same -arch=$arch
done
[ $compared -gt 20 ] || { echo "FAILED: only $compared architectures"; failed=1; }
same
same -arch all
same -arch=all-major
same -gencode arch=compute_80,code=sm_80 -gencode=arch=compute_90a,code=sm_90a
same -gencode 'arch=compute_80,code=[sm_80,sm_86]' --generate-code arch=compute_89,code=compute_89
same --gpu-architecture compute_90 -code=sm_90,compute_90
for flag in -rdc=true --relocatable-device-code=true -dc -ewp -G --expt-relaxed-constexpr --extended-lambda -dlto \
  "--default-stream per-thread" "-default-stream=legacy" "-G -dopt on" "-arch sm_120f -rdc true"; do
  same $flag
done
list() { # architecture, how many loops the list has
  "$inkmark" instrument --list --loops "$here/behind_macros.cu" -- $1 >list || { echo "FAILED: --list for $1"; failed=1; }
  grep -q "4 kernels, $2 loop" list || { echo "FAILED: not 4 kernels, $2 loops for $1:"; cat list; failed=1; }
}
list -arch=sm_90a 3
list "-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90a,code=sm_90a" 3
list "-gencode arch=compute_100a,code=sm_100a -extended-lambda" 3
exit $failed
