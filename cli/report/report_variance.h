/* SPDX-License-Identifier: MIT */
/* `inkmark report --variance`: how each section's slices scatter, and what that goes with. */
#ifndef INKMARK_CLI_REPORT_VARIANCE_H
#define INKMARK_CLI_REPORT_VARIANCE_H

#include "report.h"

/* The command's exit code. */
int report_variance(const report_settings *settings, char **paths, size_t n);

#endif
