#!/bin/bash
# SPDX-License-Identifier: MIT
# Builds programs of NVIDIA/cuda-samples, unmodified, for the simulated device and runs them.
#   tests/samples.sh DIR [BUILD]
# DIR is a checkout of cuda-samples (never fetched here), BUILD the CMake build folder with the
# simulated device (default: build). Prints one line a program; exit code 1 when one fails.
# A program passes when it ends with 0 within 60 s, says what it is known to say when it has checked
# its results, and says nothing of a failure.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
samples=${1:-}
build=${2:-$root/build}
sim=$build/device/sim

if [ -z "$samples" ]; then
  echo "samples: skipped: no checkout of cuda-samples was named (tests/samples.sh DIR)"
  exit 0
fi
[ -d "$samples/Samples" ] || { echo "samples: '$samples' is no checkout of cuda-samples" >&2; exit 2; }
[ -e "$sim/libcudart.so.13" ] || { echo "samples: no simulated device in '$sim'" >&2; exit 2; }
nvcc=$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")
[ -x "$nvcc" ] || { echo "samples: no nvcc" >&2; exit 2; }

# folder | what its output has when its own check held | arguments | environment
list="
0_Introduction/vectorAdd|Test PASSED
0_Introduction/simpleTemplates|Test Results: 0 Failures
0_Introduction/asyncAPI|CPU executed [0-9]+ iterations
0_Introduction/clock|Average clocks/block = [0-9.]+
0_Introduction/cudaOpenMP|number of CUDA devices
0_Introduction/fp16ScalarProduct|fp16ScalarProduct PASSED
0_Introduction/matrixMul|Result = PASS|-wA=64 -hA=64 -wB=64 -hB=64
0_Introduction/simpleAssert|returned OK
0_Introduction/simpleAtomicIntrinsics|returned OK
0_Introduction/simpleAWBarrier|completed, returned OK
0_Introduction/simpleCallback|Success
0_Introduction/simpleCooperativeGroups|is 120 .expected 120
0_Introduction/simpleMultiGPU|Relative difference: [0-9.]+E-0||INKMARK_SIM_DEVICES=2
0_Introduction/simpleOccupancy|Test PASSED
0_Introduction/simplePrintf|Value is:10
0_Introduction/simpleP2P|Test passed||INKMARK_SIM_DEVICES=2
0_Introduction/simpleVoteIntrinsics|OK
0_Introduction/simpleZeroCopy|Checking the results from vectorAddGPU
0_Introduction/systemWideAtomics|returned OK
1_Utilities/deviceQuery|Result = PASS
2_Concepts_and_Techniques/eigenvalues|Test Succeeded|--matrix-size=64 --iters-timing=1
2_Concepts_and_Techniques/inlinePTX|Test Successful
2_Concepts_and_Techniques/reduction|Test passed|--n=65536
2_Concepts_and_Techniques/reductionMultiBlockCG|GPU result|--n=20000
2_Concepts_and_Techniques/scalarProd|Test passed
2_Concepts_and_Techniques/shfl_scan|CheckSum: 2073600
2_Concepts_and_Techniques/streamOrderedAllocation|PostSync PASSED
2_Concepts_and_Techniques/threadFenceReduction|GPU result|--n=65536
3_CUDA_Features/binaryPartitionCG|Done
6_Performance/cudaGraphsPerfScaling|Test passed
3_CUDA_Features/simpleCudaGraphs|Host callback final reduced sum = 0.996214
3_CUDA_Features/newdelete|3/3 succesfully run
5_Domain_Specific/dwtHaar1D|Test success
5_Domain_Specific/SobolQRNG|L1-Error: 0
6_Performance/LargeKernelParameter|Test passed
6_Performance/transpose|Test passed|-dimX=128 -dimY=128
"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0 passed=0

# run NAME PATTERN ARGUMENTS ENVIRONMENT: sets result and seconds
run_one() {
  local folder=$1 pattern=$2 arguments=$3 environment=$4 name=${1##*/}
  local common=$samples/Common extra=()
  cd "$samples/Samples/$folder" || { result="no such sample" seconds=0; return 1; }
  if [ ! -f multithreading.cpp ] && grep -qs multithreading ./*.cu ./*.cpp ./*.h; then
    extra=("$common/multithreading.cpp")
  fi
  # shellcheck disable=SC2046 # file names of the samples have no spaces
  if ! "$nvcc" -cudart shared -arch=compute_75 -std=c++17 -w -Xcompiler -fopenmp -I "$common" -I . \
      -o "$work/$name" $(ls ./*.cu ./*.cpp 2>/dev/null) ${extra[@]+"${extra[@]}"} -lpthread \
      >"$work/$name.log" 2>&1; then
    result="does not build: $(grep -m1 -E 'error|undefined' "$work/$name.log")" seconds=0
    return 1
  fi
  local begin end code
  begin=$(date +%s.%N)
  # shellcheck disable=SC2086 # lists of words
  env LD_LIBRARY_PATH="$sim" $environment timeout 60 "$work/$name" $arguments \
    >"$work/$name.out" 2>&1 </dev/null
  code=$?
  end=$(date +%s.%N)
  seconds=$(awk "BEGIN { printf \"%.1f\", $end - $begin }")
  if [ $code = 124 ]; then result="timeout"; return 1; fi
  if [ $code != 0 ]; then
    result="exit code $code: $(grep -m1 -i 'inkmark-sim' "$work/$name.out" || tail -1 "$work/$name.out")"
    return 1
  fi
  if ! grep -qE "$pattern" "$work/$name.out"; then result="'$pattern' is not in its output"; return 1; fi
  if grep -qE "Test FAILED|Test failed|FAILED!" "$work/$name.out"; then
    result="$(grep -m1 -E "Test FAILED|Test failed|FAILED!" "$work/$name.out")"
    return 1
  fi
  result=passed
}

printf '%-50s %-8s %s\n' program seconds result
while IFS='|' read -r folder pattern arguments environment; do
  [ -n "$folder" ] || continue
  run_one "$folder" "$pattern" "$arguments" "$environment"
  if [ "$result" = passed ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
  printf '%-50s %-8s %s\n' "$folder" "$seconds" "$result"
done <<<"$list"
echo "$passed passed, $failed failed"
[ $failed = 0 ] && [ $passed -ge 15 ]
