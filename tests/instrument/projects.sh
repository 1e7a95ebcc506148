#!/bin/bash
# SPDX-License-Identifier: MIT
# projects.sh INKMARK NVCC SIM cmake|make: builds the project beside this file, as it is, through the
# front, runs it on the simulated device, without and with marks, and looks for its names in the report.
set -u
inkmark=$1 nvcc=$2 sim=$3 kind=$4
project=$(cd "$(dirname "$0")" && pwd)/projects
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/tmp"
PATH=$(dirname "$inkmark"):$(dirname "$nvcc"):$PATH
export PATH INKMARK_STRICT=1 INKMARK_RULES="--root $project" TMPDIR=$work/tmp INKMARK_SIM_SEED=1
fail() {
  echo "FAILED: $*"
  exit 1
}
build() { # build FOLDER LAUNCHER, a CMake list, may be empty
  if [ "$kind" = cmake ]; then
    cmake -G "Unix Makefiles" -S "$project" -B "$1" -DCMAKE_CUDA_COMPILER="$nvcc" \
      -DCMAKE_CUDA_COMPILER_LAUNCHER="$2" -DCMAKE_CUDA_RUNTIME_LIBRARY=Shared -DCMAKE_CUDA_ARCHITECTURES=75-virtual &&
      cmake --build "$1"
  else
    mkdir -p "$1" && make -j2 -C "$1" -f "$project/Makefile" SOURCE="$project" \
      CUDA="$(dirname "$(dirname "$nvcc")")" NVCC="${2:+inkmark }nvcc"
  fi >"$1.log" 2>&1 || { tail -n 40 "$1.log"; fail "building with launcher '$2'"; }
}
build "$work/plain" ""
build "$work/marked" "inkmark;nvcc"
grep -n 'without marks\|nothing is marked' "$work/marked.log" && fail "a file was not marked"
[ -z "$(ls "$work/tmp")" ] || fail "left in the temporary folder: $(ls "$work/tmp")"
# what the build depends on are the user's files: a changed header builds again, nothing else does
dependencies=$(find "$work/marked" -name '*.d' ! -name link.d) # link.d: newer CMake's own
[ "$(wc -w <<<"$dependencies")" = 2 ] || fail "dependency files: $dependencies"
for file in $dependencies; do
  grep -q "$project/.*parts/scale.cuh" "$file" || { cat "$file"; fail "$file lacks the header"; }
  grep -q "$work/tmp" "$file" && fail "$file names files of ours"
done
build "$work/marked" "inkmark;nvcc"
grep -n 'Building\| -dc ' "$work/marked.log" && fail "an unchanged project is built again"
export LD_LIBRARY_PATH=$sim
"$work/plain/app" >"$work/plain.out" || fail "the program fails"
"$inkmark" record --device sim -o "$work/run.ink" -- "$work/marked/app" >"$work/marked.out" \
  2>"$work/record.err" || { cat "$work/record.err"; fail "recording"; }
diff "$work/plain.out" "$work/marked.out" || fail "other results"
"$inkmark" report "$work/run.ink" >"$work/report" || fail "the report"
for name in 'kernel first (src/main.cu:9)' 'kernel second (src/other.cu:5)' 'kernel scale (include/parts/scale.cuh:9)' \
  'settle (include/parts/scale.cuh:11)'; do
  grep -qF "$name" "$work/report" || { cat "$work/report"; fail "the report lacks '$name'"; }
done
[ "$kind" = make ] || exit 0
# both files give the function of the shared header a copy with the context of their kernels, and are linked apart (-rdc)
export INKMARK_RULES="--root $project --calls --loops --waits --depth 8" INKMARK_KEEP=1
build "$work/deep" "inkmark;nvcc"
for file in main other; do
  grep -rlqF "INK_WITH(" "$work"/tmp/*/"$project/src/$file.cu" || fail "$file.cu does not call the copy"
done
"$inkmark" record --device sim -o "$work/deep.ink" -- "$work/deep/app" >"$work/deep.out" 2>"$work/record.err" ||
  { cat "$work/record.err"; fail "recording with contexts"; }
diff "$work/plain.out" "$work/deep.out" || fail "other results with contexts"
"$inkmark" report "$work/deep.ink" >"$work/report" || fail "the report with contexts"
for name in 'kernel first (src/main.cu:9)' 'kernel second (src/other.cu:5)' 'for i < n (include/parts/scale.cuh:5)'; do
  grep -qF "$name" "$work/report" || { cat "$work/report"; fail "the report with contexts lacks '$name'"; }
done
exit 0
