/* SPDX-License-Identifier: MIT */
/* The kernels of an Nsight Systems SQLite export, of any schema since 2022. */
#include "foreign_private.h"
#include "sqlite_rows.h"
#include "string_ids.h"

#include <string.h>

enum column {
  START,
  END,
  DEVICE,
  STREAM,
  CORRELATION,
  NAME,
  SHORT,
  MANGLED,
  GX,
  GY,
  GZ,
  BX,
  BY,
  BZ,
  GRID_ID,
  PROCESS,
  COLUMNS
};
static const struct {
  const char *name;
  bool needed;
} columns[COLUMNS] = {
    {"start", true},          {"end", true},           {"deviceId", true},   {"streamId", true},
    {"correlationId", false}, {"demangledName", true}, {"shortName", false}, {"mangledName", false},
    {"gridX", false},         {"gridY", false},        {"gridZ", false},     {"blockX", false},
    {"blockY", false},        {"blockZ", false},       {"gridId", false},    {"globalPid", false}};

/* Where the columns stand in a row that this schema has; -1: not there. */
static ink_status find_columns(const sqlite_rows *rows, int *at, ink_error *error) {
  if (!rows->count)
    return ink_error_set(error, INK_ERROR_FORMAT,
                         "'%s' is an SQLite file without a table of CUDA kernels "
                         "(CUPTI_ACTIVITY_KIND_KERNEL)",
                         rows->path);
  for (int i = 0; i < COLUMNS; i++) {
    at[i] = sqlite_rows_find(rows, columns[i].name);
    if (columns[i].needed && at[i] < 0)
      return ink_error_set(error, INK_ERROR_FORMAT, "the kernels in '%s' have no column '%s'",
                           rows->path, columns[i].name);
  }
  return INK_OK;
}

static ink_status name_of(ink_foreign *f, string_ids *ids, const sqlite_cell *id, uint32_t *out) {
  bool fresh;
  const char *text;
  *out = UINT32_MAX;
  if (id->type != SQL_INTEGER)
    return INK_OK;
  string_slot *slot = string_ids_find(ids, id->number, &fresh, &text);
  if (fresh && text) {
    ink_status status = ink_foreign_intern(f, text, strlen(text), out);
    if (status != INK_OK)
      return status;
  }
  if (fresh)
    slot->number = *out;
  *out = (uint32_t)slot->number;
  return INK_OK;
}

static ink_status read_row(ink_foreign *f, string_ids *ids, const sqlite_rows *rows, const int *at) {
  static const sqlite_cell none = {.type = SQL_NULL};
  ink_foreign_kernel k = {.correlation = -1};
  ink_foreign_type type = {0};
  const sqlite_cell *cell[COLUMNS];
  long long v[COLUMNS];
  f->facts.events++;
  for (int i = 0; i < COLUMNS; i++) {
    cell[i] = at[i] < 0 ? &none : &rows->cells[at[i]];
    v[i] = cell[i]->type == SQL_INTEGER ? cell[i]->number : 0;
  }
  k.begin_ns = v[START];
  k.end_ns = v[END];
  if (cell[START]->type != SQL_INTEGER || cell[END]->type != SQL_INTEGER ||
      v[END] < v[START] || v[DEVICE] < 0 || v[DEVICE] > INT32_MAX ||
      __builtin_add_overflow(k.begin_ns, f->facts.base_ns, &k.begin_ns) ||
      __builtin_add_overflow(k.end_ns, f->facts.base_ns, &k.end_ns) || k.end_ns > INT64_MAX / 2 ||
      k.begin_ns < -(INT64_MAX / 2)) {
    f->facts.kernels_left_out++;
    return INK_OK;
  }
  type.device = (int32_t)v[DEVICE];
  type.stream = v[STREAM];
  if (cell[CORRELATION]->type == SQL_INTEGER)
    k.correlation = v[CORRELATION];
  k.grid_id = v[GRID_ID] > 0 ? (uint64_t)v[GRID_ID] : 0;
  type.process = v[PROCESS] >> 24 & 0xffffff; /* of a serialized id, those bits are the pid */
  bool dimensions = true;
  for (int i = GX; i <= BZ; i++)
    dimensions &= v[i] > 0 && v[i] <= INT32_MAX;
  for (int i = 0; dimensions && i < 3; i++) {
    type.grid_dim[i] = (uint32_t)v[GX + i];
    type.block_dim[i] = (uint32_t)v[BX + i];
  }
  ink_status status = name_of(f, ids, cell[NAME], &type.name);
  if (status == INK_OK)
    status = name_of(f, ids, cell[SHORT], &type.short_name);
  if (status == INK_OK)
    status = name_of(f, ids, cell[MANGLED], &type.mangled);
  if (status != INK_OK)
    return status;
  if (type.name == UINT32_MAX)
    type.name = type.short_name;
  if (type.name == UINT32_MAX) {
    f->facts.kernels_left_out++;
    return INK_OK;
  }
  return ink_foreign_add(f, &type, &k);
}

static void read_base(ink_foreign *f, const sqlite *s) {
  void *statement;
  if (s->prepare_v2(s->db, "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME", -1, &statement,
                    NULL))
    return; /* an export without it: the base is unknown, and said so */
  if (s->step(statement) == SQL_ROW && s->column_type(statement, 0) == SQL_INTEGER) {
    long long base = s->column_int64(statement, 0);
    if (base > 0 && base < INT64_MAX / 2) {
      f->facts.base_ns = base;
      f->facts.base_known = true;
    }
  }
  s->finalize(statement);
}

static ink_status read_rows(ink_foreign *f, const sqlite *s, sqlite_rows *rows, ink_error *error) {
  int at[COLUMNS];
  string_ids ids = {0};
  bool more = true;
  ink_status status = find_columns(rows, at, error);
  if (status != INK_OK)
    return status;
  read_base(f, s);
  string_ids_open(&ids, s);
  if (!ids.statement)
    status = sqlite_bad(s, rows->path, error);
  while (status == INK_OK && (status = sqlite_rows_next(rows, &more, error)) == INK_OK && more)
    status = read_row(f, &ids, rows, at);
  string_ids_close(&ids);
  return status;
}

ink_status ink_nsight_read(ink_foreign *f, const char *path, ink_error *error) {
  sqlite s;
  sqlite_rows rows = {0};
  ink_status status = sqlite_open(&s, path, error);
  if (status == INK_OK)
    status = sqlite_rows_open(&rows, &s, path, "CUPTI_ACTIVITY_KIND_KERNEL", error);
  if (status == INK_OK)
    status = read_rows(f, &s, &rows, error);
  sqlite_rows_close(&rows);
  sqlite_close(&s);
  return status;
}
