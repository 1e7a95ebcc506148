#!/bin/bash
# SPDX-License-Identifier: MIT
# stalls.sh INKMARK [RESULTS]: on a machine with a GPU, Nsight Compute and the right to read its counters (a few minutes):
# records examples/matmul.cu, has CUPTI (record --stalls) and ncu sample it, and holds `inkmark report --code --stalls` against the page: every sample is
# in a section, Load and Compute have some, a build with another -D is refused. Leaves page, report and text in RESULTS.
set -u
inkmark=${1:?the command} results=${2:-$(mktemp -d)}
root=$(cd "$(dirname "$0")/../.." && pwd)
skip() { echo "SKIPPED: $*"; exit 77; }
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
failures=0
command -v nvcc >/dev/null || skip "no nvcc on the PATH"
arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 | tr -d .)
[ -n "$arch" ] || skip "no GPU"
mkdir -p "$results" && cd "$results" || exit 1
# By CUPTI, without ncu: the kernel's sections have samples, by the code of the capture and by the program's, and another build is
# refused.
check_sampling() {
  "$inkmark" record --stalls -o sampled.ink -- ./matmul 2>sampled.txt || fail "record --stalls"
  if grep -q "was not sampled" sampled.txt; then
    cat sampled.txt
    return
  fi
  "$inkmark" info sampled.ink | grep "why warps waited" || fail "no samples"
  "$inkmark" report --stalls sampled.ink | tee own.txt || fail "report --stalls of a capture"
  "$inkmark" report --stalls sampled.ink --code matmul | cmp - own.txt || fail "the program's code gives another table than the capture's"
  for section in Load Compute; do
    awk -v s="$section" '$1 == s && $0 ~ /%/ {found = 1} END {exit !found}' own.txt || fail "no samples of $section"
  done
  "$inkmark" report --stalls sampled.ink --code other >/dev/null 2>refused_own.txt && fail "another build was taken"
  grep -q "of another build" refused_own.txt || fail "not refused for its code: $(cat refused_own.txt)"
}
build() { nvcc -I "$root/device" -O3 -std=c++17 "-arch=sm_$arch" -lineinfo -cudart shared "$@" "$root/examples/matmul.cu" || exit 1; }
build -o matmul
build -DINKMARK_NO_COST -Xptxas -O1 -o other
"$inkmark" record -o run.ink -- ./matmul || fail "record"
check_sampling
if ! command -v ncu >/dev/null; then
  echo "no ncu on the PATH: its samples are left out; results in $results, $failures failures"
  exit $((failures > 0))
fi
# Marks must be armed while ncu looks, or the code path of recording threads is not taken.
"$inkmark" record -o under_ncu.ink -- ncu -f --section SourceCounters --kernel-name regex:product --launch-count 1 -o samples ./matmul ||
  ncu -f --section SourceCounters --kernel-name regex:product --launch-count 1 -o samples ./matmul ||
  skip "ncu could not sample (counters need permission: NVreg_RestrictProfilingToAdminUsers=0)"
ncu --import samples.ncu-rep --page source --csv --print-source sass >samples.csv || fail "ncu --import"
head -n 4 samples.csv | cut -c1-300
"$inkmark" report --code matmul run.ink || fail "report --code"
"$inkmark" report --code matmul --stalls samples.csv run.ink | tee stalls.txt || fail "report --stalls"
"$inkmark" report --code matmul --stalls samples.csv -f json run.ink >stalls.json || fail "report --stalls -f json"
for section in Load Compute; do
  awk -v s="$section" '$1 == s {found = 1} END {exit !found}' stalls.txt || fail "no row of $section"
done
"$inkmark" report --code other --stalls samples.csv >/dev/null 2>refused.txt && fail "another build was taken"
grep -q "differs first at" refused.txt || fail "no first difference: $(cat refused.txt)"
"$inkmark" report --code matmul --stalls samples.ncu-rep >by_package.txt 2>&1 || echo "by the package: $(tail -n 1 by_package.txt)"
echo "results in $results, $failures failures"
exit $((failures > 0))
