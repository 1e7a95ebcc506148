#!/bin/bash
# SPDX-License-Identifier: MIT
# Compares the binary interface of libinkmark.so with that of an earlier version, by abidiff (Debian: abigail-tools):
# abi.sh [REF]. REF is a commit, or else the newest tag v*. Builds both in build-abi/. Only the stable names (INKMARK_0.1 in
# runtime/inkmark.map) count: a name that went, or a type whose layout changed, fails. Names that came are shown.
# What grows at the end of an options struct or of a row is shown too, and is read by a person: runtime/options_take.h and
# inkmark/rows.h allow it.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
abidiff=${ABIDIFF:-$(command -v abidiff || true)}
if [ -z "$abidiff" ]; then echo "skipped: no abidiff (Debian: apt-get install abigail-tools)"; exit 77; fi
ref=${1:-$(git tag --list 'v*' --sort=-v:refname | head -n 1)}
if [ -z "$ref" ]; then echo "skipped: there is no version before this one: no tag v*"; exit 77; fi
work=$root/build-abi
mkdir -p "$work"
library() { # SOURCE BUILD: builds the shared library alone
  cmake -S "$1" -B "$2" -G Ninja -DINKMARK_NVCC=OFF -DINKMARK_BUILD_CLI=OFF -DINKMARK_BUILD_SIM=OFF -DINKMARK_BUILD_TESTS=OFF \
    -DINKMARK_BUILD_EXAMPLES=OFF -DINKMARK_BUILD_BENCH=OFF -DCMAKE_BUILD_TYPE=Debug >"$2.log" 2>&1 &&
    cmake --build "$2" --target inkmark_shared >>"$2.log" 2>&1 || { tail -n 20 "$2.log"; exit 1; }
}
commit=$(git rev-parse --short "$ref^{commit}")
if [ ! -e "$work/$commit/runtime" ]; then
  mkdir -p "$work/$commit"
  git archive "$commit" | tar -x -C "$work/$commit"
fi
library "$work/$commit" "$work/before"
library "$root" "$work/now"
cat >"$work/stable" <<'S'
[suppress_function]
  symbol_version_regexp = INKMARK_EXPERIMENTAL
[suppress_variable]
  symbol_version_regexp = INKMARK_EXPERIMENTAL
S
status=0
"$abidiff" --suppressions "$work/stable" --headers-dir1 "$work/$commit/runtime/include" --headers-dir2 "$root/runtime/include" \
  "$work/before/runtime/libinkmark.so" "$work/now/runtime/libinkmark.so" || status=$?
# abidiff: bit 0 is its own failure, bit 1 of its usage, bit 2 a change, bit 3 a change that breaks programs
if [ $((status & 3)) != 0 ]; then echo "abidiff failed"; exit 1; fi
if [ $((status & 8)) != 0 ]; then echo "the interface of $ref ($commit) is broken"; exit 1; fi
if [ $((status & 4)) != 0 ]; then echo "the interface changed since $ref ($commit), and names of it are still there: read the above"; else echo "the interface of $ref ($commit) is unchanged"; fi
