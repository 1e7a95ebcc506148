/* SPDX-License-Identifier: MIT */
/* The CSV output: one row a record, in the order of time within a track, between a kernel_start and
 * a kernel_end row. docs/outputs.md lists the columns. */
#include "clock/clock_map.h"
#include "outputs.h"
#include "selection.h"
#include "text_write.h"

#include <stdlib.h>

static const char header[] =
    "device,clock,launch,grid_id,kernel,sm,block,block_x,block_y,block_z,warp,thread,section,kind,"
    "iteration,called,cycles,ns,duration_cycles,duration_ns,value,total_cycles,min_cycles,"
    "max_cycles,role";

typedef struct csv_row {
  const char *kind;
  ink_section_index section;
  uint8_t called, escape; /* escape: how `value` is written; INK_KIND_ITER's and keys are 0 */
  bool has_value, has_duration;
  int64_t row, ns;
  uint64_t cycles, duration_cycles;
  int64_t duration_ns;
  uint64_t value[4], marking_cycles;
} csv_row;

typedef struct csv {
  ink_selection selection; /* first: see ink_selection_decode */
  ink_file file;
  ink_error *error;
  char **sections; /* quoted where needed; [section_count] */
  char **kernels;  /* [kernel_count] */
  char *prefix;    /* of every row of the track: device .. thread */
  size_t prefix_length, prefix_room;
  const char *kernel; /* of the current track, quoted */
  const char *role;   /* the same; empty: none */
  ink_line line;      /* of the current track */
  csv_row row;        /* held back: the slice that it ends comes after it */
  bool held;
} csv;

static char *put_row_number(char *p, int64_t row) {
  if (row == INK_ROW_UNKNOWN)
    return text_bytes(p, "unknown", 7);
  return row == INK_ROW_NONE ? p : text_i64(p, row);
}

static char *put_value(char *p, const csv_row *row) {
  if (row->escape == INK_ESCAPE_VALUE_F64) {
    double value;
    memcpy(&value, &row->value[0], 8);
    char *end = text_double(p, value);
    return end - p == 4 && !memcmp(p, "null", 4) ? p + snprintf(p, 8, "%g", value) : end;
  }
  if (row->escape == INK_ESCAPE_VALUE_I64)
    return text_i64(p, (int64_t)row->value[0]);
  p = text_u64(p, row->value[0]);
  if (row->escape != INK_ESCAPE_SUM)
    return p;
  for (int i = 1; i < 4; i++) {
    *p++ = ',';
    p = text_u64(p, row->value[i]);
  }
  return p;
}

static void put_row(csv *w, const csv_row *row, const char *section) {
  const size_t section_length = strlen(section), role_length = strlen(w->role);
  const size_t most = w->prefix_length + section_length + role_length + 256;
  if (most > 32768) { /* absurdly long names take the slow way */
    ink_file_write(&w->file, w->prefix, w->prefix_length);
    ink_file_write(&w->file, section, section_length);
  }
  char *p = ink_file_room(&w->file, most > 32768 ? 256 + role_length : most);
  if (most <= 32768) {
    p = text_bytes(p, w->prefix, w->prefix_length);
    p = text_bytes(p, section, section_length);
  }
  *p++ = ',';
  p = text_bytes(p, row->kind, strlen(row->kind));
  *p++ = ',';
  p = put_row_number(p, row->row);
  *p++ = ',';
  *p++ = (char)('0' + row->called);
  *p++ = ',';
  p = text_u64(p, row->cycles);
  *p++ = ',';
  p = text_i64(p, row->ns);
  *p++ = ',';
  if (row->has_duration) {
    p = text_u64(p, row->duration_cycles);
    *p++ = ',';
    p = text_i64(p, row->duration_ns);
  } else {
    *p++ = ',';
  }
  *p++ = ',';
  if (row->has_value)
    p = put_value(p, row);
  if (row->escape != INK_ESCAPE_SUM)
    p = text_bytes(p, ",,,", 3);
  *p++ = ',';
  p = text_bytes(p, w->role, role_length);
  if (w->selection.without_marking) {
    *p++ = ',';
    if (row->has_duration || row->escape == INK_ESCAPE_SUM)
      p = text_u64(p, row->marking_cycles);
  }
  *p++ = '\n';
  ink_file_took(&w->file, p);
}

/* ---- the sink -------------------------------------------------------------------------------- */

static void let_go(csv *w) {
  if (w->held)
    put_row(w, &w->row,
            w->row.section < w->selection.section_count ? w->sections[w->row.section] : "");
  w->held = false;
}

static ink_status on_launch(void *user, uint32_t launch, const ink_launch *info) {
  csv *w = user;
  (void)launch;
  (void)info;
  return ink_file_check(&w->file, w->error);
}

static ink_status on_track_begin(void *user, const ink_decoded_track *track) {
  csv *w = user;
  const ink_stored_track *stored = track->stored;
  const ink_track *h = &stored->header;
  w->kernel = stored->kernel < w->selection.kernel_count ? w->kernels[stored->kernel] : "?";
  size_t room = strlen(w->kernel) + 256;
  if (room > w->prefix_room) {
    char *prefix = realloc(w->prefix, room);
    if (!prefix)
      return INK_ERROR_MEMORY;
    w->prefix = prefix;
    w->prefix_room = room;
  }
  bool simulated = ink_selection_simulated(&w->selection, stored->device);
  const ink_launch *launch = &w->selection.launches[stored->launch];
  w->prefix_length =
      (size_t)snprintf(w->prefix, w->prefix_room, "%d,%s,%u,%llu,%s,%u,%llu,%u,%u,%u,%u,%u,",
                       stored->device, simulated ? "simulated clock" : "GPU clock", stored->launch,
                       (unsigned long long)launch->grid_id, w->kernel, h->sm_open,
                       (unsigned long long)ink_block_linear(h), h->block_index[0],
                       h->block_index[1], h->block_index[2], h->thread / 32, h->thread);
  w->role = stored->role < w->selection.section_count ? w->sections[stored->role] : "";
  w->line = ink_clock_map_track_line(w->selection.map, stored->device, h);
  const csv_row row = {.kind = "kernel_start",
                       .row = INK_ROW_NONE,
                       .cycles = track->open_cycles,
                       .ns = track->open_ns};
  put_row(w, &row, w->kernel);
  return INK_OK;
}

/* MARK, BEGIN and END; everything else comes as a point, with its value. */
static ink_status on_record(void *user, uint64_t head, uint64_t cycles, ink_section_index section,
                            int64_t row, uint8_t called) {
  static const char *const kinds[] = {"mark", "begin", "end"};
  csv *w = user;
  uint64_t kind = (head ^ cycles) >> (INK_TAG_SHIFT + INK_SECTION_BITS);
  if (kind > INK_KIND_END)
    return INK_OK;
  let_go(w);
  w->row = (csv_row){.kind = kinds[kind],
                     .section = section,
                     .called = called,
                     .row = row,
                     .cycles = cycles,
                     .ns = ink_line_ns(&w->line, cycles)};
  w->held = true;
  return INK_OK;
}

/* A range that was open when its track was last seen has no record of its end. */
static void put_open(csv *w, const ink_slice *slice) {
  let_go(w);
  w->row = (csv_row){.kind = "open",
                     .section = slice->section,
                     .called = slice->called,
                     .row = slice->row,
                     .cycles = slice->end_cycles,
                     .ns = slice->end_ns,
                     .has_duration = true,
                     .duration_cycles = slice->end_cycles - slice->begin_cycles,
                     .duration_ns = ink_ns_between(slice->begin_ns, slice->end_ns)};
  w->held = true;
  let_go(w);
}

static ink_status on_slice(void *user, const ink_slice *slice) {
  csv *w = user;
  csv_row *row = &w->row;
  if (slice->cut == INK_CUT_OPEN) {
    put_open(w, slice);
    return INK_OK;
  }
  if (!w->held || slice->cut >= INK_CUT_NEVER_ENDED || row->section != slice->section ||
      row->cycles != slice->end_cycles || row->called != slice->called || row->kind[0] == 'b')
    return INK_OK;
  row->row = slice->row;
  row->escape = slice->escape;
  row->has_value = slice->escape != 0;
  row->value[0] = slice->value.u64;
  row->has_duration = !slice->cut;
  row->marking_cycles = slice->marking_cycles;
  row->duration_cycles = slice->end_cycles - slice->begin_cycles - slice->marking_cycles;
  row->duration_ns =
      ink_ns_between(slice->marking_ns, ink_ns_between(slice->begin_ns, slice->end_ns));
  return INK_OK;
}

static const char *point_kind(const ink_point *point) {
  static const char *const async[2][4] = {
      {"async_begin", "async_begin_block", "async_begin_cluster", "async_begin_grid"},
      {"async_end", "async_end_block", "async_end_cluster", "async_end_grid"}};
  const int scope = point->escape == INK_ESCAPE_BLOCK     ? 1
                    : point->escape == INK_ESCAPE_CLUSTER ? 2
                    : point->escape == INK_ESCAPE_GRID    ? 3
                                                          : 0;
  if (point->kind == INK_KIND_ESCAPE)
    return point->escape == INK_ESCAPE_SUM ? "sum" : "value";
  return point->kind == INK_KIND_ITER          ? "iteration"
         : point->kind == INK_KIND_ASYNC_BEGIN ? async[0][scope]
         : point->kind == INK_KIND_ASYNC_END   ? async[1][scope]
                                               : "instant";
}

static ink_status on_point(void *user, const ink_point *point) {
  csv *w = user;
  let_go(w);
  w->row = (csv_row){.kind = point_kind(point),
                     .section = point->section,
                     .called = point->called,
                     .escape = point->escape,
                     .has_value = point->kind != INK_KIND_INSTANT && point->kind != INK_KIND_ITER,
                     .row = point->kind == INK_KIND_ITER ? point->value.i64 : point->row,
                     .cycles = point->cycles,
                     .ns = point->ns,
                     .value = {point->value.u64}};
  if (point->escape == INK_ESCAPE_SUM) {
    const uint64_t each = point->value.sum.pass_marking_cycles, most = point->value.sum.max_cycles;
    w->row.marking_cycles = point->value.sum.count * each;
    w->row.value[0] = point->value.sum.count;
    w->row.value[1] = point->value.sum.total_cycles - w->row.marking_cycles;
    w->row.value[2] = point->value.sum.min_cycles - each;
    w->row.value[3] = most > each ? most - each : 0;
  }
  w->held = true;
  return INK_OK;
}

static ink_status on_track_end(void *user, const ink_decoded_track *track) {
  csv *w = user;
  let_go(w);
  const double marking_ns = (double)track->marking_cycles * w->line.ns_per_cycle + 0.5;
  const int64_t whole_ns = ink_ns_between(track->open_ns, track->close_ns);
  const bool closed = track->stored->header.state == INK_TRACK_CLOSED;
  const csv_row row = {.kind = closed ? "kernel_end" : "last_seen",
                       .row = INK_ROW_NONE,
                       .cycles = track->close_cycles,
                       .ns = track->close_ns,
                       .has_duration = true,
                       .marking_cycles = track->marking_cycles,
                       .duration_cycles =
                           track->close_cycles - track->open_cycles - track->marking_cycles,
                       .duration_ns = ink_ns_between(
                           marking_ns > 0 && marking_ns < 9e18 ? (int64_t)marking_ns : 0, whole_ns)};
  put_row(w, &row, w->kernel);
  return ink_file_check(&w->file, w->error);
}

/* ---- the output ------------------------------------------------------------------------------ */

static ink_status quote_names(csv *w) {
  const ink_selection *s = &w->selection;
  w->sections = calloc(s->section_count + 1, sizeof *w->sections);
  w->kernels = calloc(s->kernel_count + 1, sizeof *w->kernels);
  if (!w->sections || !w->kernels)
    return INK_ERROR_MEMORY;
  for (size_t i = 0; i < s->section_count; i++)
    if (!(w->sections[i] = ink_csv_field(s->sections[i].name)))
      return INK_ERROR_MEMORY;
  for (size_t i = 0; i < s->kernel_count; i++)
    if (!(w->kernels[i] = ink_csv_field(s->kernels[i].name)))
      return INK_ERROR_MEMORY;
  return INK_OK;
}

static void free_csv(csv *w) {
  ink_file_abandon(&w->file);
  for (size_t i = 0; w->sections && i < w->selection.section_count; i++)
    free(w->sections[i]);
  for (size_t i = 0; w->kernels && i < w->selection.kernel_count; i++)
    free(w->kernels[i]);
  free(w->sections);
  free(w->kernels);
  free(w->prefix);
  ink_selection_free(&w->selection);
}

ink_status ink_write_csv(const ink_capture *capture, const ink_clock_map *map,
                         const ink_output_options *options, const char *path, ink_error *error) {
  csv w = {.error = error, .kernel = "?", .role = "", .file.fd = -1};
  ink_status status = ink_selection_make(&w.selection, capture, map, options, error);
  if (status == INK_OK && w.selection.options.filter && w.selection.options.filter->shorter_ns)
    status = ink_error_set(error, INK_ERROR_ARGUMENT, "csv has records, which have no length to be left out by");
  if (status == INK_OK)
    status = quote_names(&w);
  if (status == INK_OK)
    status = ink_file_open(&w.file, path, error);
  if (status == INK_OK) {
    ink_file_text(&w.file, header);
    ink_file_text(&w.file, w.selection.without_marking ? ",marking_cycles\n" : "\n");
    const ink_sink sink = {.launch = on_launch,
                           .track_begin = on_track_begin,
                           .record = on_record,
                           .slice = on_slice,
                           .point = on_point,
                           .track_end = on_track_end};
    status = ink_selection_decode(&w.selection, &sink, error);
  }
  if (status == INK_OK)
    status = ink_file_close(&w.file, error);
  else if (status == INK_ERROR_MEMORY)
    ink_error_set(error, status, "out of memory");
  free_csv(&w);
  return status;
}
