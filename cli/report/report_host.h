/* SPDX-License-Identifier: MIT */
/* `inkmark report --host`: the ranges of the host, and what was launched in them. */
#ifndef INKMARK_CLI_REPORT_HOST_H
#define INKMARK_CLI_REPORT_HOST_H

#include "report.h"

/* An exit code. */
int report_host(const report_settings *settings, char **paths, size_t n);

#endif
