#!/bin/bash
# SPDX-License-Identifier: MIT
# kept.sh INKMARK NVCC: what the parse keeps for further calls is used, is dropped where it is old or damaged, and never
# changes what is marked.
set -u
inkmark=$1 nvcc=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir bin include tmp
# nothing is compiled: the marked text and the list are compared
printf '#!/bin/bash\n[[ " $* " == *" --dryrun "* ]] && exec "%s" "$@"\nexit 0\n' "$nvcc" >bin/nvcc && chmod +x bin/nvcc
export TMPDIR=$work/tmp INKMARK_CACHE=$work/cache INKMARK_STRICT=1 INKMARK_KEEP=1 INKMARK_GUARD=off INKMARK_RULES="--root . --loops --waits --calls"
printf '#pragma once\n#define UNROLL #pragma unroll\n__device__ inline float twice(float x) { return x + x; }\n' >include/own.h
cat >a.cu <<'C'
#include <cassert>
#include <cooperative_groups.h>
#include "own.h"
__global__ void k(float *p, int n) {
  assert(n > 0);
  UNROLL
  for (int i = 0; i < n; i++) p[i] = twice(p[i]) + sinf(p[i]);
  __syncthreads();
  cooperative_groups::this_thread_block().sync();
}
C
failed=0
fail() { echo "FAILED: $*"; failed=1; }
# front NAME: what is marked then is what was marked without anything kept
front() {
  rm -rf tmp/* cache/result-* # which would stand for the parse: kept_result.sh
  "$inkmark" nvcc "$work/bin/nvcc" -arch=sm_80 -std=${standard:-c++17} -Iinclude -c a.cu -o a.o >out 2>&1 || { fail "$1"; cat out; }
  cat tmp/inkmark-*"$work"/a.cu tmp/inkmark-*"$work"/include/own.h >"$1.text" || fail "$1: nothing is marked"
  grep -v parse_seconds tmp/inkmark-*/list.json >"$1.list"
  cmp alone.text "$1.text" && diff alone.list "$1.list" || fail "$1: marked in another way"
}
kept() { ls cache | grep -c "^prelude-.*\.$1$"; }
touch alone.text alone.list
INKMARK_CACHE=/proc/none front alone >/dev/null 2>&1
failed=0
grep -q '"state": "marked"' alone.list && grep -q 'barrier\|sync' alone.list || fail "alone: $(cat out)"
front first
front second
[ "$(kept pch) $(kept list)" = "1 1" ] && [ -s "$(echo cache/*.list)" ] || fail "not kept: $(ls cache)"
front third
# read: a damaged one is dropped, and made anew
printf 'not a parse' >"$(echo cache/*.pch)"
front damaged
grep -q 'not a parse' cache/*.pch 2>/dev/null && fail "a damaged one stays"
front again
[ "$(kept pch)" = 1 ] && ! grep -q 'not a parse' cache/*.pch || fail "it is not made anew"
# a file in it is another now
made=$(stat -c %Y.%i cache/*.pch)
sed -i '1s/ [0-9]* \//  1 \//' cache/*.list
front old
[ "$(stat -c %Y.%i cache/*.pch)" != "$made" ] || fail "an old one is used"
# other flags have one of their own, and few are kept
for i in $(seq 12); do
  printf '' >"cache/prelude-00000000000000$(printf %02d "$i").pch"
  printf '? none.h\nend\n' >"cache/prelude-00000000000000$(printf %02d "$i").list"
  touch -d 2020-01-01 cache/prelude-00000000000000*
done
rm cache/prelude-[^0]*.pch
touch -d 2020-01-01 cache/prelude-left.pch.77
front bounded
[ "$(kept pch)" = 8 ] && [ ! -e cache/prelude-left.pch.77 ] || fail "kept: $(ls cache)"
# a header of the project that has the name of one of the toolkit's, or of one that these ask for: what was kept is not used
shadow() { # NAME
  cp a.cu b.cu
  printf '#ifdef OWN_HEADER\n__global__ void seen(float *p) { for (int i = 0; i < p[0]; i++) p[i] = sinf(p[i]); }\n#endif\n' >>a.cu
  rm -rf alone.* && touch alone.text alone.list
  INKMARK_CACHE=/proc/none front alone >/dev/null 2>&1
  grep -q '"name": "seen"' alone.list || fail "$1: a parse without what is kept does not see it"
  front "$1"
  mv b.cu a.cu
  rm "include/$1"
}
printf '#pragma once\n#include_next <math.h>\n#define OWN_HEADER\n' >include/math.h
shadow math.h
asked=$(sed -n 's/^? //p' cache/*.list | grep -v '[^a-z_/.]' | grep / | sort -u | head -n 1)
[ -n "$asked" ] || fail "nothing is asked for"
# a header of the project changes
sed -i '/UNROLL/d' include/own.h && sed -i '/UNROLL/d' a.cu
rm -rf alone.* && touch alone.text alone.list
INKMARK_CACHE=/proc/none front alone >/dev/null 2>&1
front changed
# libclang 19 crashes where it reads what it kept of cooperative groups in C++20: that is made and tried once
standard=c++20
rm -rf alone.* cache && touch alone.text alone.list
INKMARK_CACHE=/proc/none front alone >/dev/null 2>&1
front first20
front second20
crashed=$(grep -c 'crash detected' out)
front third20
grep -q 'crash detected' out && fail "it crashes again: $(grep -c . out) lines"
if [ "$crashed" = 0 ]; then
  [ "$(kept pch)" = 1 ] || fail "C++20 is not kept: $(ls cache)"
else
  [ "$(kept pch)" = 0 ] && [ "$(cat cache/*.list)" = crashes ] || fail "what crashes stays: $(ls cache)"
fi
echo "C++20: crashed $crashed times"
exit $failed
