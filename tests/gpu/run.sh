#!/bin/bash
# SPDX-License-Identifier: MIT
# The same programs on a real GPU as on the simulated device: builds with nvcc, cmake and a C compiler alone
# (no network, no Python), records examples and test programs, holds counts, nesting, payloads and numeric
# results against those of the simulated run (tests/gpu/expected), ends programs in every way, prints cycles
# per mark, asks CUPTI, and runs compute-sanitizer where there is one. Every step has a time of its own, goes on
# where another failed, and leaves a log; one table at the end says what held, what did not, what was not run.
#   tests/gpu/run.sh                       on a machine with a GPU; builds in build-gpu/
#     --results FOLDER    logs, the table and some captures go there (build-gpu/results)
#     --steps A,B,...     these only: machine host programs compare arming driver open costs limits selftest activity sanitizer
#     --budget SECONDS    for all of it (540); what does not fit is left for another call, which builds nothing again
#     --host BUILD        the command and the libraries of that build, if zlib's headers or cmake are not here
#   tests/gpu/run.sh --simulated BUILD     the same comparisons on the simulated device of a build
#   tests/gpu/run.sh --update BUILD        writes tests/gpu/expected from that build
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/tests/gpu
expected=$here/expected
mode=gpu device=gpu build=$root/build-gpu results='' host=''
steps='machine host programs compare arming driver open costs limits selftest activity sanitizer' budget=540 one=
while [ $# -gt 0 ]; do
  case $1 in
    --simulated | --update)
      mode=${1#--} device=sim build=$(cd "${2:?a build folder}" && pwd) || exit 2
      steps='compare driver costs limits selftest'
      [ "$mode" = update ] && steps=compare ;;
    --results) mkdir -p "${2:?a folder}" && results=$(cd "$2" && pwd) || exit 2 ;;
    --steps) steps=${2:?steps}; steps=${steps//,/ } ;;
    --budget) budget=${2:?seconds} ;;
    --host) host=$(cd "${2:?a build folder}" && pwd) || exit 2 ;;
    --one) one=${2:?a step} mode=$RUN_MODE device=$RUN_DEVICE build=$RUN_BUILD results=$RUN_RESULTS host=$RUN_HOST ;;
    *) sed -n '8,14s/^# *//p' "$0" >&2; exit 2 ;;
  esac
  shift 2
done
examples='solver matmul pipeline'
[ "$mode" = gpu ] && case $(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1) in
  [78].*) examples='solver matmul'; echo 'examples/pipeline.cu is for sm_90 and newer: left out' ;;
esac
programs='straight loop early nested divergent multi streams chosen payload called relocated'
built='marks_cost branch_cost limits selftest busy lives lives_shared lives_rdc guest ends streamed drain_times'

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

failures=0 compared=0 left_out=
# within SECONDS COMMAND...: a limit where a GPU's time is counted; elsewhere only a guard.
within() {
  local limit=$1
  shift
  [ "$mode" = gpu ] || limit=3600
  timeout -k 10 "$limit" "$@"
}
complain() { printf 'FAIL %s\n' "$*"; failures=$((failures + 1)); }
leave_out() { printf 'left out: %s\n' "$*"; left_out="$left_out${left_out:+; }$*"; }

find_nvcc() {
  local folder
  command -v nvcc >/dev/null && return
  for folder in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda /usr/local/cuda-1[23]*; do
    [ -x "$folder/bin/nvcc" ] && { PATH=$folder/bin:$PATH; return; }
  done
  return 1
}

# The command: of this build, else of --host.
set_inkmark() {
  inkmark=$build/cli/inkmark
  if [ ! -x "$inkmark" ] && [ -n "$host" ]; then inkmark=$host/cli/inkmark; fi
  if [ ! -x "$inkmark" ]; then complain "there is no command to record with: the step 'host' builds it"; return 1; fi
}

# ---- steps: what is here, building
step_machine() {
  local tool
  uname -a
  nvidia-smi || complain 'nvidia-smi fails: there may be no GPU here'
  nvidia-smi --query-gpu=name,driver_version,compute_cap,mig.mode.current,compute_mode --format=csv
  ls -l /dev/nvidia* /dev/dxg 2>/dev/null
  grep -i RmProfilingAdminOnly /proc/driver/nvidia/params 2>/dev/null # 1: counters for root alone; activity works
  find_nvcc || complain 'no nvcc on the PATH, in CUDA_HOME, nor in /usr/local'
  for tool in nvcc cmake ninja make gcc cc compute-sanitizer cuobjdump nvdisasm awk join timeout python3; do
    printf '%-18s %s\n' "$tool" "$(command -v "$tool" || echo 'not here')"
  done
  nvcc --version
  echo '#include <zlib.h>' | ${CC:-cc} -E - >/dev/null 2>&1 && echo 'zlib.h             here' ||
    echo 'zlib.h             not here: --host BUILD brings the command'
}

step_host() {
  if [ -n "$host" ] && "$host/cli/inkmark" --version; then echo "the command is that of $host"; return; fi
  local generator=() log=$build/host.log
  mkdir -p "$build"
  command -v ninja >/dev/null && [ ! -e "$build/Makefile" ] && generator=(-G Ninja)
  cmake -S "$root" -B "$build" "${generator[@]}" -DINKMARK_BUILD_SIM=OFF -DINKMARK_BUILD_TESTS=OFF \
    -DINKMARK_BUILD_EXAMPLES=OFF -DINKMARK_BUILD_BENCH=OFF >"$log" 2>&1 &&
    cmake --build "$build" --parallel --target inkmark inkmark_preload inkmark_shared >>"$log" 2>&1 ||
    { complain 'the build failed'; tail -n 40 "$log"; return; }
  "$build/cli/inkmark" --version || complain 'the command does not start'
}

target_flags() { # -fmad=false: the results' bits then depend on nothing that the assembler does
  local capability
  capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 | tr -d .)
  case $capability in
    [0-9][0-9]*) echo "-gencode arch=compute_$capability,code=sm_$capability" ;;
    *) echo '-arch=native' ;;
  esac
}

build_one() { # NAME TARGET_FLAGS
  local name=$1 arming=$root/tests/arming out=$build/programs/$1 flags sources
  read -ra flags <<<"-std=c++17 -O3 -lineinfo $2"
  flags+=(-I "$root/device" -I "$root/runtime/include")
  case $name in
    solver | matmul | pipeline) sources=("$root/examples/$name.cu") ;;
    drain_times) sources=("$here/$name.cu") flags+=("-L${host:-$build}/runtime" -linkmark -Xlinker "-rpath,${host:-$build}/runtime") ;;
    marks_cost | branch_cost | limits) sources=("$here/$name.cu") ;;
    selftest) sources=("$root/selftest/selftest.cu") ;;
    busy) sources=("$root/tests/activity/busy.cu") ;;
    lives) sources=("$arming/program.cu") ;;
    lives_shared) sources=("$arming/program.cu") flags+=(-cudart shared) ;;
    lives_rdc) sources=("$arming/program.cu") flags+=(-rdc=true) ;;
    ends | streamed) sources=("$root/tests/flight/$name.cu") ;;
    guest) sources=("$arming/guest.cu") flags+=(-cudart shared -ldl) ;;
    *) sources=("$root/tests/device/truth/$name.cu") ;;
  esac
  if [ "$name" = relocated ]; then
    sources+=("$root"/tests/device/truth/relocated_{other,helper}.cu)
    flags+=(-rdc=true)
  fi
  case " $examples $programs " in *" $name "*) flags+=(-fmad=false) ;; esac
  nvcc "${flags[@]}" -o "$out.new" "${sources[@]}" >"$out.log" 2>&1 && mv "$out.new" "$out"
}

step_programs() {
  local name flags jobs
  find_nvcc || { complain 'no nvcc'; return; }
  mkdir -p "$build/programs"
  flags=$(target_flags)
  jobs=$(nproc 2>/dev/null || echo 4)
  echo "nvcc $flags, $jobs at a time"
  for name in $examples $programs $built; do
    [ -x "$build/programs/$name" ] && [ -z "$(find "$root/device/inkmark" -newer "$build/programs/$name")" ] && continue
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
    build_one "$name" "$flags" &
  done
  wait
  for name in $examples $programs $built; do
    [ -x "$build/programs/$name" ] && continue
    complain "nvcc cannot build $name"
    tail -n 8 "$build/programs/$name.log"
  done
  ${CC:-cc} -std=c11 -I "$root/runtime/include" -I "$root/device" "$root/tests/arming/capture_counts.c" \
    -L"${host:-$build}/runtime" -linkmark "-Wl,-rpath,${host:-$build}/runtime" -o "$build/programs/capture_counts" ||
    complain 'capture_counts does not link: the step arming needs it'
}

program_of() {
  case $mode,$1 in
    gpu,*) echo "$build/programs/$1" ;;
    *,solver) echo "$build/tests/gpu/solver_exact" ;;
    *,matmul | *,pipeline) echo "$build/examples/$1" ;;
    *,marks_cost | *,branch_cost | *,limits | *,drain_times) echo "$build/tests/gpu/$1" ;;
    *) echo "$build/tests/device/truth/${1}_exact" ;;
  esac
}

# ---- step: recording and comparing
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
  [ -x "$program" ] || { complain "$name ($recording): was not built"; return; }
  rm -f "$capture"
  if ! within 60 "$inkmark" record --device "$device" -o "$capture" "${options[@]}" -- "$program" \
    >"$work/out" 2>"$work/err"; then
    complain "$name ($recording): the recorded program failed"
    tail -n 5 "$work/out" "$work/err"
    return
  fi
  grep -E 'not recorded|threads missed|tracks lost' "$work/err" && complain "$name ($recording): record says so"
  if ! within 60 "$inkmark" export "$capture" --format csv -o "$work/csv" 2>"$work/err"; then
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
    case $mode,$name in gpu,solver | gpu,streams) cp "$capture" "$results/$name.ink" ;; esac
  fi
}

step_compare() {
  local name recording options
  set_inkmark || return
  [ "$mode" = update ] && rm -rf "$expected"
  while IFS='|' read -r name recording options; do
    record_one "$name" "$recording" "$options" </dev/null
  done < <(recordings)
  [ "$mode" != gpu ] || [ ! -e "$results/solver.ink" ] || "$inkmark" info "$results/solver.ink"
}

# ---- step: ways into and out of a program (tests/arming/run.sh has them on the simulated device)
life() { # EXIT_CODE COUNTS PROGRAM WAY: COUNTS is a pattern of what capture_counts prints of each capture
  local want=$1 counts=$2 program=$build/programs/$3 way=$4 got file lines=
  [ -x "$program" ] || { complain "$3 $way: was not built"; return; }
  rm -f "$work"/life.*.ink
  within 40 "$inkmark" record --device gpu -o "$work/life.%p.ink" -- "$program" "$way" >"$work/out" 2>"$work/err"
  got=$?
  [ $got = "$want" ] || complain "$3 $way: exit code $got, expected $want"
  for file in "$work"/life.*.ink; do
    lines+="$("$build/programs/capture_counts" "$file" 2>&1) "
  done
  printf '%-22s %s\n' "$3 $way" "$lines"
  # shellcheck disable=SC2053 # a pattern
  [[ $lines == $counts ]] || { complain "$3 $way: expected $counts"; sed 's/^/  /' "$work/err" | head -n 6; }
  grep 'was not recorded as asked' "$work/err" && complain "$3 $way: record could not do as asked"
  compared=$((compared + 1))
}

counts() { # LAUNCHES COMPLETE: 4 blocks and 12 marks a launch, nothing lost
  echo "devices 1 launches $1 tracks $(($1 * 4)) marks $(($1 * 12)) kept $(($1 * 12)) lost 0 missed 0 problems 0 complete $2 "
}

step_arming() {
  local program
  set_inkmark || return
  export LD_LIBRARY_PATH # for those that are linked with the shared runtime
  LD_LIBRARY_PATH=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc)")")")/lib64:${LD_LIBRARY_PATH:-}
  [ -x "$build/programs/capture_counts" ] || { complain 'capture_counts was not built'; return; }
  for program in lives lives_shared lives_rdc; do
    life 0 "$(counts 1 1)" $program plain
    life 0 "$(counts 2 1)" $program nosync
  done
  for program in lives lives_shared; do
    life 3 "$(counts 1 1)" $program _exit
    life 134 "$(counts 1 1)" $program exception
    KILLED_AFTER_S=1 life 137 "$(counts 1 0)" $program sigkill
    KILLED_AFTER_S=2 life 137 'devices 1 launches 2 tracks 7 marks 12 kept 12 lost 0 missed 0 problems 0 complete 0 ' $program hang
    life 0 "$(counts 2 1)" $program fork-idle
    life 0 "$(counts 2 1)" $program vfork
    life 0 "$(counts 20 1)" $program threads
    SLOW_CAPTURE=1 life 0 "$(counts 3 1)" $program graph
    EARLY_GRAPH=1 life 0 "$(counts 3 1)" $program early-graph
  done
  life 0 "$(counts 3 1)" lives_shared reset
  life 0 "devices 1 launches 1 tracks 2 marks 2 kept 2 lost 0 missed 0 problems 0 complete 1 " guest sigwait
  life 0 "devices 1 launches 1 tracks 2 marks 2 kept 2 lost 0 missed 0 problems 0 complete 1 " guest error
  life 5 "devices 1 launches 1 tracks 2 marks 2 kept 2 lost 0 missed 0 problems 0 complete 1 " guest handler
}

# ---- step: kernels that a program loads itself (tests/driver and tests/wheels have them on the simulated device)
build_driver() { # into $1
  local target
  find_nvcc || { complain 'no nvcc'; return 1; }
  target=$(target_flags | sed -n 's/.*code=sm_\([0-9]*\).*/-arch=compute_\1/p')
  nvcc -ptx "${target:--arch=compute_75}" -I "$root/device" -o "$1/kernels.ptx" "$root/tests/driver/kernels.cu" ||
    complain 'nvcc cannot compile kernels.cu to PTX'
  nvcc -cubin "${target/compute_/sm_}" -I "$root/device" -o "$1/kernels.cubin" "$root/tests/driver/kernels.cu" ||
    complain 'nvcc cannot compile kernels.cu to machine code'
  ${CC:-cc} -std=c11 -D_GNU_SOURCE -o "$1/program" "$root/tests/driver/program.c" -ldl || complain 'program.c does not build'
}

step_driver() {
  local bin=$build/programs counts=$build/programs/capture_counts case name launches image got
  set_inkmark || return
  if [ "$mode" = gpu ]; then build_driver "$bin" || return; else bin=$build/tests/driver counts=$build/tests/arming/capture_counts; fi
  for case in module:1 library:1 unload:2 reset:2 contexts:6 file:1; do
    name=${case%:*} launches=${case#*:} image=kernels.ptx
    [ "$name.$mode" != file.gpu ] || image=kernels.cubin
    within 60 "$inkmark" record --device "$device" -o "$work/driver.ink" -- "$bin/program" address "$name" "$bin/$image" \
      >"$work/out" 2>"$work/err" || complain "$name: $(cat "$work/err")"
    got=$("$counts" "$work/driver.ink" 2>&1)
    echo "$name: $got"
    case $got in
      *" tracks $((launches * 4)) marks $((launches * 48)) kept $((launches * 48)) lost 0 missed 0 problems 0 complete 1"*) ;;
      *) complain "$name: $got" ;;
    esac
    compared=$((compared + 1))
    rm -f "$work/driver.ink"
  done
  [ "$mode" = gpu ] || return # the wheels are tests/wheels there
  for name in cupy:cupy_step cuda.core:cuda_core_step; do
    PYTHONPATH=$root/python python3 -c "import inkmark, ${name%:*}" 2>/dev/null || { leave_out "${name%:*} is not here"; continue; }
    PYTHONPATH=$root/python within 60 "$inkmark" record -o "$work/driver.ink" -- python3 "$root/examples/${name#*:}.py" >"$work/out" 2>"$work/err" &&
      grep -q '^PASS$' "$work/out" || complain "${name#*:}: $(cat "$work/out" "$work/err")"
    "$inkmark" report "$work/driver.ink" | grep -q '^kernel Step' || complain "${name#*:}: no kernel in the capture"
    compared=$((compared + 1))
    rm -f "$work/driver.ink"
  done
}

# ---- step: tracks that stay open: traps, kernels that hang or run for long
step_open() {
  local case bin=$build/programs counts=$build/programs/capture_counts began
  set_inkmark || return
  [ "$mode" = gpu ] || { bin=$build/tests/flight counts=$build/tests/arming/capture_counts; }
  command -v python3 >/dev/null || { leave_out 'python3 is not here'; return; }
  for case in trap illegal second exit range mark stream lapped; do
    [ -x "$bin/ends" ] && [ -x "$bin/streamed" ] && [ -x "$counts" ] || { complain 'ends, streamed or capture_counts was not built'; return; }
    began=$(date +%s%N)
    INKMARK_TEST_DEVICE=$device within 40 python3 "$root/tests/flight/check_ends.py" "$inkmark" "$bin" "$counts" "$case" ||
      complain "$case: ended with $?"
    compared=$((compared + 1))
    echo "$case: $((($(date +%s%N) - began) / 1000000)) ms in all"
  done
}

# ---- step: what marks cost
print_costs() { # PROGRAM LINES WHAT
  local program environment=()
  program=$(program_of "$1")
  [ -x "$program" ] || { complain "$1 was not built"; return; }
  [ "$device" = sim ] && environment=("LD_LIBRARY_PATH=$build/device/sim")
  within 60 env "${environment[@]}" "$program" >"$work/dormant" || complain "$1 failed"
  within 60 "$inkmark" record --device "$device" -o "$work/cost.ink" -- "$program" >"$work/stored" \
    2>"$work/err" || complain "$1 failed when recorded"
  [ "$(wc -l <"$work/stored")" = "$2" ] || complain "$1 printed other than $2 lines"
  [ "$device" = sim ] && echo 'simulated clock: the numbers below are no GPU'"'"'s'
  printf '%-14s %10s %10s\n' "$3" recorded dormant
  join <(sort "$work/stored") <(sort "$work/dormant") | while read -r kind stored dormant; do
    printf '%-14s %10s %10s\n' "$kind" "$stored" "$dormant"
  done
}

print_drains() {
  local program environment=()
  program=$(program_of drain_times)
  [ -x "$program" ] || { complain 'drain_times was not built'; return; }
  [ "$device" = sim ] && environment=("LD_LIBRARY_PATH=$build/device/sim")
  within 60 env "${environment[@]}" "$program" "$work" >"$work/out" || complain 'drain_times failed'
  [ "$(wc -l <"$work/out")" = 5 ] || complain 'drain_times printed other than 5 lines'
  [ "$device" = sim ] && echo 'simulated device: the milliseconds below are no GPU'"'"'s'
  printf '%-14s %10s %10s\n' 'a drain of' ms 'MB stored'
  while read -r tracks ms stored; do printf '%-14s %10s %10s\n' "$tracks tracks" "$ms" "$stored"; done <"$work/out"
}

step_costs() {
  set_inkmark || return
  print_drains
  print_costs marks_cost 13 'cycles a mark'
  print_costs branch_cost 3 'cycles in all'
  echo 'what the cost kernel measured when that was recorded:'
  "$inkmark" info "$work/cost.ink" | sed -n '/^cost of a mark/,/^$/p'
  within 120 "$inkmark" cost --device "$device" --runs 5 -- "$(program_of solver)" || complain 'inkmark cost failed'
}

# ---- steps: what the design takes for granted, on this device
# WHAT NUMBER NUMBER: equal, dormant and recorded. On the simulated device occupancy is made up, and is not compared.
step_limits() {
  local program environment=() what plain marked how
  set_inkmark || return
  program=$(program_of limits)
  [ -x "$program" ] || { complain 'limits was not built'; return; }
  [ "$device" = sim ] && environment=("LD_LIBRARY_PATH=$build/device/sim")
  within 60 env "${environment[@]}" "$program" >"$work/dormant" || complain "limits failed: $(tail -n 1 "$work/dormant")"
  within 60 "$inkmark" record --device "$device" -o "$work/limits.ink" -- "$program" >"$work/recorded" 2>"$work/err" ||
    complain "limits failed when recorded: $(tail -n 1 "$work/recorded")"
  for how in dormant recorded; do
    [ "$(wc -l <"$work/$how")" = 6 ] || complain "limits printed other than 6 lines, $how"
    while read -r what plain marked; do
      printf '%-22s %-10s %8s %8s\n' "$what" "$how" "$plain" "$marked"
      case $device,$what in sim,blocks_*) continue ;; esac
      [ "$plain" = "$marked" ] || complain "$what, $how: $plain and $marked"
      compared=$((compared + 1))
    done <"$work/$how"
  done
}

step_selftest() {
  local program=()
  set_inkmark || return
  [ "$mode" = gpu ] && program=(--program "$build/programs/selftest")
  within 120 "$inkmark" selftest --device "$device" --forget "${program[@]}" || complain "the self-test ended with $?"
}

step_activity() {
  local found
  set_inkmark || return
  found=$(ls {"${CUDA_HOME:-}",/usr/local/cuda*}/{extras/CUPTI/lib64,lib64}/libcupti.so.1[23] 2>/dev/null | head -n 1)
  if [ -z "${INKMARK_CUPTI:-}" ] && [ -z "$found" ]; then # a Python package may bring one
    found=$(timeout 20 find /usr /opt /root "${HOME:-/root}" -name 'libcupti.so.1[23]' 2>/dev/null | head -n 1)
    [ -n "$found" ] && export INKMARK_CUPTI=$found
  fi
  echo "CUPTI: ${INKMARK_CUPTI:-${found:-none found}}"
  [ -n "${INKMARK_CUPTI:-$found}" ] || { leave_out 'activity, for there is no libcupti.so.13 or .12'; return; }
  [ -x "$build/programs/busy" ] || { complain 'busy was not built'; return; }
  within 120 "$here/activity.sh" "$inkmark" gpu "$build/programs/busy" || complain 'activity'
}

sanitize() { # TOOL NAME
  within 90 compute-sanitizer --tool "$1" --target-processes all --error-exitcode 9 \
    "$inkmark" record --device gpu -o "$work/sanitized.ink" -- "$(program_of "$2")" >"$work/out" 2>&1
  local code=$?
  grep -E 'ERROR SUMMARY|RACECHECK SUMMARY|hazard' "$work/out" | head -n 4
  if grep -qiE 'not supported|failed to initialize|unable to|Internal Sanitizer Error' "$work/out" && [ $code != 0 ]; then
    leave_out "$1 of $2: the sanitizer does not work here (exit code $code)"
  elif [ $code = 124 ]; then
    leave_out "$1 of $2: it took more than 90 s"
  elif [ $code != 0 ]; then
    complain "$1 finds fault with $2 (exit code $code)"
  fi
  [ $code = 0 ] || tail -n 15 "$work/out"
}

# Marks in called functions let the lanes of a warp read an entry that one of them wrote without a barrier, and
# look away unless it is their own (mark_impl.cuh): racecheck may call that a hazard, so those are not run by it.
step_sanitizer() {
  local name
  set_inkmark || return
  command -v compute-sanitizer >/dev/null || { leave_out 'compute-sanitizer is not here'; return; }
  for name in $examples straight called nested; do sanitize memcheck "$name"; done
  for name in straight loop matmul; do sanitize racecheck "$name"; done
}

# ---- one step, in a process of its own
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
find_nvcc
if [ -n "$one" ]; then
  "step_$one"
  printf '%s\t%s\t%s\n' "$failures" "$compared" "$left_out" >"$results/.$one"
  [ "$failures" = 0 ]
  exit
fi

# ---- all of them
limit_of() { # seconds
  case $1 in
    machine) echo 40 ;;
    host | programs | compare | arming) echo 240 ;;
    sanitizer) echo 300 ;;
    *) echo 200 ;;
  esac
}

[ -n "$results" ] || { [ "$mode" = gpu ] && results=$build/results || results=$work/results; }
mkdir -p "$results" || exit 2
export RUN_MODE=$mode RUN_DEVICE=$device RUN_BUILD=$build RUN_RESULTS=$results RUN_HOST=$host # for --one
table=$results/table.txt
printf '%-10s %-8s %5s  %s\n' step result s 'comparisons, failures, what was left out' >"$table"
bad=0 total=0 start=$SECONDS
for step in $steps; do
  declare -F "step_$step" >/dev/null || { echo "no step is called '$step'" >&2; exit 2; }
  left=$((budget - (SECONDS - start)))
  limit=$(limit_of "$step")
  [ "$mode" != gpu ] || [ "$left" -ge "$limit" ] || limit=$left
  if [ "$limit" -lt 10 ]; then
    printf '%-10s %-8s %5s  %s\n' "$step" 'not run' - "no time left of $budget s: --steps $step" >>"$table"
    bad=$((bad + 1))
    continue
  fi
  echo "== $step"
  rm -f "$results/.$step"
  began=$SECONDS
  within "$limit" "$0" --one "$step" >"$results/$step.log" 2>&1
  code=$?
  cat "$results/$step.log"
  IFS=$'\t' read -r failed done_ left_out <"$results/.$step" 2>/dev/null || { failed=1 done_=0 left_out="ended with $code"; }
  rm -f "$results/.$step"
  [ $code != 124 ] && [ $code != 137 ] || left_out="took more than $limit s"
  word=held
  [ "$failed" = 0 ] || word=FAILED
  [ -z "$left_out" ] || [ $word = FAILED ] || word=partly
  [ $word != FAILED ] || bad=$((bad + 1))
  total=$((total + done_))
  printf '%-10s %-8s %5s  %s\n' "$step" "$word" $((SECONDS - began)) \
    "$done_, $failed${left_out:+, $left_out}" >>"$table"
done
echo '== all'
cat "$table"
echo "$total comparisons, $bad steps that did not hold or were not run; logs in $results"
[ "$bad" = 0 ] && { [ "$total" -gt 0 ] || [[ " $steps " != *' compare '* ]]; }
