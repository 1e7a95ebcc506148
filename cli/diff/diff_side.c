/* SPDX-License-Identifier: MIT */
/* The samples of one side of `inkmark diff`: of each section a value for each launch; and what must be alike
 * before two captures can be compared. */
#include "diff.h"

#include "grid.h"
#include "hash.h"
#include "message.h"

#include "inkmark/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool same_text(const char *a, const char *b) { return a && b ? !strcmp(a, b) : a == b; }

static char *copy(const char *text) { return text ? strdup(text) : NULL; }

/* A byte that no text has ends each. */
static uint64_t hash_text(uint64_t hash, const char *text) {
  return hash_on(text ? hash_on(hash, text, strlen(text)) : hash, "\xff", 1);
}

uint64_t diff_hash_of_part(const diff_series *s) {
  const uint64_t hash = HASH_BEGIN ^ (uint32_t)s->device;
  return hash_text(hash_text(hash, s->kernel), s->instance);
}

static size_t slot_of(const diff_side *side, const diff_series *s) {
  const uint64_t hash = hash_text(diff_hash_of_part(s), s->section);
  return (size_t)(hash ^ hash >> 32) & side->slot_mask;
}

bool diff_same_part(const diff_series *a, const diff_series *b) {
  return a->device == b->device && same_text(a->kernel, b->kernel) && same_text(a->instance, b->instance);
}

static diff_series *find(const diff_side *side, const diff_series *wanted, bool of_table) {
  for (size_t at = side->slots ? slot_of(side, wanted) : 0; side->slots && side->slots[at]; at = (at + 1) & side->slot_mask) {
    diff_series *s = &side->series[side->slots[at] - 1];
    if (same_text(s->section, wanted->section) && diff_same_part(s, wanted) &&
        (!of_table || same_text(s->table, wanted->table)))
      return s;
  }
  return NULL;
}

const diff_series *diff_side_find(const diff_side *side, const diff_series *wanted) { return find(side, wanted, false); }

static void put_slot(diff_side *side, size_t series) {
  size_t at = slot_of(side, &side->series[series]);
  while (side->slots[at])
    at = (at + 1) & side->slot_mask;
  side->slots[at] = series + 1;
}

/* Room for one more: at most half of the slots are taken, and series double. */
static bool make_room(diff_side *side) {
  if (side->slots && 2 * (side->count + 1) <= side->slot_mask + 1)
    return true;
  const size_t slots = side->slots ? 2 * (side->slot_mask + 1) : 64;
  diff_series *series = realloc(side->series, slots / 2 * sizeof *series);
  size_t *empty = series ? calloc(slots, sizeof *empty) : NULL;
  if (series)
    side->series = series;
  if (!empty)
    return false;
  free(side->slots);
  side->slots = empty;
  side->slot_mask = slots - 1;
  for (size_t i = 0; i < side->count; i++)
    put_slot(side, i);
  return true;
}

void diff_side_index(diff_side *side) {
  if (side->slots)
    memset(side->slots, 0, (side->slot_mask + 1) * sizeof *side->slots);
  for (size_t i = 0; i < side->count; i++)
    put_slot(side, i);
}

static diff_series *series_of(diff_side *side, const diff_series *wanted) {
  diff_series *known = find(side, wanted, true);
  if (known)
    return known;
  if (!make_room(side))
    return NULL;
  side->series[side->count] = (diff_series){.kernel = copy(wanted->kernel), .table = copy(wanted->table),
                                            .instance = copy(wanted->instance), .section = copy(wanted->section),
                                            .device = wanted->device};
  put_slot(side, side->count);
  return &side->series[side->count++];
}

static bool add_value(diff_side *side, const diff_series *wanted, double value, bool too_short, uint32_t one_of) {
  diff_series *s = series_of(side, wanted);
  double *values = s ? realloc(s->values, (s->count + 1) * sizeof *values) : NULL;
  if (!values)
    return false;
  s->values = values;
  values[s->count++] = value;
  s->too_short |= too_short;
  s->least_of = !s->least_of || one_of < s->least_of ? one_of : s->least_of;
  s->most_of = one_of > s->most_of ? one_of : s->most_of;
  return true;
}

/* The rows [at, end) of a table by launch, all of one part and launch. */
static bool add_launch(diff_side *side, const loaded_capture *loaded, const ink_table *table,
                       const ink_table_row *rows, size_t at, size_t end) {
  const ink_kernel_total *totals;
  const ink_kernel *kernels;
  const ink_launch *launches;
  ink_table_kernels(table, &totals);
  ink_capture_kernels(loaded->capture, &kernels);
  ink_capture_launches(loaded->capture, &launches);
  const ink_kernel_total *total = &totals[rows[at].part];
  const ink_kernel *kernel = &kernels[total->kernel];
  const double tracks = (double)launches[rows[at].group].track_count;
  const uint32_t one_of = launches[rows[at].group].one_of;
  diff_series name = {.kernel = (char *)kernel->name, .table = (char *)(kernel->table ? kernel->table->name : NULL),
                      .instance = (char *)total->instance, .device = total->device};
  double whole = 0;
  bool fine = true;
  for (size_t i = at; i < end && fine; i++) {
    const ink_table_row *row = &rows[i];
    if (!row->summed && !row->depth && !row->called)
      whole += (double)row->total_cycles;
    if (!row->count)
      continue;
    name.section = (char *)load_section_name(loaded, row->section);
    fine = add_value(side, &name, (double)row->total_cycles / tracks, ink_table_row_below_marking_bound(row), one_of);
  }
  name.section = NULL;
  return fine && add_value(side, &name, whole / tracks, false, one_of);
}

static bool add_table(diff_side *side, const loaded_capture *loaded, const ink_table *table) {
  const ink_kernel_total *totals;
  const ink_kernel *kernels;
  const ink_table_row *rows;
  const size_t n = ink_table_rows(table, &rows), parts = ink_table_kernels(table, &totals);
  ink_capture_kernels(loaded->capture, &kernels);
  for (size_t i = 0; i < parts; i++) {
    side->launches += totals[i].launches;
    if (totals[i].tracks_lost || totals[i].missed)
      message_say("'%s': kernel '%s': %s tracks were lost or found no room; the rest may be no sample", loaded->path,
                  kernels[totals[i].kernel].name, number_whole(totals[i].tracks_lost + totals[i].missed).text);
    if (totals[i].marks_dropped)
      message_say("'%s': kernel '%s' is left out: some of its marks were dropped, so the rest is no sample", loaded->path,
                  kernels[totals[i].kernel].name);
  }
  bool fine = true;
  for (size_t at = 0, end; at < n && fine; at = end) {
    for (end = at; end < n && rows[end].part == rows[at].part && rows[end].group == rows[at].group;)
      end++;
    if (!totals[rows[at].part].marks_dropped)
      fine = add_launch(side, loaded, table, rows, at, end);
  }
  if (!fine)
    message_say("out of memory");
  return fine;
}

static bool add_capture(const diff_settings *settings, const char *path, diff_side *side) {
  loaded_capture loaded;
  ink_table *table = NULL;
  ink_error error = {0};
  bool fine = false;
  if (!load_capture(path, &loaded))
    return false;
  const ink_table_options options = {.size = sizeof options, .by = INK_BY_LAUNCH, .kernel_regex = settings->kernel,
                                     .launch = UINT32_MAX, .progress = message_progress, .user = (void *)"reading",
                                     .without_marking = !settings->raw};
  if (load_check_choice(&loaded, settings->kernel, UINT64_MAX)) {
    error.status = ink_table_make(loaded.capture, loaded.map, &options, &table, &error);
    message_progress_end();
    if (error.status)
      message_failure(&error);
    else
      fine = add_table(side, &loaded, table);
  }
  ink_table_free(table);
  unload_capture(&loaded);
  return fine;
}

/* One value in the place of those from `first` on: what a run adds. */
static void keep_medians(diff_side *side, const size_t *first, size_t known) {
  for (size_t i = 0; i < side->count; i++) {
    diff_series *s = &side->series[i];
    const size_t from = i < known ? first[i] : 0;
    if (s->count <= from)
      continue;
    s->values[from] = diff_median(s->values + from, s->count - from);
    s->count = from + 1;
  }
}

bool diff_side_load(const diff_settings *settings, const char *const *paths, bool by_run, diff_side *out) {
  bool fine = true;
  for (size_t run = 0; run < out->runs && fine; run++) {
    const size_t known = out->count;
    size_t *first = calloc(known + 1, sizeof *first);
    for (size_t i = 0; first && i < known; i++)
      first[i] = out->series[i].count;
    fine = first && add_capture(settings, paths[run], out);
    if (fine && by_run)
      keep_medians(out, first, known);
    free(first);
  }
  return fine;
}

void diff_side_free(diff_side *side) {
  for (size_t i = 0; i < side->count; i++) {
    diff_series *s = &side->series[i];
    free(s->kernel);
    free(s->table);
    free(s->instance);
    free(s->own_instance);
    free(s->section);
    free(s->values);
  }
  free(side->series);
  free(side->slots);
  *side = (diff_side){0};
}

/* ---- what must be alike -------------------------------------------------------------------- */

static double cost_of_mark(const ink_capture *capture, int32_t device) {
  const ink_mark_costs *list;
  const size_t n = ink_capture_mark_costs(capture, &list);
  for (size_t i = 0; i < n; i++)
    for (uint32_t k = 0; list[i].device == device && k < list[i].count; k++)
      if (list[i].costs[k].what == INK_COST_OF_MARK && list[i].costs[k].flags == INK_COST_RECORDING)
        return (double)list[i].costs[k].millicycles / 1000;
  return 0;
}

static double rate_of(const loaded_capture *loaded, int32_t device) {
  const ink_clock_quality *quality;
  const size_t n = ink_clock_map_quality(loaded->map, &quality);
  for (size_t i = 0; i < n; i++)
    if (quality[i].device == device && quality[i].slope_max_hz > 0)
      return (quality[i].slope_max_hz + quality[i].slope_min_hz) / 2;
  return 0;
}

static bool unlike(const char *left, const char *right, const char *what, const char *a, const char *b) {
  message_say("'%s' and '%s' cannot be compared: %s, %s and %s; --force compares them all the same", left, right, what, a, b);
  return false;
}

static bool like_numbers(double a, double b, double tolerance) {
  return a == b || fabs(a - b) <= tolerance * fmax(a, b);
}

static bool like_devices(const loaded_capture *a, const loaded_capture *b, const ink_device_info *one,
                         const ink_device_info *other) {
  const double mhz[2] = {rate_of(a, one->index) / 1e6, rate_of(b, other->index) / 1e6};
  const double marks[2] = {cost_of_mark(a->capture, one->index), cost_of_mark(b->capture, other->index)};
  char left[64], right[64];
  if (one->simulated != other->simulated)
    return unlike(a->path, b->path, "one is of the simulated device", one->simulated ? "simulated" : "a GPU",
                  other->simulated ? "simulated" : "a GPU");
  if (strcmp(one->name, other->name) || one->capability != other->capability)
    return unlike(a->path, b->path, "other devices", one->name, other->name);
  if ((one->flags ^ other->flags) & INK_BUFFER_PER_WARP)
    return unlike(a->path, b->path, "tracks are of other threads", one->flags & INK_BUFFER_PER_WARP ? "warps" : "blocks",
                  other->flags & INK_BUFFER_PER_WARP ? "warps" : "blocks");
  if (mhz[0] > 0 && mhz[1] > 0 && !like_numbers(mhz[0], mhz[1], 0.02)) {
    snprintf(left, sizeof left, "%.0f", mhz[0]);
    snprintf(right, sizeof right, "%.0f MHz", mhz[1]);
    return unlike(a->path, b->path, "other clock rates", left, right);
  }
  if (!like_numbers(marks[0], marks[1], 0.2) && fabs(marks[0] - marks[1]) > 2) {
    snprintf(left, sizeof left, "%.1f", marks[0]);
    snprintf(right, sizeof right, "%.1f cycles", marks[1]);
    return unlike(a->path, b->path, "a mark costs otherwise", left, right);
  }
  return true;
}

bool diff_comparable(const char *left, const char *right) {
  loaded_capture a = {0}, b = {0};
  const ink_device_info *devices[2];
  bool fine = load_capture_quietly(left, &a) && load_capture_quietly(right, &b); /* what is amiss is said where they are read */
  if (fine) {
    const size_t n = ink_capture_devices(a.capture, &devices[0]), m = ink_capture_devices(b.capture, &devices[1]);
    for (size_t i = 0; i < n && fine; i++)
      for (size_t k = 0; k < m && fine; k++)
        if (devices[0][i].index == devices[1][k].index || (n == 1 && m == 1))
          fine = like_devices(&a, &b, &devices[0][i], &devices[1][k]);
  }
  const char *blocks[2] = {fine ? ink_capture_fact(a.capture, "blocks") : NULL, fine ? ink_capture_fact(b.capture, "blocks") : NULL};
  if (!same_text(blocks[0], blocks[1]))
    fine = unlike(left, right, "other blocks were recorded", blocks[0] ? blocks[0] : "all", blocks[1] ? blocks[1] : "all");
  unload_capture(&a);
  unload_capture(&b);
  return fine;
}
