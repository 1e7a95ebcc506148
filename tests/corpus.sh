#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs the rewriter over a tree of real CUDA sources: corpus.sh DIR [INKMARK]. For each file that nvcc
# compiles: instrument with the default rules and with every rule on, compile the result, strip it and
# compare bytes. The last line sums up. CORPUS_FLAGS holds flags for nvcc (-I...), CORPUS_JOBS how many
# files are worked on at once, CORPUS_MAX how many files at most (spread over the tree), CORPUS_RULES
# "all" leaves out the compilation with the default rules. Exit code 1 when a file is lost.
set -u
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 1 ] || { echo "usage: corpus.sh DIR [INKMARK]" >&2; exit 2; }
exec python3 "$here/instrument/corpus.py" "$1" "${2:-$here/../build/cli/inkmark}"
