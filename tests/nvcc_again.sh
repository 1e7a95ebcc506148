#!/bin/bash
# SPDX-License-Identifier: MIT
# Stands before nvcc where run.sh builds the same sources in several folders: what nvcc made of the same
# command in the first of them is copied. nvcc_again.sh FIRST_BUILD THIS_BUILD NVCC ARGUMENTS...
set -eu
first=$1 here=$2
shift 2
root=$(cd "$(dirname "$0")/.." && pwd)
out='' before=''
for word; do
  [ "$before" != -o ] || out=$word
  before=$word
done
[ -n "$out" ] || exec "$@"
[[ $out = /* ]] || out=$PWD/$out
[[ $out = "$here"/* ]] || exec "$@"
made=$first/${out#"$here"/}
command="${PWD/#"$here"/@}: ${*//"$here"/@}"

is_made() { # by this very command, later than what it read
  local file
  [ "$first" != "$here" ] && [ -e "$made" ] && [ "$(cat "$made.nvcc" 2>/dev/null)" = "$command" ] || return 1
  for file in "$@" "$root"/device/inkmark/* "$root"/runtime/include/inkmark/*; do
    if [ -f "$file" ] && [ "$file" -nt "$made" ] && [[ $file != "$out" ]]; then return 1; fi
  done
}
if is_made "$@"; then
  cp "$made" "$out"
else
  "$@"
fi
printf '%s\n' "$command" >"$out.nvcc"
