/* SPDX-License-Identifier: MIT */
/* The rows of a report in the order in which every format prints them, and how they are worded. */
#include "report.h"

#include "message.h"

#include "inkmark/activity.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *report_by_name(int by) {
  static const char *const names[] = {"section", "iteration", "block",  "sm",
                                      "launch",  "warp",      "device", "instance", "role"};
  return names[by];
}

typedef struct keyed_row {
  const ink_table_row *row;
  double key;
  size_t order; /* of its group or itself before sorting */
} keyed_row;

static int by_place(const void *left, const void *right) {
  const ink_table_row *a = ((const keyed_row *)left)->row, *b = ((const keyed_row *)right)->row;
  if (a->part != b->part)
    return a->part < b->part ? -1 : 1;
  if (a->group != b->group) /* no row and unknown rows are the smallest numbers: they come first */
    return a->group < b->group ? -1 : 1;
  if (a->section != b->section) /* INK_SECTION_UNKNOWN is the largest: "(unmarked)" comes last */
    return a->section < b->section ? -1 : 1;
  return (a->called > b->called) - (a->called < b->called);
}

/* Of sections "(unmarked)" stays last; groups stay together. */
static int by_key(const void *left, const void *right) {
  const keyed_row *a = left, *b = right;
  if (a->row->part != b->row->part)
    return a->row->part < b->row->part ? -1 : 1;
  if (a->key != b->key)
    return a->key > b->key ? -1 : 1;
  return a->order < b->order ? -1 : a->order > b->order;
}

static double key_of(const ink_table_row *row, int sort) {
  switch ((enum report_sort)sort) {
  case SORT_NONE:
  case SORT_TOTAL:
    break;
  case SORT_SELF:
    return (double)row->self_cycles;
  case SORT_MAX:
    return (double)row->max_cycles;
  case SORT_IMBALANCE:
    return row->imbalance;
  }
  return (double)row->total_cycles;
}

/* A group's key: its time in the kernel's body, what its sections have themselves, its worst section. */
static double key_of_group(const keyed_row *rows, size_t n, int sort) {
  const bool adds = sort == SORT_TOTAL || sort == SORT_SELF;
  double key = 0;
  for (size_t i = 0; i < n; i++) {
    const ink_table_row *row = rows[i].row;
    const bool unmarked = row->section == INK_SECTION_UNKNOWN;
    if (unmarked || (sort == SORT_TOTAL && row->depth))
      continue;
    const double its = key_of(row, sort);
    key = adds ? key + its : its > key ? its : key;
  }
  return key;
}

static void set_keys(keyed_row *rows, size_t n, int by, int sort) {
  for (size_t at = 0, end; at < n; at = end) {
    for (end = at + 1; by != INK_BY_SECTION && end < n && rows[end].row->part == rows[at].row->part &&
                       rows[end].row->group == rows[at].row->group;
         end++)
      ;
    const double key = by != INK_BY_SECTION                            ? key_of_group(rows + at, end - at, sort)
                       : rows[at].row->section == INK_SECTION_UNKNOWN ? -1
                                                                      : key_of(rows[at].row, sort);
    for (size_t i = at; i < end; i++) {
      rows[i].key = key;
      rows[i].order = i;
    }
  }
}

bool report_prepare(report_view *report) {
  const ink_table_row *rows;
  const size_t n = ink_table_rows(report->table, &rows);
  keyed_row *keyed = calloc(n + 1, sizeof *keyed);
  report->rows = malloc((n + 1) * sizeof *report->rows);
  ink_error error;
  if (!report->rows || !keyed || ink_capture_graph_places(report->loaded.capture, &report->graph_places, &error)) {
    free(keyed);
    message_say("out of memory");
    return false;
  }
  for (size_t i = 0; i < n; i++)
    keyed[i].row = &rows[i];
  qsort(keyed, n, sizeof *keyed, by_place);
  if (report->settings->sort) {
    set_keys(keyed, n, report->settings->by, report->settings->sort);
    qsort(keyed, n, sizeof *keyed, by_key);
  }
  for (size_t i = 0; i < n; i++)
    report->rows[i] = keyed[i].row;
  report->row_count = n;
  free(keyed);
  return true;
}

size_t report_first_row(const report_view *report, size_t part) {
  size_t low = 0, high = report->row_count;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (report->rows[middle]->part < part)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static int by_total(const void *left, const void *right) {
  const ink_kernel_total *a = *(const ink_kernel_total *const *)left;
  const ink_kernel_total *b = *(const ink_kernel_total *const *)right;
  if (a->total_cycles != b->total_cycles)
    return a->total_cycles > b->total_cycles ? -1 : 1;
  return a < b ? -1 : a > b;
}

size_t *report_kernel_order(const report_view *report) {
  const ink_kernel_total *totals;
  const size_t n = ink_table_kernels(report->table, &totals);
  const ink_kernel_total **sorted = calloc(n + 1, sizeof *sorted);
  size_t *order = calloc(n + 1, sizeof *order);
  if (!sorted || !order) {
    free(order);
    free(sorted);
    message_say("out of memory");
    return NULL;
  }
  for (size_t i = 0; i < n; i++)
    sorted[i] = &totals[i];
  qsort(sorted, n, sizeof *sorted, by_total);
  for (size_t i = 0; i < n; i++)
    order[i] = (size_t)(sorted[i] - totals);
  free(sorted);
  return order;
}

bool report_short_is_one(const report_view *report, const ink_kernel_total *total) {
  const ink_kernel_total *totals;
  char own[200], other[200];
  const size_t n = ink_table_kernels(report->table, &totals);
  ink_activity_short_name(total->instance, own, sizeof own);
  for (size_t i = 0; i < n; i++) {
    if (totals[i].kernel != total->kernel || !totals[i].instance || totals[i].instance == total->instance)
      continue;
    ink_activity_short_name(totals[i].instance, other, sizeof other);
    if (!strcmp(own, other))
      return false;
  }
  return true;
}

bool report_keeps_first(const report_view *report) {
  const ink_device_info *devices;
  return ink_capture_devices(report->loaded.capture, &devices) && devices[0].flags & INK_BUFFER_KEEP_FIRST;
}

void report_release(report_view *report) {
  free(report->rows);
  free(report->graph_places);
  ink_table_free(report->table);
  unload_capture(&report->loaded);
}

const char *report_group_name(const report_view *report, int64_t group) {
  static char text[400];
  const ink_launch *launches;
  const size_t n = ink_capture_launches(report->loaded.capture, &launches);
  const char *instance = ink_table_instance(report->table, group);
  if (report->settings->by == INK_BY_INSTANCE && instance)
    ink_instance_short_name(instance, text, sizeof text);
  else if (report->settings->by == INK_BY_ROLE)
    snprintf(text, sizeof text, "%.390s",
             group == INK_NO_ROLE ? "(no role)" : load_section_name(&report->loaded, (uint32_t)group));
  else if (group == INK_ROW_NONE)
    snprintf(text, sizeof text, "(none)");
  else if (group == INK_ROW_UNKNOWN || (report->settings->by == INK_BY_INSTANCE))
    snprintf(text, sizeof text, "(unknown)");
  else if (report->settings->by == INK_BY_LAUNCH && group >= 0 && (uint64_t)group < n) {
    const uint32_t *place = report->graph_places[group];
    const int used = snprintf(text, sizeof text, "%" PRId64 " (grid %" PRIu64, group, launches[group].grid_id);
    if (place[0])
      snprintf(text + used, sizeof text - (size_t)used, ", graph %u replay %u node %u)", place[0], place[2], place[1]);
    else
      snprintf(text + used, sizeof text - (size_t)used, ")");
  }
  else
    snprintf(text, sizeof text, "%" PRId64, group);
  return text;
}

uint64_t report_linear_block(const ink_track *h) {
  return h->block_index[0] +
         (uint64_t)h->grid_dim[0] * (h->block_index[1] + (uint64_t)h->grid_dim[1] * h->block_index[2]);
}

const char *report_max_place(const report_view *report, const ink_table_row *row) {
  static char text[160];
  const ink_kernel_total *totals;
  ink_stored_track track;
  size_t n = 0;
  text[0] = 0;
  if (row->max_track == UINT64_MAX)
    return text;
  ink_table_kernels(report->table, &totals);
  ink_capture_track(report->loaded.capture, row->max_track, &track);
  const ink_track *h = &track.header;
  const int by = report->settings->by;
  if (totals[row->part].launches > 1 && by != INK_BY_LAUNCH)
    n += (size_t)snprintf(text + n, sizeof text - n, "launch %u", track.launch);
  if ((uint64_t)h->grid_dim[0] * h->grid_dim[1] * h->grid_dim[2] > 1 && by != INK_BY_BLOCK)
    n += (size_t)snprintf(text + n, sizeof text - n, "%sblock %" PRIu64, n ? ", " : "", report_linear_block(h));
  if ((h->thread || track.flags & INK_BUFFER_PER_WARP) && by != INK_BY_WARP)
    n += (size_t)snprintf(text + n, sizeof text - n, "%swarp %u", n ? ", " : "", h->thread / 32);
  if (row->max_iteration != INK_ROW_NONE && row->max_iteration != INK_ROW_UNKNOWN && by != INK_BY_ITERATION)
    snprintf(text + n, sizeof text - n, "%siteration %" PRId64, n ? ", " : "", row->max_iteration);
  return text;
}

number_text report_time(const report_view *report, uint64_t cycles, double ns) {
  switch ((enum report_unit)report->settings->unit) {
  case REPORT_NS:
    return number_fraction(ns, 0);
  case REPORT_US:
    return number_fraction(ns / 1000, 3);
  case REPORT_CYCLES:
    break;
  }
  return number_whole(cycles);
}
