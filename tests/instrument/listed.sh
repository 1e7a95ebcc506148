#!/bin/bash
# SPDX-License-Identifier: MIT
# listed.sh INKMARK NVCC SIM GENERATOR: CMake writes compile_commands.json for the project beside this file;
# inkmark instrument -p marks its sources, which are compiled and run on the simulated device.
set -u
inkmark=$1 nvcc=$2 sim=$3 generator=$4
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cp -r "$here/projects/listed" "$work/a project" && cd "$work/a project" || exit 1
fail() { echo "FAILED: $*"; exit 1; }
cmake -G "$generator" -S . -B build -DCMAKE_CUDA_COMPILER="$nvcc" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
  -DCMAKE_CUDA_ARCHITECTURES=75-virtual >"$work/log" 2>&1 || { tail -n 20 "$work/log"; fail "configuring"; }
[ "$generator" = Ninja ] || grep -q -- '--options-file' build/compile_commands.json ||
  fail "no options file: the case is no longer tested"
"$inkmark" instrument -p build --list --format json src/*.cu >list 2>err || { cat err; fail "--list"; }
python3 - list <<'C' || fail "the flags were not read: $(cat list)"
import json, sys
files = json.load(open(sys.argv[1]))["files"]
sys.exit(len(files) != 2 or any(f["parse"] != "full" or f["parse_errors"] for f in files) or
         sorted(p["name"] for f in files for p in f["places"] if p["kind"] == "kernel") != ["first", "second_kernel"])
C
"$inkmark" instrument -p build src/*.cu --out-dir marked >out 2>err || { cat err; fail "instrument"; }
grep -q 'marked/src/main.cu: 1 kernel, ' err && grep -q 'marked/src/two words.cu: 1 kernel, ' err ||
  { cat err; fail "what was done is not said"; }
[ -z "$(find system include src -newer list)" ] || fail "the project was written to"
device=$(sed -n 's/^#include "\(inkmark\/[^"]*\)"$/\1/p' marked/src/main.cu | head -n 1)
[ "$device" = inkmark/rewritten.cuh ] || fail "the marked file includes '$device'"
flags=(-arch=compute_75 -std=c++17 -rdc=true -Imarked/include -isystem system -I"${here%/*/*}/device"
  -DGREETING='"two words"' -DTURNS=3 -cudart shared)
"$nvcc" "${flags[@]}" marked/src/*.cu -o app 2>err || { cat err; fail "compiling what was marked"; }
"$nvcc" "${flags[@]/marked/.}" src/*.cu -o plain 2>err || { cat err; fail "compiling the project"; }
export LD_LIBRARY_PATH=$sim INKMARK_SIM_SEED=1
./plain >plain.out || fail "the program fails"
"$inkmark" record --device sim -o run.ink -- ./app >marked.out 2>err || { cat err; fail "recording"; }
cmp plain.out marked.out && grep -q '^two words: ' marked.out || fail "other results"
"$inkmark" report run.ink >report || fail "the report"
for name in 'kernel first (' 'kernel second_kernel (' 'src/two words.cu:3)' 'turn ('; do
  grep -qF "$name" report || { cat report; fail "the report lacks '$name'"; }
done
# a file that the database lacks, however much another one's flags would fit
cp src/main.cu src/absent.cu
"$inkmark" instrument -p build src/absent.cu -o never.cu 2>err && fail "a file that is not in the database"
grep -q "'src/absent.cu' is not in the 'compile_commands.json' of 'build'" err || { cat err; fail "another message"; }
"$inkmark" instrument -p none src/main.cu -o never.cu 2>err && fail "a database that is not there"
grep -q "cannot read 'compile_commands.json' in 'none'" err || { cat err; fail "another message"; }
[ -e never.cu ] && fail "a file was written"
# by hand: everything is seen from the command's folder, and options files may name others
mkdir by_hand build/deep
printf -- '-DTURNS=3 "-DGREETING=\\"x\\"" --options-file=deep/more.rsp' >build/first.rsp
printf -- '-isystem ../system\n-std=c++17' >build/deep/more.rsp
echo '#define TWICE 2' >build/twice.h
cat >by_hand/compile_commands.json <<J
[{"directory": "$work/a project/build", "file": "../src/main.cu", "arguments": ["nvcc", "-I", "../include",
  "-include", "twice.h", "-optf", "first.rsp", "--generate-code=arch=compute_90,code=sm_90", "-x", "cu", "-c",
  "../src/main.cu", "-o", "main.o"]}]
J
(cd / && "$inkmark" instrument -p "$work/a project/by_hand" --list --format json "$work/a project/src/main.cu") >list ||
  fail "a database by hand"
grep -q '"parse_errors": 0' list && grep -q '"name": "first"' list || { cat list; fail "flags by hand were not read"; }
# the same flags behind --
(cd build && "$inkmark" instrument --list --format json ../src/main.cu -- -I../include --options-file first.rsp) >list ||
  fail "an options file behind --"
grep -q '"parse_errors": 0' list || { cat list; fail "flags behind -- were not read"; }
exit 0
