#!/bin/bash
# SPDX-License-Identifier: MIT
# kept_result.sh INKMARK NVCC: an unchanged source is not parsed again, with the same texts, lines and objects; whatever the
# parse depends on leads to another one.
set -u
inkmark=$1 nvcc=$2
toolkit=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
[ -e "$toolkit/include/cuda_runtime.h" ] || { echo "no toolkit above '$nvcc'"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir -p src first second/deep tmp tk/bin
for entry in "$toolkit"/*; do ln -s "$entry" "tk/$(basename "$entry")" 2>/dev/null; done
# nothing is compiled: the marked text, the list and the lines are compared
printf '#!/bin/bash\nexit 0\n# Cuda compilation tools, release 13.0, V13.0.1\n' >tk/bin/nvcc && chmod +x tk/bin/nvcc
export TMPDIR=$work/tmp INKMARK_CACHE=$work/cache INKMARK_STRICT=1 INKMARK_KEEP=1 INKMARK_GUARD=off
export INKMARK_RULES="--loops --waits --calls"
printf '#pragma once\n__device__ inline float twice(float x) { for (int i = 0; i < 99; i++) x += x * i; return x; }\n' >second/own.h
printf '#pragma once\n__device__ inline float deep(float x) { for (int i = 0; i < 98; i++) x += x * i; return x; }\n' >second/deep/deep.h
cat >src/a.cu <<'C'
#define NAME "deep/deep.h"
#include "own.h"
#include NAME
#if __has_include("extra.h")
__global__ void extra(float *p) { for (int i = 0; i < p[0]; i++) p[i] = sinf(p[i]); }
#endif
__global__ void k(float *p, int n) {
  for (int i = 0; i < n; i++) p[i] = twice(p[i]) + deep(p[i]);
  __syncthreads();
#ifdef MORE
  for (int i = 0; i < n; i++) p[i] += sinf(p[i]);
#endif
}
C
failed=0
fail() { echo "FAILED: $*"; failed=1; }
flags=()
call() { "$inkmark" nvcc "$work/tk/bin/nvcc" -arch=sm_80 -std=c++17 -Ifirst -Isecond "${flags[@]}" -c src/a.cu -o a.o; }
texts() { # NAME: of the copies that the call left
  (cd tmp/inkmark-*/"$work" && find . -type f -path './*' ! -name list.json | sort | while read -r f; do echo "== $f"; cat "$f"; done) >"$1.text"
  grep -v parse_seconds tmp/inkmark-*/list.json >"$1.list"
  rm -rf tmp/*
}
parses() { # a parse looks at the kept prelude
  [ "$(stat -c %Y cache/prelude-*.list | sort -n | tail -n 1)" -gt 1600000000 ]
}
# front hit|miss WHAT: what is marked is what is marked without anything kept
front() {
  sleep 0.1 # what changed right before a run is not kept
  INKMARK_CACHE=/proc/none call >alone.said 2>&1 || fail "$2: $(cat alone.said)"
  texts alone
  touch -d 2001-01-01 cache/prelude-*.list 2>/dev/null
  call >kept.said 2>&1 || fail "$2: $(cat kept.said)"
  texts kept
  for part in text list said; do diff "alone.$part" "kept.$part" >&2 || fail "$2: another $part"; done
  if parses; then [ "$1" = miss ] || fail "$2: it was parsed"; else [ "$1" = hit ] || fail "$2: it was not parsed"; fi
}
front miss "first"
front hit "unchanged"
grep -q '"state": "marked"' kept.list || fail "nothing is marked"
# the output's name and kind change nothing
flags=(-MD -MF a.d -Xptxas -v)
front hit "another output"
flags=(-DMORE)
front miss "a macro"
front hit "the macro again"
flags=()
front hit "without the macro"
# a header
touch second/own.h
front hit "the same text, written again"
cp -p second/own.h own.old
sed -i 's/99/97/' second/own.h && touch -r own.old second/own.h
front miss "a header of the same size and time"
front hit "the header again"
sed -i 's/98/7/' second/deep/deep.h
front miss "a header that a macro names"
front hit "that header again"
# headers that come in front
cp own.old first/own.h
front miss "a header in a folder before"
front hit "with it"
rm first/own.h
front miss "without it"
front hit "without it again"
cp own.old src/own.h
front miss "a header beside the source"
rm src/own.h
front miss "none beside the source"
mkdir first/deep && sed 's/7/55/' second/deep/deep.h >first/deep/deep.h
front miss "a folder with a header in a folder before"
rm -r first/deep
front miss "no folder before"
printf '\n' >second/extra.h
front miss "what __has_include asks for"
front hit "with it"
rm second/extra.h
front miss "__has_include finds nothing"
front hit "the same again"
mkdir third
flags=(-I=third) # the folder stands in one word with its option
front miss "another folder"
front hit "with that folder"
printf '\n' >third/extra.h
front miss "what __has_include asks for, in that folder"
rm -r third
flags=()
front hit "without that folder"
mkdir src/.git
front miss "another root"
rmdir src/.git
front miss "the old root"
front hit "the old root again"
INKMARK_RULES="--kernels-only" front miss "other rules"
CPATH=$work/first front miss "a folder of the environment"
# another compiler
sed -i 's/V13.0.1/V13.0.22/' tk/bin/nvcc
front miss "another nvcc"
front hit "that nvcc again"
# damaged entries
kept=$(ls -t cache/result-* | head -n 1)
cp "$kept" whole
for way in "truncate -s 100" "truncate -s -1" "truncate -s 0" "sed -i s/twice/thrice/"; do
  $way "$kept"
  front miss "damaged: $way"
  front hit "damaged and made again: $way"
  cmp -s whole "$kept" || [ -s "$kept" ] || fail "damaged: it stays"
done
# a full disk: a file may have 30 KB, the entry has more
[ "$(stat -c %s whole)" -gt 31000 ] || fail "the entry is too small for this test"
rm cache/result-*
(trap '' XFSZ; ulimit -f 30; call) >full.said 2>&1 || fail "full: $(cat full.said)"
texts kept
diff alone.text kept.text >&2 || fail "full: another text"
ls cache | grep '^result-' && fail "full: a part of an entry is left"
# several at once
for i in 1 2 3 4; do
  (mkdir "tmp$i" && TMPDIR=$work/tmp$i call >"at_once.$i" 2>&1) || fail "at once: $(cat "at_once.$i")" &
done
wait
for i in 1 2 3 4; do
  rm -rf tmp && mv "tmp$i" tmp
  texts kept
  diff alone.text kept.text >&2 || fail "at once: another text"
done
front hit "after several at once"
ls cache | grep '^result-.*\.' && fail "at once: a part of an entry is left"
# few are kept
(cd cache && seq -f 'result-%016.0f' 4100 | xargs touch -d 2020-01-01 && touch -d 2020-01-01 result-0.7)
flags=(-DOTHER)
front miss "bounded"
front hit "bounded, again"
[ "$(ls cache | grep -c '^result-')" -le 2000 ] && [ ! -e cache/result-0.7 ] || fail "too many are kept"
# objects, lines and dependency files are those of a first call; the guard's decision is kept too
flags=()
unset INKMARK_GUARD INKMARK_KEEP INKMARK_RULES
rm -rf cache tmp/*
for name in cold warm; do
  sleep 0.1
  touch -d 2001-01-01 cache/prelude-*.list 2>/dev/null
  "$inkmark" nvcc "$nvcc" -arch=sm_80 -std=c++17 -Ifirst -Isecond -MD -MF same.d -c src/a.cu -o same.o >"$name.said" 2>&1 || fail "$name: $(cat "$name.said")"
  sed 's/tmpxft_[0-9a-f]*/tmpxft/g' same.o >"$name.o" && mv same.d "$name.d" # nvcc's number of its own process
done
parses && fail "warm: it was parsed"
for part in o d said; do cmp "cold.$part" "warm.$part" || fail "warm: another $part"; done
exit $failed
