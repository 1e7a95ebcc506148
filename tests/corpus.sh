#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs the rewriter over a tree of real CUDA sources: corpus.sh DIR [INKMARK]. For each file that nvcc
# compiles: compile it through the front with the default rules and with every rule on, strip every
# marked copy (the file's and its headers') and compare bytes, list what was marked and what was not.
# Prints a line a file with every failure's reason, then tables; the last line sums up. Exit code 1
# when a file is lost (compiled before, not after, or stripped to other bytes).
#   CORPUS_FLAGS   flags for nvcc (-I...); without an architecture: -arch=compute_80
#   CORPUS_FILES   a regular expression on paths below DIR: only those files
#   CORPUS_MAX     at most so many files, spread over the tree
#   CORPUS_SEED    a number: so many files are drawn with it instead
#   CORPUS_RULES   "all" leaves out the default rules, "default" every rule, "none" both: places only
#   CORPUS_JOBS    files worked on at once (1)
#   CORPUS_OUTPUT  -c (the default) or -ptx
#   CORPUS_CACHE   a folder that keeps what nvcc said of the unmarked files, and whole results of this
#                  command: a run that was stopped (Ctrl-C prints the tables so far) goes on
# corpus.sh --bounds DIR [INKMARK] measures instead what the default rules and the guard do to the objects, prints it, and
# exits with 1 when a bound of tests/instrument/corpus_bounds.py does not hold. Without an architecture in CORPUS_FLAGS:
# -arch=sm_80. It needs cuobjdump (in .venv or PATH) and the program corpus_count of the same build.
#   CORPUS_BOUNDS  "covered=80 cold_worst=9": other bounds
#   CORPUS_ROWS    a file that gets what was measured of each source; python3 tests/instrument/corpus_bounds.py FILE holds
#                  the bounds against all runs that added to it
set -u
bounds=()
[ "${1:-}" = --bounds ] && { bounds=(--bounds); shift; }
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 1 ] || { echo "usage: corpus.sh [--bounds] DIR [INKMARK]" >&2; exit 2; }
[ -d "$1" ] || { echo "corpus: '$1' is no folder" >&2; exit 2; }
exec python3 "$here/instrument/corpus.py" "${bounds[@]}" "$1" "${2:-$here/../build/cli/inkmark}"
