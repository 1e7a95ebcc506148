#!/bin/bash
# SPDX-License-Identifier: MIT
# Builds programs of NVIDIA/cuda-samples, unmodified, with nvcc's static runtime, and runs them on the simulated device.
#   tests/samples.sh [--marked[=RULES]] [--only=REGEX] DIR [BUILD]
# DIR is a checkout of cuda-samples (never fetched here), BUILD the CMake build folder with the
# simulated device (default: build). Prints one line a program; exit code 1 when one fails.
# A program passes when it ends with 0 within 60 s (--marked: 300 s), says what it is known to say when it has checked
# its results, and says nothing of a failure.
# --marked: each program is built a second time through `inkmark nvcc` with RULES (default: every rule,
# nothing held) and run recorded; both have the shared runtime, for a library that looks at what they copy stands in
# front of it. It passes when that run, too, says what it shall, its output is the
# plain run's (numbers in lines about time aside), every copy from the device has the same bytes, and
# its kernels left tracks.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
marked="" only="" rules="--calls --loops --waits --depth 8 --hold none"
while :; do
  case ${1:-} in
  --marked) marked=yes ;;
  --marked=*) marked=yes rules=${1#*=} ;;
  --only=*) only=${1#*=} ;;
  -*) echo "samples: unknown option '$1'" >&2; exit 2 ;;
  *) break ;;
  esac
  shift
done
samples=${1:-}
build=${2:-$root/build}
sim=$build/device/sim

if [ -z "$samples" ]; then
  echo "samples: skipped: no checkout of cuda-samples was named (tests/samples.sh DIR)"
  exit 0
fi
[ -d "$samples/Samples" ] || { echo "samples: '$samples' is no checkout of cuda-samples" >&2; exit 2; }
[ -e "$sim/libcudart.so.13" ] || { echo "samples: no simulated device in '$sim'" >&2; exit 2; }
samples=$(cd "$samples" && pwd) build=$(cd "$build" && pwd) sim=$build/device/sim
inkmark=$build/cli/inkmark
[ -z "$marked" ] || [ -x "$inkmark" ] || { echo "samples: no '$inkmark'" >&2; exit 2; }
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

# these copy what clock() gave to the host, which marks do change
reads_clocks="0_Introduction/clock"
# what these copy depends on the order in which threads run (atomicExch, push with atomicAdd); their own
# checks allow any
any_order="0_Introduction/simpleAtomicIntrinsics 3_CUDA_Features/newdelete"
# and after this one's failed assert nothing can be read from the device
ends_badly="0_Introduction/simpleAssert"

# a static runtime is redirected, as 'inkmark record' has it done
runtime=(-cudart shared) redirect=
[ -n "$marked" ] || runtime=() redirect="LD_PRELOAD=$sim/libcudart.so.13 LD_AUDIT=$sim/libinkmark-sim-audit.so"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0 passed=0 limit=60
[ -z "$marked" ] || limit=300 # recorded, on a machine that may be busy
if [ -n "$marked" ]; then
  cc -D_GNU_SOURCE -shared -fPIC -o "$work/copies.so" "$root/tests/sim/copies.c" -ldl || exit 1
fi

# build_one OUTPUT COMPILER...: builds the sample in the current folder; false: result says why
build_one() {
  local out=$1 common=$samples/Common extra=()
  shift
  if [ ! -f multithreading.cpp ] && grep -qs multithreading ./*.cu ./*.cpp ./*.h; then
    extra=("$common/multithreading.cpp")
  fi
  # shellcheck disable=SC2046 # file names of the samples have no spaces
  "$@" ${runtime[@]+"${runtime[@]}"} -arch=compute_75 -std=c++17 -w -Xcompiler -fopenmp -I "$common" -I . \
    -o "$out" $(ls ./*.cu ./*.cpp 2>/dev/null) ${extra[@]+"${extra[@]}"} -lpthread >"$out.log" 2>&1 && return
  result="does not build: $(grep -m1 -E 'error|undefined|without marks' "$out.log")"
  return 1
}

# check_one OUTPUT PATTERN ENVIRONMENT COMMAND...: runs it; false: result says why
check_one() {
  local out=$1 pattern=$2 environment=$3 begin code
  shift 3
  begin=$(date +%s.%N)
  # shellcheck disable=SC2086 # a list of words
  env LD_LIBRARY_PATH="$sim" INKMARK_COPIES="$out.copies" timeout "$limit" env $redirect $environment "$@" \
    >"$out.out" 2>"$out.err" </dev/null
  code=$?
  seconds=$(awk "BEGIN { printf \"%.1f\", $(date +%s.%N) - $begin }")
  if [ $code = 124 ]; then result="timeout"; return 1; fi
  if [ $code != 0 ]; then
    result="exit code $code: $(grep -m1 -i 'inkmark-sim' "$out.err" || tail -1 "$out.err")"
    return 1
  fi
  if ! cat "$out.out" "$out.err" | grep -qE "$pattern"; then result="'$pattern' is not in its output"; return 1; fi
  if result=$(cat "$out.out" "$out.err" | grep -m1 -E "Test FAILED|Test failed|FAILED!"); then return 1; fi
  result=passed
}

# The output without times: numbers in lines that speak of them are left out.
plain_text() {
  sed -E '/time|Time|TIME|while waiting|[^a-z](ms|us|ns|sec)[^a-z]|second|\/s|clock|Clock|hroughput|andwidth|FLOP|Flop/ s/[0-9][0-9.e+-]*|inf|nan/#/g' "$1" |
    sed -E "s/ +/ /g; s/\.(marked|again)//g"
}

# compare PLAIN AGAIN MARKED: nothing in MARKED differs from PLAIN but lines that differ in AGAIN, too,
# which is a second run of the same program (random seeds, counts of the host)
compare() {
  local unsteady
  unsteady=$(diff <(plain_text "$1") <(plain_text "$2") | grep -oE '^[0-9,]+')
  diff <(plain_text "$1") <(plain_text "$3") | grep -oE '^[0-9,]+' | grep -vxF "${unsteady:-none}" >/dev/null &&
    return 1
  return 0
}

# The marked build of a sample whose plain run passed; false: result says why
marked_one() {
  local folder=$1 name=${1##*/} tracks compared=""
  local plain=$work/$name again=$work/$name.again out=$work/$name.marked
  INKMARK_STRICT=1 INKMARK_GUARD=off INKMARK_RULES="$rules --root $samples" build_one "$out" "$inkmark" nvcc || return 1
  cp "$plain" "$again"
  # shellcheck disable=SC2086 # lists of words
  check_one "$again" "$2" "LD_PRELOAD=$work/copies.so $4" "$again" $3 || return 1
  # shellcheck disable=SC2086 # lists of words
  check_one "$out" "$2" "$4" "$inkmark" record --device sim -o "$out.ink" -- sh -c "LD_PRELOAD=$work/copies.so:\$LD_PRELOAD"' exec "$@"' sh "$out" $3 || # before the runtime that record puts in front
    { result="marked: $result"; return 1; }
  if ! compare "$plain.out" "$again.out" "$out.out"; then
    result="other output: $(diff <(plain_text "$plain.out") <(plain_text "$out.out") | grep -m2 '^[<>]' | tr '\n' ' ')"
    return 1
  fi
  touch "$plain.copies" "$again.copies" "$out.copies"
  for list_of in "$plain" "$again" "$out"; do sort "$list_of.copies" >"$list_of.sorted"; done
  if [[ " $reads_clocks " == *" $folder "* ]]; then
    compared="copies not compared (clock readings)"
  elif [[ " $any_order " == *" $folder "* ]]; then
    compared="copies not compared (any order of threads)"
  elif ! cmp -s "$plain.sorted" "$again.sorted"; then
    compared="copies not compared (random: two plain runs differ)"
  elif ! cmp -s "$plain.sorted" "$out.sorted"; then
    result="$(comm -23 "$plain.sorted" "$out.sorted" | wc -l) of $(wc -l <"$plain.copies") copies have other bytes"
    return 1
  fi
  tracks=$(grep -oE "[0-9,]+ tracks?, [0-9,]+ marks?" "$out.err" | tail -1)
  if [ -z "$tracks" ] && [[ " $ends_badly " == *" $folder "* ]]; then
    tracks="no tracks: its kernel ends by a failed assert, and the device with it"
  elif [ -z "$tracks" ] && grep -qs __global__ ./*.cu ./*.cuh ./*.h; then
    result="no tracks"
    return 1
  fi
  result="passed: ${compared:-$(wc -l <"$out.copies") copies}, ${tracks:-no kernels}"
}

# run_one FOLDER PATTERN ARGUMENTS ENVIRONMENT: sets result and seconds
run_one() {
  local name=${1##*/} preload=""
  seconds=0
  cd "$samples/Samples/$1" || { result="no such sample"; return 1; }
  build_one "$work/$name" "$nvcc" || return 1
  [ -z "$marked" ] || preload="LD_PRELOAD=$work/copies.so"
  # shellcheck disable=SC2086 # a list of words
  check_one "$work/$name" "$2" "$preload $4" "$work/$name" $3 || return 1
  [ -z "$marked" ] || marked_one "$@"
}

printf '%-50s %-8s %s\n' program seconds result
while IFS='|' read -r folder pattern arguments environment; do
  [[ -n $folder && $folder =~ $only ]] || continue
  run_one "$folder" "$pattern" "$arguments" "$environment"
  case $result in
  passed*) passed=$((passed + 1)) ;;
  *) failed=$((failed + 1)) ;;
  esac
  printf '%-50s %-8s %s\n' "$folder" "$seconds" "$result"
  rm -f "$work/${folder##*/}"*
done <<<"$list"
echo "$passed passed, $failed failed"
[ $failed = 0 ] && { [ $passed -ge 15 ] || [ -n "$only" ]; }
