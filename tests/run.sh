#!/bin/bash
# SPDX-License-Identifier: MIT
# The checks of the project, from a fresh checkout: brings what is missing, then
#   1. gcc, warnings are errors              2. clang, warnings are errors
#   3. AddressSanitizer and UBSan            4. the fuzz targets, 6 s each
# Of each it runs all tests that take less than a second, and of the others a sample that tests/draw.py draws, so that the
# whole takes 25 minutes on two cores. tests/long.sh runs all. The seed of the sample is the commit's, or INKMARK_SEED.
# tests/run.sh [--quick | --only PASS | --set-up]   --quick does only 1, with a smaller sample: 5 minutes. --only does one of
# gcc, clang, sanitizers and fuzz, --set-up none. Of each only what the drawn tests need is built. Builds in build/ (--quick:
# build-quick/), build-clang/, build-san/ and build-fuzz/. The closing line
# counts tests: "N passed, N failed, N skipped".
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root" || exit 1
# shellcheck source=cmake/setup.sh
. "$root/cmake/setup.sh"
# shellcheck source=tests/sanitized.sh
. "$root/tests/sanitized.sh"
quick='' set_up='' passes=' gcc clang sanitizers fuzz '
case "$# ${1:-}" in
  '0 ') ;;
  '1 --quick') quick=1 passes=' gcc ' ;;
  '1 --set-up') set_up=1 ;;
  '2 --only') passes=" $2 "; [[ " gcc clang sanitizers fuzz " == *"$passes"* ]] || passes= ;;
  *) passes= ;;
esac
[ -n "$passes" ] || { echo "usage: tests/run.sh [--quick | --only gcc|clang|sanitizers|fuzz | --set-up]" >&2; exit 2; }

# ---- set-up: what the tests need beyond what a build needs
set -e
setup_build_tools
setup_debian clang=clang clang++-19=clang-19 pkg-config=pkg-config man=man-db groff=groff pgrep=procps \
  patch=patch make=make protoc=protobuf-compiler chromium=chromium openssl=openssl doxygen=doxygen jq=jq node=nodejs npm=npm
clang_major=$(clang -dumpversion | cut -d. -f1)
setup_debian "/usr/lib/llvm-$clang_major/lib/clang/*/lib/*/libclang_rt.fuzzer*=libclang-rt-$clang_major-dev"
setup_cuda
setup_pip tests -r "$root/requirements-test.txt"
(setup_into=.venv-wheels setup_pip wheels -r "$root/requirements-wheels.txt") ||
  setup_say "tests/wheels will skip what is missing"
# Of Python 3.13 there is no wheel of NumPy 1 any more.
(setup_into=.venv-numpy1 setup_pip numpy1 --only-binary=:all: -r "$root/requirements-numpy1.txt") ||
  setup_say "python.numpy1 will be skipped"
if [ -f package.json ]; then
  if ! cmp -s package-lock.json node_modules/.installed; then
    setup_say "npm installs into node_modules"
    npm ci --no-audit --no-fund >&2 || setup_fail "npm ci failed"
    cp package-lock.json node_modules/.installed
  fi
fi
set +e
[ -z "$set_up" ] || exit 0

# Seconds of tests/costs.txt that the large tests of a pass may take; and of each fuzz target.
gcc_budget=900 clang_budget=40 sanitized_budget=350 fuzz_seconds=6
[ -z "$quick" ] || gcc_budget=100
INKMARK_SEED=${INKMARK_SEED:-$((16#$(git rev-parse --short=7 HEAD 2>/dev/null || echo 1)))}
export INKMARK_SEED

passed=0 failed=0 skipped=0 broken=()
reasons=$(mktemp) failures=$(mktemp)
versions= # of the packages whose programs tests/wheels records
trap 'rm -f "$reasons" "$failures"' EXIT
start=$SECONDS
launcher=()
if command -v ccache >/dev/null; then launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache); fi
# configure FOLDER CMAKE-ARGUMENTS..., then build FOLDER [TARGET...]: the log is shown when one of them fails.
configure() {
  local folder=$1
  shift
  mkdir -p "$folder"
  setup_say "building $folder ($((SECONDS - start)) s)"
  cmake -S . -B "$folder" -G Ninja -DINKMARK_WERROR=ON -DINKMARK_BUILD_TESTS=ON \
    -DINKMARK_BUILD_BENCH=ON -DINKMARK_NVCC="$(command -v nvcc)" \
    "-DINKMARK_NVCC_LAUNCHER=$root/tests/nvcc_again.sh;$root/build;$root/$folder" "${launcher[@]}" "$@" \
    >"$folder/build.log" 2>&1 || not_built "$folder"
}
build() {
  ninja -C "$1" -j "$(setup_jobs)" "${@:2}" >>"$1/build.log" 2>&1 || not_built "$1"
}
not_built() {
  grep -nE 'error|Error|FAILED' "$1/build.log" | head -n 40
  tail -n 30 "$1/build.log"
  broken+=("the build in $1")
  return 1
}

# choose COLUMN BUDGET FOLDER CTEST-ARGUMENTS...: of the tests that ctest's arguments choose, those of a second at most and those
# that draw.py draws. Sets left (their names by lines) and numbers (as ctest's -I has them), and notes the others in drawn.txt.
choose() {
  local column=$1 budget=$2 folder=$3
  shift 3
  # Beside a filter ctest's -I counts the tests that the filter lets through, and not by their own numbers.
  ctest --test-dir "$folder" -N "$@" -FA '.*' | sed -nE 's|^ *Test +#[0-9]+: ([^ ]+).*|\1|p' | awk '{ print NR, $1 }' >"$folder/tests.txt"
  left=$(cut -d ' ' -f 2 "$folder/tests.txt" | python3 tests/draw.py "$column" "$budget" "$INKMARK_SEED") || broken+=("draw.py")
  numbers=$(awk -v left="$left" -v drawn="$folder/drawn.txt" 'BEGIN { split(left, names, "\n"); for (i in names) is_left[names[i]] = 1 }
    !($2 in is_left) { printf ",%s", $1; print $2 >>drawn }' "$folder/tests.txt")
}
# check COLUMN BUDGET FOLDER CTEST-ARGUMENTS...: runs the tests that ctest's arguments choose, of the large ones those that
# draw.py draws; adds the counts up and notes which were left out, and why tests were skipped. The limit is a guard against a
# test that hangs, for a machine that is many times slower than ours.
check() {
  local column=$1 budget=$2 folder=$3 out=$3/ctest.log number left numbers
  shift 3
  setup_say "testing $folder ($((SECONDS - start)) s)"
  choose "$column" "$budget" "$folder" "$@"
  if [ -n "$left" ]; then
    printf '%s, seed %s: left to tests/long.sh %s: %s\n' "$folder" "$INKMARK_SEED" "$folder" "${left//$'\n'/ }" >>"$reasons"
  fi
  ctest --test-dir "$folder" --output-on-failure --timeout 1200 --parallel "$(setup_jobs)" "$@" ${left:+-I "0,0,0$numbers"} 2>&1 | tee "$out"
  if [ "${PIPESTATUS[0]}" != 0 ]; then broken+=("tests in $folder"); fi
  number=$(grep -cE 'Test +#[0-9]+: .* Passed ' "$out")
  passed=$((passed + number))
  skipped=$((skipped + $(grep -cE 'Test +#[0-9]+: .*\*\*\*(Skipped|Not Run \(Disabled\))' "$out")))
  failed=$((failed + $(grep -cE 'Test +#[0-9]+: .*\*\*\*' "$out") \
    - $(grep -cE 'Test +#[0-9]+: .*\*\*\*(Skipped|Not Run \(Disabled\))' "$out")))
  if [ "$number" = 0 ]; then broken+=("no test passed in $folder"); fi
  awk -v folder="$folder" '/^[0-9]+\/[0-9]+ Test: / { name = $3; n = 0; next } { lines[n++] = $0 }
    /^Test (Failed|Timeout|Exception)/ { print "---- " folder " " name ", its last lines:"
      for (i = n > 25 ? n - 25 : 0; i < n; i++) print lines[i] }' "$folder/Testing/Temporary/LastTest.log" >>"$failures"
  awk -v folder="$folder" '/^[0-9]+\/[0-9]+ Test: / { name = $3; said = 0 }
    !said && tolower($0) ~ /^skipped: / { print folder " " name " " $0; said = 1 }' \
    "$folder/Testing/Temporary/LastTest.log" >>"$reasons"
  versions=${versions:-$(awk '/^[0-9]+\/[0-9]+ Test: / { wheel = $3 ~ /^wheels\./; name = substr($3, 8); out = 0 }
    wheel && out == 1 && !/^-+$/ { line = $0; out = 2 } wheel && /^Output:/ { out = 1 }
    wheel && /^Test (Passed|Failed|Skipped)/ { sub(/[.]$/, ""); printf "%s %s: %s; ", name, line, tolower($2) }' \
    "$folder/Testing/Temporary/LastTest.log")}
}

left_to_long() { # FOLDER CTEST-ARGUMENTS...: says so
  printf '%s: left to tests/long.sh %s: %s\n' "$1" "$1" \
    "$(ctest --test-dir "$1" -N "${@:2}" | sed -nE 's|^ *Test +#[0-9]+: ||p' | tr '\n' ' ')" >>"$reasons"
}
gone() { # BUILD: tests that tests/costs.txt knows and the build has no more: left out by CMake, renamed, or lost
  local names
  names=$(comm -23 <(sed '/^#/d; s/ .*//' tests/costs.txt | sort) \
    <(ctest --test-dir "$1" -N | sed -nE 's|^ *Test +#[0-9]+: ([^ ]+).*|\1|p' | sort) | tr '\n' ' ')
  [ -z "$names" ] || printf '%s has no test of these names: %s\n' "$1" "$names" >>"$reasons"
}

fuzz() {
  local target name corpus pids=() names=() i
  for target in build-fuzz/tests/fuzz/fuzz_*; do
    [ -x "$target" ] && [ -f "$target" ] || continue
    name=$(basename "$target")
    corpus=tests/fuzz/${name#fuzz_}
    mkdir -p "build-fuzz/found/$name" "build-fuzz/corpus/$name"
    "$target" -max_total_time="$fuzz_seconds" -timeout=120 -rss_limit_mb=4096 -print_final_stats=1 \
      -artifact_prefix="build-fuzz/found/$name/" "build-fuzz/corpus/$name" "$corpus" \
      >"build-fuzz/$name.log" 2>&1 &
    pids+=($!) names+=("$name")
    if [ ${#pids[@]} -ge "$(setup_jobs)" ]; then
      fuzz_wait
    fi
  done
  fuzz_wait
}
fuzz_wait() { # uses fuzz's pids and names
  for i in "${!pids[@]}"; do
    if wait "${pids[$i]}"; then
      passed=$((passed + 1))
      printf 'fuzz %s: %s\n' "${names[$i]}" \
        "$(grep -o 'number_of_executed_units:.*' "build-fuzz/${names[$i]}.log" | tr -s ' ')"
    else
      failed=$((failed + 1))
      broken+=("fuzz target ${names[$i]}")
      tail -n 40 "build-fuzz/${names[$i]}.log"
    fi
  done
  pids=() names=()
}

# one_pass FOLDER COLUMN BUDGET TESTS CMAKE-ARGUMENTS...: chooses, builds what the chosen tests need, and runs them. TESTS COMMAND
# FOLDER calls COMMAND FOLDER CTEST-ARGUMENTS... for each group of tests.
one_pass() {
  local folder=$1 targets
  column=$2 budget=$3
  configure "$folder" "${@:5}" || return
  rm -f "$folder/drawn.txt"
  "$4" choose_of_pass "$folder"
  targets=$(python3 tests/needed.py "$folder" "$folder/drawn.txt") || { broken+=("needed.py"); return; }
  # shellcheck disable=SC2086 # a list of targets
  build "$folder" $targets && "$4" check_of_pass "$folder"
}
choose_of_pass() { local left numbers; choose "$column" "$budget" "$@"; }
check_of_pass() { check "$column" "$budget" "$@"; }
all_tests() { "$1" "$2" -LE gpu; }
host_tests() { "$1" "$2" -R "^(unit|cli|fuzz)"; }

if [ -n "$quick" ]; then # half of such a build is the compiler's optimising
  one_pass build-quick plain "$gcc_budget" all_tests -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++ -DINKMARK_BUILD_BENCH=OFF \
    -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS=-O1 -DCMAKE_CXX_FLAGS=-O1 -DINKMARK_WERROR=OFF # what gcc warns of hangs on -O
  gone build-quick
elif [[ $passes == *" gcc "* ]]; then
  one_pass build plain "$gcc_budget" all_tests -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++
  gone build
fi
if [[ $passes == *" clang "* ]]; then
  one_pass build-clang plain "$clang_budget" host_tests -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ \
    -DINKMARK_BUILD_EXAMPLES=OFF -DINKMARK_BUILD_BENCH=OFF
fi
if [[ $passes == *" sanitizers "* ]]; then
  one_pass build-san sanitized "$sanitized_budget" sanitized -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++ -DINKMARK_SANITIZE=ON \
    -DINKMARK_BUILD_BENCH=OFF
  sanitized_slow left_to_long build-san
fi
if [[ $passes == *" fuzz "* ]]; then
  # only these link the fuzzer, so everything else would not link
  configure build-fuzz -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DINKMARK_FUZZ=ON \
    -DINKMARK_BUILD_EXAMPLES=OFF -DINKMARK_BUILD_BENCH=OFF &&
    # shellcheck disable=SC2046 # a list of targets
    build build-fuzz $(for file in tests/fuzz/fuzz_*.c; do basename "$file" .c; done) && fuzz
fi

echo
cat "$failures"
sort -u "$reasons"
printf 'programs of packages: %s\n' "${versions:-none ran}"
if [ ${#broken[@]} -gt 0 ]; then
  printf 'not right: %s\n' "${broken[@]}"
fi
printf 'took %d s\n' $((SECONDS - start))
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ ${#broken[@]} = 0 ] && [ "$failed" = 0 ] && [ "$passed" -gt 0 ]
