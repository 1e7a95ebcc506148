/* SPDX-License-Identifier: MIT */
/* The html page's sources: of each stored file what lies around its marks, and which section each of these is of. */
#ifndef INK_PAGE_SOURCES_H
#define INK_PAGE_SOURCES_H

#include "output_file.h"
#include "selection.h"

/* A JSON array of {file, sha256, lines, left_out, parts, marks, text}: `parts` are the table's parts that pass its sections,
 * `marks` [line, index into the sections, begins], `text` pieces [first line, [line, ...]]. INK_ERROR_MEMORY. */
ink_status ink_page_sources(ink_file *file, const ink_selection *selection, const ink_table *table, ink_error *error);

#endif
