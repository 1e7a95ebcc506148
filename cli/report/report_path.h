/* SPDX-License-Identifier: MIT */
/* `inkmark report --path`: the critical path of each capture's longest launch. */
#ifndef INKMARK_CLI_REPORT_PATH_H
#define INKMARK_CLI_REPORT_PATH_H

#include "report.h"

int report_path(const report_settings *settings, char **paths, size_t n); /* an exit code */

#endif
