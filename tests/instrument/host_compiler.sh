#!/bin/bash
# SPDX-License-Identifier: MIT
# host_compiler.sh INKMARK NVCC SIM CLANG: clang as the host compiler: a marked program gives no warning, and the plain one's output.
set -u
inkmark=$1 nvcc=$2 sim=$3 clang=$4
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export LD_LIBRARY_PATH=$sim TMPDIR=$work INKMARK_STRICT=1 INKMARK_QUIET=1 INKMARK_RULES="--root ."
{ echo "#include \"$here/check.cuh\""; cat "$here/cases/roles.cu"; echo 'int main() { roles::run(); }'; } >k.cu
flags=(-ccbin "$clang" -cudart shared -arch=compute_75 -std=c++17 -Xcompiler -Wall,-Wextra)
"$nvcc" "${flags[@]}" k.cu -o before 2>before.err || { echo "nvcc does not take $clang"; exit 77; }
"$inkmark" nvcc "$nvcc" "${flags[@]}" k.cu -o after 2>after.err || { cat after.err; echo "FAILED: the marked program does not compile"; exit 1; }
diff before.err after.err || { echo "FAILED: other warnings"; exit 1; }
./before >before.out && ./after >after.out || { echo "FAILED: a program fails"; exit 1; }
grep -q 'no error' before.out || { echo "FAILED: nothing ran"; exit 1; }
diff before.out after.out || { echo "FAILED: other results"; exit 1; }
