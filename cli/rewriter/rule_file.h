/* SPDX-License-Identifier: MIT */
/* `inkmark.conf`: the rewriter's rules in a file beside the build. */
#ifndef INKMARK_CLI_RULE_FILE_H
#define INKMARK_CLI_RULE_FILE_H

#include "rule_options.h"

typedef struct rule_file {
  char *path;     /* NULL: none was found */
  char *texts[8]; /* what the rules point to */
  size_t count;
} rule_file;

/* Fills `rules` from the file that `--rules FILE` or `--rules=FILE` in argv[1 .. argc) names, else from
 * the nearest inkmark.conf in the current folder or one above it; what is not in the file keeps its
 * value. False after a message. rule_file_free when the rules are no longer used, also after false. */
bool rule_file_load(int argc, char **argv, rule_settings *rules, rule_file *file);
void rule_file_free(rule_file *file);

#endif
