#!/bin/bash
# SPDX-License-Identifier: MIT
# corpus_fetch.sh DIR: brings the repositories of tests/instrument/corpus/sources.txt, at their commits, below DIR (one folder
# each, by name), copies the driver of tests/instrument/corpus beside them, and compares each listed file's sha256. Exit
# code 1 when one is missing or another. Of PyTorch the listed files come alone, below torch/: the repository has gigabytes.
#   CORPUS_REMOTE  where they come from, %s being owner/name (https://github.com/%s)
#   CORPUS_RAW     where a file alone comes from (https://raw.githubusercontent.com/%s)
set -u
here=$(cd "$(dirname "$0")" && pwd)
[ $# = 1 ] || { echo "usage: corpus_fetch.sh DIR" >&2; exit 2; }
remote=${CORPUS_REMOTE:-https://github.com/%s} raw=${CORPUS_RAW:-https://raw.githubusercontent.com/%s}
mkdir -p "$1" && cd "$1" || exit 1
failed=0 count=0
while read -r repository commit path sum; do
  [[ $repository == \#* || -z $repository ]] && continue
  folder=${repository#*/}
  if [ "$folder" = pytorch ]; then
    folder=torch
    [ -e "$folder/$path" ] || { mkdir -p "$folder/$(dirname "$path")" &&
      curl -fsSL "${raw//%s/$repository}/$commit/$path" -o "$folder/$path"; } || { echo "cannot fetch $repository $commit $path"; failed=1; }
  elif [ ! -e "$folder/.fetched" ]; then
    git init -q "$folder" && git -C "$folder" fetch -q --depth 1 "${remote//%s/$repository}" "$commit" &&
      git -C "$folder" checkout -q FETCH_HEAD && touch "$folder/.fetched" || { echo "cannot fetch $repository $commit"; failed=1; }
  fi
  count=$((count + 1))
  echo "$sum  $folder/$path" | sha256sum -c --quiet - || failed=1
done <"$here/instrument/corpus/sources.txt"
[ -d DeepGEMM ] && cp "$here/instrument/corpus/gemm_driver.cu" DeepGEMM
echo "$count files"
exit $failed
