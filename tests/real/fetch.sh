#!/bin/bash
# SPDX-License-Identifier: MIT
# Brings the sources of real kernels: fetch.sh FOLDER [WHEELS]. The packages of packages.txt come from PyPI (or from WHEELS, a folder
# that has the files already), and pip checks their hashes. The repositories of sources.txt come by git, each at its commit, and
# sha256sum checks the file that gets marks. Nothing of them is installed or run. What cannot be brought is named, and the rest is
# brought all the same: fetch.sh then ends with 1, and the test counts that kernel as skipped.
set -u
folder=${1:?usage: fetch.sh FOLDER [WHEELS]}
here=$(cd "$(dirname "$0")" && pwd)
missing=0
mkdir -p "$folder/wheels"
offline=()
[ -z "${2-}" ] || offline=(--no-index --find-links "$2")

if python3 -m pip download -q --no-deps --only-binary :all: --require-hashes ${offline[@]+"${offline[@]}"} \
  -d "$folder/wheels" -r "$here/packages.txt"; then
  for wheel in "$folder"/wheels/*.whl; do
    python3 -m zipfile -e "$wheel" "$folder" || missing=$((missing + 1))
  done
else
  echo "missing: the packages of packages.txt"
  missing=$((missing + 1))
fi

# One commit, and of its files what the folder does not have yet.
bring() {
  local into=$folder/${1##*/}
  [ -d "$into/.git" ] || git init -q "$into" || return 1
  git -C "$into" cat-file -e "$2^{commit}" 2>/dev/null || git -C "$into" fetch -q --depth 1 "$1" "$2" || return 1
  git -C "$into" checkout -q "$2" || return 1
  echo "$4  $into/$3" | sha256sum --check --quiet
}

while read -r repository commit path sum; do
  [ "${repository#\#}" = "$repository" ] || continue
  bring "$repository" "$commit" "$path" "$sum" || {
    echo "missing: $repository at $commit (by hand: git clone $repository $folder/${repository##*/}," \
      "then git -C $folder/${repository##*/} checkout $commit)"
    missing=$((missing + 1))
  }
done <"$here/sources.txt"
[ "$missing" = 0 ]
