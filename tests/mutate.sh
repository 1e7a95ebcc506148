#!/bin/bash
# SPDX-License-Identifier: MIT
# 60 small faults, drawn by a seed: which of them does no test notice? mutate.sh [SEED [ARGUMENTS of mutate.py...]]
# Builds in build-mutants/, or in $INKMARK_MUTANTS.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
seed=${1:-$RANDOM}
[ $# = 0 ] || shift
exec python3 "$root/tests/mutate.py" "${INKMARK_MUTANTS:-$root/build-mutants}" --seed "$seed" "$@"
