/* SPDX-License-Identifier: MIT */
/* Reads the slices of a capture section by section, an even sample of each, with the numbers that PROF_VALUE gave in the
 * same iteration. */
#include "variance.h"

#include "capture/capture_match.h"
#include "id_map.h"
#include "options_take.h"

#include <math.h>
#include <stdlib.h>

typedef struct group { /* a section of a kernel on a device */
  uint32_t kernel;
  int32_t device;
  ink_section_index section;
  uint64_t seen;
  INK_I_LIST(ink_spread_slice) kept;
} group;

typedef struct pending { /* of the current iteration */
  uint32_t group;
  ink_spread_slice slice;
} pending;

typedef struct reader {
  ink_variance_options options;
  const ink_capture *capture;
  bool *wanted; /* [kernel] */
  INK_I_LIST(group) groups;
  id_map index;
  ink_section_index values[INK_SPREAD_VALUES];
  size_t value_count;
  INK_I_LIST(pending) row_slices;
  int64_t row;
  double row_values[INK_SPREAD_VALUES];
  const ink_decoded_track *track; /* the current one; NULL: it is passed over */
  uint64_t random;
  ink_error *error;
} reader;

static ink_status no_memory(reader *r) { return ink_error_set(r->error, INK_ERROR_MEMORY, "out of memory for the variance"); }

/* The index of a group; INK_ID_NONE: out of memory. */
static uint32_t group_of(reader *r, uint32_t kernel, int32_t device, ink_section_index section) {
  const uint64_t key = ((uint64_t)kernel << 8 | ((uint64_t)device & 255)) << 32 | section;
  uint32_t at = id_map_get(&r->index, key);
  if (at != INK_ID_NONE)
    return at;
  at = (uint32_t)r->groups.count;
  if (!INK_I_ROOM(r->groups) || !id_map_put(&r->index, key, at))
    return INK_ID_NONE;
  r->groups.items[r->groups.count++] = (group){.kernel = kernel, .device = device, .section = section};
  return at;
}

/* Any of those seen is kept as likely as any other: reservoir sampling, algorithm R (Vitter 1985). */
static bool keep(reader *r, group *g, const ink_spread_slice *slice) {
  g->seen++;
  if (g->kept.count < INK_SPREAD_MOST) {
    if (!INK_I_ROOM(g->kept))
      return false;
    g->kept.items[g->kept.count++] = *slice;
    return true;
  }
  r->random = r->random * 6364136223846793005u + 1442695040888963407u;
  const uint64_t place = ink_mix64(r->random) % g->seen;
  if (place < INK_SPREAD_MOST)
    g->kept.items[place] = *slice;
  return true;
}

static ink_status end_row(reader *r) {
  bool fine = true;
  for (size_t i = 0; i < r->row_slices.count && fine; i++) {
    pending *p = &r->row_slices.items[i];
    for (size_t v = 0; v < INK_SPREAD_VALUES; v++)
      p->slice.values[v] = r->row_values[v];
    fine = keep(r, &r->groups.items[p->group], &p->slice);
  }
  r->row_slices.count = 0;
  for (size_t v = 0; v < INK_SPREAD_VALUES; v++)
    r->row_values[v] = NAN;
  return fine ? INK_OK : no_memory(r);
}

static ink_status come_to_row(reader *r, int64_t row) {
  const ink_status status = row == r->row ? INK_OK : end_row(r);
  r->row = row;
  return status;
}

static ink_status on_track_begin(void *user, const ink_decoded_track *track) {
  reader *r = user;
  r->track = r->wanted[track->stored->kernel] ? track : NULL;
  r->row = INK_ROW_NONE;
  return end_row(r);
}

static ink_status on_slice(void *user, const ink_slice *s) {
  reader *r = user;
  if (!r->track || s->cut || s->nested || s->end_cycles < s->begin_cycles)
    return INK_OK;
  const ink_stored_track *t = r->track->stored;
  const uint64_t cycles = s->end_cycles - s->begin_cycles;
  const uint64_t net = cycles > s->marking_cycles ? cycles - s->marking_cycles : 0;
  ink_status status = come_to_row(r, s->row);
  if (status)
    return status;
  const uint32_t at = group_of(r, t->kernel, t->device, s->section);
  if (at == INK_ID_NONE || !INK_I_ROOM(r->row_slices))
    return no_memory(r);
  r->row_slices.items[r->row_slices.count++] =
      (pending){at,
                {.cycles = r->options.without_marking ? net : cycles, .block = ink_linear_block(&t->header), .row = s->row,
                 .launch = t->launch, .sm = t->header.sm_open, .warp = t->header.thread / 32}};
  enum { ROW_MOST = 65536 }; /* of one without iterations: what is beyond has other numbers */
  return r->row_slices.count < ROW_MOST ? INK_OK : end_row(r);
}

static ink_status on_point(void *user, const ink_point *p) {
  reader *r = user;
  const bool is_value = p->kind == INK_KIND_ESCAPE && p->escape >= INK_ESCAPE_VALUE_I64 && p->escape <= INK_ESCAPE_VALUE_F64;
  if (!r->track || !is_value)
    return INK_OK;
  const ink_status status = come_to_row(r, p->row);
  size_t v = 0;
  while (v < r->value_count && r->values[v] != p->section)
    v++;
  if (v == r->value_count && v < INK_SPREAD_VALUES)
    r->values[r->value_count++] = p->section;
  if (v < INK_SPREAD_VALUES)
    r->row_values[v] = p->escape == INK_ESCAPE_VALUE_F64   ? p->value.f64
                       : p->escape == INK_ESCAPE_VALUE_I64 ? (double)p->value.i64
                                                           : (double)p->value.u64;
  return status;
}

static ink_status on_track_end(void *user, const ink_decoded_track *track) {
  (void)track;
  return end_row(user);
}

static ink_status on_progress(void *user, uint64_t done, uint64_t total) {
  const reader *r = user;
  return r->options.progress ? r->options.progress(r->options.user, done, total) : INK_OK;
}

static int by_place(const void *left, const void *right) {
  const ink_variance_row *a = left, *b = right;
  if (a->kernel != b->kernel)
    return a->kernel < b->kernel ? -1 : 1;
  if (a->device != b->device)
    return a->device < b->device ? -1 : 1;
  return a->section < b->section ? -1 : a->section > b->section;
}

static ink_status explain_all(reader *r, ink_variance *out) {
  ink_status status = INK_OK;
  out->rows = calloc(r->groups.count + 1, sizeof *out->rows);
  if (!out->rows)
    return no_memory(r);
  for (size_t i = 0; i < r->groups.count && status == INK_OK; i++) {
    const group *g = &r->groups.items[i];
    if (!g->kept.count)
      continue;
    ink_variance_row *row = &out->rows[out->count++];
    *row = (ink_variance_row){.kernel = g->kernel, .device = g->device, .section = g->section, .slices = g->seen};
    status = ink_spread_explain(g->kept.items, g->kept.count, r->values, r->value_count, row, r->error);
  }
  qsort(out->rows, out->count, sizeof *out->rows, by_place);
  return status;
}

ink_status ink_variance_make(const ink_capture *capture, const ink_clock_map *map, const ink_variance_options *options,
                             ink_variance **out, ink_error *error) {
  reader r = {.options = {.size = sizeof r.options, .launch = UINT32_MAX}, .capture = capture, .error = error, .random = 1};
  if (!capture || !map || !out)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "a variance needs a capture and its clock map");
  ink_status status = INK_I_OPTIONS_TAKE(&r.options, ink_variance_options, user, options, error);
  ink_variance *variance = status ? NULL : calloc(1, sizeof *variance);
  if (!status)
    status = variance ? ink_match_kernels(capture, r.options.kernel_regex, &r.wanted, error) : no_memory(&r);
  const ink_sink sink = {.user = &r, .track_begin = on_track_begin, .slice = on_slice, .point = on_point,
                         .track_end = on_track_end, .progress = on_progress, .want_marking = r.options.without_marking};
  if (!status)
    status = ink_decode(capture, map, r.options.launch, &sink, error);
  if (!status)
    status = explain_all(&r, variance);
  for (size_t i = 0; i < r.groups.count; i++)
    free(r.groups.items[i].kept.items);
  free(r.groups.items);
  free(r.row_slices.items);
  free(r.wanted);
  id_map_free(&r.index);
  if (!status)
    *out = variance;
  else
    ink_variance_free(variance);
  return status;
}

void ink_variance_free(ink_variance *variance) {
  if (!variance)
    return;
  free(variance->rows);
  free(variance);
}
