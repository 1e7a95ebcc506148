#!/bin/bash
# SPDX-License-Identifier: MIT
# The same programs on a real GPU as on the simulated device: builds with nvcc, cmake and a C compiler
# alone, records examples and test programs, holds counts, nesting, payloads and numeric results
# against those of the simulated run (tests/gpu/expected), prints cycles per mark, and runs
# compute-sanitizer where there is one.
#   tests/gpu/run.sh                       on a machine with a GPU; builds in build-gpu/
#   tests/gpu/run.sh --simulated BUILD     the same comparisons on the simulated device of a build
#   tests/gpu/run.sh --update BUILD        writes tests/gpu/expected from that build
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/tests/gpu
expected=$here/expected
mode=gpu device=gpu build=$root/build-gpu
case ${1:-} in
  '') ;;
  --simulated | --update) mode=${1#--} device=sim build=$(cd "${2:?a build folder}" && pwd) || exit 2 ;;
  *) sed -n '7,9s/^# *//p' "$0" >&2; exit 2 ;;
esac

examples='solver matmul pipeline'
selftest=()
programs='straight loop early nested divergent multi streams chosen payload called relocated'
# NAME|RECORDING|OPTIONS: what is recorded, and how
recordings() {
  local name
  for name in $examples $programs; do
    echo "$name|block|"
    echo "$name|warp|--granularity warp"
  done
  echo 'loop|last8|--records-per-track 8'
  echo 'loop|first8|--records-per-track 8 --keep first'
  echo 'called|last16|--records-per-track 16'
  echo 'payload|first16|--records-per-track 16 --keep first'
  echo 'nested|blocks|--blocks 2,5-7'
  echo 'multi|kernels|--kernels FirstKernel'
}

fail() { printf 'error: %s\n' "$*" >&2; exit 1; }
failures=0 compared=0
complain() { printf 'FAIL %s\n' "$*"; failures=$((failures + 1)); }

# ---- building
build_programs() {
  command -v nvcc >/dev/null || fail 'no nvcc on the PATH'
  command -v cmake >/dev/null || fail 'no cmake on the PATH'
  nvidia-smi -L || fail 'no NVIDIA GPU is here; --simulated BUILD compares on the simulated device'
  local capability generator=() name sources flags
  capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)
  command -v ninja >/dev/null && generator=(-G Ninja)
  cmake -S "$root" -B "$build" "${generator[@]}" -DINKMARK_BUILD_SIM=OFF -DINKMARK_BUILD_TESTS=OFF \
    -DINKMARK_BUILD_EXAMPLES=OFF -DINKMARK_BUILD_BENCH=OFF >"$build.log" 2>&1 &&
    cmake --build "$build" --parallel >>"$build.log" 2>&1 ||
    { tail -n 30 "$build.log" >&2; fail "the build failed, see $build.log"; }
  mkdir -p "$build/programs"
  for name in $examples $programs marks_cost branch_cost; do
    flags=(-std=c++17 -O3 -lineinfo -fmad=false -I "$root/device")
    flags+=(-gencode "arch=compute_$capability,code=sm_$capability")
    case $name in
      solver | matmul | pipeline) sources=("$root/examples/$name.cu") ;;
      marks_cost | branch_cost) sources=("$here/$name.cu") ;;
      *) sources=("$root/tests/device/truth/$name.cu") ;;
    esac
    if [ "$name" = relocated ]; then
      sources+=("$root"/tests/device/truth/relocated_{other,helper}.cu)
      flags+=(-rdc=true)
    fi
    nvcc "${flags[@]}" -o "$build/programs/$name" "${sources[@]}" || fail "nvcc cannot build $name"
  done
  nvcc -std=c++17 -O3 -lineinfo -I "$root/device" -gencode "arch=compute_$capability,code=sm_$capability" \
    -o "$build/programs/selftest" "$root/selftest/selftest.cu" || fail 'nvcc cannot build selftest'
  selftest=(--program "$build/programs/selftest")
}

# All without contraction (where there is floating point): the results' bits then depend on nothing
# that the assembler does.
program_of() {
  case $mode,$1 in
    gpu,*) echo "$build/programs/$1" ;;
    *,solver) echo "$build/tests/gpu/solver_exact" ;;
    *,matmul | *,pipeline) echo "$build/examples/$1" ;;
    *,marks_cost | *,branch_cost) echo "$build/tests/gpu/$1" ;;
    *) echo "$build/tests/device/truth/${1}_exact" ;;
  esac
}

# ---- recording and comparing
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
inkmark=$build/cli/inkmark

# compare NAME FILE: against the file that travels, or writes it with --update.
compare() {
  if [ "$mode" = update ]; then
    mkdir -p "$expected" && cp "$2" "$expected/$1.txt"
  elif [ ! -f "$expected/$1.txt" ]; then
    complain "$1: nothing to compare with"
  elif ! diff -u "$expected/$1.txt" "$2" >"$work/diff"; then
    complain "$1 differs from the simulated run:"
    cut -c 1-300 "$work/diff" | head -n 12
  fi
  compared=$((compared + 1))
}

record_one() { # NAME RECORDING OPTIONS
  local name=$1 recording=$2 options program capture=$work/$1.ink
  read -ra options <<<"$3"
  program=$(program_of "$name")
  rm -f "$capture"
  if ! "$inkmark" record --device "$device" -o "$capture" "${options[@]}" -- "$program" \
    >"$work/out" 2>"$work/err"; then
    complain "$name ($recording): the recorded program failed"
    tail -n 5 "$work/out" "$work/err"
    return
  fi
  if ! "$inkmark" export "$capture" --format csv -o "$work/csv" 2>"$work/err"; then
    complain "$name ($recording): the capture cannot be exported"
    cat "$work/err"
    return
  fi
  awk -f "$here/tracks.awk" "$work/csv" | LC_ALL=C sort >"$work/tracks"
  compare "$name.$recording" "$work/tracks"
  "$inkmark" report --format json "$capture" >"$work/json" || complain "$name: no report"
  grep -q '"problem_count": 0,' "$work/json" || complain "$name ($recording): problems in the records"
  if [ "$recording" = block ]; then # numeric results: bits of the test programs, words of the examples
    compare "$name.results" "$work/out"
  fi
}

print_costs() { # PROGRAM LINES WHAT
  local program environment=()
  program=$(program_of "$1")
  [ "$device" = sim ] && environment=("LD_LIBRARY_PATH=$build/device/sim")
  env "${environment[@]}" "$program" >"$work/dormant" || complain "$1 failed"
  "$inkmark" record --device "$device" -o "$work/cost.ink" -- "$program" >"$work/stored" \
    2>"$work/err" || complain "$1 failed when recorded"
  [ "$(wc -l <"$work/stored")" = "$2" ] || complain "$1 printed other than $2 lines"
  [ "$device" = sim ] && echo 'simulated clock: the numbers below are no GPU'"'"'s'
  printf '%-14s %10s %10s\n' "$3" recorded dormant
  join <(sort "$work/stored") <(sort "$work/dormant") | while read -r kind stored dormant; do
    printf '%-14s %10s %10s\n' "$kind" "$stored" "$dormant"
  done
}

# What the design takes for granted, on this device; and what marks cost an example.
self_test() {
  "$inkmark" selftest --device "$device" --forget "${selftest[@]}" || complain "the self-test ended with $?"
  "$inkmark" cost --device "$device" --runs 5 -- "$(program_of solver)" || complain 'inkmark cost failed'
}

sanitize() {
  if [ "$mode" != gpu ]; then return; fi
  if ! command -v compute-sanitizer >/dev/null; then
    echo 'compute-sanitizer is not here: left out'
    return
  fi
  local tool name
  for tool in memcheck racecheck; do
    for name in $examples; do
      compute-sanitizer --tool "$tool" --target-processes all --error-exitcode 9 \
        "$inkmark" record --device gpu -o "$work/sanitized.ink" -- "$(program_of "$name")" \
        >"$work/out" 2>&1 || { complain "$tool finds fault with $name"; tail -n 15 "$work/out"; }
    done
  done
}

[ "$mode" = gpu ] && build_programs
[ "$mode" = update ] && rm -rf "$expected"
while IFS='|' read -r name recording options; do
  record_one "$name" "$recording" "$options" </dev/null
done < <(recordings)
if [ "$mode" != update ]; then
  print_costs marks_cost 10 'cycles a mark'
  print_costs branch_cost 3 'cycles in all'
  echo 'what the cost kernel measured when that was recorded:'
  "$inkmark" info "$work/cost.ink" | sed -n '/^cost of a mark/,/^$/p'
  self_test
  if [ "$mode" = gpu ]; then
    "$here/activity.sh" "$inkmark" gpu "$build/programs/busy" || complain 'activity'
  fi
  sanitize
fi
echo "$compared comparisons, $failures failures"
[ "$failures" = 0 ] && [ "$compared" -gt 0 ]
