/* SPDX-License-Identifier: MIT */
/* The one writer of tables as JSON, for files of their own and for the data inside the HTML page. */
#ifndef INK_TABLES_OBJECT_H
#define INK_TABLES_OBJECT_H

#include "inkmark/tables_json.h"
#include "output_file.h"
#include "selection.h"

/* The object's beginning and end; between them captures, separated by commas. */
void ink_tables_begin(ink_file *file);
void ink_tables_end(ink_file *file);
/* One capture: `table` was made `by` these groups from the selection's options. */
ink_status ink_tables_capture(ink_file *file, const ink_selection *selection, const char *name,
                              const ink_table *table, enum ink_group_by by, ink_error *error);

/* tables_capture.c: everything of it that is not of its kernels. */
ink_status ink_tables_head(ink_file *file, const ink_selection *selection, const char *name,
                           enum ink_group_by by, ink_error *error);
void ink_tables_findings(ink_file *file, const ink_table *table);
void ink_tables_problems(ink_file *file, const ink_selection *selection, const ink_table *table);

/* Fields, each with the comma before it. Integers of 2^53 and more, which JSON readers that use doubles
 * would round, are written as strings; what is not finite as null. */
void ink_json_key(ink_file *file, const char *name);
void ink_json_u64(ink_file *file, const char *name, uint64_t value);
void ink_json_i64(ink_file *file, const char *name, int64_t value);
void ink_json_double(ink_file *file, const char *name, double value);
void ink_json_text(ink_file *file, const char *name, const char *text); /* NULL writes null */
void ink_json_bool(ink_file *file, const char *name, bool value);

#endif
