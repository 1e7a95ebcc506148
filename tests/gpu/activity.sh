#!/bin/bash
# SPDX-License-Identifier: MIT
# Activity on a device: is CUPTI's gridId the %gridid that the kernels read themselves, and do tracks lie
# inside of CUPTI's kernels? activity.sh INKMARK gpu|sim PROGRAM; where PROGRAM is missing, nvcc builds
# it from tests/activity/busy.cu. tests/gpu/run.sh calls it.
set -u
inkmark=$1 device=$2 program=$3
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
fail() { printf 'FAIL %s\n' "$*"; exit 1; }

if [ ! -x "$program" ]; then
  nvcc -std=c++17 -O1 -arch=native -I "$root/device" -o "$program" "$root/tests/activity/busy.cu" ||
    fail 'nvcc cannot build busy'
fi
if ! "$inkmark" record --device "$device" --activity -o "$work/run.ink" -- "$program" >"$work/out" 2>"$work/err"; then
  cat "$work/err"
  fail 'busy failed when recorded with --activity'
fi
if grep 'activity of process' "$work/err"; then
  grep -q 'no libcupti' "$work/err" && exit 0 # said above; it is not on this machine
  fail 'CUPTI is there and gave nothing'
fi
"$inkmark" report --activity --format csv "$work/run.ink" >"$work/csv" || fail 'no report'

awk '$1 == "kernel" { print $3 }' "$work/out" | sort >"$work/told"
awk -F, '$2 == "kernel" { print $12 }' "$work/csv" | sort >"$work/seen"
told=$(wc -l <"$work/told")
printf 'grid ids: %s of %s kernels bear in CUPTI the %%gridid that they read themselves\n' \
  "$(comm -12 "$work/told" "$work/seen" | wc -l)" "$told"
[ "$told" -gt 5 ] || fail 'the program told of too few kernels'
if ! cmp -s "$work/told" "$work/seen"; then
  paste "$work/told" "$work/seen"
  fail "CUPTI's gridId is not %gridid"
fi

"$inkmark" export --format csv -o - "$work/run.ink" | awk -F, -v kernels="$work/csv" '
  function part(ns) { return substr(ns, length(ns) - 13) + 0 } # as much of Unix ns as a double holds
  BEGIN {
    while ((getline line <kernels) > 0) {
      split(line, f, ",")
      if (f[2] == "kernel" && f[29] != "") { from[f[29]] = part(f[5]); to[f[29]] = part(f[6]) }
    }
  }
  NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
  {
    launch = $at["launch"]; ns = part($at["ns"])
    if (!(launch in from)) { lost++; next }
    early = ns - from[launch]; late = to[launch] - ns
    if (!n++ || early < least_early) least_early = early
    if (n == 1 || late < least_late) least_late = late
  }
  END {
    printf "activity: %d records; the earliest is %d ns inside of its kernel, the latest %d ns\n", n, least_early, least_late
    exit n == 0 || lost || least_early < -1000000 || least_late < -1000000
  }' || fail 'tracks lie outside of their kernels by more than a millisecond, or have none'
