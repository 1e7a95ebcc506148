/* SPDX-License-Identifier: MIT */
/* Tables as JSON: each capture with its kernels and their rows. One schema for the report, the export and the
 * HTML page; docs/outputs.md has the fields, docs/tables.schema.json the schema. */
#include "tables_object.h"

#include "crossings.h"
#include "outputs.h"
#include "text_write.h"

#include <stdlib.h>

static const char *section_table(const ink_selection *s, ink_section_index section) {
  return section < s->section_count ? s->sections[section].table->name : NULL;
}

static void put_group(ink_file *f, const ink_selection *s, const ink_table_row *row, const ink_table *table,
                      enum ink_group_by by) {
  if (by == INK_BY_INSTANCE)
    ink_json_text(f, "group", ink_table_instance(table, row->group));
  else if (by == INK_BY_ROLE)
    ink_json_text(f, "group", row->group == INK_NO_ROLE ? NULL : ink_selection_section(s, (ink_section_index)row->group));
  else if (by == INK_BY_SECTION || row->group == INK_ROW_NONE || row->group == INK_ROW_UNKNOWN)
    ink_json_text(f, "group", row->group == INK_ROW_UNKNOWN ? "unknown" : NULL);
  else
    ink_json_i64(f, "group", row->group);
}

/* Sections whose slices the row's lay directly in; null: the kernel's body. */
static void put_inside(ink_file *f, const ink_selection *s, const ink_table_row *row) {
  ink_json_key(f, "inside");
  ink_file_text(f, "[");
  for (uint32_t i = 0; i < row->inside_count; i++) {
    ink_file_text(f, i ? ", " : "");
    if (row->inside[i] == INK_SECTION_UNKNOWN)
      ink_file_text(f, "null");
    else
      ink_file_json_string(f, ink_selection_section(s, row->inside[i]));
  }
  ink_file_text(f, "]");
}

static void put_max_at(ink_file *f, const ink_selection *s, const ink_table_row *row) {
  ink_stored_track track;
  ink_json_key(f, "max_at");
  if (row->max_track == UINT64_MAX) {
    ink_file_text(f, "null");
    return;
  }
  ink_capture_track(s->capture, row->max_track, &track);
  ink_file_print(f, "{\"launch\": %u", track.launch);
  ink_json_u64(f, "block", ink_block_linear(&track.header));
  ink_json_u64(f, "warp", track.header.thread / 32);
  ink_json_u64(f, "track", row->max_track);
  if (row->max_iteration == INK_ROW_NONE || row->max_iteration == INK_ROW_UNKNOWN)
    ink_json_text(f, "iteration", row->max_iteration == INK_ROW_NONE ? NULL : "unknown");
  else
    ink_json_i64(f, "iteration", row->max_iteration);
  ink_file_text(f, "}");
}

static void put_extremes(ink_file *f, const ink_selection *s, const ink_table_row *row) {
  ink_json_u64(f, "min_cycles", row->min_cycles);
  if (!row->summed) {
    ink_json_u64(f, "p1_cycles", row->p1_cycles);
    ink_json_u64(f, "median_cycles", row->median_cycles);
    ink_json_u64(f, "p99_cycles", row->p99_cycles);
  }
  ink_json_u64(f, "max_cycles", row->max_cycles);
  ink_json_double(f, "min_ns", row->min_ns);
  if (!row->summed) {
    ink_json_double(f, "p1_ns", row->p1_ns);
    ink_json_double(f, "median_ns", row->median_ns);
    ink_json_double(f, "p99_ns", row->p99_ns);
  }
  ink_json_double(f, "max_ns", row->max_ns);
  put_max_at(f, s, row);
}

static void put_histogram(ink_file *f, const uint64_t *bins) {
  ink_json_key(f, "histogram");
  for (size_t i = 0; i < INK_HISTOGRAM_BINS; i++)
    ink_file_print(f, "%s%llu", i ? ", " : "[", (unsigned long long)bins[i]);
  ink_file_text(f, "]");
}

static void put_row(ink_file *f, const ink_selection *s, const ink_table *table, const ink_table_row *row,
                    enum ink_group_by by) {
  const bool unmarked = row->section == INK_SECTION_UNKNOWN;
  ink_file_text(f, "{\"section\": ");
  ink_file_json_string(f, ink_selection_section(s, row->section));
  ink_json_text(f, "table", section_table(s, row->section));
  put_group(f, s, row, table, by);
  ink_json_u64(f, "depth", row->depth);
  ink_json_bool(f, "called", row->called);
  if (by == INK_BY_SECTION && !unmarked)
    put_inside(f, s, row);
  ink_json_bool(f, "summed", row->summed);
  if (by == INK_BY_ITERATION)
    ink_json_u64(f, "passes", row->passes);
  ink_json_u64(f, "tracks", row->tracks);
  ink_json_u64(f, "count", row->count);
  ink_json_u64(f, "cut", row->cut);
  ink_json_u64(f, "nested", row->nested);
  ink_json_u64(f, "total_cycles", row->total_cycles);
  ink_json_double(f, "total_ns", row->total_ns);
  if (row->self_known && !unmarked) {
    ink_json_u64(f, "self_cycles", row->self_cycles);
    ink_json_double(f, "self_ns", row->self_ns);
  }
  if (!unmarked && row->count)
    put_extremes(f, s, row);
  const uint64_t *bins = ink_table_histogram(table, row);
  if (bins)
    put_histogram(f, bins);
  ink_json_double(f, "bound_ns", row->bound_ns); /* null: not known */
  ink_json_bool(f, "below_bound", ink_table_row_below_bound(row));
  ink_json_u64(f, "marking_cycles", row->marking_cycles);
  ink_json_double(f, "marking_bound_cycles", row->marking_bound_cycles);
  ink_json_bool(f, "below_marking_bound", ink_table_row_below_marking_bound(row));
  ink_json_double(f, "share", row->share);
  if (!unmarked)
    ink_json_double(f, "imbalance", row->imbalance);
  ink_file_text(f, "}");
}

static bool keeps_first(const ink_selection *s, int32_t device) {
  const ink_device_info *info = ink_selection_device(s, device);
  return info && info->flags & INK_BUFFER_KEEP_FIRST;
}

/* Of any launch of the kernel; 1: all of their blocks have a track. */
static uint32_t one_block_of(const ink_selection *s, uint32_t kernel) {
  const ink_launch *launches;
  const size_t n = ink_capture_launches(s->capture, &launches);
  uint32_t most = 1;
  for (size_t i = 0; i < n; i++)
    if (launches[i].kernel == kernel && launches[i].one_of > most && ink_selection_has(s, (uint32_t)i))
      most = launches[i].one_of;
  return most;
}

static void put_total(ink_file *f, const ink_selection *s, const ink_kernel_total *t, size_t index) {
  const ink_kernel *kernel = &s->kernels[t->kernel];
  ink_file_print(f, "{\"index\": %zu", index);
  ink_json_text(f, "kernel", kernel->name);
  ink_json_text(f, "table", kernel->table ? kernel->table->name : NULL);
  ink_json_text(f, "source", kernel->table ? kernel->table->file : NULL);
  ink_json_i64(f, "device", t->device);
  ink_json_text(f, "instance", t->instance);
  ink_json_u64(f, "launches", t->launches);
  ink_json_u64(f, "tracks", t->tracks);
  ink_json_u64(f, "marks_executed", t->marks_executed);
  if (t->rows_executed)
    ink_json_u64(f, "rows_executed", t->rows_executed);
  ink_json_u64(f, "marks_kept", t->marks_kept);
  ink_json_u64(f, "marks_dropped", t->marks_dropped);
  ink_json_bool(f, "dropped_at_least", t->marks_dropped_open != 0);
  ink_json_text(f, "kept", !t->marks_dropped ? "all" : keeps_first(s, t->device) ? "first" : "newest");
  const uint32_t one_of = one_block_of(s, t->kernel);
  if (one_of > 1)
    ink_json_u64(f, "one_block_of", one_of);
  ink_json_u64(f, "iterations", t->iterations);
  ink_json_u64(f, "tracks_partial", t->tracks_partial);
  ink_json_u64(f, "missed", t->missed);
  ink_json_u64(f, "tracks_lost", t->tracks_lost);
  ink_json_u64(f, "marks_lost", t->marks_lost);
  ink_json_u64(f, "total_cycles", t->total_cycles);
  ink_json_double(f, "total_ns", t->total_ns);
  ink_json_double(f, "bound_ns", t->bound_ns);
  ink_json_u64(f, "unmarked_cycles", t->unmarked_cycles);
  ink_json_double(f, "unmarked_ns", t->unmarked_ns);
  ink_json_u64(f, "unknown_cycles", t->unknown_cycles);
  ink_json_text(f, "marking", t->without_marking ? "out" : "in");
  ink_json_u64(f, "marking_cycles", t->marking_cycles);
  ink_json_double(f, "marking_bound_cycles", t->marking_bound_cycles);
  ink_json_double(f, "outside_cycles", t->outside_cycles);
  ink_json_u64(f, "async_ranges", t->async_ranges);
  ink_json_u64(f, "instants", t->instants);
  ink_json_u64(f, "values", t->values);
}

static void put_crossing(ink_file *f, const ink_selection *s, const ink_crossing_total *c) {
  ink_file_print(f, "{\"scope\": \"%s\"", ink_scope_name(c->scope));
  ink_json_text(f, "section", ink_selection_section(s, c->section));
  ink_json_text(f, "from_role", c->from_role == INK_SECTION_UNKNOWN ? NULL : ink_selection_section(s, c->from_role));
  ink_json_text(f, "to_role", c->to_role == INK_SECTION_UNKNOWN ? NULL : ink_selection_section(s, c->to_role));
  ink_json_u64(f, "count", c->count);
  ink_json_u64(f, "backwards", c->backwards);
  ink_json_u64(f, "without_end", c->without_end);
  ink_json_u64(f, "without_begin", c->without_begin);
  ink_json_bool(f, "exact", c->exact);
  ink_json_double(f, "total_ns", c->total_ns);
  ink_json_double(f, "min_ns", c->min_ns);
  ink_json_double(f, "median_ns", c->median_ns);
  ink_json_double(f, "max_ns", c->max_ns);
  ink_json_double(f, "bound_ns", c->bound_ns); /* null: not known */
  ink_json_double(f, "mean_in_flight", c->mean_in_flight);
  ink_json_u64(f, "most_in_flight", c->most_in_flight);
  if (c->exact) {
    ink_json_u64(f, "min_cycles", c->min_cycles);
    ink_json_u64(f, "median_cycles", c->median_cycles);
    ink_json_u64(f, "max_cycles", c->max_cycles);
  }
  ink_file_text(f, "}");
}

static void put_crossings(ink_file *f, const ink_selection *s, const ink_table *table, uint32_t kernel) {
  const ink_crossing_total *all;
  const size_t count = ink_table_crossings(table, &all);
  bool some = false;
  ink_file_text(f, ",\n    \"crossings\": [");
  for (size_t i = 0; i < count; i++) {
    if (all[i].kernel != kernel)
      continue;
    ink_file_text(f, some ? ", " : "");
    put_crossing(f, s, &all[i]);
    some = true;
  }
  ink_file_text(f, "]");
}

static void put_unseen(ink_file *f, const ink_selection *s, const ink_table *table, uint32_t kernel) {
  const ink_section_index *unseen;
  const size_t count = ink_table_unseen(table, kernel, &unseen);
  ink_file_text(f, ",\n    \"unseen\": [");
  for (size_t i = 0; i < count; i++) {
    ink_file_text(f, i ? ", " : "");
    ink_file_json_string(f, ink_selection_section(s, unseen[i]));
  }
  ink_file_text(f, "]");
}

ink_status ink_tables_capture(ink_file *f, const ink_selection *s, const char *name, const ink_table *table,
                              enum ink_group_by by, ink_error *error) {
  const ink_kernel_total *totals;
  const ink_table_row *rows;
  const size_t kernels = ink_table_kernels(table, &totals), count = ink_table_rows(table, &rows);
  ink_status status = ink_tables_head(f, s, name, by, error);
  ink_file_text(f, ",\n\"kernels\": [");
  for (size_t k = 0, i = 0; k < kernels; k++) {
    ink_file_text(f, k ? ",\n  " : "\n  ");
    put_total(f, s, &totals[k], k);
    ink_file_text(f, ",\n    \"rows\": [");
    for (const size_t first = i; i < count && rows[i].part == k; i++) {
      ink_file_text(f, i > first ? ",\n      " : "\n      ");
      put_row(f, s, table, &rows[i], by);
    }
    ink_file_text(f, "]");
    put_crossings(f, s, table, totals[k].kernel);
    put_unseen(f, s, table, totals[k].kernel);
    ink_file_text(f, "}");
  }
  ink_file_text(f, "]");
  ink_tables_findings(f, table);
  ink_tables_problems(f, s, table);
  ink_file_text(f, "}");
  return status == INK_OK ? ink_file_check(f, error) : status;
}

void ink_tables_begin(ink_file *f) {
  ink_file_print(f, "{\"schema_version\": %d, \"inkmark\": \"%s\", \"captures\": [\n", INK_TABLES_SCHEMA_VERSION,
                 INKMARK_VERSION);
}

void ink_tables_end(ink_file *f) { ink_file_text(f, "]}"); }

/* ---- a file of its own --------------------------------------------------------------------- */

struct ink_tables_json {
  ink_file file;
  bool follows; /* a capture stands before */
};

ink_status ink_tables_json_open(const char *path, ink_tables_json **out, ink_error *error) {
  ink_tables_json *json = calloc(1, sizeof *json);
  if (!json)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  json->file.fd = -1;
  const ink_status status = ink_file_open_utf8(&json->file, path, error);
  if (status != INK_OK) {
    ink_file_abandon(&json->file);
    free(json);
    return status;
  }
  ink_tables_begin(&json->file);
  *out = json;
  return INK_OK;
}

ink_status ink_tables_json_add(ink_tables_json *json, const char *name, const ink_capture *capture,
                               const ink_clock_map *map, const ink_table *table,
                               const ink_table_options *options, ink_error *error) {
  const ink_output_options choice = {.size = sizeof choice, .kernel_regex = options->kernel_regex,
                                     .launch = options->launch};
  ink_selection selection;
  ink_status status = ink_selection_make(&selection, capture, map, &choice, error);
  if (status == INK_OK) {
    ink_file_text(&json->file, json->follows ? ",\n" : "");
    json->follows = true;
    status = ink_tables_capture(&json->file, &selection, name, table, options->by, error);
  }
  ink_selection_free(&selection);
  return status;
}

ink_status ink_tables_json_close(ink_tables_json *json, bool keep, ink_error *error) {
  ink_status status = INK_OK;
  if (keep || json->file.direct) {
    ink_tables_end(&json->file);
    ink_file_text(&json->file, "\n");
    status = ink_file_close(&json->file, error);
  }
  ink_file_abandon(&json->file);
  free(json);
  return status;
}

ink_status ink_write_json(const ink_capture *capture, const ink_clock_map *map,
                          const ink_output_options *options, const char *path, ink_error *error) {
  ink_selection selection;
  ink_table *table = NULL;
  ink_file file = {.fd = -1};
  ink_status status = ink_selection_make(&selection, capture, map, options, error);
  if (status == INK_OK && selection.options.filter)
    status = ink_error_set(error, INK_ERROR_ARGUMENT, "a table cannot be filtered by time, blocks, iterations or length");
  selection.without_marking = selection.options.marking != INK_MARKING_IN;
  if (status == INK_OK)
    status = ink_selection_table(&selection, INK_BY_SECTION, &table, error);
  if (status == INK_OK)
    status = ink_file_open_utf8(&file, path, error);
  if (status == INK_OK) {
    ink_tables_begin(&file);
    status = ink_tables_capture(&file, &selection, NULL, table, INK_BY_SECTION, error);
    ink_tables_end(&file);
    ink_file_text(&file, "\n");
  }
  if (status == INK_OK)
    status = ink_file_close(&file, error);
  ink_file_abandon(&file);
  ink_table_free(table);
  ink_selection_free(&selection);
  return status;
}
