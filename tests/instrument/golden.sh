#!/bin/bash
# SPDX-License-Identifier: MIT
# One golden case of the rewriter: golden.sh INKMARK CASE.cu RULES_NAME. The marked text and the list
# must equal the files in expected/, and stripping and the diff must give the original bytes back.
# UPDATE_GOLDEN=1 writes the expected files instead: read the difference before it is committed.
# What takes more readings of the case (the list as JSON, a second run, --diff, a marked file as input) is done for a
# sixth of the cases, drawn by their names; for all of them with INKMARK_LONG=1, as tests/long.sh sets it.
set -u
inkmark=$1 case=$2 rules=$3
here=$(cd "$(dirname "$0")" && pwd)
cd "$here" || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
name=$(basename "$case" .cu)
input=cases/$name.cu
flags=(-- -arch=sm_90 -std=c++17 -include check.cuh -I"$here/../../device")
case $rules in
default) options=() ;;
every) options=(--calls --loops --waits --rows --depth 8) ;;
lines) options=(--lines --kernel '^cases$') ;;
headerless) options=(--header-less --calls --loops --waits --hold none) ;;
*) exit 2 ;;
esac
options+=(--root .)
failed=0
fail() {
  echo "FAILED: $*"
  failed=1
}
same() { # what, file
  local expected=expected/$name.$rules.$1
  if [ -n "${UPDATE_GOLDEN:-}" ]; then
    mkdir -p expected && cp "$2" "$expected"
  else
    diff -u "$expected" "$2" || fail "$expected"
  fi
}
before=$(sha256sum <"$input")
"$inkmark" instrument "$input" -o "$work/marked.cu" "${options[@]}" "${flags[@]}" 2>"$work/said" ||
  { cat "$work/said"; fail "instrument"; }
same marked "$work/marked.cu"
"$inkmark" instrument --list "$input" "${options[@]}" "${flags[@]}" >"$work/list" || fail "--list"
same list "$work/list"
"$inkmark" instrument --strip "$work/marked.cu" -o "$work/stripped.cu" || fail "--strip"
cmp "$work/stripped.cu" "$input" || fail "strip does not give the original"
if [ -n "${INKMARK_LONG:-}" ] || [ $((0x$(printf %s "$name.$rules" | sha256sum | cut -c 1-4) % 6)) = 4 ]; then
  "$inkmark" instrument --list --format json "$input" "${options[@]}" "${flags[@]}" >"$work/json" ||
    fail "--list --format json"
  python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); sys.exit(d["schema_version"] != 1)' \
    "$work/json" || fail "the JSON list"
  "$inkmark" instrument "$input" -o "$work/again.cu" "${options[@]}" "${flags[@]}" 2>"$work/said"
  cmp "$work/marked.cu" "$work/again.cu" || fail "the second run gives other bytes"
  "$inkmark" instrument --diff "$input" "${options[@]}" "${flags[@]}" >"$work/diff" 2>"$work/said" ||
    fail "--diff"
  if [ "$name" != text ]; then # patch(1) takes no carriage returns as they are
    cp "$input" "$work/patched.cu"
    patch -s "$work/patched.cu" "$work/diff" && cmp "$work/patched.cu" "$work/marked.cu" ||
      fail "the diff does not give the marked file"
  fi
  "$inkmark" instrument "$work/marked.cu" -o "$work/twice.cu" "${options[@]}" "${flags[@]}" \
    2>"$work/said"
  cmp "$work/twice.cu" "$work/marked.cu" || fail "a marked file was marked again"
  grep -q "is marked already" "$work/said" || fail "nothing was said of a marked file"
fi
[ "$before" = "$(sha256sum <"$input")" ] || fail "the input was written to"
exit $failed
