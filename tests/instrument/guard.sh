#!/bin/bash
# SPDX-License-Identifier: MIT
# guard.sh INKMARK NVCC: marks that harm a kernel are taken out of it, by counts alone, and the same is found once.
set -u
inkmark=$1 nvcc=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir tmp bin
export TMPDIR=$work/tmp INKMARK_CACHE=$work/cache INKMARK_STRICT=1 INKMARK_RULES="--root . --loops"
unset INKMARK_GUARD
printf '#!/bin/bash\necho call >>"%s/calls"\nexec "%s" "$@"\n' "$work" "$nvcc" >bin/nvcc && chmod +x bin/nvcc
cat >tile_alone.cu <<'C'
namespace own { template <int M> __global__ void tile(const float *a, float *c, int n) {
  float acc[M][M] = {};
  for (int k = 0; k < n; k++)
    for (int i = 0; i < M; i++)
      for (int j = 0; j < M; j++) acc[i][j] += a[k * M + i] * a[k * M + j];
  for (int i = 0; i < M; i++)
    for (int j = 0; j < M; j++) c[(i * M + j) * 32 + threadIdx.x] = acc[i][j];
} }
template __global__ void own::tile<4>(const float *, float *, int);
C
# marks take no shared memory: `full`, which has all that is static, keeps its own. ptxas refuses those of `spoilt`
{ cat tile_alone.cu; cat <<'C'; } >tile.cu
__global__ void full(float *p) { __shared__ float s[12288]; s[threadIdx.x] = p[threadIdx.x]; __syncthreads(); p[threadIdx.x] = s[12287 - threadIdx.x]; }
#undef PROF_KERNEL
#define PROF_KERNEL(...) __shared__ volatile int big[20000]; big[threadIdx.x] = 1
extern "C" __global__ void spoilt(int *x) { x[0]++; }
C
failed=0
fail() { echo "FAILED: $*"; failed=1; }
# front CALLS WORDS...: what comes out, and how many compiles it was
front() {
  local calls=$1
  shift
  : >calls
  "$inkmark" nvcc "$work/bin/nvcc" -arch=sm_80 "$@" >out 2>&1 || { fail "$*"; cat out; }
  [ "$(wc -l <calls)" = "$calls" ] || fail "$(wc -l <calls) compiles, not $calls: $*"
}
said() {
  grep -q "^inkmark: 'tile.cu': 2 kernels, 2 sections; guard: 'spoilt' has no marks: ptxas says: Entry function 'spoilt' uses too much shared data (.*, 'tile' has no marks in loops but waits: it" out ||
    { fail "what was done"; cat out; }
}
# a full cache: of 10,000 old files and the new one those 5,000 stay that were used last
mkdir cache && for i in $(seq 10000); do printf 'end\n' >"cache/guard-$i"; done && touch -d 2020-01-01 cache/guard-*
front 5 -MMD -MF d -Xptxas -v -cubin tile.cu -o x.cubin && mv x.cubin cold.cubin && said
verdicts() { ls cache | grep -c '^guard-[0-9a-f]*$'; } # beside them lies the parse of the toolkit's headers (instrument.kept)
[ "$(verdicts)" = 5000 ] || fail "$(verdicts) files in the cache"
find cache -name 'guard-*' ! -newermt 2021-01-01 -delete
grep -q 'tile.cu' d && ! grep -q "$TMPDIR" d || fail "$(cat d)"
# the user's own -Xptxas -v is there once, and is of what comes out
[ "$(grep -c "Compiling entry function '_ZN3own4tile" out)" = 1 ] || { fail "-Xptxas -v"; cat out; }
grep -q '[1-9][0-9]* bytes stack frame' out && { fail "there is stack left"; cat out; }
grep -qa 'ink_' cold.cubin || fail "no marks are left"
# found once, and the same comes out; also for other kinds of output
front 1 -MMD -MF d -Xptxas -v -cubin tile.cu -o x.cubin && said
cmp cold.cubin x.cubin || fail "two runs differ"
[ -z "$(ls cache | grep -v '^guard-[0-9a-f]*$\|^prelude-\|^result-')" ] && [ "$(verdicts)" = 1 ] || fail "the cache: $(ls cache)"
front 1 -Xptxas -v -ptx tile.cu -o x.ptx && said
# where the device code takes long, what comes out is made as it is measured: a compile less, and the same comes out
export INKMARK_GUARD_SECONDS=0
INKMARK_CACHE=$work/whole front 4 -MMD -MF d -Xptxas -v -cubin tile.cu -o x.cubin && said
cmp cold.cubin x.cubin || fail "what was measured differs"
grep -q 'tile.cu' d && ! grep -q "$TMPDIR" d || fail "whole: $(cat d)"
[ "$(grep -c "Compiling entry function '_ZN3own4tile" out)" = 1 ] || { fail "whole, -Xptxas -v"; cat out; }
INKMARK_GUARD_SECONDS=1000 INKMARK_CACHE=$work/whole front 5 -cubin tile.cu -o x.cubin && mv x.cubin quiet.cubin && said
rm -rf whole && INKMARK_CACHE=$work/whole front 4 -cubin tile.cu -o x.cubin && said
grep 'ptxas' out | grep -v "^inkmark: 'tile.cu'" && fail "the guard's own -Xptxas -v is shown"
cmp quiet.cubin x.cubin || fail "what was measured differs, without -Xptxas -v"
rm -rf whole && INKMARK_CACHE=$work/whole front 5 -cubin -keep tile.cu -o x.cubin && said
# what is no file of its own is not taken away: the guard measures apart then
ln -s behind x.link
rm -rf whole && INKMARK_CACHE=$work/whole front 5 -cubin tile.cu -o x.link && said
[ -L x.link ] && [ -s behind ] || { fail "the link"; ls -l; }
unset INKMARK_GUARD_SECONDS
# a kernel that spills without marks and has fewer registers than a track: from all marks to those that keep none, to the track
# alone, then none, which is not measured: plain, three with marks, and what comes out
cat >spills.cu <<'C'
__global__ __maxnreg__(24) void spills(const float *a, float *c, int n) {
  float acc[40] = {};
  for (int k = 0; k < n; k++)
    for (int i = 0; i < 40; i++) acc[i] += a[k * 40 + i] * a[k + i];
  for (int i = 0; i < 40; i++) c[i * 32 + threadIdx.x] = acc[i];
}
__global__ void other(int *x) { x[0]++; }
C
# what was made with too many marks does not stay, nor a dependency file with a copy's name, if the call is ended then
printf '#!/bin/bash\necho call >>"%s/calls"\n[ $(wc -l <"%s/calls") = 3 ] && { kill -TERM $PPID; sleep 60; }\nexec "%s" "$@"\n' \
  "$work" "$work" "$nvcc" >bin/ended && chmod +x bin/ended
: >calls
rm -f x.o d
INKMARK_GUARD_SECONDS=0 INKMARK_CACHE=$work/ended "$inkmark" nvcc "$work/bin/ended" -arch=sm_80 -MMD -MF d -c spills.cu -o x.o >out 2>&1 && fail "it was not ended"
[ "$(wc -l <calls)" = 3 ] && [ ! -e x.o ] || { fail "what was made stays"; cat calls out; ls; }
[ -e d ] && grep -q "$TMPDIR" d && fail "the dependencies: $(cat d)"
sleep 0.1 # what changed right before a run is not kept
list() { cat tmp/inkmark-*/list.json; rm -rf tmp/inkmark-*; }
INKMARK_KEEP=1 front 5 -cubin spills.cu -o x.cubin
grep -q "guard: 'spills' has no marks: it would spill [0-9]* bytes more" out || { fail "spills"; cat out; }
list >fewer
# all of that was one parse: it took exactly as long as that with all marks, which is kept
INKMARK_GUARD=off INKMARK_KEEP=1 front 1 -cubin spills.cu -o x.cubin
list >all
cmp -s fewer all && fail "the guard changed nothing"
[ "$(grep parse_seconds fewer)" = "$(grep parse_seconds all)" ] || fail "it was parsed twice: $(grep parse_seconds fewer all)"
# a step that compiles one kernel alone: the others are whole in what comes out, also if that step fails
cat >two.cu <<'C'
__global__ __launch_bounds__(1024, 2) void heavy(const float *a, float *c, int n) {
  float acc[40] = {};
  for (int k = 0; k < n; k++)
    for (int i = 0; i < 40; i++) acc[i] += a[k * 40 + i] * a[k + i];
  for (int i = 0; i < 40; i++) c[i * 32 + threadIdx.x] = acc[i];
}
__global__ void light(float *x, int n) {
  for (int i = 0; i < n; i++) { x[i] += 1.0f; __syncthreads(); }
}
C
for failing in 0 3 4; do
  printf '#!/bin/bash\necho call >>"%s/calls"\n[ $(wc -l <"%s/calls") = %s ] && exit 1\nfor w; do case $w in *two.cu) cp "$w" "%s/text.$(wc -l <"%s/calls")" ;; esac; done\nexec "%s" "$@"\n' \
    "$work" "$work" $failing "$work" "$work" "$nvcc" >bin/failing && chmod +x bin/failing
  : >calls
  rm -f text.*
  INKMARK_GUARD_SECONDS=1000 INKMARK_CACHE=$work/two$failing "$inkmark" nvcc "$work/bin/failing" -arch=sm_80 -cubin two.cu -o two.cubin >out 2>&1 ||
    { fail "two.cu, $failing"; cat out; }
  n=$(wc -l <calls)
  [ $failing = 3 ] || grep -qF 'light(float *x, int n) {/*ink[*/return;' text.3 || fail "step 3 compiles all: $(ls text.*)"
  grep -q 'heavy.*{/\*ink\[\*/return;' text.* && fail "the kernel in question is not compiled"
  grep -qF 'return;/*ink]*/' "text.$n" && fail "kernels are skipped in what comes out, $failing"
  grep -qF 'PROF_KERNEL(light' "text.$n" || { fail "light has no track, $failing"; cat "text.$n" out; }
done
ls two3 | grep -q guard- || fail "what was measured in the output is not kept"
ls two4 | grep -q guard- && fail "what was not measured is kept"
# what compiles for sm_90a alone: nvcc takes -arch=sm_90a for a fatbin as compute_90 too, so a cubin and PTX are measured as a cubin
{ cat tile_alone.cu; echo '__global__ void fence() { asm volatile("wgmma.fence.sync.aligned;"); }'; } >newest.cu
for how in "-arch=sm_90a -cubin" "--gpu-architecture sm_90a -ptx"; do
  "$inkmark" nvcc "$nvcc" $how newest.cu -o x.out >out 2>&1 && grep -q "guard: 'tile' has no marks in loops" out || { fail "$how"; cat out; }
done
# nowhere to keep it; only said. A source that includes our headers is compared with itself
{ echo '#include <inkmark/mark.cuh>'; cat tile_alone.cu; } >report.cu
INKMARK_CACHE=/proc/none INKMARK_RULES+=" --guard report" front 3 -ptx report.cu -o report.ptx
grep -q "^inkmark: 'report.cu': 1 kernel, 5 sections; guard: 'tile': it" out || { fail "report"; cat out; }
INKMARK_GUARD=off front 1 -ptx report.cu -o off.ptx
grep -q "5 sections$" out && [ "$(wc -l <report.ptx)" = "$(wc -l <off.ptx)" ] || { fail "off"; cat out; }
# the commands that -v shows, which have options like display_error_number, are no error
env -u INKMARK_STRICT INKMARK_GUARD=off "$inkmark" nvcc "$nvcc" -arch=sm_80 -v -cubin tile.cu -o x.cubin >out 2>&1
grep -q "^inkmark: 'tile.cu' does not compile with marks and was compiled without them: ptxas error.*too much shared data" out || { fail "-v"; cat out; }
[ -z "$(ls tmp)" ] || fail "left in the temporary folder: $(ls tmp)"
# a kernel in an unnamed namespace has another name in the object when it has marks, and is guarded all the same
{ grep -v '^template' tile_alone.cu | sed 's/namespace own/namespace/'; echo 'void go(float *a) { tile<4><<<1, 32>>>(a, a, 4); }'; } >unnamed.cu
"$inkmark" nvcc "$nvcc" -arch=sm_80 -Xptxas -v -cubin unnamed.cu -o x.cubin >out 2>&1 || { fail "unnamed.cu"; cat out; }
grep -q "^inkmark: 'unnamed.cu': 1 kernel, .*; guard: 'tile' has no marks in loops" out && ! grep -q '[1-9][0-9]* bytes stack frame' out ||
  { fail "a kernel in an unnamed namespace is not guarded"; cat out; }
exit $failed
