#!/bin/bash
# SPDX-License-Identifier: MIT
# Text for people leaves the command by text_print (and what stands on it), never by printf: a name could
# steer the terminal. one_way_out.sh CLI_FOLDER
# Allowed: text_out.c and json.c, which are the way out; the tables of help and completion, which hold the
# command's own words; what was made by text_print and is kept until it is whole; and the key of nvcc's overlay, which nobody reads.
cd "$1" || exit 1
found=$(grep -nE '\b(v?f?printf|f?puts)\(' -r --include=*.c . |
  grep -vE '^\./(text_out|json|options_help|options_completion)\.c:' |
  grep -vE 'fputs\((style_code\(|"|$|[a-z][a-z_ ]*[^,;"]* \? "|dropped \? "|all == |facts->complete)' |
  grep -vE '(sn|as|f)?printf\((stderr, " %s", command->name|stderr, "try )|^\./rewriter/cmd_nvcc\.c:.*fprintf\(to, "[ ]?%s"|__attribute__' |
  grep -vE '^\./(cmd_help\.c:.*INKMARK_VERSION|record/record_child\.c:.*fputs\(text, stderr\)|(rewriter/cmd_instrument|top/cmd_top)\.c:.*fputs\(text, stdout\))' |
  grep -vE '\bv?snprintf\(|asprintf\(')
if [ -n "$found" ]; then
  echo "text goes out past text_print:"
  echo "$found"
  exit 1
fi
grep -rq 'text_print(' . || { echo "no text_print at all: this test looks in the wrong place"; exit 1; }
