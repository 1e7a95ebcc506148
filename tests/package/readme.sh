#!/bin/bash
# SPDX-License-Identifier: MIT
# The README's blocks are what they say: its example compiles with its commands, is recorded, reported and exported.
# readme.sh SOURCE_FOLDER BUILD_FOLDER NVCC    its first commands, with a build that is there
# readme.sh SOURCE_FOLDER                      all of its commands, as they stand, in that fresh checkout;
#   only the tests are not run again, and the prefix is another one than /usr/local
set -eu
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { cat "$work/out" "$work/err"; echo "FAILED: $*" >&2; exit 1; }

block() { # LANGUAGE NUMBER: that block of it in the README
  awk -v fence="\`\`\`$1" -v number="$2" '$0 == fence { inside = ++seen == number; next } /^```/ { inside = 0 } inside' \
    "$source/README.md"
}
commands() { # NUMBER WORD...: the shell's block, which has a line that begins with each of the words
  local number=$1 word
  shift
  block sh "$number" >"$work/commands.sh"
  for word; do
    grep -q "^$word" "$work/commands.sh" || { echo "the README's commands $number have no '$word'" >&2; exit 1; }
  done
}
run() { sh -e "$work/commands.sh" >"$work/out" 2>"$work/err" </dev/null || fail "$(cat "$work/commands.sh")"; }

example() { # in the current folder
  block cuda 1 >relax.cu
  [ "$(grep -c PROF_ relax.cu)" -ge 5 ] || { echo "the README has no example" >&2; exit 1; }
  commands 1 '\. build/env.sh' nvcc 'inkmark record' 'inkmark report' 'inkmark export'
  run
  grep -q 'simulated clock' "$work/out" || [ -e /dev/nvidiactl ] || fail "not on the simulated device"
  for section in Load Compute Store; do # 4 blocks of 8 rounds
    grep -Eq "^  $section +32 " "$work/out" || fail "no 32 slices of $section"
  done
  [ -s relax.pftrace ] || fail "no trace"
  [ "$(ls ./*.ink | wc -l)" = 1 ] || fail "captures: $(ls ./*.ink)"
}

if [ $# = 3 ]; then
  build=$2 root=$source
  # shellcheck source=cmake/setup.sh
  . "$source/cmake/setup.sh"
  mkdir "$work/checkout" "$work/checkout/build"
  cd "$work/checkout"
  ln -s "$source/device" device
  ln -s "$build/cli" "$build/device" build/
  CUDA_HOME=$(dirname "$(dirname "$3")") setup_env_file "$PWD/build"
  example
  exit
fi

cd "$source"
commands 2 ./examples/demo.sh ./tests/run.sh
sed -i '/^\.\/tests\/run\.sh/d' "$work/commands.sh"
run
cat "$work/out" "$work/err" >"$source/demo.said"
example

commands 3 cmake
sed -i "s|/usr/local|$work/prefix|" "$work/commands.sh"
printf '%s\n' '. build/env.sh' "$(cat "$work/commands.sh")" >"$work/commands.sh"
run
cat >"$work/commands.sh" <<END
. build/env.sh
PATH=$work/prefix/bin:\$PATH
inkmark nvcc -I device -O3 relax.cu -o relax_nvcc
inkmark record -a -o activity.ink -- ./relax
inkmark report --activity activity.ink
inkmark cost --runs 1 -- ./relax
END
run
grep -q 'was not recorded' "$work/err" && fail "activity was not recorded"
grep -q 'no times of kernels' "$work/out" && fail "cost has no times of kernels"

# the block for CMake
mkdir "$work/project"
cat >"$work/project/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(mine LANGUAGES CXX CUDA)
add_library(my_kernels OBJECT $source/relax.cu)
set_target_properties(my_kernels PROPERTIES CUDA_ARCHITECTURES 75-virtual)
$(block cmake 1)
END
cat >"$work/commands.sh" <<END
. build/env.sh
cmake -S $work/project -B $work/project/build -G Ninja -DCMAKE_PREFIX_PATH=$work/prefix
cmake --build $work/project/build
END
run
