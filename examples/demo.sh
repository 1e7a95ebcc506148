#!/bin/bash
# SPDX-License-Identifier: MIT
# From a fresh checkout to tables on the screen and a trace to open: brings what is missing, builds
# in build/, records the constraint solver on the GPU, or on the simulated device where there is none.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=cmake/setup.sh
. "$root/cmake/setup.sh"

build=$root/build
setup_build_tools
setup_cuda
setup_say "building in $build"
mkdir -p "$build"
log=$build/demo-build.log
build_all() {
  cmake -S "$root" -B "$build" -G Ninja -DINKMARK_BUILD_TESTS=OFF -DINKMARK_BUILD_BENCH=OFF \
    -DINKMARK_NVCC="$(command -v nvcc)" && cmake --build "$build" --parallel "$(setup_jobs)"
}
build_all >"$log" 2>&1 || { tail -n 40 "$log" >&2; setup_fail "the build failed, all of it is in $log"; }

setup_env_file "$build"

mkdir -p "$build/demo"
cd "$build/demo"
rm -f solver.ink solver.pftrace solver.html
PATH=$build/cli:$PATH

show() { # prints the command as one would type it, and runs it
  printf '\n$ %s\n' "$*"
  "$@"
}
show inkmark record -o solver.ink -- ../examples/solver
show inkmark info solver.ink
show inkmark report solver.ink
show inkmark report --by iteration solver.ink
show inkmark export solver.ink -o solver.pftrace
show inkmark export solver.ink -o solver.html

cat <<END

The inside of the kernel, to look at:
  $PWD/solver.pftrace
      open it at https://ui.perfetto.dev (it stays in your browser)
  $PWD/solver.html
      open it in any browser, needs no network
The command is $build/cli/inkmark; 'inkmark help' lists what else it does.
To have it, nvcc and the CUDA runtime on the paths of your shell:
  . $build/env.sh
END
