#!/bin/bash
# SPDX-License-Identifier: MIT
# A large check, or a sample of it: sample.sh SAMPLE WHOLE COMMAND... ends the command line with SAMPLE;
# if INKMARK_LONG is set, with WHOLE. tests/long.sh sets it for the tests of the label "sampled".
sample=$1 whole=$2
shift 2
if [ -n "${INKMARK_LONG:-}" ]; then exec "$@" "$whole"; fi
exec "$@" "$sample"
