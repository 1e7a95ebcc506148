#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs one golden case: golden.sh INKMARK MAKE_CAPTURES CASE_FOLDER. The folder's `cmd` is run in an
# empty folder with the captures of make_captures beside it and `inkmark` on the PATH; its output,
# its messages and its exit code must equal the files stdout, stderr and exit. UPDATE_GOLDEN=1 writes
# these files instead: read the difference before it is committed.
set -u
inkmark=$1 make_captures=$2 case=$3
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/run"
# a symbolic link would hide from the command what lies beside it in the build tree
printf '#!/bin/sh\nexec "%s" "$@"\n' "$inkmark" >"$work/bin/inkmark"
chmod +x "$work/bin/inkmark"
cd "$work/run" || exit 1
"$make_captures" || exit 1
env -i PATH="$work/bin:$PATH" LC_ALL=C.UTF-8 HOME="$work" ASAN_OPTIONS="${ASAN_OPTIONS:-}" \
  bash "$case/cmd" >"$work/stdout" 2>"$work/stderr" </dev/null
echo $? >"$work/exit"
failed=0
for what in stdout stderr exit; do
  if [ -n "${UPDATE_GOLDEN:-}" ]; then
    cp "$work/$what" "$case/$what"
  elif ! diff -u "$case/$what" "$work/$what"; then
    failed=1
  fi
done
exit $failed
