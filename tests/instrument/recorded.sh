# SPDX-License-Identifier: MIT
# Sourced by the tests that compile a source of this folder with and without marks and record it: INKMARK NVCC SIM. The folder $work is
# theirs and goes in the end.
set -u
inkmark=$1 nvcc=$2 sim=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export LD_LIBRARY_PATH=$sim INKMARK_SIM_SEED=1 INKMARK_STRICT=1 INKMARK_RULES="--root ." TMPDIR=$work INKMARK_CACHE=$work/cache
unset INKMARK_GUARD
cd "$here" || exit 1
fail() { echo "FAILED: $*"; exit 1; }
