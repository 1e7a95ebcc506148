#!/bin/bash
# SPDX-License-Identifier: MIT
# mutated.sh INKMARK: sources with bytes cut out, doubled and exchanged (a fixed seed). The rewriter ends
# by itself with 0 or 1, and where it marked, stripping gives the bytes back.
set -u
inkmark=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
python3 - "$here/cases" "$work" <<'P' || exit 1
import os, random, sys
random.seed(7)
cases, work = sys.argv[1:]
texts = [open(os.path.join(cases, n), "rb").read() for n in sorted(os.listdir(cases))]
for i in range(60):
    text = bytearray(random.choice(texts))
    for _ in range(random.randint(1, 12)):
        at, length = random.randrange(len(text)), random.randint(1, 30)
        what = random.randrange(4)
        if what == 0: del text[at:at + length]
        elif what == 1: text[at:at] = text[at:at + length]
        elif what == 2: text[at] = random.randrange(256)
        else: text[at:at] = random.choice([b"{", b"}", b"(", b")", b"\n#if 0\n", b"\n#endif\n", b"\"", b"/*", b"\\\n", b";"])
    open(os.path.join(work, "m%d.cu" % i), "wb").write(text)
P
failed=0 marked=0
cd "$work" || exit 1
for source in m*.cu; do
  "$inkmark" instrument "$source" -o out.cu --header-less --calls --loops --waits --depth 8 --root . \
    >said 2>&1
  code=$?
  if [ $code -gt 1 ]; then
    echo "FAILED: $source: code $code"; cat said; failed=1
  elif [ $code = 0 ]; then
    "$inkmark" instrument --strip out.cu -o back.cu && cmp "$source" back.cu || failed=1
    cmp -s "$source" out.cu || marked=$((marked + 1))
  elif ! grep -q "error: " said; then
    echo "FAILED: $source: $(head -3 said)"; failed=1
  fi
  rm -f out.cu back.cu
done
echo "$marked of 60 were marked"
[ $marked -gt 20 ] || failed=1
exit $failed
