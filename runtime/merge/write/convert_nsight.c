/* SPDX-License-Identifier: MIT */
/* An Nsight Systems SQLite export as Perfetto packets: kernels, copies, memsets and synchronisation
 * on their streams, CUDA calls, NVTX ranges and the profiler's own overhead on their threads, each
 * row with all of its columns. Tables with times that are not among them are named. */
#include "convert_other.h"

#include "merge/read/sqlite_rows.h"
#include "merge/read/string_ids.h"
#include "merge/try.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum side { ON_STREAM, ON_THREAD };
enum arrow { NO_ARROW, ARROW_STARTS, ARROW_ENDS };

typedef struct table {
  const char *name, *category;
  const char *title; /* a column with the number of a text; else what all rows are called */
  bool title_column;
  enum side side;
  enum arrow arrow;
  char part; /* of the stream's or thread's track; 0: that itself */
  const char *part_name;
} table;

static const table tables[] = {
    {"CUPTI_ACTIVITY_KIND_KERNEL", "kernel", "demangledName", true, ON_STREAM, ARROW_ENDS, 0, NULL},
    {"CUPTI_ACTIVITY_KIND_MEMCPY", "gpu_memcpy", NULL, false, ON_STREAM, ARROW_ENDS, 0, NULL},
    {"CUPTI_ACTIVITY_KIND_MEMSET", "gpu_memset", "Memset", false, ON_STREAM, ARROW_ENDS, 0, NULL},
    {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "synchronization", "Synchronization", false, ON_STREAM,
     NO_ARROW, 'y', "synchronization"},
    {"CUPTI_ACTIVITY_KIND_RUNTIME", "cuda_api", "nameId", true, ON_THREAD, ARROW_STARTS, 0, NULL},
    {"NVTX_EVENTS", "nvtx", "textId", true, ON_THREAD, NO_ARROW, 'n', "NVTX"},
    {"PROFILER_OVERHEAD", "overhead", "nameId", true, ON_THREAD, NO_ARROW, 'o',
     "profiler overhead"},
    {"CUPTI_ACTIVITY_KIND_OVERHEAD", "overhead", "nameId", true, ON_THREAD, NO_ARROW, 'o',
     "profiler overhead"}};

enum { NVTX_MARK = 34, NVTX_PUSH_POP = 59, NVTX_START_END = 60 };

typedef struct nsight_reader {
  convert *c;
  convert_report *report;
  sqlite s;
  string_ids ids;
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

/* The columns that the conversion itself needs. */
enum column {
  START,
  END,
  DEVICE,
  STREAM,
  CORRELATION,
  PID,
  TID,
  TYPE,
  KIND, /* of a copy */
  TEXT, /* of an NVTX event */
  TITLE,
  NEEDED
};

static const char *column_called(const table *t, int column) {
  static const char *const names[NEEDED] = {"start",         "end",       "deviceId",  "streamId",
                                            "correlationId", "globalPid", "globalTid", "eventType",
                                            "copyKind",      "text"};
  return column != TITLE ? names[column] : t->title_column ? t->title : NULL;
}

enum { COLUMN_ARG = 32 };

typedef struct columns {
  sqlite_rows rows;
  int at[NEEDED];           /* in a row; -1: the table has none */
  struct column_arg {       /* of each column but START and END, the argument of its last integer: many rows repeat it */
    char bytes[COLUMN_ARG]; /* the second is the length of what follows */
    long long number;
    int column;
    unsigned char head, size; /* how much of it is the same for each number, 0: not used yet; all of it */
  } * args;
  size_t arg_count;
  uint64_t category, title; /* iids, 0: not used yet */
} columns;

static void find_columns(columns *found, const table *t) {
  for (int k = 0; k < NEEDED; k++) {
    const char *wanted = column_called(t, k);
    found->at[k] = wanted ? sqlite_rows_find(&found->rows, wanted) : -1;
  }
}

/* How many columns of a row there are up to the last of those. */
static int columns_up_to(const columns *c, enum column last) {
  int count = 0;
  for (int k = 0; k <= (int)last; k++)
    count = c->at[k] >= count ? c->at[k] + 1 : count;
  return count;
}

static const sqlite_cell *cell_of(const columns *c, enum column which) {
  static const sqlite_cell none = {.type = SQL_NULL};
  return c->at[which] < 0 ? &none : &c->rows.cells[c->at[which]];
}

static long long column(const columns *c, enum column which) {
  const sqlite_cell *cell = cell_of(c, which);
  return cell->type == SQL_INTEGER ? cell->number : 0;
}

static int column_type(const columns *c, enum column which) {
  return cell_of(c, which)->type;
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

static ink_status find_track(nsight_reader *r, const table *t, const columns *at, uint32_t *out) {
  bool stream = t->side == ON_STREAM;
  long long id = column(at, stream ? STREAM : TID);
  long long pid = stream ? column(at, DEVICE) : pid_of(id);
  bool range = t->part == 'n' && column(at, TYPE) == NVTX_START_END;
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

static ink_status make_head(nsight_reader *r, const char *name, struct column_arg *arg) {
  uint64_t iid;
  TRY(convert_intern(r->c, CONV_ARG, name, strlen(name), &iid));
  char *p = pb_uint(pb_begin(arg->bytes, EVENT_ARG), ARG_NAME_IID, iid);
  p = pb_varint(p, ARG_INT << 3);
  arg->head = (unsigned char)(p - arg->bytes);
  return INK_OK;
}

static void set_number(struct column_arg *arg, long long number) {
  static_assert(EVENT_ARG < 16, "the second byte is the length");
  char *end = pb_varint_wide(arg->bytes + arg->head, (uint64_t)number);
  arg->size = (unsigned char)(end - arg->bytes);
  arg->bytes[1] = (char)(arg->size - 2);
  arg->number = number;
}

enum { COLUMN_ROOM = COLUMN_ARG + 8 }; /* what the argument of a number takes at most, with the bytes that are copied too much */

/* The argument of a column that holds no integer. `p` has that room, and gets more for a text. */
static char *put_column(nsight_reader *r, const sqlite_cell *of, const struct column_arg *arg, size_t room_behind, char *p) {
  if (of->type != SQL_FLOAT) {
    r->args.size = (size_t)(p - r->args.bytes);
    p = text_buffer_room(&r->args, 3 * (size_t)of->size + COLUMN_ROOM + room_behind);
    if (!p)
      return NULL;
  }
  char *start = p;
  memcpy(p, arg->bytes, sizeof arg->bytes);
  p += arg->head - 1; /* its last byte is the type, which is another */
  if (of->type == SQL_FLOAT)
    p = pb_double(p, ARG_DOUBLE, of->real);
  else
    p = pb_text(p, ARG_STRING, of->size ? (const char *)of->bytes : "", of->size, SIZE_MAX);
  return pb_end(start + 2, p);
}

static ink_status put_columns(nsight_reader *r, const columns *at) {
  const size_t room = COLUMN_ROOM * (size_t)at->rows.count;
  r->args.size = 0;
  char *p = text_buffer_room(&r->args, room);
  if (!p)
    return INK_ERROR_MEMORY;
  const sqlite_cell *cells = at->rows.cells;
  for (struct column_arg *arg = at->args, *last = arg + at->arg_count; arg < last; arg++) {
    const sqlite_cell *of = &cells[arg->column];
    if (of->type == SQL_NULL)
      continue;
    if (of->type != SQL_INTEGER || of->number != arg->number || !arg->size) {
      if (!arg->head)
        TRY(make_head(r, at->rows.columns[arg->column].name, arg));
      if (of->type != SQL_INTEGER) {
        p = put_column(r, of, arg, room, p);
        if (!p)
          return INK_ERROR_MEMORY;
        continue;
      }
      set_number(arg, of->number);
    }
    memcpy(p, arg->bytes, sizeof arg->bytes);
    p += arg->size;
  }
  r->args.size = (size_t)(p - r->args.bytes);
  return INK_OK;
}

static ink_status intern_title(nsight_reader *r, const char *title, uint64_t *out) {
  title = title ? title : "(no name)";
  return convert_intern(r->c, CONV_NAME, title, strlen(title), out);
}

static const char *copy_title(long long kind, char *room, size_t size) {
  static const char *const known[] = {[1] = "Memcpy HtoD",
                                      [2] = "Memcpy DtoH",
                                      [8] = "Memcpy DtoD",
                                      [9] = "Memcpy HtoH",
                                      [10] = "Memcpy PtoP"};
  if (kind > 0 && kind < (long long)(sizeof known / sizeof *known) && known[kind])
    return known[kind];
  snprintf(room, size, "Memcpy kind %lld", kind);
  return room;
}

static ink_status find_title(nsight_reader *r, const table *t, columns *at, uint64_t *out) {
  char room[48];
  const char *text = NULL;
  bool fresh;
  const sqlite_cell *own = cell_of(at, TEXT);
  if (t->part == 'n' && own->type == SQL_TEXT) {
    const void *end = own->size ? memchr(own->bytes, 0, own->size) : NULL;
    size_t size = end ? (size_t)((const unsigned char *)end - own->bytes) : own->size;
    return convert_intern(r->c, CONV_NAME, size ? (const char *)own->bytes : "", size, out);
  }
  if (t->title_column && column_type(at, TITLE) == SQL_INTEGER) {
    string_slot *slot = string_ids_find(&r->ids, column(at, TITLE), &fresh, &text);
    if (fresh)
      TRY(intern_title(r, text, &slot->number));
    *out = slot->number;
    return INK_OK;
  }
  if (!t->title && column_type(at, KIND) != SQL_NULL)
    return intern_title(r, copy_title(column(at, KIND), room, sizeof room), out);
  if (!at->title)
    TRY(intern_title(r, t->title_column ? NULL : t->title, &at->title));
  *out = at->title;
  return INK_OK;
}

typedef struct arrow_end {
  uint64_t process, number; /* number 0: none */
} arrow_end;

static arrow_end find_arrow(const table *t, const columns *at) {
  if (t->arrow == NO_ARROW)
    return (arrow_end){0};
  return (arrow_end){(uint64_t)pid_of(column(at, t->side == ON_STREAM ? PID : TID)),
                     (uint64_t)column(at, CORRELATION)};
}

static uint64_t arrow_id(const arrow_end *arrow) {
  uint64_t h = arrow->process << 40 ^ arrow->number;
  h = (h ^ h >> 31) * 0x9e3779b97f4a7c15ull;
  return (h ^ h >> 29) | 1;
}

/* False: the row has no use here, and is counted. */
static bool read_times(nsight_reader *r, const table *t, const columns *at, int64_t *begin,
                       int64_t *end, bool *instant) {
  bool has_end = column_type(at, END) == SQL_INTEGER;
  long long type = t->part == 'n' ? column(at, TYPE) : NVTX_PUSH_POP;
  *instant = type == NVTX_MARK;
  *begin = column(at, START);
  *end = has_end && !*instant ? column(at, END) : *begin;
  if (!*instant && (type != NVTX_PUSH_POP && type != NVTX_START_END)) {
    char what[48];
    snprintf(what, sizeof what, "NVTX events of type %lld", type);
    if (r->second)
      convert_report_left(r->report, what, 1);
    return false;
  }
  if (column_type(at, START) != SQL_INTEGER || (!has_end && !*instant) || *end < *begin ||
      __builtin_add_overflow(*begin, r->base_ns, begin) ||
      __builtin_add_overflow(*end, r->base_ns, end) || *end > INT64_MAX / 2 || *begin < 0) {
    r->report->bad_times += r->second;
    return false;
  }
  return true;
}

static ink_status read_row(nsight_reader *r, const table *t, columns *at) {
  int64_t begin, end;
  uint32_t track;
  bool instant;
  if (!read_times(r, t, at, &begin, &end, &instant))
    return INK_OK;
  TRY(find_track(r, t, at, &track));
  arrow_end arrow = find_arrow(t, at);
  if (!r->second) {
    r->report->slices += !instant;
    r->report->instants += instant;
    if (instant)
      return INK_OK;
    if (arrow.number)
      TRY(flow_set_add(&r->c->flow_ids, arrow.process, arrow.number, t->arrow == ARROW_STARTS));
    return convert_note_slice(r->c, track, begin, end);
  }
  conv_event event = {
      .type = instant ? TYPE_INSTANT : TYPE_BEGIN, .ns = begin, .end_ns = end, .track = track};
  if (arrow.number && flow_set_whole(&r->c->flow_ids, arrow.process, arrow.number)) {
    event.flow = arrow_id(&arrow);
    event.flow_starts = t->arrow == ARROW_STARTS;
  } else {
    r->c->flows_alone += arrow.number != 0;
  }
  TRY(find_title(r, t, at, &event.name));
  if (!at->category)
    TRY(convert_intern(r->c, CONV_CATEGORY, t->category, strlen(t->category), &at->category));
  event.category = at->category;
  TRY(put_columns(r, at));
  event.args = r->args.size ? &r->args : NULL;
  return instant ? convert_other(r->c, &event) : convert_slice(r->c, &event);
}

static ink_status read_rows(nsight_reader *r, const table *t, columns *at) {
  bool more;
  find_columns(at, t);
  if (at->at[START] < 0 || at->at[t->side == ON_STREAM ? DEVICE : TID] < 0)
    return INK_OK; /* an export without this table, or one without what is needed */
  at->args = calloc((size_t)at->rows.count, sizeof *at->args);
  if (!at->args)
    return INK_ERROR_MEMORY;
  for (int i = 0; i < at->rows.count; i++)
    if (i != at->at[START] && i != at->at[END])
      at->args[at->arg_count++].column = i;
  if (!r->second) /* when and where is enough */
    at->rows.wanted = columns_up_to(at, TYPE);
  for (;;) {
    TRY(sqlite_rows_next(&at->rows, &more, r->error));
    if (!more)
      return INK_OK;
    TRY(read_row(r, t, at));
    if (!(++r->rows & 0xfff)) {
      TRY(ink_file_check(r->c->out->file, r->error));
      TRY(convert_tell(r->progress, r->second, r->rows));
    }
  }
}

static ink_status read_table(nsight_reader *r, const table *t) {
  columns at = {.rows = {0}};
  ink_status status = sqlite_rows_open(&at.rows, &r->s, r->path, t->name, r->error);
  if (status == INK_OK)
    status = read_rows(r, t, &at);
  free(at.args);
  sqlite_rows_close(&at.rows);
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
  if (r->s.prepare_v2(r->s.db,
                      "SELECT t.globalTid, (SELECT value FROM StringIds WHERE id = t.nameId) FROM "
                      "ThreadNames t",
                      -1, &statement, NULL))
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
    if (!strcasecmp(tables[i].name, name)) /* as SQLite compares them */
      return true;
  return false;
}

enum { TABLES_MAX = 4096 }; /* that are looked at: a damaged file may list them again and again */

static ink_status name_left_tables(nsight_reader *r) {
  void *statement;
  if (r->s.prepare_v2(r->s.db,
                      "SELECT m.name FROM sqlite_master m WHERE m.type = 'table' AND EXISTS "
                      "(SELECT 1 FROM pragma_table_info(m.name) WHERE name IN ('start', "
                      "'timestamp', 'rawTimestamp', 'eventId'))",
                      -1, &statement, NULL))
    return INK_OK;
  for (int n = 0; n < TABLES_MAX && r->s.step(statement) == SQL_ROW; n++) {
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
  if (status == INK_OK)
    string_ids_open(&r.ids, &r.s);
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
  string_ids_close(&r.ids);
  sqlite_close(&r.s);
  free(r.args.bytes);
  return status;
}
