/* SPDX-License-Identifier: MIT */
/* An Nsight Systems SQLite export as Perfetto packets: kernels, copies, memsets and synchronisation
 * on their streams, CUDA calls, NVTX ranges and the profiler's own overhead on their threads, each
 * row with all of its columns. Tables with times that are not among them are named. */
#include "convert_other.h"

#include "merge/read/sqlite_load.h"
#include "merge/try.h"

#include <stdlib.h>
#include <string.h>

#define STRING_OF(column) "(SELECT value FROM StringIds WHERE id = t." column ")"

enum side { ON_STREAM, ON_THREAD };
enum arrow { NO_ARROW, ARROW_STARTS, ARROW_ENDS };

typedef struct table {
  const char *name, *category, *title; /* title: an SQL expression */
  enum side side;
  enum arrow arrow;
  char part; /* of the stream's or thread's track; 0: that itself */
  const char *part_name;
} table;

static const table tables[] = {
    {"CUPTI_ACTIVITY_KIND_KERNEL", "kernel", STRING_OF("demangledName"), ON_STREAM, ARROW_ENDS, 0,
     NULL},
    {"CUPTI_ACTIVITY_KIND_MEMCPY", "gpu_memcpy",
     "CASE t.copyKind WHEN 1 THEN 'Memcpy HtoD' WHEN 2 THEN 'Memcpy DtoH' WHEN 8 THEN 'Memcpy DtoD'"
     " WHEN 9 THEN 'Memcpy HtoH' WHEN 10 THEN 'Memcpy PtoP' ELSE 'Memcpy kind ' || t.copyKind END",
     ON_STREAM, ARROW_ENDS, 0, NULL},
    {"CUPTI_ACTIVITY_KIND_MEMSET", "gpu_memset", "'Memset'", ON_STREAM, ARROW_ENDS, 0, NULL},
    {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "synchronization", "'Synchronization'", ON_STREAM,
     NO_ARROW, 'y', "synchronization"},
    {"CUPTI_ACTIVITY_KIND_RUNTIME", "cuda_api", STRING_OF("nameId"), ON_THREAD, ARROW_STARTS, 0,
     NULL},
    {"NVTX_EVENTS", "nvtx", "coalesce(t.text, " STRING_OF("textId") ")", ON_THREAD, NO_ARROW, 'n',
     "NVTX"},
    {"PROFILER_OVERHEAD", "overhead", STRING_OF("nameId"), ON_THREAD, NO_ARROW, 'o',
     "profiler overhead"},
    {"CUPTI_ACTIVITY_KIND_OVERHEAD", "overhead", STRING_OF("nameId"), ON_THREAD, NO_ARROW, 'o',
     "profiler overhead"}};

enum { COLUMNS_MAX = 128, NVTX_MARK = 34, NVTX_PUSH_POP = 59, NVTX_START_END = 60 };

typedef struct nsight_reader {
  convert *c;
  convert_report *report;
  sqlite s;
  const char *path;
  ink_error *error;
  bool second;
  int64_t base_ns;
  text_buffer args;
  const convert_progress *progress;
  uint64_t rows;
  struct known_track {
    const table *table;
    long long id, part;
    int64_t pid;
    uint32_t track;
  } known[64]; /* tracks that were looked up */
} nsight_reader;

typedef struct columns { /* where they are in a row; -1: the table has none */
  int count, start, end, device, stream, correlation, pid, tid, type, title;
  uint64_t iids[COLUMNS_MAX]; /* of their names, as far as they were used */
} columns;

static columns find_columns(const nsight_reader *r, void *statement) {
  columns found = {.count = r->s.column_count(statement),
                   .start = -1,
                   .end = -1,
                   .device = -1,
                   .stream = -1,
                   .correlation = -1,
                   .pid = -1,
                   .tid = -1,
                   .type = -1,
                   .title = -1};
  struct {
    const char *name;
    int *at;
  } wanted[] = {{"start", &found.start},
                {"end", &found.end},
                {"deviceId", &found.device},
                {"streamId", &found.stream},
                {"correlationId", &found.correlation},
                {"globalPid", &found.pid},
                {"globalTid", &found.tid},
                {"eventType", &found.type},
                {"ink title", &found.title}};
  for (int i = 0; i < found.count; i++)
    for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++)
      if (!strcmp(r->s.column_name(statement, i), wanted[k].name))
        *wanted[k].at = i;
  return found;
}

static long long column(const nsight_reader *r, void *row, int at) {
  return at < 0 ? 0 : r->s.column_int64(row, at);
}

/* Serialized ids: a process in bits 24 to 47, a thread below. */
static long long pid_of(long long global) {
  return global >> 24 & 0xffffff;
}

/* `id` is a stream of the device pid, or a serialized thread. */
static ink_status make_track(nsight_reader *r, const table *t, long long pid, long long id,
                             char part, uint32_t *out) {
  char process_key[64], key[64];
  uint32_t process;
  bool range = part == 'N';
  long long tid = t->side == ON_STREAM ? id : id & 0xffffff;
  snprintf(process_key, sizeof process_key, t->side == ON_STREAM ? "%lld" : "process %lld", pid);
  int n = snprintf(key, sizeof key, "%lld", tid);
  TRY(convert_process(r->c, process_key, strlen(process_key), pid, &process));
  if (t->side == ON_STREAM)
    r->c->processes[process].gpu = true;
  TRY(convert_track(r->c, process, key, (size_t)n, part, tid, out));
  if (t->part_name && !r->c->tracks[*out].name)
    TRY(convert_name(&r->c->tracks[*out].name, range ? "NVTX start-end" : t->part_name));
  return INK_OK;
}

static ink_status find_track(nsight_reader *r, const table *t, const columns *at, void *row,
                             uint32_t *out) {
  bool stream = t->side == ON_STREAM;
  long long id = column(r, row, stream ? at->stream : at->tid);
  long long pid = stream ? column(r, row, at->device) : pid_of(id);
  bool range = t->part == 'n' && column(r, row, at->type) == NVTX_START_END;
  char part = range ? 'N' : t->part;
  struct known_track *k = &r->known[((uint64_t)id * 7 + (uint64_t)pid * 31 + (uint64_t)range) % 64];
  if (k->table == t && k->id == id && k->pid == pid && k->part == part) {
    *out = k->track;
    return INK_OK;
  }
  TRY(make_track(r, t, pid, id, part, out));
  *k = (struct known_track){t, id, part, pid, *out};
  return INK_OK;
}

static ink_status put_columns(nsight_reader *r, columns *at, void *row) {
  r->args.size = 0;
  for (int i = 0; i < at->count; i++) {
    int type = r->s.column_type(row, i);
    if (i == at->start || i == at->end || i == at->title || type == SQL_NULL)
      continue;
    uint64_t iid = i < COLUMNS_MAX ? at->iids[i] : 0;
    if (!iid) {
      const char *name = r->s.column_name(row, i);
      TRY(convert_intern(r->c, CONV_ARG, name, strlen(name), &iid));
    }
    if (i < COLUMNS_MAX)
      at->iids[i] = iid;
    size_t bytes = type == SQL_TEXT || type == SQL_BLOB ? (size_t)r->s.column_bytes(row, i) : 0;
    const void *text = bytes ? (const void *)r->s.column_text(row, i) : "";
    char *p = text_buffer_room(&r->args, bytes + 64);
    if (!p || !text)
      return INK_ERROR_MEMORY;
    char *fields = p = pb_begin(p, EVENT_ARG);
    p = pb_uint(p, ARG_NAME_IID, iid);
    if (type == SQL_INTEGER)
      p = pb_int(p, ARG_INT, r->s.column_int64(row, i));
    else if (type == SQL_FLOAT)
      p = pb_double(p, ARG_DOUBLE, r->s.column_double(row, i));
    else
      p = pb_bytes(p, ARG_STRING, text, bytes);
    r->args.size = (size_t)(pb_end(fields, p) - r->args.bytes);
  }
  return INK_OK;
}

static uint64_t arrow_id(const nsight_reader *r, const table *t, const columns *at, void *row) {
  long long global = column(r, row, t->side == ON_STREAM ? at->pid : at->tid);
  uint64_t h = (uint64_t)pid_of(global) << 40 ^ (uint64_t)column(r, row, at->correlation);
  h = (h ^ h >> 31) * 0x9e3779b97f4a7c15ull;
  return (h ^ h >> 29) | 1;
}

/* False: the row has no use here, and is counted. */
static bool read_times(nsight_reader *r, const table *t, const columns *at, void *row,
                       int64_t *begin, int64_t *end, bool *instant) {
  bool has_end = at->end >= 0 && r->s.column_type(row, at->end) == SQL_INTEGER;
  long long type = t->part == 'n' ? column(r, row, at->type) : NVTX_PUSH_POP;
  *instant = type == NVTX_MARK;
  *begin = column(r, row, at->start);
  *end = has_end && !*instant ? column(r, row, at->end) : *begin;
  if (!*instant && (type != NVTX_PUSH_POP && type != NVTX_START_END)) {
    char what[48];
    snprintf(what, sizeof what, "NVTX events of type %lld", type);
    if (r->second)
      convert_report_left(r->report, what, 1);
    return false;
  }
  if (r->s.column_type(row, at->start) != SQL_INTEGER || (!has_end && !*instant) || *end < *begin ||
      __builtin_add_overflow(*begin, r->base_ns, begin) ||
      __builtin_add_overflow(*end, r->base_ns, end) || *end > INT64_MAX / 2 || *begin < 0) {
    r->report->bad_times += r->second;
    return false;
  }
  return true;
}

static ink_status read_row(nsight_reader *r, const table *t, columns *at, void *row) {
  int64_t begin, end;
  uint32_t track;
  bool instant;
  if (!read_times(r, t, at, row, &begin, &end, &instant))
    return INK_OK;
  TRY(find_track(r, t, at, row, &track));
  if (!r->second) {
    r->report->slices += !instant;
    r->report->instants += instant;
    if (instant)
      return INK_OK;
    if (t->arrow != NO_ARROW && column(r, row, at->correlation))
      TRY(convert_note_flow(r->c, track, (uint32_t)r->c->slice_count, begin,
                            arrow_id(r, t, at, row), t->arrow == ARROW_STARTS));
    return convert_note_slice(r->c, track, begin, end);
  }
  conv_event event = {
      .type = instant ? TYPE_INSTANT : TYPE_BEGIN, .ns = begin, .end_ns = end, .track = track};
  const char *title = (const char *)r->s.column_text(row, at->title);
  title = title ? title : "(no name)";
  TRY(convert_intern(r->c, CONV_NAME, title, strlen(title), &event.name));
  TRY(convert_intern(r->c, CONV_CATEGORY, t->category, strlen(t->category), &event.category));
  TRY(put_columns(r, at, row));
  event.args = r->args.size ? &r->args : NULL;
  return instant ? convert_other(r->c, &event) : convert_slice(r->c, &event);
}

/* NULL: this export has no such table. Where names cannot be looked up, it goes without them; in
 * the first pass they are not needed. */
static void *select_rows(const nsight_reader *r, const table *t) {
  const char *const titles[] = {t->title, "NULL"};
  for (size_t i = !r->second; i < 2; i++) {
    char query[1024];
    void *statement;
    snprintf(query, sizeof query, "SELECT t.*, %s AS \"ink title\" FROM %s t", titles[i], t->name);
    if (!r->s.prepare_v2(r->s.db, query, -1, &statement, NULL))
      return statement;
  }
  return NULL;
}

static ink_status read_table(nsight_reader *r, const table *t) {
  void *statement = select_rows(r, t);
  if (!statement)
    return INK_OK;
  columns at = find_columns(r, statement);
  ink_status status = INK_OK;
  int rc = SQL_DONE;
  if (at.start >= 0 && at.title >= 0 && (t->side == ON_STREAM ? at.device : at.tid) >= 0) {
    while (status == INK_OK && (rc = r->s.step(statement)) == SQL_ROW) {
      status = read_row(r, t, &at, statement);
      if (status == INK_OK && !(++r->rows & 0xfff)) {
        status = ink_file_check(r->c->out->file, r->error);
        if (status == INK_OK)
          status = convert_tell(r->progress, r->second, r->rows);
      }
    }
    if (status == INK_OK && rc != SQL_DONE)
      status = sqlite_bad(&r->s, r->path, r->error);
  }
  r->s.finalize(statement);
  return status;
}

/* ---- names, and what is left -------------------------------------------------------------------
 */

static ink_status name_processes(nsight_reader *r) {
  void *statement;
  if (r->s.prepare_v2(r->s.db, "SELECT pid, name FROM PROCESSES", -1, &statement, NULL))
    return INK_OK;
  ink_status status = INK_OK;
  while (status == INK_OK && r->s.step(statement) == SQL_ROW) {
    char key[64];
    const char *name = (const char *)r->s.column_text(statement, 1);
    snprintf(key, sizeof key, "process %lld", r->s.column_int64(statement, 0));
    uint32_t process = text_table_find(&r->c->process_keys, key, strlen(key));
    if (process != UINT32_MAX && name)
      status = convert_name(&r->c->processes[process].name, name);
  }
  r->s.finalize(statement);
  return status;
}

static ink_status name_threads(nsight_reader *r) {
  void *statement;
  if (r->s.prepare_v2(r->s.db, "SELECT t.globalTid, " STRING_OF("nameId") " FROM ThreadNames t", -1,
                      &statement, NULL))
    return INK_OK;
  ink_status status = INK_OK;
  while (status == INK_OK && r->s.step(statement) == SQL_ROW) {
    char key[64];
    long long global = r->s.column_int64(statement, 0);
    const char *name = (const char *)r->s.column_text(statement, 1);
    snprintf(key, sizeof key, "process %lld", pid_of(global));
    uint32_t process = text_table_find(&r->c->process_keys, key, strlen(key));
    if (process == UINT32_MAX || !name)
      continue;
    snprintf(key, sizeof key, "%u\tm\t%lld", process, global & 0xffffff);
    uint32_t track = text_table_find(&r->c->track_keys, key, strlen(key));
    if (track != UINT32_MAX)
      status = convert_name(&r->c->tracks[track].name, name);
  }
  r->s.finalize(statement);
  return status;
}

/* GPU processes are called as Nsight Systems names the device. */
static ink_status name_gpus(nsight_reader *r) {
  for (uint32_t i = 0; i < r->c->process_count; i++) {
    char name[64];
    if (!r->c->processes[i].gpu || r->c->processes[i].name)
      continue;
    snprintf(name, sizeof name, "GPU %.40s", r->c->process_keys.texts[i]);
    TRY(convert_name(&r->c->processes[i].name, name));
  }
  return INK_OK;
}

static bool is_converted(const char *name) {
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    if (!strcmp(tables[i].name, name))
      return true;
  return false;
}

static ink_status name_left_tables(nsight_reader *r) {
  void *statement;
  if (r->s.prepare_v2(r->s.db,
                      "SELECT m.name FROM sqlite_master m WHERE m.type = 'table' AND EXISTS "
                      "(SELECT 1 FROM pragma_table_info(m.name) WHERE name IN ('start', "
                      "'timestamp', 'rawTimestamp', 'eventId'))",
                      -1, &statement, NULL))
    return INK_OK;
  while (r->s.step(statement) == SQL_ROW) {
    const char *name = (const char *)r->s.column_text(statement, 0);
    char query[256];
    void *count;
    if (!name || is_converted(name) || strchr(name, '"'))
      continue;
    snprintf(query, sizeof query, "SELECT count(*) FROM \"%.180s\"", name);
    if (r->s.prepare_v2(r->s.db, query, -1, &count, NULL))
      continue;
    if (r->s.step(count) == SQL_ROW && r->s.column_int64(count, 0) > 0)
      convert_report_left(r->report, name, (uint64_t)r->s.column_int64(count, 0));
    r->s.finalize(count);
  }
  r->s.finalize(statement);
  return INK_OK;
}

ink_status convert_nsight(convert *c, const char *path, int64_t base_ns, bool second,
                          const convert_progress *progress, convert_report *report,
                          ink_error *error) {
  nsight_reader r = {.c = c,
                     .report = report,
                     .path = path,
                     .error = error,
                     .second = second,
                     .base_ns = base_ns,
                     .progress = progress};
  ink_status status = sqlite_open(&r.s, path, error);
  for (size_t i = 0; status == INK_OK && i < sizeof tables / sizeof *tables; i++)
    status = read_table(&r, &tables[i]);
  if (status == INK_OK && !second) {
    status = name_processes(&r);
    if (status == INK_OK)
      status = name_threads(&r);
    if (status == INK_OK)
      status = name_gpus(&r);
    if (status == INK_OK)
      status = name_left_tables(&r);
  }
  sqlite_close(&r.s);
  free(r.args.bytes);
  return status;
}
