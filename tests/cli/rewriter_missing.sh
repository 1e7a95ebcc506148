#!/bin/bash
# SPDX-License-Identifier: MIT
# rewriter_missing.sh INKMARK: the command alone in a folder: what needs the rewriter is one line and exit code 1, all else runs.
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cp "$1" "$work/inkmark"
fail() { echo "FAILED: $*"; exit 1; }
"$work/inkmark" nvcc -c x.cu 2>"$work/err"
[ $? = 1 ] || fail "exit code: $(cat "$work/err")"
[ "$(cat "$work/err")" = "inkmark: cannot run '$work/inkmark-rewriter', which has the rewriter: no such file or directory" ] ||
  fail "$(cat "$work/err")"
"$work/inkmark" version >"$work/out" 2>"$work/err" || fail "version: $(cat "$work/err")"
"$work/inkmark" infos 2>"$work/err"
[ $? = 2 ] || fail "an unknown command: $(cat "$work/err")"
head -n 1 "$work/err" | grep -q "did you mean 'info'" || fail "an unknown command: $(cat "$work/err")"
