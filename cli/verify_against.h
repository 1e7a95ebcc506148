/* SPDX-License-Identifier: MIT */
/* Kernels of a marked build beside those of the same source without marks (INKMARK_DISABLE). */
#ifndef INKMARK_CLI_VERIFY_AGAINST_H
#define INKMARK_CLI_VERIFY_AGAINST_H

#include "json.h"

#include "inkmark/verify.h"

#include <stdio.h>

/* The function of that name and target, or NULL. */
const ink_verify_kernel *verify_against_find(const ink_verify *plain, const ink_verify_kernel *marked);
/* What marks made worse than in their place: new spills, waits that the plain build lacks, matrix instructions one by one. */
bool verify_against_harms(const ink_verify_kernel *plain, const ink_verify_kernel *marked);
/* `plain` NULL: there is none. `path` is that of the plain build. */
void verify_against_print(const ink_verify_kernel *plain, const ink_verify_kernel *marked, const char *path, FILE *to);
void verify_against_json(json_writer *json, const ink_verify_kernel *plain, const ink_verify_kernel *marked);

#endif
