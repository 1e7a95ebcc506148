/* SPDX-License-Identifier: MIT */
/* The tables, totals and clock quality of a selection as one JSON object; for the JSON output and
 * for the data inside the HTML page. */
#ifndef INK_SUMMARY_JSON_H
#define INK_SUMMARY_JSON_H

#include "inkmark/table.h"
#include "output_file.h"
#include "selection.h"

enum { INK_SUMMARY_SCHEMA = 1 };

/* `table` is one made by INK_BY_SECTION from the same options. */
void ink_summary_json(ink_file *file, const ink_selection *selection, const ink_table *table);

/* A table for the selection's options. */
ink_status ink_selection_table(const ink_selection *selection, enum ink_group_by by,
                               ink_table **out, ink_error *error);

/* Rows of a table, each an object: {"kernel": .., "section": .., ..}; group as the grouping says.
 */
void ink_summary_rows(ink_file *file, const ink_selection *selection, const ink_table *table,
                      enum ink_group_by by);

#endif
