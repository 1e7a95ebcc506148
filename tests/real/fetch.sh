#!/bin/bash
# SPDX-License-Identifier: MIT
# Downloads the packages of packages.txt, whose hashes pip checks, and unpacks them: fetch.sh FOLDER [WHEELS], with WHEELS a
# folder that has the files already. Nothing of them is installed or run.
set -eu
folder=${1:?usage: fetch.sh FOLDER [WHEELS]}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$folder/wheels"
offline=()
[ -z "${2-}" ] || offline=(--no-index --find-links "$2")
python3 -m pip download -q --no-deps --only-binary :all: --require-hashes ${offline[@]+"${offline[@]}"} \
  -d "$folder/wheels" -r "$here/packages.txt"
for wheel in "$folder"/wheels/*.whl; do
  python3 -m zipfile -e "$wheel" "$folder"
done
