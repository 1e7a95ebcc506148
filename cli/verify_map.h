/* SPDX-License-Identifier: MIT */
/* `inkmark verify --map`: every instruction with its section, as JSON. */
#ifndef INKMARK_CLI_VERIFY_MAP_H
#define INKMARK_CLI_VERIFY_MAP_H

#include "json.h"

#include "inkmark/verify.h"

/* "memory", "shared", ...: INK_INSTRUCTION_KINDS words. */
const char *verify_kind_name(enum ink_instruction_kind kind);

void verify_map_begin(json_writer *json);
void verify_map_add(json_writer *json, const char *path, const ink_verify *verify);
void verify_map_end(json_writer *json);

#endif
