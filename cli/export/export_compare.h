/* SPDX-License-Identifier: MIT */
/* Compares two captures for a page, as `inkmark diff` does. */
#ifndef INKMARK_CLI_EXPORT_COMPARE_H
#define INKMARK_CLI_EXPORT_COMPARE_H

#include <stdbool.h>

typedef struct export_comparison {
  const char *base, *now, *kernel; /* kernel: a regular expression, or NULL */
  bool force, raw;
} export_comparison;

/* What `inkmark diff --format json` says, at its usual level, without the rows that a page has no room for; to be freed.
 * NULL after a message. */
char *export_compare(const export_comparison *choice);

#endif
