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
  [[ $lines == $2 ]] || fail "captured '$lines', expected '$2'"
  echo "$case: $lines"
}

# killed_once LINE PROGRAM ARGS...: records, and kills the program when the capture's line is like the pattern LINE.
killed_once() {
  local want=$1 at line recorder i
  shift
  "$ink" record --device sim -o "run.%p.ink" -- "$@" >out 2>record.err &
  recorder=$!
  for ((i = 0; i < 6000; i++)); do # a guard, minutes
    at=$(compgen -G 'run.*.ink') && line=$("$bin/capture_counts" "$at" 2>/dev/null) && [[ $line == $want ]] && break
    kill -0 $recorder 2>/dev/null || fail "it ended: $line"
    sleep 0.1
  done
  [[ $line == $want ]] || fail "captured '$line', expected '$want'"
  at=${at#run.}
  kill -KILL "${at%.ink}"
  wait $recorder
  local got=$?
  [ $got = 137 ] || fail "exit code $got, expected 137"
}

# counts DEVICES LAUNCHES COMPLETE: 4 blocks and 12 marks a launch, nothing lost.
counts() {
  echo "devices $1 launches $2 tracks $(($2 * 4)) marks $(($2 * 12)) kept $(($2 * 12)) lost 0 missed 0 problems 0 complete $3"
}

case $case in
plain) record 0 "$bin/program" plain; captured 1 "$(counts 1 1 1)" ;;
rdc) record 0 "$bin/program_rdc" plain; captured 1 "$(counts 1 1 1)" ;;
older) # linked with a file of another layout, whose symbol nothing is written to
  record 0 "$bin/older"
  captured 1 "$(counts 1 1 1)" ;;
huge-grid) # of 2^32 blocks, whose number modulo 2^32 is 0: those that --blocks leaves out do not record
  "$ink" record --device sim --flight --blocks 100-103 -o run.1.ink -- "$bin/huge_grid" >out 2>record.err || fail "exit code $?"
  captured 1 "devices 1 launches 1 tracks 4 marks 4 kept 4 lost 0 missed 0 problems 0 complete 1" ;;
nosync) record 0 "$bin/program" nosync; captured 1 "$(counts 1 2 1)" ;;
_exit) record 3 "$bin/program" _exit; captured 1 "$(counts 1 1 1)" ;;
exception) record 134 "$bin/program" exception; captured 1 "$(counts 1 1 1)" ;;
sigkill) killed_once "$(counts 1 1 0)" "$bin/program" sigkill; captured 1 "$(counts 1 1 0)" ;;
twins) # two functions that name one section are two kernels, told by the names that their tracks carry
  record 0 "$bin/program" twins
  "$ink" report run.*.ink >report 2>>record.err
  grep -q '^kernel Kernel (kernel) (Arming): 1 launch, ' report || fail "the report says: $(cat report)"
  grep -q '^kernel Kernel (twin) (Arming): 2 launches, ' report || fail "the report says: $(cat report)"
  echo "$case: told apart" ;;
hang) # a kernel that runs when the program is killed: its blocks are there, with what is certain of their marks
  line="devices 1 launches 2 tracks 7 marks [1-9]???* kept [1-9]???* lost 0 missed 0 problems 0 complete 0"
  killed_once "$line" "$bin/program" hang
  captured 1 "$line"
  "$bin/capture_counts" run.*.ink | grep -q ' marks [0-9]\{4,14\} ' || fail "more marks than can be"
  kept=$("$bin/capture_counts" run.*.ink | sed 's/.* kept \([0-9]*\) .*/\1/')
  tr -d , <record.err | grep -q "7 tracks $kept marks 3 tracks had not ended" || fail "no word on open tracks"
  "$ink" report run.*.ink >report 2>>record.err
  grep -q '^3 tracks had not ended:$' report && grep -q '^  kernel Third, launch 1, block 0: after First' report ||
    fail "the report says: $(cat report)" ;;
fork-idle) record 0 "$bin/program" fork-idle; captured 1 "$(counts 1 2 1)" ;;
fork-cuda) record 0 "$bin/program" fork-cuda; captured 2 "$(counts 1 2 1; counts 1 2 1)" ;;
vfork) record 0 "$bin/program" vfork; captured 1 "$(counts 1 2 1)" ;;
reset) record 0 "$bin/program" reset; captured 1 "$(counts 1 3 1)" ;;
reset-full) # more than the writer takes at once: the reset waits for it
  "$ink" record --device sim -o "run.%p.ink" --tracks 2048 --records-per-track 512 --drain-ms 2000 -- "$bin/program" reset-full \
    >out 2>record.err || fail "exit code $?"
  captured 1 "devices 1 launches 1 tracks 1500 marks 750000 kept 750000 lost 0 missed 0 problems 0 complete 1" ;;
threads) record 0 "$bin/program" threads; captured 1 "$(counts 1 20 1)" ;;
graph) SLOW_CAPTURE=1 record 0 "$bin/program" graph; captured 1 "$(counts 1 3 1)" ;;
early-graph) EARLY_GRAPH=1 record 0 "$bin/program" early-graph; captured 1 "$(counts 1 3 1)" ;;
second-device) INKMARK_SIM_DEVICES=2 record 0 "$bin/program" second-device; captured 1 "$(counts 2 3 1)" ;;
refused) # what the simulated device refuses ends the program, recorded or not, at once
  limited() {
    timeout -s KILL 1800 "$ink" record --device sim -o run.ink -- "$bin/$1" plain >out 2>record.err
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
  timeout -s KILL 1800 "$ink" record --device sim -o run.ink -- "$bin/ender" $case >out 2>record.err
  got=$?
  [ $got = 7 ] || fail "exit code $got, expected 7"
  who=it
  [ $case = end-inside ] || who='another thread'
  grep -q "the program ended while $who was in a call" record.err || fail "no word on why"
  echo "$case: ended" ;;
full-file) # writes fail, here by a limit of the file's size as on a full disk: no step of it is complete
  lost=0
  limited_to() {
    prlimit --fsize="$1" "$ink" record --device sim -o run.ink -- "$bin/program" plain >out 2>record.err ||
      fail "$1 bytes: exit code $?"
    grep -q "was not recorded as asked: cannot write '.*run.ink': file too large" record.err || fail "$1 bytes: no word"
    grep -q 'no kernel with PROF_KERNEL' record.err && fail "$1 bytes: the kernel ran"
    "$ink" info run.ink >info 2>info.err
    grep -q '^file .*, complete)' info && fail "$1 bytes: complete: $(cat info)"
    grep -Eq 'a write failed while it was recorded|the end is missing' info.err || fail "$1 bytes: info does not tell"
    "$ink" info --format json run.ink 2>>record.err | grep -q '"complete": false' || fail "$1 bytes: complete in JSON"
    "$ink" export run.ink -o rows.csv >>out 2>export.err
    grep -Eq 'a write failed while it was recorded|the end is missing' export.err || fail "$1 bytes: export does not tell"
    "$ink" report run.ink >report 2>>record.err
    grep -q 'were used again' report && fail "$1 bytes: $(cat report)"
    if grep -q "wrote 'run.ink': [1-3] tracks*, .* [1-3] tracks lost$" record.err; then lost=1; fi
  }
  for kib in 1 2 3 4 5 6 7; do limited_to $((kib * 1024)); done
  # what is written before and after the tracks depends on when it is drained
  for ((bytes = 7168; bytes > 512 && !lost; bytes -= 128)); do limited_to $bytes; done
  [ $lost = 1 ] || fail "no limit at which some tracks were kept and some lost"
  echo "$case: told" ;;
damaged) # no option of record helps against damage
  record 0 "$bin/program" plain
  lost=0
  for ((at = 1024; at < $(stat -c %s run.*.ink); at += 128)); do
    cp run.*.ink bad.ink
    # not with the sanitizer's runtime, which ends dd: it asks for memory in a way that is refused
    printf '\377\377\377' | env -u LD_PRELOAD dd of=bad.ink bs=1 seek=$at conv=notrunc 2>/dev/null ||
      fail "byte $at could not be damaged"
    "$ink" report bad.ink >report 2>>record.err
    if grep -q 'lost: [1-4] track' report; then lost=1; fi
    grep -q 'more --tracks' report && fail "byte $at: $(cat report)"
  done
  [ $lost = 1 ] || fail "the tracks were never lost"
  echo "$case: no advice" ;;
same-name) # two recordings at once with one name: each tells its own file
  "$ink" record --device sim -o run.ink -- sh -c "echo >begun; while [ ! -e go ]; do sleep 0.05; done
    exec '$bin/program' plain" >first.out 2>first.err &
  while [ ! -e begun ]; do sleep 0.05; done
  "$ink" record --device sim -o run.ink -- "$bin/program" plain >out 2>record.err || fail "exit code $?"
  touch go
  wait $! || fail "the first: exit code $?"
  grep -q "wrote 'run.ink': 4 tracks" record.err || fail "the second does not name its file"
  grep -q "wrote 'run.ink.[0-9]*': 4 tracks" first.err || fail "the first does not name its file"
  grep -q "'run.ink' was written by another recording" first.err || fail "the first does not disown the other"
  grep -q "wrote 'run.ink':" first.err && fail "the first names the other's file as its own"
  echo "$case: told" ;;
ranks-apart) # `mpirun inkmark record -o run.%r.ink`: a recording for each rank tells its own file, and of no other
  RANK=0 "$ink" record --device sim -o run.%r.ink -- sh -c "echo >begun; while [ ! -e go ]; do sleep 0.05; done
    exec '$bin/program' plain" >first.out 2>first.err &
  while [ ! -e begun ]; do sleep 0.05; done
  RANK=1 "$ink" record --device sim -o run.%r.ink -- "$bin/program" plain >out 2>record.err || fail "exit code $?"
  touch go
  wait $! || fail "the first: exit code $?"
  grep -q "wrote 'run.0.ink': 4 tracks" first.err || fail "rank 0 does not name its file: $(cat first.err)"
  grep -q "wrote 'run.1.ink': 4 tracks" record.err || fail "rank 1 does not name its file: $(cat record.err)"
  grep -q "run.1.ink" first.err && fail "rank 0 tells of rank 1's file"
  echo "$case: apart" ;;
just-ended) # a recording that wrote right before this one began did not run meanwhile
  "$ink" record --device sim -o run.1.ink -- "$bin/program" plain >out 2>record.err || fail "exit code $?"
  touch run.1.ink
  "$ink" record --device sim -o run.%p.ink -- "$bin/program" plain >out 2>record.err || fail "exit code $?"
  grep -q "wrote 'run.[0-9]*.ink': 4 tracks" record.err || fail "its own file is not named"
  grep -q "run.1.ink" record.err && fail "the other's file is told of"
  echo "$case: not told" ;;
loaded)
  # in a namespace of its own the library runs as it does without record; the sanitizer's runtime cannot be there twice
  if [[ ${LD_PRELOAD:-} != *libasan* ]]; then
    LD_LIBRARY_PATH=$build/device/sim "$bin/loader" + "$bin/library.so" || fail "a namespace of its own, alone"
    record 0 "$bin/loader" + "$bin/library.so"
  fi
  record 0 "$bin/loader" "$bin/library.so"
  captured 1 "devices 1 launches 1 tracks 2 marks 2 kept 2 lost 0 missed 0 problems 0 complete 1" ;;
unloaded) # a library with marks goes while the drain thread runs, and another one comes
  record 0 "$bin/loader" "$bin/library.so" - "$bin/many.so"
  captured 1 "devices 1 launches 2 tracks 4 marks 4 kept 4 lost 0 missed 0 problems 0 complete 1" ;;
many-sections) # a device that is armed already takes a table of any size
  record 0 "$bin/loader" "$bin/library.so" "$bin/many.so"
  captured 1 "devices 1 launches 2 tracks 4 marks 4 kept 4 lost 0 missed 0 problems 0 complete 1" ;;
local-reset) # by a library whose CUDA runtime nobody else can see
  record 0 "$bin/loader" "$bin/resets.so"
  captured 1 "devices 1 launches 1 tracks 2 marks 2 kept 2 lost 0 missed 0 problems 0 complete 1" ;;
reset-one) # of two devices: what runs on the other one is not lost
  INKMARK_SIM_DEVICES=2 record 0 "$bin/guest" reset-one
  captured 1 "devices 2 launches 7 tracks 14 marks 14 kept 14 lost 0 missed 0 problems 0 complete 1" ;;
capturing) # arming by dlopen leaves a capture in another mode than relaxed as it is
  record 0 "$bin/guest" capturing "$bin/library.so"
  captured 1 "devices 1 launches 2 tracks 4 marks 4 kept 4 lost 0 missed 0 problems 0 complete 1" ;;
sigwait | driver-goes) # a signal that the program waits for; a driver that ends in an exit handler of its own
  [ $case = sigwait ] || export DRIVER_GOES=1
  record 0 "$bin/guest" $case
  captured 1 "devices 1 launches 1 tracks 2 marks 2 kept 2 lost 0 missed 0 problems 0 complete 1" ;;
ignored-child) # started by one that ignores SIGCHLD: the end is noticed, and the program gets it as it was
  ignoring() {
    timeout -s KILL 1800 python3 -c 'import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execv(sys.argv[1], sys.argv[1:])' "$ink" record --device sim -o run.1.ink -- "$@" >out 2>record.err || fail "exit code $?"
  }
  ignoring "$(command -v grep)" SigIgn /proc/self/status
  grep -q 'SigIgn:.*1[0-9a-f]\{4\}$' out || fail "SIGCHLD is not ignored in the program: $(cat out)"
  ignoring "$bin/program" plain
  captured 1 "$(counts 1 1 1)" ;;
assert | quick-exit) # ways out that glibc takes by itself
  code=6
  [ $case = quick-exit ] || code=134
  record $code "$bin/guest" $case
  captured 1 "devices 1 launches 1 tracks 2 marks 2 kept 2 lost 0 missed 0 problems 0 complete 1" ;;
handler) # _exit in a signal handler, below which malloc holds its lock
  timeout -s KILL 1800 "$ink" record --device sim -o run.1.ink -- "$bin/guest" handler >out 2>record.err
  got=$?
  [ $got = 5 ] || fail "exit code $got, expected 5"
  captured 1 "devices 1 launches 1 tracks 2 marks 2 kept 2 lost 0 missed 0 problems 0 complete 1" ;;
left-error) # an error that the program has not asked for is not one of the recording's launches
  record 0 "$bin/guest" error
  captured 1 "devices 1 launches 1 tracks 2 marks 2 kept 2 lost 0 missed 0 problems 0 complete 1"
  "$ink" info run.*.ink >info 2>>record.err
  grep -q 'edges of globaltimer were caught 2 times' info || fail "the clock was not read at the end: $(cat info)" ;;
explicit)
  LD_LIBRARY_PATH="$build/device/sim:$build/runtime" "$bin/explicit" run.1.ink >out 2>record.err || fail "exit code $?"
  captured 1 "devices 1 launches 2 tracks 10 marks 10 kept 10 lost 0 missed 0 problems 0 complete 1" ;;
sums-*) # each track is kept, lost or missed, and none twice, while a kernel stays open over many drains
  how=${case#sums-} options=(--tracks 16 --drain-ms 10) argument=plain files=1
  case $how in
  first) options+=(--keep first) ;;
  warps) options+=(--granularity warp) argument=warps ;;
  fork) argument=fork files=2 ;;
  clock) options=(--tracks 16 --drain-ms 1100) ;;
  wide) options=(--tracks 4096 --drain-ms 5) ;;
  many) options=(--tracks 64 --drain-ms 10) argument=many ;;
  esac
  "$ink" record --device sim --blocks all "${options[@]}" -o "run.%p.ink" -- "$bin/many_tracks" 6 $argument >out 2>record.err ||
    fail "exit code $?"
  captures=(run.*.ink)
  [ ${#captures[@]} = $files ] || fail "captures: ${captures[*]}"
  summed=$(for f in "${captures[@]}"; do
    "$bin/capture_counts" "$f" | awk '{for (i = 1; i < NF; i += 2) v[$i] = $(i + 1); print v["tracks"] + v["lost"] + v["missed"]}'
  done | sort -n)
  [ "$summed" = "$(sort -n out)" ] || fail "kept, lost and missed are '$summed', executed '$(sort -n out)'"
  [ $how != many ] || "$bin/capture_counts" run.*.ink | grep -q ' missed 0 ' || fail "tracks in use are not passed over"
  for f in "${captures[@]}"; do
    "$ink" report "$f" >report 2>>record.err
    grep -Eq 'had not ended|by exit in assembly|by a trap' report && fail "healthy kernels: $(cat report)"
  done
  echo "$case: $(for f in "${captures[@]}"; do "$bin/capture_counts" "$f"; done | tr '\n' ' ')" ;;
leaves*) # kernels that leave their tracks open, hundreds of times as many as there are tracks: each is kept, and named
  n=${INKMARK_LEAVES:-1000}
  LD_LIBRARY_PATH="$build/device/sim:$build/runtime" "$bin/leaves" run.1.ink "$n" ${case#leaves} >out 2>record.err ||
    fail "exit code $?"
  captured 1 "devices 1 launches $n tracks $n marks $((3 * n)) kept $((3 * n)) lost 0 missed 0 problems 0 complete 1"
  left=$((n - (n + 10) / 16))
  "$ink" report run.1.ink >report 2>>record.err
  tr -d , <report | grep -q "^$left tracks had not ended:" || fail "the report says: $(cat report)"
  grep -q "$left.* left the kernel past its end: without PROF_CLOSE\|^  its thread left" report || fail "the report says: $(cat report)" ;;
dormant) # no recording asked for, and no library anywhere: it just runs
  LD_LIBRARY_PATH="$build/device/sim" "$bin/program" plain >out 2>record.err || fail "exit code $?"
  [ -z "$(ls ./*.ink 2>/dev/null)" ] || fail "a capture was written"
  echo "$case: ran, nothing written" ;;
static) # nvcc's default: the runtime is inside of the program, or of a library that is loaded
  same() { # what is recorded of one program is recorded of the other
    "$ink" record --device sim -o static.ink -- "${@:1:$#/2}" >out 2>record.err || fail "exit code $?: $1"
    "$ink" record --device sim -o shared.ink -- "${@:$#/2+1}" >out 2>record.err || fail "exit code $?: $*"
    "$bin/capture_counts" static.ink >static.counts
    "$bin/capture_counts" shared.ink >shared.counts
    cmp static.counts shared.counts || fail "$1: $(cat static.counts), with the shared runtime $(cat shared.counts)"
  }
  same "$bin/program_static" plain "$bin/program" plain
  same "$bin/program_static" reset "$bin/program" reset
  same "$bin/loader" "$bin/library_static.so" "$bin/loader" "$bin/library.so"
  strip -o stripped "$bin/program_static"
  "$ink" record --device sim -- ./stripped plain >out 2>stripped.err && fail "a stripped program was run"
  grep -q -- "is stripped of its symbols.*-cudart shared" stripped.err || fail "no word on a stripped program"
  echo "$case: $(cat static.counts)" ;;
fit) # two runs: what the first one lacked, the second one has
  "$ink" record --device sim -o x.ink -- "$bin/fit" 2>record.err || fail "exit code $?"
  "$ink" report x.ink | grep -Eq 'dropped: |lost' || fail "nothing was dropped or lost by default: $(cat record.err)"
  "$ink" record --device sim --fit -o x.ink -- "$bin/fit" 2>record.err || fail "exit code $?"
  grep -q 'the longest track has 1,500 records, and there are 3,002 tracks: .* --records-per-track 2048 --tracks 4096' \
    record.err || fail "$(cat record.err)"
  "$ink" report x.ink >report 2>&1
  grep -Eq 'dropped: |lost: |missed: ' report && fail "$(cat report)"
  "$bin/capture_counts" x.ink >counts
  grep -q 'tracks 3002 ' counts || fail "$(cat counts)"
  ls /tmp/inkmark-fit-* >/dev/null 2>&1 && fail "the first run's captures were left"
  "$ink" record --device sim --fit -o y.ink -- sh -c "\"$bin/fit\"; exit 3" 2>record.err
  [ $? = 3 ] || fail "not the first run's exit code: $(cat record.err)"
  [ ! -e y.ink ] || fail "a second run behind a first one that failed"
  echo "$case: $(cat counts)" ;;
*) fail "no such case" ;;
esac
