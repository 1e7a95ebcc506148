#!/bin/bash
# SPDX-License-Identifier: MIT
# shapes.sh INKMARK RULES: small kernels of the shapes that kernel libraries have, each of which the rewriter once marked
# wrongly or did not see. What it lists and inserts is as in shapes/expected, and strips to the bytes from before.
# RULES: default or every. run.sh, which sets INKMARK_SEED, has a third of them looked at. UPDATE_GOLDEN=1 writes the expected files instead.
set -u
inkmark=$1 rules=$2
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/shapes" || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
options=(--root .)
[ "$rules" = every ] && options+=(--calls --loops --waits --rows --depth 8)
failed=0 count=0 looked_at=0
for case in *.cu; do
  count=$((count + 1))
  if [ -n "${INKMARK_SEED:-}" ] && [ -z "${INKMARK_LONG:-}" ] && [ $((count % 3)) != $((INKMARK_SEED % 3)) ]; then continue; fi
  looked_at=$((looked_at + 1))
  name=${case%.cu}
  flags=(-- -arch=sm_90a -std=c++17 --expt-relaxed-constexpr)
  "$inkmark" instrument --list "$case" "${options[@]}" "${flags[@]}" >"$work/list" 2>&1 || { cat "$work/list"; failed=1; }
  "$inkmark" instrument "$case" -o "$work/marked.cu" "${options[@]}" "${flags[@]}" 2>"$work/said" || { cat "$work/said"; failed=1; }
  "$inkmark" instrument --strip "$work/marked.cu" -o "$work/back.cu" && cmp "$case" "$work/back.cu" || failed=1
  for what in list marked; do
    file=$work/$what
    [ $what = marked ] && file=$work/marked.cu
    if [ -n "${UPDATE_GOLDEN:-}" ]; then
      mkdir -p expected && cp "$file" "expected/$name.$rules.$what"
    else
      diff -u "expected/$name.$rules.$what" "$file" || { echo "FAILED: $name, $what"; failed=1; }
    fi
  done
  rm -f "$work"/marked.cu "$work/back.cu"
done
echo "$looked_at of $count shapes"
[ $count -ge 31 ] || failed=1
exit $failed
