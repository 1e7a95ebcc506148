#!/bin/bash
# SPDX-License-Identifier: MIT
# nvcc_values.sh PRINTER NVCC: every option that nvcc's help shows with a value, in both spellings, takes the next word as it: with
# -x cu any other word is a source.
set -u
printer=$1 nvcc=$2
options=$("$nvcc" --help | sed -nE 's/^(--[A-Za-z0-9-]+) +[^ (].*\((-[^)]*)\).*/\1 \2/p' | tr ' ' '\n' | sort -u)
[ "$(wc -l <<<"$options")" -gt 100 ] || { echo "FAILED: nvcc's help shows few options: $options"; exit 1; }
# shellcheck disable=SC2086 # a list of words
missing=$("$printer" $options)
[ -z "$missing" ] || { echo "FAILED: takes no value: $missing"; exit 1; }
[ "$("$printer" -c -G --verbose)" = $'-c\n-G\n--verbose' ] || { echo 'FAILED: what has no value takes one'; exit 1; }
