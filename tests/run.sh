#!/bin/bash
# SPDX-License-Identifier: MIT
# Every check of the project, from a fresh checkout: brings what is missing, then
#   1. gcc, warnings are errors, all tests    2. clang, warnings are errors
#   3. AddressSanitizer and UBSan, all tests that can run so    4. the fuzz targets, 20 s each
# tests/run.sh [--quick | --set-up]   --quick leaves 2 to 4 out, --set-up all four. Builds in build/,
# build-clang/, build-san/ and build-fuzz/. The closing line counts tests: "N passed, N failed, N skipped".
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root" || exit 1
# shellcheck source=cmake/setup.sh
. "$root/cmake/setup.sh"
quick='' set_up=''
case ${1:-} in
  --quick) quick=1 ;;
  --set-up) set_up=1 ;;
  '') ;;
  *) echo "usage: tests/run.sh [--quick | --set-up]" >&2; exit 2 ;;
esac

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

passed=0 failed=0 skipped=0 broken=()
reasons=$(mktemp) failures=$(mktemp)
versions= # of the packages whose programs tests/wheels records
trap 'rm -f "$reasons" "$failures"' EXIT
start=$SECONDS
# build FOLDER CMAKE-ARGUMENTS...: configures and builds (only $targets where that is set); the log is
# shown when that fails.
targets=
build() {
  local folder=$1 log
  shift
  log=$folder/build.log
  mkdir -p "$folder"
  setup_say "building $folder ($((SECONDS - start)) s)"
  if cmake -S . -B "$folder" -G Ninja -DINKMARK_WERROR=ON -DINKMARK_BUILD_TESTS=ON \
    -DINKMARK_BUILD_BENCH=ON -DINKMARK_NVCC="$(command -v nvcc)" \
    "-DINKMARK_NVCC_LAUNCHER=$root/tests/nvcc_again.sh;$root/build;$root/$folder" "$@" \
    >"$log" 2>&1 && cmake --build "$folder" --parallel "$(setup_jobs)" ${targets:+--target $targets} >>"$log" 2>&1; then
    return 0
  fi
  grep -nE 'error|Error|FAILED' "$log" | head -n 40
  tail -n 30 "$log"
  broken+=("the build in $folder")
  return 1
}

# check FOLDER CTEST-ARGUMENTS...: runs ctest, adds its counts up and notes why tests were skipped. The
# limit is a guard against a test that hangs, for a machine that is many times slower than ours.
check() {
  local folder=$1 out=$1/ctest.log number
  shift
  setup_say "testing $folder ($((SECONDS - start)) s)"
  ctest --test-dir "$folder" --output-on-failure --timeout 1200 --parallel "$(setup_jobs)" "$@" 2>&1 | tee "$out"
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

# Programs that nvcc's own linking made load our sanitized libraries: they need the sanitizer's runtime
# first of all, and there leaks are CUDA programs' own. What only compiles or installs is left out.
preloaded='^(sim|arming|driver|wheels|report\.(cases|recorded_diff|code)|host|instrument\.long_loop|processes|flight|truth|roles|windows|repeat|example|gpu\.simulated|cli\.(record|outfiles)|output\.record'
preloaded+='|cost\.(measured|command|selftest|exports_agree)|clock\.path|python|merge\.(ranks|correlation)|activity\.(truth|unmarked|streams|losses|stalls|refusals'
preloaded+='|environment|killed|forked|filters|session|gpu_script|trace_.*))'
sanitized() {
  local runtime
  runtime=$(gcc -print-file-name=libasan.so)
  check "$1" -E "$preloaded|^package\.|^docs\.|^codegen|^output\.perfetto_" -LE 'gpu|slow'
  LD_PRELOAD=$runtime ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0 \
    check "$1" -R "$preloaded" -LE 'gpu|slow|long_sanitized'
  check "$1" -R '^output\.perfetto_' -FA '.*' # on what the runs before recorded
  left_to_long "$1" -L 'slow|long_sanitized' -E '^(package|codegen)\.'
}
left_to_long() { # FOLDER CTEST-ARGUMENTS...: says so
  printf '%s: left to tests/long.sh %s: %s\n' "$1" "$1" \
    "$(ctest --test-dir "$1" -N "${@:2}" | sed -nE 's|^ *Test +#[0-9]+: ||p' | tr '\n' ' ')" >>"$reasons"
}

fuzz() {
  local target name corpus seconds=20 pids=() names=() i
  for target in build-fuzz/tests/fuzz/fuzz_*; do
    [ -x "$target" ] && [ -f "$target" ] || continue
    name=$(basename "$target")
    corpus=tests/fuzz/${name#fuzz_}
    mkdir -p "build-fuzz/found/$name" "build-fuzz/corpus/$name"
    "$target" -max_total_time=$seconds -timeout=120 -rss_limit_mb=4096 -print_final_stats=1 \
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

build build -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++ && check build -LE 'gpu|^long$' && left_to_long build -L '^long$'
if [ -z "$quick" ]; then
  build build-clang -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ \
    -DINKMARK_BUILD_EXAMPLES=OFF && check build-clang -R "^(unit|cli|fuzz)"
  build build-san -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++ -DINKMARK_SANITIZE=ON &&
    sanitized build-san
  # only these link the fuzzer, so everything else would not link
  targets=$(for file in tests/fuzz/fuzz_*.c; do basename "$file" .c; done | tr '\n' ' ')
  build build-fuzz -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DINKMARK_FUZZ=ON \
    -DINKMARK_BUILD_EXAMPLES=OFF -DINKMARK_BUILD_BENCH=OFF && fuzz
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
