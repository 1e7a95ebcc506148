#!/bin/bash
# SPDX-License-Identifier: MIT
# The README's example is what it says: its code compiles with its command, runs dormant, is recorded,
# reported and exported.
# readme.sh SOURCE_FOLDER BUILD_FOLDER NVCC
set -eu
source=$1 build=$2
PATH=$(dirname "$3"):$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
ln -s "$source/device" device
printf '#!/bin/sh\nexec "%s" "$@"\n' "$build/cli/inkmark" >inkmark
chmod +x inkmark
PATH=$work:$PATH

block() { # LANGUAGE: the first block of it in the README
  awk -v fence="\`\`\`$1" '$0 == fence && !seen { inside = seen = 1; next } /^```/ { inside = 0 } inside' "$source/README.md"
}
block cuda >relax.cu
[ "$(grep -c PROF_ relax.cu)" -ge 5 ] || { echo "the README has no example"; exit 1; }
block sh >commands.sh
for word in nvcc 'inkmark record' 'inkmark report' 'inkmark export'; do
  grep -q "^$word" commands.sh || { echo "the README's commands have no '$word'"; exit 1; }
done
bash -e commands.sh >out 2>err || { cat out err; exit 1; }
cat out
grep -q 'simulated clock' out || [ -e /dev/nvidiactl ]
# 4 blocks of 8 rounds
for section in Load Compute Store; do
  grep -Eq "^  $section +32 " out || { echo "no 32 slices of $section"; exit 1; }
done
[ -s relax.pftrace ]
LD_LIBRARY_PATH=$build/device/sim ./relax # dormant
[ "$(ls ./*.ink | wc -l)" = 1 ] || { echo "a dormant run wrote a capture"; exit 1; }
