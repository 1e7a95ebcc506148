#!/bin/sh
# SPDX-License-Identifier: MIT
# Gives every global name of a static library that does not begin with ink_ the prefix ink_i_:
# prefix_names.sh NM OBJCOPY LIBRARY. What the library only uses keeps its name.
set -eu
nm=$1 objcopy=$2 library=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$nm" -g --defined-only "$library" >"$work/all"
awk 'NF == 3 && $3 !~ /^(ink_|__)/ { print $3, "ink_i_" $3 }' "$work/all" | sort -u >"$work/names"
[ -s "$work/names" ] || exit 0
"$objcopy" --redefine-syms="$work/names" "$library"
