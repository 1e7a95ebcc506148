/* SPDX-License-Identifier: MIT */
/* `inkmark record` run by other commands, as a process of its own. */
#ifndef INKMARK_CLI_RECORD_CHILD_H
#define INKMARK_CLI_RECORD_CHILD_H

#include <stdbool.h>

typedef struct record_child {
  const char *const *options; /* of `record`, ends with NULL */
  char *const *program;       /* its command line, ends with NULL */
  const char *output;         /* a file for what the program prints; NULL: thrown away */
  const char *messages;       /* a file for what `record` and the program say on stderr */
  bool marks_off;             /* nothing is armed */
} record_child;

/* CLI_OK, or CLI_FAILED after a message and what stands in `messages`. */
int record_child_run(const record_child *child);

#endif
