/* SPDX-License-Identifier: MIT */
/* A JSON writer that indents: it keeps track of commas and nesting, and escapes strings. Also the
 * quoting of CSV fields. */
#ifndef INKMARK_CLI_JSON_H
#define INKMARK_CLI_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define INK_CLI_SCHEMA_VERSION 1

typedef struct json_writer {
  FILE *to;
  int depth;
  bool follows; /* a value stands before in the innermost array or object */
  int flat;     /* depth from which everything stays on one line; 0: nowhere */
} json_writer;

/* `key` is NULL inside an array. */
void json_open(json_writer *json, const char *key, char bracket); /* '{' or '[' */
void json_close(json_writer *json, char bracket);                 /* '}' or ']' */
/* Opens an object that stays on one line. */
void json_open_flat(json_writer *json, const char *key);
void json_string(json_writer *json, const char *key, const char *value); /* NULL writes null */
void json_unsigned(json_writer *json, const char *key, uint64_t value);
void json_signed(json_writer *json, const char *key, int64_t value);
void json_double(json_writer *json, const char *key, double value); /* not finite: null */
void json_bool(json_writer *json, const char *key, bool value);

/* A cell of CSV, as INK_TEXT_CELL has it. */
void csv_field(FILE *to, const char *text);

#endif
