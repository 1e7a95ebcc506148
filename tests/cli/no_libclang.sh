#!/bin/bash
# SPDX-License-Identifier: MIT
# Only commands that rewrite load libclang, 60 MB and a tenth of a second at every start: the others neither link it
# nor open it, and a command that rewrites does, so that this check can fail. `help` is handed over to inkmark-rewriter,
# which lists all commands.
# no_libclang.sh INKMARK
set -eu
inkmark=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
loads() { # what the loader opened for a command
  LD_DEBUG=files LD_DEBUG_OUTPUT="$scratch/files" "$inkmark" "$@" >/dev/null 2>&1 || true
  cat "$scratch"/files.* | grep -c 'file=\([^ ]*/\)\?lib\(clang\|LLVM\)[^/ ]* ' || true
  rm -f "$scratch"/files.*
}
echo '{}' >trace.json
for command in "" "--version" "version" "report --help" "info trace.json" "report trace.json" "export trace.json -o x.json" \
  "export trace.json --with trace.json -o x.json" "diff trace.json trace.json" "verify trace.json" "record -o r.ink true" "top trace.json" \
  "open absent.json" "cost true" "time true" "recover trace.json -o y.ink" "selftest --help"; do
  # shellcheck disable=SC2086
  n=$(loads $command)
  [ "$n" = 0 ] || { echo "inkmark $command opens libclang: $n lines"; exit 1; }
done
echo '__global__ void k() {}' >k.cu
n=$(loads instrument --list k.cu)
[ "$n" -gt 0 ] || { echo "inkmark instrument opens no libclang: this check sees nothing"; exit 1; }
echo ok
