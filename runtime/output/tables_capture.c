/* SPDX-License-Identifier: MIT */
/* What the JSON of tables tells of a capture beside its kernels: facts, tracks that never closed, devices with
 * their clocks, and problems. */
#include "tables_object.h"

#include "text_write.h"

#define SAFE_MAX ((uint64_t)1 << 53)

void ink_json_key(ink_file *file, const char *name) { ink_file_print(file, ", \"%s\": ", name); }

void ink_json_u64(ink_file *file, const char *name, uint64_t value) {
  ink_json_key(file, name);
  char *p = ink_file_room(file, 32);
  if (value >= SAFE_MAX)
    *p++ = '"';
  p = text_u64(p, value);
  if (value >= SAFE_MAX)
    *p++ = '"';
  ink_file_took(file, p);
}

void ink_json_i64(ink_file *file, const char *name, int64_t value) {
  const bool safe = value < (int64_t)SAFE_MAX && value > -(int64_t)SAFE_MAX;
  ink_json_key(file, name);
  char *p = ink_file_room(file, 32);
  if (!safe)
    *p++ = '"';
  p = text_i64(p, value);
  if (!safe)
    *p++ = '"';
  ink_file_took(file, p);
}

void ink_json_double(ink_file *file, const char *name, double value) {
  ink_json_key(file, name);
  ink_file_took(file, text_double(ink_file_room(file, 64), value));
}

void ink_json_text(ink_file *file, const char *name, const char *text) {
  ink_json_key(file, name);
  if (text)
    ink_file_json_string(file, text);
  else
    ink_file_text(file, "null");
}

void ink_json_bool(ink_file *file, const char *name, bool value) {
  ink_json_key(file, name);
  ink_file_text(file, value ? "true" : "false");
}

static void put_section(ink_file *f, const ink_selection *s, const char *name, ink_section_index section) {
  ink_json_text(f, name, section == INK_SECTION_UNKNOWN ? NULL : ink_selection_section(s, section));
}

static void put_open_track(ink_file *f, const ink_selection *s, const ink_open_track *open) {
  const ink_place *p = &open->place;
  ink_stored_track track;
  char label[160];
  ink_capture_track(s->capture, open->track, &track);
  ink_track_label(&track, label, sizeof label);
  ink_file_print(f, "{\"track\": %llu", (unsigned long long)open->track);
  ink_json_text(f, "kernel", ink_selection_kernel_name(s, track.kernel));
  ink_json_u64(f, "launch", open->launch);
  ink_json_text(f, "place", label);
  ink_json_bool(f, "known", p->known);
  put_section(f, s, "inside", p->inside);
  if (p->inside != INK_SECTION_UNKNOWN && open->seen_known)
    ink_json_u64(f, "inside_ns", (uint64_t)(open->inside_ns > 0 ? open->inside_ns : 0));
  put_section(f, s, "after", p->after);
  if (p->row != INK_ROW_NONE && p->row != INK_ROW_UNKNOWN)
    ink_json_i64(f, "row", p->row);
  ink_json_bool(f, "newest", p->newest);
  ink_json_bool(f, "cut", open->cut);
  ink_json_i64(f, "seen_ns", open->seen_ns);
  ink_file_text(f, "}");
}

static ink_status put_open_tracks(ink_file *f, const ink_selection *s, ink_error *error) {
  ink_open_track *open = NULL;
  size_t count = 0;
  ink_status status = ink_open_tracks(s->capture, s->map, &open, &count, error);
  if (status != INK_OK)
    return status;
  ink_json_key(f, "open");
  ink_file_text(f, "[");
  for (size_t i = 0, n = 0; i < count && (!s->open_most || n < s->open_most); i++) {
    if (!ink_selection_has(s, open[i].launch))
      continue;
    ink_file_text(f, n++ ? ",\n  " : "\n  ");
    put_open_track(f, s, &open[i]);
  }
  ink_file_text(f, "]");
  ink_open_tracks_free(open);
  return INK_OK;
}

static void put_quality(ink_file *f, const ink_clock_quality *q) {
  ink_json_key(f, "clock_quality");
  if (!q) {
    ink_file_text(f, "null");
    return;
  }
  ink_file_print(f, "{\"has_host\": %s", q->has_host ? "true" : "false");
  ink_json_u64(f, "timer_step_ns", q->timer_step_ns);
  ink_json_double(f, "slope_min_hz", q->slope_min_hz);
  ink_json_double(f, "slope_max_hz", q->slope_max_hz);
  ink_json_double(f, "residual_max_ns", q->residual_max_ns);
  ink_json_i64(f, "host_offset_ns", q->host_offset_ns);
  ink_json_i64(f, "host_bound_ns", q->host_bound_ns);
  ink_json_double(f, "host_drift_ppm", q->host_drift_ppm);
  if (q->bound_ns == INT64_MAX) /* nothing can be said */
    ink_json_text(f, "bound_ns", NULL);
  else
    ink_json_i64(f, "bound_ns", q->bound_ns);
  ink_json_double(f, "sm_bound_ns", q->sm_bound_ns);
  ink_json_double(f, "edge_bound_ns", q->edge_bound_ns);
  ink_json_double(f, "slope_bound_ppm", q->slope_bound_ppm);
  ink_json_u64(f, "sms_seen", q->sms_seen);
  ink_json_u64(f, "sms_guessed", q->sms_guessed);
  ink_json_u64(f, "sms_changed", q->sms_changed);
  ink_json_u64(f, "sms_refused", q->sms_refused);
  ink_json_u64(f, "sms_calibrated", q->sms_calibrated);
  ink_json_u64(f, "calibrations", q->calibrations);
  ink_file_text(f, "}");
}

static void put_devices(ink_file *f, const ink_selection *s) {
  ink_file_text(f, ",\n\"devices\": [");
  for (size_t i = 0; i < s->device_count; i++) {
    const ink_device_info *d = &s->devices[i];
    ink_file_print(f, "%s\n  {\"index\": %d", i ? "," : "", d->index);
    ink_json_text(f, "name", d->name);
    ink_json_text(f, "clock", d->simulated ? "simulated clock" : "GPU clock");
    ink_json_bool(f, "simulated", d->simulated);
    ink_json_u64(f, "sm_count", d->sm_count);
    ink_json_u64(f, "capability", d->capability);
    ink_json_u64(f, "clock_khz", d->clock_khz);
    ink_json_u64(f, "track_count", d->track_count);
    ink_json_u64(f, "records_per_track", d->records_per_track);
    ink_json_text(f, "granularity", d->flags & INK_BUFFER_PER_WARP ? "warp" : "block");
    ink_json_text(f, "keep", d->flags & INK_BUFFER_KEEP_FIRST ? "first" : "last");
    put_quality(f, ink_selection_quality(s, d->index));
    ink_file_text(f, "}");
  }
  ink_file_text(f, "]");
}

ink_status ink_tables_head(ink_file *f, const ink_selection *s, const char *name, enum ink_group_by by,
                           ink_error *error) {
  static const char *const facts_told[] = {"command", "host", "pid", "started_ns", "version"};
  static const char *const groups[] = {"section", "iteration", "block",  "sm",
                                       "launch",  "warp",      "device", "instance", "role"};
  const ink_capture_facts *facts = ink_capture_get_facts(s->capture);
  ink_file_text(f, "{\"file\": ");
  if (name)
    ink_file_json_string(f, name);
  else
    ink_file_text(f, "null");
  for (size_t i = 0; i < sizeof facts_told / sizeof *facts_told; i++)
    ink_json_text(f, facts_told[i], ink_capture_fact(s->capture, facts_told[i]));
  ink_file_text(f, ",\n\"simulated_clock\": ");
  ink_file_text(f, ink_capture_simulated(s->capture) ? "true" : "false");
  ink_json_u64(f, "format_version", facts->version);
  ink_json_bool(f, "complete", facts->complete);
  ink_json_u64(f, "file_bytes", facts->file_bytes);
  ink_json_u64(f, "used_bytes", facts->used_bytes);
  ink_json_u64(f, "damaged_chunks", facts->damaged_chunks);
  ink_json_u64(f, "unknown_kernels", facts->unknown_kernels);
  ink_json_text(f, "note", facts->note[0] ? facts->note : NULL);
  ink_json_u64(f, "open_tracks", facts->open_tracks);
  ink_status status = put_open_tracks(f, s, error);
  ink_file_text(f, ",\n\"by\": ");
  ink_file_json_string(f, groups[by]);
  ink_json_u64(f, "launches", s->chosen_launches);
  ink_json_u64(f, "tracks", s->chosen_tracks);
  ink_json_i64(f, "begin_ns", s->begin_ns);
  ink_json_i64(f, "end_ns", s->end_ns);
  put_devices(f, s);
  return status;
}

void ink_tables_findings(ink_file *f, const ink_table *table) {
  const ink_finding *findings;
  const size_t count = ink_table_findings(table, &findings);
  ink_file_text(f, ",\n\"findings\": [");
  for (size_t i = 0; i < count; i++) {
    ink_file_text(f, i ? ",\n  {\"id\": " : "\n  {\"id\": ");
    ink_file_json_string(f, findings[i].id);
    ink_json_u64(f, "kernel_index", findings[i].part);
    ink_json_text(f, "text", findings[i].text);
    ink_json_double(f, "cost_cycles", findings[i].cost_cycles);
    ink_json_key(f, "numbers");
    for (size_t k = 0; k < findings[i].number_count; k++) {
      ink_file_print(f, "%s\"%s\": ", k ? ", " : "{", findings[i].numbers[k].name);
      ink_file_took(f, text_double(ink_file_room(f, 64), findings[i].numbers[k].value));
    }
    ink_file_text(f, "}}");
  }
  ink_file_text(f, "]");
}

void ink_tables_problems(ink_file *f, const ink_selection *s, const ink_table *table) {
  const ink_problem *problems;
  uint64_t total;
  const size_t count = ink_table_problems(table, &problems, &total);
  ink_json_u64(f, "problem_count", total);
  ink_file_text(f, ",\n\"problems\": [");
  for (size_t i = 0; i < count; i++) {
    const ink_problem *p = &problems[i];
    ink_stored_track track;
    char label[160];
    ink_capture_track(s->capture, p->track, &track);
    ink_track_label(&track, label, sizeof label);
    ink_file_text(f, i ? ",\n  {\"text\": " : "\n  {\"text\": ");
    ink_file_json_string(f, p->text);
    put_section(f, s, "section", p->section);
    ink_json_u64(f, "times", p->times);
    ink_json_text(f, "kernel", ink_selection_kernel_name(s, track.kernel));
    ink_json_u64(f, "launch", track.launch);
    ink_json_text(f, "place", label);
    ink_json_u64(f, "block", ink_block_linear(&track.header));
    ink_json_u64(f, "warp", track.header.thread / 32);
    ink_json_text(f, "role", track.role_name);
    ink_json_u64(f, "track", p->track);
    ink_json_u64(f, "word", p->word);
    ink_json_bool(f, "called", p->called);
    ink_json_text(f, "advice", ink_problem_advice((enum ink_problem_kind)p->kind));
    ink_file_text(f, "}");
  }
  ink_file_text(f, "]");
}
