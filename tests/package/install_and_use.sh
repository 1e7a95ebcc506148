#!/bin/bash
# SPDX-License-Identifier: MIT
# Installs the build into an empty prefix, and lets another project use nothing but that prefix:
# find_package, pkg-config, the command, its manual and completions.
# install_and_use.sh BUILD_FOLDER CONSUMER_FOLDER NVCC
set -eu
build=$1 consumer=$2 nvcc=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*" >&2; exit 1; }
run() { "$@" >"$work/log" 2>&1 || { cat "$work/log"; fail "$*"; }; }
expect() { # WHAT PATTERN: the last log has the pattern
  grep -Eq -- "$2" "$work/log" || { cat "$work/log"; fail "$1: no '$2'"; }
}
prefix=$work/prefix
export LC_ALL=C.UTF-8
unset LD_PRELOAD LD_LIBRARY_PATH

run cmake --install "$build" --prefix "$prefix"
inkmark=$prefix/bin/inkmark
libdir=$(dirname "$(find "$prefix" -name 'libinkmark.so')")
sim=$libdir/inkmark/sim
here=$(cd "$(dirname "$0")" && pwd)

echo "== names and versions of the libraries"
run python3 "$here/symbols.py" nm "$libdir/libinkmark.so" "$(find "$prefix" -name libinkmark.a)" \
  "$here/../../runtime/inkmark.map" "$prefix/include/inkmark"

run cmake -S "$consumer" -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_CUDA_COMPILER="$nvcc" -DCMAKE_BUILD_TYPE=Release
run cmake --build "$work/build"
cd "$work"

echo "== the marked program runs without inkmark, dormant"
LD_LIBRARY_PATH=$sim run ./build/scale
expect dormant '^right$'
[ -z "$(ls ./*.ink 2>/dev/null)" ] || fail "a dormant program wrote a capture"

for program in scale scale_linked; do
  echo "== $program is recorded by the installed command"
  run "$inkmark" record --device sim -o "$program.ink" -- "./build/$program"
  expect record '^right$'
  expect record "wrote '$program.ink': 3 tracks, 36 marks"
  run "$inkmark" report --format csv "$program.ink"
  expect report 'simulated,Run,section,,Scale,Multiply,0,0,0,12,0,'
  expect report 'simulated,Run,section,,Scale,Add,0,0,0,12,0,'
done

echo "== from a folder whose name has a space and a colon"
cp -r "$prefix" "$work/odd place:here"
run "$work/odd place:here/bin/inkmark" record --device sim -o odd.ink -- ./build/scale
expect record "wrote 'odd.ink': 3 tracks, 36 marks"
[ -z "$(ls -d /tmp/inkmark-?????? 2>/dev/null)" ] || fail "links were left in /tmp"

echo "== a program with the static CUDA runtime, nvcc's default; stripped, it is told what to do"
run "$inkmark" record --device sim -o static.ink -- ./build/scale_static
expect static '^right$'
expect static "wrote 'static.ink': 3 tracks, 36 marks"
strip -o build/scale_stripped build/scale_static
if "$inkmark" record --device sim -- ./build/scale_stripped >"$work/log" 2>&1; then
  fail "the stripped program was recorded on the simulated device"
fi
expect stripped "has the CUDA runtime linked in statically and is stripped.*-cudart shared"

echo "== the self-test and the cost of marks, as installed"
run env XDG_CACHE_HOME="$work/cache" "$inkmark" selftest --device sim
expect selftest '0 unusual, 0 wrong'
run "$inkmark" cost --device sim --runs 1 -- ./build/scale
expect cost '^  scale .* on / off|^  scale  *1 '

echo "== the library, by find_package and by pkg-config"
for kind in shared static; do
  run "./build/reader_$kind" scale.ink
  expect reader '^3 tracks$'
done
export PKG_CONFIG_PATH=$libdir/pkgconfig
# shellcheck disable=SC2046 # flags are words
run cc "$consumer/reader.c" $(pkg-config --cflags --libs inkmark) -Wl,-rpath,"$libdir" -o reader
run ./reader scale.ink
expect pkg-config '^3 tracks$'
[ "$(pkg-config --modversion inkmark)" = "$("$inkmark" version | cut -d' ' -f2)" ] || fail "versions differ"

echo "== manual pages and completions"
for page in inkmark inkmark-record inkmark-report inkmark-export inkmark-info; do
  file=$prefix/share/man/man1/$page.1
  [ -s "$file" ] || fail "no $file"
  if command -v man >/dev/null; then
    MANROFFSEQ='' run man --warnings=all -l "$file"
    expect "$page" 'inkmark'
  fi
done
cat >"$work/complete.sh" <<'END'
. "$1"
COMP_WORDS=(inkmark report --b) COMP_CWORD=2
_inkmark
echo "${COMPREPLY[*]}"
COMP_WORDS=(inkmark report --unit n) COMP_CWORD=3
_inkmark
echo "${COMPREPLY[*]}"
COMP_WORDS=(inkmark re) COMP_CWORD=1
_inkmark
echo "${COMPREPLY[*]}"
END
run bash "$work/complete.sh" "$prefix/share/bash-completion/completions/inkmark"
[ "$(cat "$work/log")" = "--by
ns
record report recover" ] || { cat "$work/log"; fail "bash completion"; }
echo "all held"
