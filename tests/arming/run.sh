#!/bin/bash
# SPDX-License-Identifier: MIT
# One arming case: run.sh BUILD BIN CASE, where BUILD has the command and BIN the test programs.
# Records a program on the simulated device and compares what was captured with what it launched.
set -u
build=$1 bin=$2 case=$3
ink="$build/cli/inkmark"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export INKMARK_SIM_SEED=1

fail() {
  echo "FAILED $case: $*"
  cat ./*.err 2>/dev/null
  exit 1
}

# record EXIT_CODE PROGRAM ARGS...: runs under `inkmark record`.
record() {
  local want=$1
  shift
  "$ink" record --device sim -o "run.%p.ink" -- "$@" >out 2>record.err
  local got=$?
  [ $got = "$want" ] || fail "exit code $got, expected $want"
}

# captured FILES LINE: that many captures, whose lines (sorted) are LINE.
captured() {
  local files=(run.*.ink) lines
  [ "${#files[@]}" = "$1" ] && [ -e "${files[0]}" ] || fail "captures: ${files[*]}, expected $1"
  lines=$(for f in "${files[@]}"; do "$bin/capture_counts" "$f" || echo unreadable; done | sort)
  [ "$lines" = "$2" ] || fail "captured '$lines', expected '$2'"
  echo "$case: $lines"
}

# counts DEVICES LAUNCHES COMPLETE: 4 blocks and 12 marks a launch, nothing lost.
counts() {
  echo "devices $1 launches $2 tracks $(($2 * 4)) marks $(($2 * 12)) kept $(($2 * 12)) lost 0 missed 0 problems 0 complete $3"
}

case $case in
plain) record 0 "$bin/program" plain; captured 1 "$(counts 1 1 1)" ;;
rdc) record 0 "$bin/program_rdc" plain; captured 1 "$(counts 1 1 1)" ;;
nosync) record 0 "$bin/program" nosync; captured 1 "$(counts 1 2 1)" ;;
_exit) record 3 "$bin/program" _exit; captured 1 "$(counts 1 1 1)" ;;
exception) record 134 "$bin/program" exception; captured 1 "$(counts 1 1 1)" ;;
sigkill) record 137 "$bin/program" sigkill; captured 1 "$(counts 1 1 0)" ;;
twins) # two functions that name one section: told apart as far as the capture knows
  record 0 "$bin/program" twins
  "$ink" report run.*.ink >report 2>>record.err
  grep -q '^  threads of a block: 32 (1 launch), 64 (2 launches); if these are several functions, they name' report ||
    fail "the report says: $(cat report)"
  [ -e "$build/device/sim/libcupti.so.13" ] || { echo "$case: not with activity: built without CUPTI's header"; exit 0; }
  "$ink" record --device sim --activity -o named.ink -- "$bin/program" twins >out 2>record.err || fail 'with activity'
  "$ink" report named.ink >report 2>>record.err
  grep -q '^  functions: kernel (1 launch), twin (2 launches); all name this section in PROF_KERNEL' report ||
    fail "the report says: $(cat report)"
  "$ink" report --launch 1 named.ink | grep -q functions: && fail "one launch is called several functions"
  echo "$case: said" ;;
hang) # a kernel that runs when the program is killed: its blocks are there, with no times
  record 137 "$bin/program" hang
  captured 1 "devices 1 launches 2 tracks 7 marks 12 kept 12 lost 0 missed 0 problems 0 complete 0"
  grep -q '7 tracks, 12 marks, 3 tracks had not ended' record.err || fail "no word on open tracks"
  "$ink" report run.*.ink >report 2>>record.err
  grep -q '^3 tracks had not ended and hold no times, the first: kernel Third, launch 1, block 0$' report ||
    fail "the report says: $(cat report)" ;;
fork-idle) record 0 "$bin/program" fork-idle; captured 1 "$(counts 1 2 1)" ;;
fork-cuda) record 0 "$bin/program" fork-cuda; captured 2 "$(counts 1 2 1; counts 1 2 1)" ;;
vfork) record 0 "$bin/program" vfork; captured 1 "$(counts 1 2 1)" ;;
reset) record 0 "$bin/program" reset; captured 1 "$(counts 1 3 1)" ;;
threads) record 0 "$bin/program" threads; captured 1 "$(counts 1 20 1)" ;;
graph) SLOW_CAPTURE=1 record 0 "$bin/program" graph; captured 1 "$(counts 1 3 1)" ;;
early-graph) EARLY_GRAPH=1 record 0 "$bin/program" early-graph; captured 1 "$(counts 1 3 1)" ;;
second-device) INKMARK_SIM_DEVICES=2 record 0 "$bin/program" second-device; captured 1 "$(counts 2 3 1)" ;;
refused) # what the simulated device refuses ends the program, recorded or not, at once
  limited() {
    timeout -s KILL 20 "$ink" record --device sim -o run.ink -- "$bin/$1" plain >out 2>record.err
    local got=$?
    [ $got = 86 ] || fail "$1 $2: exit code $got, expected 86"
    grep -q "$3" record.err || fail "$1 $2: no '$3'"
  }
  limited without_ptx "" "no PTX in the program"
  for setting in DEVICES=abc DEVICES=0 DEVICES=20 SMS=abc TIMER_STEP_NS=-1 RATES=zz; do
    export "INKMARK_SIM_$setting"
    limited program "$setting" "INKMARK_SIM_$setting is not "
    unset "INKMARK_SIM_${setting%%=*}"
  done
  INKMARK_SIM_DEVICES=abc limited program devices "from 1 to 16$"
  echo "$case: ended" ;;
end-inside | end-beside) # exit in a call that the recording makes, and while another thread is in one
  timeout -s KILL 40 "$ink" record --device sim -o run.ink -- "$bin/ender" $case >out 2>record.err
  got=$?
  [ $got = 7 ] || fail "exit code $got, expected 7"
  who=it
  [ $case = end-inside ] || who='another thread'
  grep -q "the program ended while $who was in a call" record.err || fail "no word on why"
  echo "$case: ended" ;;
loaded)
  record 0 "$bin/loader" "$bin/library.so"
  captured 1 "devices 1 launches 1 tracks 2 marks 2 kept 2 lost 0 missed 0 problems 0 complete 1" ;;
explicit)
  LD_LIBRARY_PATH="$build/device/sim:$build/runtime" "$bin/explicit" run.1.ink >out 2>record.err || fail "exit code $?"
  captured 1 "devices 1 launches 2 tracks 10 marks 10 kept 10 lost 0 missed 0 problems 0 complete 1" ;;
dormant) # no recording asked for, and no library anywhere: it just runs
  LD_LIBRARY_PATH="$build/device/sim" "$bin/program" plain >out 2>record.err || fail "exit code $?"
  [ -z "$(ls ./*.ink 2>/dev/null)" ] || fail "a capture was written"
  echo "$case: ran, nothing written" ;;
static) # linked with the static CUDA runtime: links, starts, and fails as without marks, having no GPU
  LD_LIBRARY_PATH="$build/device/sim" "$bin/program_static" plain >out 2>record.err
  code=$?
  if [ -e /dev/nvidiactl ]; then [ $code = 0 ] || fail "exit code $code"; else
    [ $code = 1 ] && grep -q "cudaMalloc" record.err || fail "exit code $code"
    "$ink" record --device sim -- "$bin/program_static" plain >out 2>static.err
    grep -q -- "-cudart shared" static.err || fail "no word on how to build for the simulated device"
  fi
  echo "$case: $(tail -n 1 ./*.err | tail -n 1)" ;;
*) fail "no such case" ;;
esac
