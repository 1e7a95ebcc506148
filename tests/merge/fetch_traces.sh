#!/bin/bash
# SPDX-License-Identifier: MIT
# Fetches the traces of traces.tsv and the reports of ../report/reports.tsv into a folder, each under its SHA-256, which is
# checked. What is there is kept.
# fetch_traces.sh FOLDER [CLONES]: with CLONES, files come from git repositories CLONES/OWNER/NAME, else from GitHub.
set -u
folder=${1:?usage: fetch_traces.sh FOLDER [CLONES]}
clones=${2-}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$folder"
missing=0
take() { # REPOSITORY COMMIT PATH
  if [ -n "$clones" ]; then
    git -C "$clones/$1" cat-file blob "$2:$3"
  else
    curl -sSfL "https://raw.githubusercontent.com/$1/$2/$3"
  fi
}
while IFS=$'\t' read -r producer repository commit path sum bytes; do
  [ "${producer#\#}" = "$producer" ] || continue
  [ -f "$folder/$sum" ] && continue
  if take "$repository" "$commit" "$path" >"$folder/$sum.part" && [ "$(wc -c <"$folder/$sum.part")" = "$bytes" ] &&
    [ "$(sha256sum <"$folder/$sum.part" | cut -d' ' -f1)" = "$sum" ]; then
    mv "$folder/$sum.part" "$folder/$sum"
  else
    rm -f "$folder/$sum.part"
    echo "cannot fetch $repository $path" >&2
    missing=$((missing + 1))
  fi
done < <(cat "$here/traces.tsv" "$here/../report/reports.tsv")
[ $missing = 0 ] || echo "$missing are missing" >&2
exit $((missing > 0))
