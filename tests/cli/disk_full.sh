#!/bin/bash
# SPDX-License-Identifier: MIT
# A disk that is full in the midst of writing: every command that writes a file says so, fails, leaves
# the file of that name as it was, and nothing beside it. disk_full.sh INKMARK MAKE_CAPTURES
# The limit on a file's size stands for the disk: it fails a write in the same way, without root.
inkmark=$1 make_captures=$2
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
"$make_captures" >/dev/null || exit 1
capture=wide.ink
[ -s $capture ] || { echo "no $capture was made"; exit 1; }
bad=0 tried=0
try() { # TARGET OPTIONS...: once with room, once without
  local target=$1
  shift
  if ! "$inkmark" "$@" -o "$target" $capture >out 2>&1; then
    echo "BAD with room: inkmark $* -o $target: $(cat out)"
    bad=1
  fi
  [ "$(stat -c %s "$target")" -gt 1024 ] || { echo "BAD: '$target' is too small to fill a disk"; bad=1; }
  echo before >"$target"
  (trap '' XFSZ; ulimit -f 1; exec "$inkmark" "$@" -o "$target" $capture) 2>&1 | cat >out
  local code=${PIPESTATUS[0]}
  [ "$code" = 1 ] || { echo "BAD: inkmark $* -o $target: exit code $code, not 1"; bad=1; }
  grep -qi 'file too large' out || { echo "BAD: inkmark $* -o $target does not say why: $(cat out)"; bad=1; }
  [ "$(cat "$target")" = before ] || { echo "BAD: '$target' is not what it was"; bad=1; }
  rm "$target" out
  local left=$(ls -A | grep -v '\.ink$')
  [ -z "$left" ] || { echo "BAD: inkmark $* -o $target leaves $left"; bad=1; rm -rf $left; }
  tried=$((tried + 1))
}
try report.txt report --by block
try report.json report --format json
try report.csv report --by block --format csv
try info.json info --format json
for kind in pftrace json csv tables.json html; do
  try "solver.$kind" export
done
# several files of one name: none of them is left
(trap '' XFSZ; ulimit -f 1; exec "$inkmark" export $capture -o arrays.npy) >out 2>&1
code=$?
[ $code = 1 ] && grep -qi 'file too large' out || { echo "BAD: export to npy: exit code $code, $(cat out)"; bad=1; }
rm out
left=$(ls -A | grep -v '\.ink$')
[ -z "$left" ] || { echo "BAD: export to npy leaves" $left; bad=1; }
tried=$((tried + 1))
echo "$tried outputs tried"
exit $bad
