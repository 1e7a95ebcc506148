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

/* The cells of each row that are those columns; one without a value where this schema has none. */
static ink_status find_columns(const sqlite_rows *rows, const sqlite_cell **cells, ink_error *error) {
  static const sqlite_cell none = {.type = SQL_NULL};
  if (!rows->count)
    return ink_error_set(error, INK_ERROR_FORMAT,
                         "'%s' is an SQLite file without a table of CUDA kernels "
                         "(CUPTI_ACTIVITY_KIND_KERNEL)",
                         rows->path);
  for (int i = 0; i < COLUMNS; i++) {
    const int at = sqlite_rows_find(rows, columns[i].name);
    cells[i] = at < 0 ? &none : &rows->cells[at];
    if (columns[i].needed && at < 0)
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

static long long number_of(const sqlite_cell *cell) {
  return cell->type == SQL_INTEGER ? cell->number : 0;
}

/* Sizes are all known, or all unknown. */
static void read_sizes(const sqlite_cell *const *cell, ink_foreign_type *type) {
  uint32_t *const to[] = {&type->grid_dim[0],  &type->grid_dim[1],  &type->grid_dim[2],
                          &type->block_dim[0], &type->block_dim[1], &type->block_dim[2]};
  for (int i = GX; i <= BZ; i++) {
    const long long size = number_of(cell[i]);
    if (size <= 0 || size > INT32_MAX) {
      memset(type->grid_dim, 0, sizeof type->grid_dim);
      memset(type->block_dim, 0, sizeof type->block_dim);
      return;
    }
    *to[i - GX] = (uint32_t)size;
  }
}

static ink_status read_row(ink_foreign *f, string_ids *ids, const sqlite_cell *const *cell) {
  ink_foreign_kernel k = {.correlation = -1};
  ink_foreign_type type = {0};
  const long long begin = number_of(cell[START]), end = number_of(cell[END]), device = number_of(cell[DEVICE]);
  f->facts.events++;
  if (cell[START]->type != SQL_INTEGER || cell[END]->type != SQL_INTEGER || end < begin || device < 0 || device > INT32_MAX ||
      __builtin_add_overflow(begin, f->facts.base_ns, &k.begin_ns) ||
      __builtin_add_overflow(end, f->facts.base_ns, &k.end_ns) || k.end_ns > INT64_MAX / 2 ||
      k.begin_ns < -(INT64_MAX / 2)) {
    f->facts.kernels_left_out++;
    return INK_OK;
  }
  type.device = (int32_t)device;
  type.stream = number_of(cell[STREAM]);
  if (cell[CORRELATION]->type == SQL_INTEGER)
    k.correlation = cell[CORRELATION]->number;
  const long long grid_id = number_of(cell[GRID_ID]);
  k.grid_id = grid_id > 0 ? (uint64_t)grid_id : 0;
  type.process = number_of(cell[PROCESS]) >> 24 & 0xffffff; /* of a serialized id, those bits are the pid */
  read_sizes(cell, &type);
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
  const sqlite_cell *cells[COLUMNS];
  string_ids ids = {0};
  bool more = true;
  ink_status status = find_columns(rows, cells, error);
  if (status != INK_OK)
    return status;
  read_base(f, s);
  string_ids_open(&ids, s);
  if (!ids.statement)
    status = sqlite_bad(s, rows->path, error);
  while (status == INK_OK && (status = sqlite_rows_next(rows, &more, error)) == INK_OK && more)
    status = read_row(f, &ids, cells);
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
