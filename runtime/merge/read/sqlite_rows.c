/* SPDX-License-Identifier: MIT */
/* Rows of a table, out of its pages where that gives what SQLite would, else from SQLite. */
#include "sqlite_rows.h"

#include "merge/try.h"
#include "sqlite_layout.h"
#include "sqlite_pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { COLUMNS_MAX = 32767 }; /* SQLite's own bound */

static ink_status no_memory(ink_error *error) {
  return ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
}

static ink_status add_column(sqlite_rows *rows, const char *name, const char *type, bool key) {
  if (!(rows->count & (rows->count - 1))) { /* full at every power of two */
    size_t room = rows->count ? 2 * (size_t)rows->count : 1;
    sqlite_column *grown = realloc(rows->columns, room * sizeof *grown);
    if (!grown)
      return INK_ERROR_MEMORY;
    rows->columns = grown;
  }
  sqlite_column *c = &rows->columns[rows->count];
  *c = (sqlite_column){.name = strdup(name ? name : ""), .is_rowid = key && type && !strcasecmp(type, "INTEGER")};
  if (!c->name)
    return INK_ERROR_MEMORY;
  rows->count++;
  rows->declared |= c->is_rowid;
  if (!type || strcasestr(type, "INT") || strcasestr(type, "CHAR") || strcasestr(type, "CLOB") || strcasestr(type, "TEXT") ||
      strcasestr(type, "BLOB"))
    return INK_OK;
  c->is_real = strcasestr(type, "REAL") || strcasestr(type, "FLOA") || strcasestr(type, "DOUB");
  rows->declared |= c->is_real;
  return INK_OK;
}

/* *plain: a row holds its columns as they are declared, none computed, none with a value for rows that lack it. */
static ink_status list_columns(sqlite_rows *rows, const char *table, bool *plain, ink_error *error) {
  const sqlite *s = rows->s;
  char query[400];
  void *statement;
  int rc, keys = 0;
  ink_status status = INK_OK;
  snprintf(query, sizeof query,
           "SELECT name, type, pk, dflt_value IS NULL AND hidden = 0, hidden <> 1 "
           "FROM pragma_table_xinfo('%.180s')",
           table);
  if (s->prepare_v2(s->db, query, -1, &statement, NULL))
    return sqlite_bad(s, rows->path, error);
  *plain = true;
  while (status == INK_OK && (rc = s->step(statement)) == SQL_ROW && rows->count < COLUMNS_MAX) {
    bool key = s->column_int64(statement, 2) != 0;
    keys += key;
    *plain &= s->column_int64(statement, 3) != 0 && keys < 2;
    if (s->column_int64(statement, 4)) /* those of the others "SELECT *" does not give */
      status = add_column(rows, (const char *)s->column_text(statement, 0), (const char *)s->column_text(statement, 1), key);
  }
  if (status != INK_OK)
    status = no_memory(error);
  else if (rc != SQL_DONE)
    status = sqlite_bad(s, rows->path, error);
  s->finalize(statement);
  return status;
}

/* 0: a view, or what only SQLite knows how to read. */
static long long find_root(const sqlite *s, const char *table) {
  char query[400];
  void *statement;
  long long root = 0;
  snprintf(query, sizeof query,
           "SELECT rootpage FROM sqlite_master WHERE type = 'table' AND lower(name) = lower('%.180s')", table);
  if (s->prepare_v2(s->db, query, -1, &statement, NULL))
    return 0;
  if (s->step(statement) == SQL_ROW && s->column_type(statement, 0) == SQL_INTEGER)
    root = s->column_int64(statement, 0);
  s->finalize(statement);
  return root;
}

ink_status sqlite_rows_open(sqlite_rows *rows, const sqlite *s, const char *path, const char *table, ink_error *error) {
  char query[400];
  bool plain = false;
  *rows = (sqlite_rows){.s = s, .path = path};
  TRY(list_columns(rows, table, &plain, error));
  if (!rows->count)
    return INK_OK;
  rows->wanted = rows->count;
  rows->cells = calloc((size_t)rows->count, sizeof *rows->cells);
  if (!rows->cells)
    return no_memory(error);
  long long root = plain && s->alone ? find_root(s, table) : 0;
  if (root)
    TRY(sqlite_pages_open(&rows->pages, path, root, error));
  if (rows->pages) {
    rows->layouts = calloc(1, sizeof *rows->layouts);
    return rows->layouts ? INK_OK : no_memory(error);
  }
  /* In the order in which they lie, which an index would change. */
  snprintf(query, sizeof query, "SELECT * FROM \"%.180s\" NOT INDEXED", table);
  if (s->prepare_v2(s->db, query, -1, &rows->statement, NULL))
    return sqlite_bad(s, path, error);
  if (s->column_count(rows->statement) == rows->count)
    return INK_OK;
  return ink_error_set(error, INK_ERROR_DAMAGED, "cannot read '%s': its table '%s' has other columns than it says",
                       path, table);
}

/* ---- rows from SQLite --------------------------------------------------------------------------
 */

static ink_status next_of_statement(sqlite_rows *rows, bool *more, ink_error *error) {
  const sqlite *s = rows->s;
  int rc = s->step(rows->statement);
  *more = rc == SQL_ROW;
  if (rc != SQL_ROW)
    return rc == SQL_DONE ? INK_OK : sqlite_bad(s, rows->path, error);
  for (int i = 0; i < rows->count; i++) {
    sqlite_cell *c = &rows->cells[i];
    *c = (sqlite_cell){.type = s->column_type(rows->statement, i)};
    if (c->type == SQL_INTEGER)
      c->number = s->column_int64(rows->statement, i);
    else if (c->type == SQL_FLOAT)
      c->real = s->column_double(rows->statement, i);
    else if (c->type != SQL_NULL) {
      c->bytes = s->column_text(rows->statement, i);
      c->size = c->bytes ? (uint32_t)s->column_bytes(rows->statement, i) : 0;
    }
  }
  return INK_OK;
}

/* ---- rows from pages ---------------------------------------------------------------------------
 */

/* A value whose type says its length; NULL where it is of no type or does not end before `end`. */
static const unsigned char *read_bytes(sqlite_cell *c, uint64_t type, const unsigned char *p, const unsigned char *end) {
  const uint64_t size = (type - SQLITE_LONG) / 2;
  if (type < SQLITE_LONG || size > (uint64_t)(end - p))
    return NULL;
  *c = (sqlite_cell){.type = type & 1 ? SQL_TEXT : SQL_BLOB, .size = (uint32_t)size, .bytes = p};
  return p + size;
}

static ink_status bad_row(const sqlite_rows *rows, ink_error *error) {
  return ink_error_set(error, INK_ERROR_DAMAGED, "cannot read '%s': a row of its database is damaged", rows->path);
}

/* What a column's declaration makes of the value that is stored. */
static void declare(sqlite_rows *rows, long long rowid) {
  for (int i = 0; i < rows->wanted; i++) {
    sqlite_cell *c = &rows->cells[i];
    if (c->type == SQL_NULL && rows->columns[i].is_rowid)
      *c = (sqlite_cell){.type = SQL_INTEGER, .number = rowid};
    else if (c->type == SQL_INTEGER && rows->columns[i].is_real)
      *c = (sqlite_cell){.type = SQL_FLOAT, .real = (double)c->number};
  }
}

static ink_status next_of_pages(sqlite_rows *rows, bool *more, ink_error *error) {
  const unsigned char *row;
  size_t size;
  long long rowid;
  uint64_t head, type;
  TRY(sqlite_pages_next(rows->pages, &row, &size, &rowid, error));
  *more = row != NULL;
  if (!row)
    return INK_OK;
  const unsigned char *end = row + size, *types = sqlite_varint(row, end, &head);
  if (!types || head > size || head < (uint64_t)(types - row))
    return bad_row(rows, error);
  const unsigned char *types_end = row + head, *p = types_end;
  sqlite_cell *c = rows->cells, *last = c + rows->wanted;
  const size_t typed = (size_t)(types_end - types) < (size_t)rows->wanted ? (size_t)(types_end - types) : (size_t)rows->wanted;
  const sqlite_layout *layout = rows->layouts ? sqlite_layout_find(rows->layouts, types, typed) : NULL;
  if (layout && layout->body_bytes <= (size_t)(end - p)) {
    sqlite_layout_read(layout, p, typed, c);
    c += typed;
    types = types_end;
  }
  for (; c < last && types < types_end; c++) {
    if (*types >= SQLITE_RESERVED) {
      types = sqlite_varint(types, types_end, &type);
      p = types ? read_bytes(c, type, p, end) : NULL;
      if (!p)
        return bad_row(rows, error);
      continue;
    }
    const sqlite_form *form = &sqlite_forms[*types];
    c->type = form->type;
    c->number = (sqlite_number(p, form->shift) & form->mask) | form->one; /* of its bytes some may stand behind `end` */
    p += form->size;
    if (p > end)
      return bad_row(rows, error);
    if (*types++ == SQLITE_REAL && c->real != c->real) /* as SQLite has it */
      c->type = SQL_NULL;
  }
  for (; c < last; c++) /* a row may be older than its last columns */
    *c = (sqlite_cell){.type = SQL_NULL};
  if (rows->declared)
    declare(rows, rowid);
  return INK_OK;
}

ink_status sqlite_rows_next(sqlite_rows *rows, bool *more, ink_error *error) {
  *more = false;
  if (rows->pages)
    return next_of_pages(rows, more, error);
  return rows->statement ? next_of_statement(rows, more, error) : INK_OK;
}

void sqlite_rows_close(sqlite_rows *rows) {
  for (int i = 0; i < rows->count; i++)
    free(rows->columns[i].name);
  free(rows->columns);
  free(rows->cells);
  if (rows->statement)
    rows->s->finalize(rows->statement);
  sqlite_pages_close(rows->pages);
  free(rows->layouts);
  *rows = (sqlite_rows){0};
}

int sqlite_rows_find(const sqlite_rows *rows, const char *name) {
  for (int i = 0; i < rows->count; i++)
    if (!strcmp(rows->columns[i].name, name))
      return i;
  return -1;
}
