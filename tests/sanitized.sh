# SPDX-License-Identifier: MIT
# Sourced by run.sh and long.sh: how the tests of a sanitizer build are run.

# Programs that nvcc's own linking made load our sanitized libraries: they need the sanitizer's runtime
# first of all, and there leaks are CUDA programs' own. What only compiles or installs is left out.
preloaded='^(sim|arming|driver|wheels|report\.(cases|recorded_diff|code)|host|siblings|instrument\.(long_loop|guarded_rows|guarded_apart|guarded_registers|gone_into)|processes|flight|truth|roles|windows|repeat|example|gpu\.simulated|cli\.(record|outfiles)|output\.record'
preloaded+='|cost\.(measured|command|selftest|exports_agree)|clock\.path|python|merge\.(ranks|correlation)|activity\.(truth|unmarked|streams|losses|stalls|refusals'
preloaded+='|environment|killed|forked|filters|session|gpu_script|trace_.*))'

# sanitized CHECK BUILD: calls CHECK BUILD CTEST-ARGUMENTS... for each kind of test; sanitized_slow: for those that run.sh leaves
# to long.sh
sanitized() {
  local check=$1 build=$2
  "$check" "$build" -E "$preloaded|^package\.|^docs\.|^codegen|^output\.perfetto_" -LE 'gpu|slow|long_sanitized'
  LD_PRELOAD=$(gcc -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0 \
    "$check" "$build" -R "$preloaded" -LE 'gpu|slow|long_sanitized'
  "$check" "$build" -R '^output\.perfetto_' -FA '.*' # on what the runs before recorded
}
sanitized_slow() {
  LD_PRELOAD=$(gcc -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0 \
    "$1" "$2" -L 'slow|long_sanitized' -LE gpu -E '^(package|codegen)\.'
}
