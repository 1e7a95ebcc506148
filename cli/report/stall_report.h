/* SPDX-License-Identifier: MIT */
/* Nsight Compute's own reports, by NVIDIA's Python package. */
#ifndef INKMARK_CLI_STALL_REPORT_H
#define INKMARK_CLI_STALL_REPORT_H

#include <stdbool.h>

bool stall_is_report(const char *path); /* by its name: .ncu-rep */
/* Its source pages in the form of the CSV, which the caller frees; NULL after a message. */
char *stall_report_text(const char *path);

#endif
