#!/bin/bash
# SPDX-License-Identifier: MIT
# disabled.sh INKMARK NVCC ROOT: every case marked with every rule and compiled with INKMARK_DISABLE gives the
# PTX, and for one target the machine code, of the unmarked cases, byte for byte. Both lie under the same
# paths in turn, so that names of internal symbols, which hold a hash of the path, need no normalising.
# Removed before comparing: nothing from the PTX; of the disassembly the first line, the cubin's name.
set -u
inkmark=$1 nvcc=$2 root=$3
here=$(cd "$(dirname "$0")" && pwd)
nvdisasm=$(compgen -G "$root/.venv/lib/python3*/site-packages/nvidia/cu13/bin/nvdisasm" | head -n 1)
[ -n "$nvdisasm" ] || nvdisasm=$(command -v nvdisasm)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
fail() {
  echo "FAILED: $*"
  exit 1
}
mkdir "$work/cases" "$work/marked"
cp "$here/all.cu" "$here/check.cuh" "$work"
cp "$here"/cases/*.cu "$here"/cases/*.h "$work/cases"
cd "$work" || exit 1
flags=(-std=c++17 -extended-lambda -arch=sm_80 -DINKMARK_DISABLE -I. -I"$root/device")
build() { # NAME
  "$nvcc" "${flags[@]}" -ptx all.cu -o all.ptx 2>"$1.err" && "$nvcc" "${flags[@]}" -cubin all.cu -o all.cubin 2>>"$1.err" ||
    { cat "$1.err"; fail "$1 does not compile"; }
  mv all.ptx "$1.ptx"
  [ -z "$nvdisasm" ] || "$nvdisasm" -c all.cubin | tail -n +2 >"$1.sass"
}
build before
for case in cases/*.cu; do
  "$inkmark" instrument "$case" -o "marked/${case#cases/}" --calls --loops --waits --depth 8 --root . -- \
    -std=c++17 -include check.cuh -I"$root/device" 2>said || { cat said; fail "$case"; }
done
grep -q INK_UNTIL_HELD marked/dependent.cu || fail "the cases hold no marks to leave out"
cp marked/*.cu cases
build after
cmp before.ptx after.ptx || { diff before.ptx after.ptx | head -40; fail "other PTX"; }
if [ -z "$nvdisasm" ]; then
  echo "not compared, no nvdisasm: the machine code"
else
  [ "$(grep -c EXIT before.sass)" -gt 20 ] || fail "no machine code to compare"
  cmp before.sass after.sass || { diff before.sass after.sass | head -40; fail "other machine code"; }
fi
exit 0
