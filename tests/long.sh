#!/bin/bash
# SPDX-License-Identifier: MIT
# What tests/run.sh runs a sample of: every test, whole, and the large counts. Hours where run.sh takes minutes; it is run
# before an issue is resolved. One line a check; its output is kept in docs/measurements.md. tests/long.sh BUILD [CHECK...]
# With a BUILD that has sanitizers all of it runs under them.
# With a BUILD of fuzz targets (run.sh's build-fuzz) each of them runs for ten minutes, and nothing else does.
set -u
build=$(realpath "${1:?usage: long.sh BUILD [CHECK...]}")
shift
here=$(cd "$(dirname "$0")" && pwd)
bad=0
wanted=" $* "
check() { # NAME COMMAND...: what it prints last, and whether it was well
  local name=$1
  shift
  [ "$wanted" = "  " ] || [[ $wanted == *" $name "* ]] || return
  local began=$SECONDS out
  if out=$("$@" 2>&1); then echo "$name: $(tail -n 1 <<<"$out") ($((SECONDS - began)) s)"; else
    echo "$name: FAILED after $((SECONDS - began)) s"
    tail -n 20 <<<"$out"
    bad=1
  fi
}
writer() { python3 "$here/arming/check_writer.py" "$build" "$build/tests/arming" "$@"; }
kills() {
  python3 "$here/processes/kills.py" "$build/cli/inkmark" "$build/tests/processes/kills" \
    "$build/tests/processes/capture_rows" "$@"
}

export INKMARK_LONG=1 # tests whose label is "sampled" run whole
tests() { # NAME CTEST-ARGUMENTS...
  check "$1" ctest --test-dir "$build" --output-on-failure --parallel "$(nproc)" "${@:2}"
}

if grep -q '^INKMARK_SANITIZE:BOOL=ON' "$build/CMakeCache.txt"; then
  # shellcheck source=tests/sanitized.sh
  . "$here/sanitized.sh"
  sanitized_tests() { tests "tests-$((++group))" "${@:2}"; }
  group=0
  sanitized sanitized_tests "$build"
  sanitized_slow sanitized_tests "$build"
  LD_PRELOAD=$(gcc -print-file-name=libasan.so)
  export LD_PRELOAD ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0
fi

if grep -q '^INKMARK_FUZZ:BOOL=ON' "$build/CMakeCache.txt"; then
  for target in "$build"/tests/fuzz/fuzz_*; do
    [ -x "$target" ] && [ -f "$target" ] || continue
    name=$(basename "$target")
    mkdir -p "$build/found/$name" "$build/corpus/$name"
    check "$name" "$target" -max_total_time=600 -timeout=120 -rss_limit_mb=4096 "-artifact_prefix=$build/found/$name/" \
      "$build/corpus/$name" "$here/fuzz/${name#fuzz_}"
  done
  exit $bad
fi

# what run.sh runs a sample of
[ -n "${LD_PRELOAD:-}" ] || tests tests -LE gpu

# the rewriter over public repositories: INKMARK_CORPUS, as tests/corpus_fetch.sh brings them
if [ -n "${INKMARK_CORPUS:-}" ]; then check corpora "$here/corpora.sh" "$INKMARK_CORPUS" "$build"; else
  [ "$wanted" = "  " ] || [[ $wanted == *" corpora "* ]] && echo "corpora: skipped: INKMARK_CORPUS names no corpus"
fi

# programs of HeCBench, plain and marked, on the simulated device: INKMARK_HECBENCH is a checkout
if [ -n "${INKMARK_HECBENCH:-}" ]; then check hecbench python3 "$here/hecbench.py" "$INKMARK_HECBENCH" "$build"; else
  [ "$wanted" = "  " ] || [[ $wanted == *" hecbench "* ]] && echo "hecbench: skipped: INKMARK_HECBENCH names no checkout"
fi

# the writer process
check ring "$build/tests/shm/ring_threads" 2000000
check writer-process "$build/tests/shm/writer_process" 1000
check kill-program kills program 1000
check kill-record kills record 200
check kill-writer kills writer 200
check kill-all kills all 100
check children writer children 1000
check children-memory python3 "$here/processes/memory.py" "$build/cli/inkmark" "$build/tests/processes/children" \
  "$build/tests/arming/capture_counts" 1000
check wanders writer wanders 200
check closings python3 "$here/arming/check_ends.py" "$build" "$build/tests/arming" closings 300
check leaves env INKMARK_LEAVES=100000 "$here/arming/run.sh" "$build" "$build/tests/arming" leaves

# tracks that stay open
for seed in 1 2 3 7 11; do check "open-ring-$seed" "$build/tests/unit/test_open_ring" 60000 "$seed"; done
for mode in live flight hang all; do
  check "histories-$mode" python3 "$here/flight/check_histories.py" "$build" "$build/tests/flight" "$mode" 1 2500
done
check persistent python3 "$here/flight/check_ends.py" "$build/cli/inkmark" "$build/tests/flight" \
  "$build/tests/arming/capture_counts" stream 5000

# joins where another place fits nearly as well
check rivals python3 "$here/merge/check_rivals.py" "$build/cli/inkmark" "$build/tests/merge/plan_capture" 1 2000

# whatever JSON goes in, JSON comes out
check random-json python3 "$here/merge/check_random_json.py" "$build/cli/inkmark" "$build/tests/merge/fit_capture" \
  "$build/tests/merge/foreign_tool" "$here/../node_modules" 1 1000

# a trace of 20 GB, packed in a tenth of that
check huge python3 "$here/merge/check_huge.py" "$build/cli/inkmark" "$build/tests/merge/plan_capture" 20000000000

# public traces of other profilers, against a second reader
traces() { "$here/merge/fetch_traces.sh" "$here/../build-traces" && python3 "$here/merge/check_traces.py" "$build/tests/merge/foreign_tool" "$here/../build-traces"; }
check traces traces

# work that moves across marks, judged by verify and by a reader of its own
check faults env PYTHONDONTWRITEBYTECODE=1 python3 "$here/verify/seeded_faults.py" "$build/cli/inkmark" --seeds 25
check in-place env PYTHONDONTWRITEBYTECODE=1 python3 "$here/verify/in_place.py" "$build/cli/inkmark" --seeds 2
check order env PYTHONDONTWRITEBYTECODE=1 python3 "$here/verify/order.py" "$build/cli/inkmark" --kernels 200

# equal and slower pairs of made-up captures
check diff python3 "$here/report/check_diff.py" "$build/cli/inkmark" "$build/tests/report/made_up" 1000
check recorded-diff python3 "$here/report/check_recorded_diff.py" "$build/cli/inkmark" "$build/tests/report/cases" 100
check findings python3 "$here/report/check_findings.py" "$build/cli/inkmark" "$build/tests/report/made_up" 50

check variance python3 "$here/report/check_variance.py" "$build/cli/inkmark" "$build/tests/report/made_up" 50
check path python3 "$here/report/check_path.py" "$build/cli/inkmark" "$build/tests/report/made_up_path" 100

# programs of a generator, alone and recorded
check random-programs python3 "$here/arming/random_program.py" "$build" "$build/tests/arming/library.so" 1 200
exit $bad
