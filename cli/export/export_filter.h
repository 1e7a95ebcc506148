/* SPDX-License-Identifier: MIT */
/* The options of `inkmark export` that leave parts of a trace out. */
#ifndef INKMARK_CLI_EXPORT_FILTER_H
#define INKMARK_CLI_EXPORT_FILTER_H

#include "options.h"

#include "inkmark/output.h"

typedef struct export_filter_texts {
  const char *time, *blocks, *iterations, *shorter_than; /* NULL: not given */
} export_filter_texts;

bool export_filter_given(const export_filter_texts *texts);
/* CLI_OK, or a usage error. */
int export_filter_parse(const cli_command *command, const export_filter_texts *texts, ink_output_filter *out);

#endif
