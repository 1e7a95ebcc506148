#!/bin/sh
# SPDX-License-Identifier: MIT
# Gives every global name of a static library that does not begin with ink_ the prefix ink_i_:
# prefix_names.sh NM OBJCOPY LIBRARY. What the library only uses keeps its name.
set -eu
nm=$1 objcopy=$2 library=$3
names=$(mktemp)
trap 'rm -f "$names"' EXIT
"$nm" -g --defined-only "$library" 2>/dev/null |
  awk 'NF == 3 && $3 !~ /^(ink_|__)/ { print $3, "ink_i_" $3 }' | sort -u >"$names"
[ -s "$names" ] || exit 0
"$objcopy" --redefine-syms="$names" "$library"
