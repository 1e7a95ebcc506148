#!/bin/bash
# SPDX-License-Identifier: MIT
# Which lines of each source file do the tests run? coverage.sh [CTEST-ARGUMENTS...]: builds in build-coverage/ with gcc's
# counters, runs the tests (without arguments all that need no GPU: an hour), and prints the share of lines by file and by
# folder. Children that leave by _exit are counted (coverage_exit.h). A file below 70 % without a reason in
# tests/coverage_reasons.txt fails, as does a reason that is not needed any more; with CTEST-ARGUMENTS that is only said.
# INKMARK_COVERAGE_TARGETS: what is built, instead of everything.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root" || exit 1
build=$root/build-coverage
mkdir -p "$build"
launcher=()
if command -v ccache >/dev/null; then launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache); fi
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=None -DINKMARK_BUILD_TESTS=ON -DINKMARK_BUILD_BENCH=OFF -DCMAKE_C_COMPILER=gcc \
  "${launcher[@]}" "-DCMAKE_C_FLAGS=-O0 -g --coverage -fprofile-update=atomic -include $root/tests/coverage_exit.h" \
  -DCMAKE_EXE_LINKER_FLAGS=--coverage -DCMAKE_SHARED_LINKER_FLAGS=--coverage >"$build/coverage.log" 2>&1 &&
  # shellcheck disable=SC2086 # a list of targets
  ninja -C "$build" ${INKMARK_COVERAGE_TARGETS:-} >>"$build/coverage.log" 2>&1 || { tail -n 30 "$build/coverage.log"; exit 1; }
find "$build" -name '*.gcda' -delete
some=()
if [ $# = 0 ]; then set -- -LE gpu; else some=(--some); fi
ctest --test-dir "$build" --parallel "$(nproc)" --timeout 3600 --output-on-failure "$@" >"$build/tests.log" 2>&1 ||
  grep -A 40 'tests failed out of' "$build/tests.log" # a build without optimisation may miss a limit: its lines count all the same
grep 'tests passed' "$build/tests.log"
python3 tests/coverage.py "$build" tests/coverage_reasons.txt "${some[@]}"
