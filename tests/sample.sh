#!/bin/bash
# SPDX-License-Identifier: MIT
# A large check, or a sample of it: sample.sh SAMPLE WHOLE COMMAND... ends the command line with SAMPLE;
# if INKMARK_LONG is set, with WHOLE. tests/long.sh sets it. The word "seed" as SAMPLE becomes run.sh's seed.
sample=$1 whole=$2
[ "$sample" != seed ] || sample=${INKMARK_SEED:-1}
shift 2
if [ -n "${INKMARK_LONG:-}" ]; then exec "$@" "$whole"; fi
exec "$@" "$sample"
