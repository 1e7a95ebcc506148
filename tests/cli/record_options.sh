#!/bin/bash
# SPDX-License-Identifier: MIT
# Every option of `inkmark record` on the example programs: what arrives in the capture is what was
# asked for. record_options.sh INKMARK EXAMPLES_FOLDER
# The solver launches 16 blocks of one warp twice, the product 16 blocks of 8 warps once.
set -u
inkmark=$1 solver=$2/solver matmul=$2/matmul
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
unset LD_PRELOAD LD_LIBRARY_PATH
failed=0
bad() { echo "FAILED: $*"; failed=1; }

# record ARGUMENTS...: into run.ink, messages into `message`
record() {
  rm -f run.ink
  "$inkmark" record --device sim -o run.ink "$@" >out 2>message || { cat out message; bad "record $*"; }
}
# holds WHAT TRACKS [PATTERN]: tracks of run.ink, and a pattern in what info says as CSV
holds() {
  "$inkmark" info --format csv run.ink >info 2>&1
  grep -q "^run.ink,capture,0,tracks,$2\$" info || bad "$1: not $2 tracks: $(grep ,tracks, info)"
  if [ -n "${3:-}" ]; then grep -Eq "$3" info || bad "$1: no '$3'"; fi
}

record -- "$solver"
holds 'no option' 32 'devices,0,granularity,block'
grep -q 'solver: PASS' out || bad 'the program said nothing'
source=$(sed -n 's/^run.ink,sources,0,source,//p' info)
digest=$(sha256sum "$source" | cut -d' ' -f1)
[ "${source##*/}" = solver.cu ] && grep -q "^run.ink,sources,0,sha256,$digest\$" info || bad "the source is not in the capture: $(grep ,sources, info)"
"$inkmark" export -q run.ink -o run.html && grep -q 'PROF_MARK(LineSearch, alpha)' run.html || bad 'the page has no source'
record --sources off -- "$solver"
holds 'no source' 32
! grep -q ',sources,' info || bad "the source is in the capture: $(grep ,sources, info)"
record --blocks 0,3-4 -- "$solver"
holds 'three blocks, two launches' 6
"$inkmark" report --by block -f csv run.ink | cut -d, -f5 | tail -n +2 | sort -nu | tr '\n' ' ' | grep -q '0 3 4' ||
  bad 'other blocks than 0, 3 and 4'
record --granularity warp -- "$matmul"
holds 'all warps' $((16 * 8)) 'devices,0,granularity,warp'
record -g warp --warps 0,2-3 -- "$matmul"
holds 'three warps' $((16 * 3))
record -- "$matmul"
holds 'first threads' 16
record --kernels '^Step$' -- "$solver"
holds 'the kernel by name' 32
record --drain-ms 3600000 --tracks 8 --keep first --blocks all -- "$solver" # one drain, at the end: a slow machine has no more
holds 'as many tracks as there are' 8 'kernels,0,missed,24'
grep -q '24 threads missed' message || bad "what was missed was not said: $(cat message)"
record --records-per-track 8 -- "$solver"
holds 'small rings' 32 'devices,0,records_per_track,8'
"$inkmark" report run.ink | grep -q '  dropped: ' || bad 'the report says nothing of dropped marks'
record --records-per-track 9 --keep first -- "$solver"
holds 'a size that is no power of two' 32 'devices,0,records_per_track,16'
grep -q 'rounded up to 16' message || bad 'the rounding was not said'
record --devices 0 --drain-ms 1 -- "$solver"
holds 'one device by number' 32

# what records nothing says why, and what there is
# nothing WORDS ARGUMENTS...: nothing is recorded, the program runs, and the message has the words
nothing() {
  local words=$1
  shift
  rm -f run.ink
  "$inkmark" record --device sim -o run.ink "$@" -- "$solver" >out 2>message || bad "$*: exit code $?"
  grep -q 'solver: PASS' out || bad "$*: the program said nothing"
  [ ! -e run.ink ] || bad "$*: a capture was written"
  grep -qF -- "$words" message || bad "$*: no word of '$words': $(cat message)"
}
for name in '^Stop$' LineSearch; do # a name that is none, and a section's
  nothing "nothing was recorded: '--kernels $name' matches none of the kernels that ran: 'Step'" --kernels "$name"
  grep -q "ran: 'Step'\$" message || bad "other kernels than Step: $(cat message)"
done
nothing 'no kernel with PROF_KERNEL that ran passed the filter --kernels Stop --blocks 1000; ' --kernels Stop --blocks 1000
nothing 'no kernel with PROF_KERNEL that ran passed the filter --blocks 1000; ' --blocks 1000
nothing 'passed the filter --blocks 1 --warps 9; ' -g warp --blocks 1 --warps 9
nothing 'was not recorded as asked: device 7 is not there; this process sees 0 (inkmark simulated GPU' --devices 7
nothing 'cannot allocate 1048576 tracks of 65536 records, 1024.0 GiB: out of memory' \
  --tracks 1048576 --records-per-track 65536
record --kernels Solver::Step -- "$solver"
holds 'a kernel by table and name' 32

# what is not as asked is said
INKMARK_SIM_DEVICES=2 record --devices 0-1,6-7 -- "$solver"
holds 'devices that are there' 32
grep -q 'devices 6,7 are not there; this process sees 0 (.*), 1 (' message || bad "no word on devices 6 and 7: $(cat message)"
record --records-per-track 1048576 -- "$solver"
holds 'large rings' 32 'devices,0,buffer_tracks,32'
grep -q 'holds 32 tracks of 1048576 records, not 2048, so as to leave memory to the program' message || bad "no word on fewer tracks: $(cat message)"

# names
"$inkmark" record --device sim -- "$solver" >out 2>message
[ "$(ls solver.*.ink | wc -l)" = 1 ] || bad "the default name: $(ls)"
mkdir 'a 100%b'
(cd 'a 100%b' && RANK=3 "$inkmark" record --device sim -o 'x%%.%r.%h.ink' -- "$solver") >out 2>message
[ -f "a 100%b/x%.3.$(uname -n).ink" ] || bad "template: $(ls 'a 100%b') $(cat message)"
grep -q "wrote 'a 100%b/x%.3" message || grep -q "wrote 'x%.3" message || bad "the name was not said: $(cat message)"

# where it cannot be written, or more than one process writes
# said WORDS: the message has them
said() { grep -qF -- "$1" message || bad "no word of '$1': $(cat message)"; }
"$inkmark" record --device sim -o /dev/full -- "$solver" >out 2>message || bad 'a full disk ends the program'
said "was not recorded as asked: cannot write '/dev/full': no space left on device"
echo precious >source.cu
if "$inkmark" record --device sim -o source.cu -- "$solver" >out 2>message; then bad 'a file that is no capture is overwritten'; fi
said "'source.cu' exists and is no capture: it is not overwritten"
[ "$(cat source.cu)" = precious ] || bad 'source.cu is not what it was'
mkdir gone
(cd gone && "$inkmark" record --device sim -o there.ink -- sh -c "rm -r '$work/gone'; exec '$solver'") >out 2>message ||
  bad 'a folder that vanishes ends the program'
said "was not recorded as asked: cannot create '$work/gone/there.ink': no such file or directory"
rm -f two.ink*
"$inkmark" record --device sim -o two.ink -- sh -c "'$solver' 4 1; '$solver' 2 1" >out 2>message || bad 'two processes'
said "wrote 'two.ink': 4 tracks"
ls two.ink.[0-9]* >/dev/null || bad "the second process has no capture: $(ls)"
said "wrote 'two.ink.$(ls two.ink.* | sed s/two.ink.//)': 2 tracks"
said "several processes recorded: '-o two.ink.%p' names all captures alike"

# signals and exit codes
"$inkmark" record --device sim -- sh -c 'touch begun; exec sleep 3600' 2>message &
pid=$!
while [ ! -e begun ] && kill -0 $pid; do sleep 0.05; done
kill -TERM $pid
wait $pid
[ $? = 143 ] || bad 'a forwarded SIGTERM does not give 143'
grep -q "'sh' was ended by signal 15" message || bad "the signal was not said: $(cat message)"
printf '\211INK' >old.ink && touch -d "1 hour ago" old.ink
"$inkmark" record --device sim -o old.ink -- sh -c 'exit 188' 2>message
[ $? = 188 ] || bad 'exit code 188 does not come through'
grep -q signal message && bad "an exit code is called a signal: $(cat message)"
grep -q "'old.ink' is of an earlier run" message || bad "nothing was said of the old file: $(cat message)"
exit $failed
