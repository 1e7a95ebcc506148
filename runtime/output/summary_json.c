/* SPDX-License-Identifier: MIT */
/* Writes the summary object. Integers beyond 2^53 - 1, which JSON readers that use doubles would
 * round, are written as strings; docs/outputs.md has the fields. */
#include "summary_json.h"

#include "text_write.h"
#include "track_events.h"

#define SAFE_MAX ((uint64_t)1 << 53)

static void put_u64(ink_file *file, uint64_t value) {
  char *p = ink_file_room(file, 32);
  if (value >= SAFE_MAX)
    *p++ = '"';
  p = text_u64(p, value);
  if (value >= SAFE_MAX)
    *p++ = '"';
  ink_file_took(file, p);
}

static void put_i64(ink_file *file, int64_t value) {
  bool safe = value < (int64_t)SAFE_MAX && value > -(int64_t)SAFE_MAX;
  char *p = ink_file_room(file, 32);
  if (!safe)
    *p++ = '"';
  p = text_i64(p, value);
  if (!safe)
    *p++ = '"';
  ink_file_took(file, p);
}

/* A pair with the comma before it; fields after the first of an object. */
static void key(ink_file *file, const char *name) {
  ink_file_print(file, ", \"%s\": ", name);
}

static void field_u64(ink_file *file, const char *name, uint64_t value) {
  key(file, name);
  put_u64(file, value);
}
static void field_i64(ink_file *file, const char *name, int64_t value) {
  key(file, name);
  put_i64(file, value);
}
static void field_double(ink_file *file, const char *name, double value) {
  key(file, name);
  ink_file_took(file, text_double(ink_file_room(file, 64), value));
}
static void field_text(ink_file *file, const char *name, const char *text) {
  key(file, name);
  if (text)
    ink_file_json_string(file, text);
  else
    ink_file_text(file, "null");
}
static void field_bool(ink_file *file, const char *name, bool value) {
  key(file, name);
  ink_file_text(file, value ? "true" : "false");
}

static void put_capture(ink_file *f, const ink_capture *capture) {
  static const char *const names[] = {"command", "host", "pid", "started_ns", "version"};
  const ink_capture_facts *facts = ink_capture_get_facts(capture);
  ink_file_print(f, ",\n\"capture\": {\"format_version\": %u", facts->version);
  field_bool(f, "complete", facts->complete);
  field_u64(f, "file_bytes", facts->file_bytes);
  field_u64(f, "used_bytes", facts->used_bytes);
  field_u64(f, "damaged_chunks", facts->damaged_chunks);
  field_u64(f, "open_tracks", facts->open_tracks);
  field_u64(f, "unknown_kernels", facts->unknown_kernels);
  field_text(f, "note", facts->note);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    field_text(f, names[i], ink_capture_fact(capture, names[i]));
  ink_file_text(f, "}");
}

static void put_quality(ink_file *f, const ink_clock_quality *q) {
  key(f, "clock_quality");
  if (!q) {
    ink_file_text(f, "null");
    return;
  }
  ink_file_print(f, "{\"has_host\": %s", q->has_host ? "true" : "false");
  field_u64(f, "timer_step_ns", q->timer_step_ns);
  field_double(f, "slope_min_hz", q->slope_min_hz);
  field_double(f, "slope_max_hz", q->slope_max_hz);
  field_double(f, "residual_max_ns", q->residual_max_ns);
  field_i64(f, "host_offset_ns", q->host_offset_ns);
  field_i64(f, "host_bound_ns", q->host_bound_ns);
  field_double(f, "host_drift_ppm", q->host_drift_ppm);
  field_i64(f, "bound_ns", q->bound_ns);
  field_double(f, "sm_bound_ns", q->sm_bound_ns);
  field_double(f, "edge_bound_ns", q->edge_bound_ns);
  field_double(f, "slope_bound_ppm", q->slope_bound_ppm);
  field_u64(f, "sms_seen", q->sms_seen);
  field_u64(f, "sms_guessed", q->sms_guessed);
  field_u64(f, "sms_changed", q->sms_changed);
  field_u64(f, "sms_refused", q->sms_refused);
  field_u64(f, "sms_calibrated", q->sms_calibrated);
  field_u64(f, "calibrations", q->calibrations);
  ink_file_text(f, "}");
}

static void put_devices(ink_file *f, const ink_selection *s) {
  ink_file_text(f, ",\n\"devices\": [");
  for (size_t i = 0; i < s->device_count; i++) {
    const ink_device_info *d = &s->devices[i];
    ink_file_print(f, "%s\n  {\"index\": %d", i ? "," : "", d->index);
    field_text(f, "name", d->name);
    field_text(f, "clock", d->simulated ? "simulated clock" : "GPU clock");
    field_bool(f, "simulated", d->simulated);
    field_u64(f, "sm_count", d->sm_count);
    field_u64(f, "capability", d->capability);
    field_u64(f, "clock_khz", d->clock_khz);
    field_u64(f, "track_count", d->track_count);
    field_u64(f, "records_per_track", d->records_per_track);
    field_text(f, "granularity", d->flags & INK_BUFFER_PER_WARP ? "warp" : "block");
    field_text(f, "keep", d->flags & INK_BUFFER_KEEP_FIRST ? "first" : "last");
    put_quality(f, ink_selection_quality(s, d->index));
    ink_file_text(f, "}");
  }
  ink_file_text(f, "]");
}

static void put_total(ink_file *f, const ink_selection *s, const ink_table *table,
                      const ink_kernel_total *t) {
  const ink_kernel *kernel = &s->kernels[t->kernel];
  ink_file_print(f, "\n  {\"index\": %u", t->kernel);
  field_text(f, "name", kernel->name);
  field_text(f, "table", kernel->table ? kernel->table->name : NULL);
  field_text(f, "file", kernel->table ? kernel->table->file : NULL);
  field_u64(f, "launches", t->launches);
  field_u64(f, "tracks", t->tracks);
  field_u64(f, "marks_executed", t->marks_executed);
  field_u64(f, "marks_kept", t->marks_kept);
  field_u64(f, "marks_dropped", t->marks_dropped);
  field_bool(f, "dropped_at_least", t->marks_dropped_open != 0);
  field_u64(f, "entries_missed", t->missed);
  field_u64(f, "tracks_partial", t->tracks_partial);
  field_u64(f, "tracks_lost", t->tracks_lost);
  field_u64(f, "marks_lost", t->marks_lost);
  field_u64(f, "total_cycles", t->total_cycles);
  field_double(f, "total_ns", t->total_ns);
  field_u64(f, "unmarked_cycles", t->unmarked_cycles);
  field_double(f, "unmarked_ns", t->unmarked_ns);
  field_u64(f, "unknown_cycles", t->unknown_cycles);
  field_text(f, "marking", t->without_marking ? "out" : "in");
  field_u64(f, "marking_cycles", t->marking_cycles);
  field_double(f, "marking_bound_cycles", t->marking_bound_cycles);
  field_double(f, "outside_cycles", t->outside_cycles);
  const ink_section_index *unseen;
  size_t count = ink_table_unseen(table, t->kernel, &unseen);
  key(f, "sections_not_passed");
  for (size_t i = 0; i < count; i++) {
    ink_file_text(f, i ? ", " : "[");
    ink_file_json_string(f, ink_selection_section(s, unseen[i]));
  }
  ink_file_text(f, count ? "]}" : "[]}");
}

static void put_group(ink_file *f, const ink_table_row *row, enum ink_group_by by) {
  static const char *const names[] = {NULL, "iteration", "block", "sm", "launch"};
  if (by == INK_BY_SECTION)
    return;
  if (row->group == INK_ROW_NONE || row->group == INK_ROW_UNKNOWN)
    ink_file_print(f, ", \"%s\": %s", names[by],
                   row->group == INK_ROW_NONE ? "null" : "\"unknown\"");
  else
    field_i64(f, names[by], row->group);
}

/* Sections whose slices the row's lay directly in; null: the kernel's body. */
static void put_inside(ink_file *f, const ink_selection *s, const ink_table_row *row) {
  key(f, "inside");
  for (uint32_t i = 0; i < row->inside_count; i++) {
    ink_file_text(f, i ? ", " : "[");
    if (row->inside[i] == INK_SECTION_UNKNOWN)
      ink_file_text(f, "null");
    else
      ink_file_json_string(f, ink_selection_section(s, row->inside[i]));
  }
  ink_file_text(f, row->inside_count ? "]" : "[]");
}

void ink_summary_rows(ink_file *f, const ink_selection *s, const ink_table *table,
                      enum ink_group_by by) {
  const ink_table_row *rows;
  size_t count = ink_table_rows(table, &rows);
  ink_file_text(f, "[");
  for (size_t i = 0; i < count; i++) {
    const ink_table_row *row = &rows[i];
    ink_file_print(f, "%s\n  {\"kernel\": %u", i ? "," : "", row->kernel);
    field_text(f, "section", ink_selection_section(s, row->section));
    put_group(f, row, by);
    field_u64(f, "depth", row->depth);
    field_bool(f, "called", row->called);
    field_bool(f, "summed", row->summed);
    field_u64(f, "count", row->count);
    field_u64(f, "cut", row->cut);
    field_u64(f, "nested", row->nested);
    if (by == INK_BY_SECTION)
      put_inside(f, s, row);
    field_u64(f, "total_cycles", row->total_cycles);
    field_u64(f, "min_cycles", row->min_cycles);
    field_u64(f, "median_cycles", row->median_cycles);
    field_u64(f, "p99_cycles", row->p99_cycles);
    field_u64(f, "max_cycles", row->max_cycles);
    field_double(f, "total_ns", row->total_ns);
    field_double(f, "min_ns", row->min_ns);
    field_double(f, "median_ns", row->median_ns);
    field_double(f, "p99_ns", row->p99_ns);
    field_double(f, "max_ns", row->max_ns);
    field_double(f, "bound_ns", row->bound_ns);
    field_bool(f, "below_bound", ink_table_row_below_bound(row));
    field_u64(f, "marking_cycles", row->marking_cycles);
    field_double(f, "marking_bound_cycles", row->marking_bound_cycles);
    field_bool(f, "below_marking_bound", ink_table_row_below_marking_bound(row));
    field_double(f, "share", row->share);
    field_double(f, "imbalance", row->imbalance);
    ink_file_text(f, "}");
  }
  ink_file_text(f, "]");
}

static void put_problems(ink_file *f, const ink_selection *s, const ink_table *table) {
  const ink_problem *problems;
  uint64_t total;
  size_t count = ink_table_problems(table, &problems, &total);
  ink_file_text(f, ",\n\"problems\": {\"total\": ");
  put_u64(f, total);
  ink_file_text(f, ", \"first\": [");
  for (size_t i = 0; i < count; i++) {
    const ink_problem *p = &problems[i];
    ink_stored_track track;
    char label[96];
    ink_capture_track(s->capture, p->track, &track);
    ink_track_label(&track.header, label, sizeof label);
    ink_file_print(f, "%s\n  {\"track\": %llu", i ? "," : "", (unsigned long long)p->track);
    field_text(f, "kernel", s->kernels[s->launches[track.launch].kernel].name);
    field_u64(f, "launch", track.launch);
    field_text(f, "place", label);
    field_text(f, "section", p->section == INK_SECTION_UNKNOWN ? NULL : ink_selection_section(s, p->section));
    field_u64(f, "times", p->times);
    field_u64(f, "word", p->word);
    field_bool(f, "called", p->called);
    field_text(f, "text", p->text);
    field_text(f, "advice", ink_problem_advice((enum ink_problem_kind)p->kind));
    ink_file_text(f, "}");
  }
  ink_file_text(f, "]}");
}

void ink_summary_json(ink_file *f, const ink_selection *s, const ink_table *table) {
  ink_file_print(f, "{\"schema_version\": %d,\n\"clock\": \"%s\"", INK_SUMMARY_SCHEMA,
                 ink_capture_simulated(s->capture) ? "simulated clock" : "GPU clock");
  field_u64(f, "launches", s->chosen_launches);
  field_u64(f, "tracks", s->chosen_tracks);
  field_i64(f, "begin_ns", s->begin_ns);
  field_i64(f, "end_ns", s->end_ns);
  put_capture(f, s->capture);
  put_devices(f, s);
  const ink_kernel_total *totals;
  size_t count = ink_table_kernels(table, &totals);
  ink_file_text(f, ",\n\"kernels\": [");
  for (size_t i = 0; i < count; i++) {
    ink_file_text(f, i ? "," : "");
    put_total(f, s, table, &totals[i]);
  }
  ink_file_text(f, "],\n\"statistics\": ");
  ink_summary_rows(f, s, table, INK_BY_SECTION);
  put_problems(f, s, table);
  ink_file_text(f, "}");
}

ink_status ink_selection_table(const ink_selection *s, enum ink_group_by by, ink_table **out,
                               ink_error *error) {
  const ink_table_options options = {.size = sizeof options,
                                     .by = by,
                                     .kernel_regex = s->options.kernel_regex,
                                     .launch = s->options.launch,
                                     .progress = s->options.progress,
                                     .user = s->options.user,
                                     .without_marking = s->without_marking};
  return ink_table_make(s->capture, s->map, &options, out, error);
}
