#!/bin/bash
# SPDX-License-Identifier: MIT
# guard.sh INKMARK NVCC SOURCE... -- FLAGS...: processor time of nvcc, of inkmark nvcc without its guard, with a
# cold one and with a warm one, for each source.
set -eu
inkmark=$1 nvcc=$2
shift 2
sources=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do sources+=("$1"); shift; done
[ $# = 0 ] || shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export INKMARK_QUIET=1 INKMARK_CACHE=$work/cache
TIMEFORMAT='%U %S'
seconds() {
  { time "$@" -c -o "$work/o.o" >/dev/null 2>"$work/err"; } 2>&1 | awk '{printf "%.2f", $1 + $2}'
}
printf '%-40s %8s %8s %8s %8s\n' source nvcc off cold warm
for source in "${sources[@]}"; do
  plain=$(seconds "$nvcc" "$source" "$@")
  off=$(INKMARK_GUARD=off seconds "$inkmark" nvcc "$nvcc" "$source" "$@")
  cold=$(seconds "$inkmark" nvcc "$nvcc" "$source" "$@")
  warm=$(seconds "$inkmark" nvcc "$nvcc" "$source" "$@")
  printf '%-40s %8s %8s %8s %8s\n' "$(basename "$source")" "$plain" "$off" "$cold" "$warm"
done
