/* SPDX-License-Identifier: MIT */
/* What `inkmark verify` found, as SARIF 2.1.0 (OASIS), which code review and editors show at the source's lines. */
#ifndef INKMARK_CLI_VERIFY_SARIF_H
#define INKMARK_CLI_VERIFY_SARIF_H

#include "json.h"

#include "inkmark/verify.h"

void verify_sarif_begin(json_writer *json);
void verify_sarif_kernel(json_writer *json, const ink_verify_kernel *kernel);
void verify_sarif_end(json_writer *json);

#endif
