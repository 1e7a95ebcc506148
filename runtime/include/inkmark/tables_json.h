/* SPDX-License-Identifier: MIT */
/* Writes tables as JSON, as `inkmark report --format json`, `inkmark export` and the HTML page have them. The schema
 * is docs/tables.schema.json. docs/outputs.md says what its fields mean.
 *
 * Experimental: it may change with any version.
 *
 * Threads: one thread at a time for each file.
 * Lifetime: a file lives until ink_tables_json_close. The arguments of a call are not needed after it.
 *
 * @code{.c}
 * #include <inkmark/tables_json.h>
 * #include <stdio.h>
 *
 * int main(int argc, char **argv) {
 *   ink_capture *capture;
 *   ink_clock_map *map;
 *   ink_error error = {0};
 *   if (argc < 2 || ink_capture_open(argv[1], &capture, &error) || ink_clock_map_make(capture, &map, &error)) {
 *     fprintf(stderr, "%s\n", argc < 2 ? "which capture?" : error.message);
 *     return 1;
 *   }
 *   ink_table *table;
 *   ink_tables_json *json;
 *   const ink_table_options options = {.size = sizeof options, .launch = UINT32_MAX, .without_marking = true};
 *   if (!ink_table_make(capture, map, &options, &table, &error)) {
 *     if (!ink_tables_json_open("-", &json, &error)) { // "-": stdout
 *       const ink_status status = ink_tables_json_add(json, argv[1], capture, map, table, &options, &error);
 *       ink_tables_json_close(json, status == INK_OK, &error);
 *     }
 *     ink_table_free(table);
 *   }
 *   ink_clock_map_free(map);
 *   ink_capture_free(capture);
 *   return 0;
 * }
 * @endcode */
#ifndef INKMARK_TABLES_JSON_H
#define INKMARK_TABLES_JSON_H

#include "inkmark/table.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { INK_TABLES_SCHEMA_VERSION = 2 };

typedef struct ink_tables_json ink_tables_json;

/* Writes to `path` ("-": stdout). The file appears under its name when it is closed with `keep`.
 * Returns: INK_OK, or an error; then *out is as it was.
 * Errors: INK_ERROR_IO, INK_ERROR_MEMORY. */
INK_API ink_status ink_tables_json_open(const char *path, ink_tables_json **out, ink_error *error);
/* One capture: `table` was made with the options. `name`: the capture's file, NULL: not known.
 * Returns: INK_OK, or an error.
 * Errors: INK_ERROR_ARGUMENT, INK_ERROR_MEMORY, INK_ERROR_IO. */
INK_API ink_status ink_tables_json_add(ink_tables_json *json, const char *name, const ink_capture *capture,
                                       const ink_clock_map *map, const ink_table *table,
                                       const ink_table_options *options, ink_error *error);
/* Closes and frees, also if it fails; without `keep` nothing is left of a file.
 * Returns: INK_OK, or an error.
 * Errors: INK_ERROR_IO. */
INK_API ink_status ink_tables_json_close(ink_tables_json *json, bool keep, ink_error *error);

#ifdef __cplusplus
}
#endif
#endif
