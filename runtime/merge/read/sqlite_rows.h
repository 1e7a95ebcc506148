/* SPDX-License-Identifier: MIT */
/* The rows of one table, all columns, in the order in which they lie. Where nothing stands in a log beside the file, the
 * table's pages are read here: SQLite's own machine takes five times as long for it. Else SQLite reads them. */
#ifndef INK_SQLITE_ROWS_H
#define INK_SQLITE_ROWS_H

#include "sqlite_cell.h"
#include "sqlite_load.h"

#include <stdbool.h>

typedef struct sqlite_column {
  char *name;
  bool is_real;  /* keeps whole numbers as integers, and means reals */
  bool is_rowid; /* its value is the row's number, and NULL in the row */
} sqlite_column;

typedef struct sqlite_rows {
  const sqlite *s;
  const char *path;
  int count;
  int wanted;             /* cells that are read; the others may be of any row. All, unless the caller says fewer */
  sqlite_column *columns; /* [count] */
  sqlite_cell *cells;     /* [count] of the row that was read last */
  bool declared;          /* a column is more than what is stored */
  void *statement;        /* SQLite's; NULL where pages are read */
  struct sqlite_pages *pages;
  struct sqlite_layouts *layouts; /* of pages */
} sqlite_rows;

/* *rows is zeroed where there is no such table. Close it always. */
ink_status sqlite_rows_open(sqlite_rows *rows, const sqlite *s, const char *path, const char *table, ink_error *error);
/* *more is false, and the cells are of no row, at the end. */
ink_status sqlite_rows_next(sqlite_rows *rows, bool *more, ink_error *error);
void sqlite_rows_close(sqlite_rows *rows);
/* The column of that name; -1: none. */
int sqlite_rows_find(const sqlite_rows *rows, const char *name);

#endif
