#!/bin/bash
# SPDX-License-Identifier: MIT
# What the environment names is not loaded into a program that runs with more rights than its user has, and
# not into one that is not recorded: privilege.sh PROGRAM NAMED.so, a marked program and a library whose
# constructor says "named library runs". Set-uid files need root to be made; without it that part is skipped.
set -u
program=$1 named=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
cp "$program" "$work/program" && cp "$named" "$work/named.so" || exit 1

# starts WANTED ENVIRONMENT... -- COMMAND: is the library loaded (1) or not (0)?
starts() {
  local wanted=$1 variables=() said
  shift
  while [ "$1" != -- ]; do variables+=("$1"); shift; done
  shift
  said=$(env "${variables[@]}" "$@" 2>&1 | grep -c '^named library runs$')
  [ "$said" = "$wanted" ] || { echo "FAILED: ${variables[*]} $*: loaded $said times, expected $wanted"; exit 1; }
}

# As anyone: only where recording was asked for. The second line shows that the first could fail.
starts 0 INKMARK_LIBRARY="$work/named.so" -- "$work/program"
starts 1 INKMARK_RECORD=1 INKMARK_LIBRARY="$work/named.so" -- "$work/program"
echo "not recorded: nothing loaded"

[ "$(id -u)" = 0 ] || { echo "set-uid: needs root to make such a file"; exit 77; }
command -v setpriv >/dev/null || { echo "set-uid: needs setpriv"; exit 77; }
other=(setpriv --reuid=65534 --regid=65534 --clear-groups)
record=(INKMARK_RECORD=1 INKMARK_LIBRARY="$work/named.so")
starts 1 "${record[@]}" -- "${other[@]}" "$work/program"
chown 65533 "$work/program" && chmod 4755 "$work/program" || exit 1
findmnt -no OPTIONS -T "$work" 2>/dev/null | grep -qw nosuid && { echo "set-uid: $work is mounted nosuid"; exit 77; }
starts 0 "${record[@]}" -- "${other[@]}" "$work/program"
echo "set-uid: nothing loaded"
if command -v setcap >/dev/null; then
  chown 0 "$work/program" && chmod 755 "$work/program"
  if setcap cap_net_raw+ep "$work/program" 2>/dev/null; then
    starts 0 "${record[@]}" -- "${other[@]}" "$work/program"
    echo "file capabilities: nothing loaded"
  fi
fi
