/* SPDX-License-Identifier: MIT */
/* The kernels of an Nsight Systems SQLite export, of any schema since 2022. */
#include "foreign_private.h"
#include "string_ids.h"

#include <stdio.h>
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

/* "SELECT start, end, ..., NULL, ..." with the columns that this schema has. */
static ink_status make_query(sqlite *s, const char *path, char *query, size_t size,
                             ink_error *error) {
  bool have[COLUMNS] = {false}, any = false;
  void *statement;
  if (s->prepare_v2(s->db, "PRAGMA table_info(CUPTI_ACTIVITY_KIND_KERNEL)", -1, &statement, NULL))
    return sqlite_bad(s, path, error);
  int rc;
  while ((rc = s->step(statement)) == SQL_ROW) {
    const char *name = (const char *)s->column_text(statement, 1);
    any = true;
    for (int i = 0; i < COLUMNS; i++)
      have[i] |= name && !strcmp(name, columns[i].name);
  }
  s->finalize(statement);
  if (rc != SQL_DONE)
    return sqlite_bad(s, path, error);
  if (!any)
    return ink_error_set(error, INK_ERROR_FORMAT,
                         "'%s' is an SQLite file without a table of CUDA kernels "
                         "(CUPTI_ACTIVITY_KIND_KERNEL)",
                         path);
  size_t n = (size_t)snprintf(query, size, "SELECT ");
  for (int i = 0; i < COLUMNS; i++) {
    if (columns[i].needed && !have[i])
      return ink_error_set(error, INK_ERROR_FORMAT, "the kernels in '%s' have no column '%s'", path,
                           columns[i].name);
    n += (size_t)snprintf(query + n, size - n, have[i] ? "%s\"%s\"" : "%sNULL", i ? "," : "",
                          columns[i].name);
  }
  snprintf(query + n, size - n, " FROM CUPTI_ACTIVITY_KIND_KERNEL");
  return INK_OK;
}

static ink_status name_of(ink_foreign *f, string_ids *ids, void *row, int column, long long id,
                          uint32_t *out) {
  bool fresh;
  const char *text;
  *out = UINT32_MAX;
  if (!id && ids->s->column_type(row, column) != SQL_INTEGER)
    return INK_OK;
  string_slot *slot = string_ids_find(ids, id, &fresh, &text);
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

static ink_status read_row(ink_foreign *f, string_ids *ids, void *row) {
  const sqlite *s = ids->s;
  ink_foreign_kernel k = {.correlation = -1};
  ink_foreign_type type = {0};
  long long v[COLUMNS];
  f->facts.events++;
  for (int i = 0; i < COLUMNS; i++)
    v[i] = s->column_int64(row, i);
  k.begin_ns = v[START];
  k.end_ns = v[END];
  if (s->column_type(row, START) != SQL_INTEGER || s->column_type(row, END) != SQL_INTEGER ||
      v[END] < v[START] || v[DEVICE] < 0 || v[DEVICE] > INT32_MAX ||
      __builtin_add_overflow(k.begin_ns, f->facts.base_ns, &k.begin_ns) ||
      __builtin_add_overflow(k.end_ns, f->facts.base_ns, &k.end_ns) || k.end_ns > INT64_MAX / 2 ||
      k.begin_ns < -(INT64_MAX / 2)) {
    f->facts.kernels_left_out++;
    return INK_OK;
  }
  type.device = (int32_t)v[DEVICE];
  type.stream = v[STREAM];
  if (v[CORRELATION] || s->column_type(row, CORRELATION) == SQL_INTEGER)
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
  ink_status status = name_of(f, ids, row, NAME, v[NAME], &type.name);
  if (status == INK_OK)
    status = name_of(f, ids, row, SHORT, v[SHORT], &type.short_name);
  if (status == INK_OK)
    status = name_of(f, ids, row, MANGLED, v[MANGLED], &type.mangled);
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

static void read_base(ink_foreign *f, sqlite *s) {
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

static ink_status read_rows(ink_foreign *f, sqlite *s, const char *path, ink_error *error) {
  char query[2048];
  ink_status status = make_query(s, path, query, sizeof query, error);
  if (status != INK_OK)
    return status;
  read_base(f, s);
  void *statement;
  if (s->prepare_v2(s->db, query, -1, &statement, NULL))
    return sqlite_bad(s, path, error);
  string_ids ids = {0};
  int rc = SQL_DONE;
  string_ids_open(&ids, s);
  if (!ids.statement)
    status = sqlite_bad(s, path, error);
  while (status == INK_OK && (rc = s->step(statement)) == SQL_ROW)
    status = read_row(f, &ids, statement);
  if (status == INK_OK && rc != SQL_DONE)
    status = sqlite_bad(s, path, error);
  string_ids_close(&ids);
  s->finalize(statement);
  return status;
}

ink_status ink_nsight_read(ink_foreign *f, const char *path, ink_error *error) {
  sqlite s;
  ink_status status = sqlite_open(&s, path, error);
  if (status == INK_OK)
    status = read_rows(f, &s, path, error);
  sqlite_close(&s);
  return status;
}
