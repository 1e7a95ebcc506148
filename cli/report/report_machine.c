/* SPDX-License-Identifier: MIT */
/* A report as JSON and as CSV: the same rows in long form, with both cycles and ns. */
#include "report.h"
#include "text_out.h"

#include "open_tracks.h"

#include <inttypes.h>
#include <math.h>

static const char *section_table_name(const report_view *report, const ink_table_row *row) {
  const ink_section *sections;
  size_t n = ink_capture_sections(report->loaded.capture, &sections);
  return row->section < n ? sections[row->section].table->name : NULL;
}

/* An iteration's number is null where there is none, as the group of a plain section is. */
static void json_group(json_writer *json, const report_view *report, const ink_table_row *row) {
  if (report->settings->by == INK_BY_SECTION || row->group == INK_ROW_NONE ||
      row->group == INK_ROW_UNKNOWN)
    json_string(json, "group", row->group == INK_ROW_UNKNOWN ? "unknown" : NULL);
  else
    json_signed(json, "group", row->group);
}

/* Sections whose slices the row's lay directly in; null: the kernel's body. */
static void json_inside(json_writer *json, const report_view *report, const ink_table_row *row) {
  json_open(json, "inside", '[');
  for (uint32_t i = 0; i < row->inside_count; i++)
    json_string(json, NULL, row->inside[i] == INK_SECTION_UNKNOWN
                                ? NULL
                                : load_section_name(&report->loaded, row->inside[i]));
  json_close(json, ']');
}

static void json_row(json_writer *json, const report_view *report, const ink_table_row *row) {
  bool unmarked = row->section == INK_SECTION_UNKNOWN;
  json_open_flat(json, NULL);
  json_string(json, "section", load_section_name(&report->loaded, row->section));
  json_string(json, "table", section_table_name(report, row));
  json_group(json, report, row);
  json_unsigned(json, "depth", row->depth);
  json_bool(json, "called", row->called);
  if (report->settings->by == INK_BY_SECTION && !unmarked)
    json_inside(json, report, row);
  json_bool(json, "summed", row->summed);
  json_unsigned(json, "count", row->count);
  json_unsigned(json, "cut", row->cut);
  json_unsigned(json, "nested", row->nested);
  json_unsigned(json, "total_cycles", row->total_cycles);
  json_double(json, "total_ns", row->total_ns);
  if (!unmarked && row->count) {
    json_unsigned(json, "min_cycles", row->min_cycles);
    if (!row->summed) {
      json_unsigned(json, "median_cycles", row->median_cycles);
      json_unsigned(json, "p99_cycles", row->p99_cycles);
    }
    json_unsigned(json, "max_cycles", row->max_cycles);
    json_double(json, "min_ns", row->min_ns);
    if (!row->summed) {
      json_double(json, "median_ns", row->median_ns);
      json_double(json, "p99_ns", row->p99_ns);
    }
    json_double(json, "max_ns", row->max_ns);
  }
  json_double(json, "bound_ns", row->bound_ns); /* null: not known */
  json_bool(json, "below_bound", ink_table_row_below_bound(row));
  json_unsigned(json, "marking_cycles", row->marking_cycles);
  json_double(json, "marking_bound_cycles", row->marking_bound_cycles);
  json_bool(json, "below_marking_bound", report_below_bound(row));
  json_double(json, "share", row->share);
  if (!unmarked)
    json_double(json, "imbalance", row->imbalance);
  json_close(json, '}');
}

static void json_kernel(json_writer *json, const report_view *report,
                        const ink_kernel_total *total) {
  const ink_kernel *kernels;
  const ink_section_index *unseen;
  ink_capture_kernels(report->loaded.capture, &kernels);
  const ink_kernel *kernel = &kernels[total->kernel];
  json_open(json, NULL, '{');
  json_string(json, "kernel", kernel->name);
  json_string(json, "table", kernel->table ? kernel->table->name : NULL);
  json_unsigned(json, "launches", total->launches);
  json_unsigned(json, "tracks", total->tracks);
  json_unsigned(json, "marks_executed", total->marks_executed);
  json_unsigned(json, "marks_kept", total->marks_kept);
  json_unsigned(json, "marks_dropped", total->marks_dropped);
  json_bool(json, "dropped_at_least", total->marks_dropped_open != 0);
  json_unsigned(json, "tracks_partial", total->tracks_partial);
  json_unsigned(json, "missed", total->missed);
  json_unsigned(json, "tracks_lost", total->tracks_lost);
  json_unsigned(json, "marks_lost", total->marks_lost);
  json_unsigned(json, "total_cycles", total->total_cycles);
  json_double(json, "total_ns", total->total_ns);
  json_double(json, "bound_ns", total->bound_ns);
  json_unsigned(json, "unmarked_cycles", total->unmarked_cycles);
  json_double(json, "unmarked_ns", total->unmarked_ns);
  json_unsigned(json, "unknown_cycles", total->unknown_cycles);
  json_string(json, "marking", report_marking_word(total));
  json_unsigned(json, "marking_cycles", total->marking_cycles);
  json_double(json, "marking_bound_cycles", total->marking_bound_cycles);
  json_double(json, "outside_cycles", total->outside_cycles);
  json_unsigned(json, "async_ranges", total->async_ranges);
  json_unsigned(json, "instants", total->instants);
  json_unsigned(json, "values", total->values);
  json_open(json, "rows", '[');
  for (size_t i = 0; i < report->row_count; i++)
    if (report->rows[i]->kernel == total->kernel)
      json_row(json, report, report->rows[i]);
  json_close(json, ']');
  json_open(json, "unseen", '[');
  size_t n = ink_table_unseen(report->table, total->kernel, &unseen);
  for (size_t i = 0; i < n; i++)
    json_string(json, NULL, load_section_name(&report->loaded, unseen[i]));
  json_close(json, ']');
  json_close(json, '}');
}

static uint64_t linear_block(const ink_track *h) {
  return h->block_index[0] +
         (uint64_t)h->grid_dim[0] * (h->block_index[1] + (uint64_t)h->grid_dim[1] * h->block_index[2]);
}

static void json_problems(json_writer *json, const report_view *report) {
  const ink_problem *problems;
  const ink_launch *launches;
  const ink_kernel *kernels;
  uint64_t total;
  size_t n = ink_table_problems(report->table, &problems, &total);
  ink_capture_launches(report->loaded.capture, &launches);
  ink_capture_kernels(report->loaded.capture, &kernels);
  json_unsigned(json, "problem_count", total);
  json_open(json, "problems", '[');
  for (size_t i = 0; i < n; i++) {
    ink_stored_track track;
    ink_capture_track(report->loaded.capture, problems[i].track, &track);
    json_open_flat(json, NULL);
    json_string(json, "text", problems[i].text);
    json_string(json, "section", problems[i].section == INK_SECTION_UNKNOWN
                                     ? NULL
                                     : load_section_name(&report->loaded, problems[i].section));
    json_unsigned(json, "times", problems[i].times);
    json_string(json, "kernel", kernels[launches[track.launch].kernel].name);
    json_unsigned(json, "launch", track.launch);
    json_unsigned(json, "block", linear_block(&track.header));
    json_unsigned(json, "warp", track.header.thread / 32);
    json_unsigned(json, "track", problems[i].track);
    json_unsigned(json, "word", problems[i].word);
    json_bool(json, "called", problems[i].called);
    json_string(json, "advice", ink_problem_advice((enum ink_problem_kind)problems[i].kind));
    json_close(json, '}');
  }
  json_close(json, ']');
}

void report_json_begin(report_sink *sink) {
  sink->json = (json_writer){.to = sink->to};
  json_open(&sink->json, NULL, '{');
  json_unsigned(&sink->json, "schema_version", INK_CLI_SCHEMA_VERSION);
  json_string(&sink->json, "inkmark", INKMARK_VERSION);
  json_open(&sink->json, "captures", '[');
}

bool report_json(const report_view *report, report_sink *sink) {
  json_writer *json = &sink->json;
  const ink_capture *capture = report->loaded.capture;
  const ink_capture_facts *facts = ink_capture_get_facts(capture);
  const ink_clock_quality *quality;
  const ink_kernel_total *totals;
  json_open(json, NULL, '{');
  json_string(json, "file", report->loaded.path);
  json_string(json, "command", ink_capture_fact(capture, "command"));
  json_bool(json, "simulated_clock", ink_capture_simulated(capture));
  json_bool(json, "complete", facts->complete);
  json_unsigned(json, "open_tracks", facts->open_tracks);
  if (facts->open_tracks) {
    ink_open_track *open = NULL;
    size_t open_count = 0;
    if (!open_tracks_list(&report->loaded, &open, &open_count))
      return false;
    open_tracks_json(&report->loaded, open, open_count, json);
    ink_open_tracks_free(open);
  }
  json_unsigned(json, "unknown_kernels", facts->unknown_kernels);
  json_string(json, "note", facts->note[0] ? facts->note : NULL);
  json_string(json, "by", report_by_name(report->settings->by));
  json_open(json, "clocks", '[');
  size_t n = ink_clock_map_quality(report->loaded.map, &quality);
  for (size_t i = 0; i < n; i++) {
    json_open_flat(json, NULL);
    json_signed(json, "device", quality[i].device);
    json_bool(json, "unix_time", quality[i].has_host);
    if (quality[i].bound_ns == INT64_MAX) /* nothing can be said */
      json_string(json, "bound_ns", NULL);
    else
      json_signed(json, "bound_ns", quality[i].bound_ns);
    json_double(json, "sm_bound_ns", quality[i].sm_bound_ns);
    json_unsigned(json, "sms_changed", quality[i].sms_changed);
    json_unsigned(json, "sms_refused", quality[i].sms_refused);
    json_close(json, '}');
  }
  json_close(json, ']');
  json_open(json, "kernels", '[');
  n = ink_table_kernels(report->table, &totals);
  for (size_t i = 0; i < n; i++)
    json_kernel(json, report, &totals[i]);
  json_close(json, ']');
  json_problems(json, report);
  json_close(json, '}');
  return true;
}

void report_json_end(report_sink *sink) {
  json_close(&sink->json, ']');
  json_close(&sink->json, '}');
}

/* ---- CSV: one line a row; a field that does not apply is empty */

static void csv_quantiles(FILE *to, const ink_table_row *row) {
  bool extremes = row->section != INK_SECTION_UNKNOWN && row->count;
  bool quantiles = extremes && !row->summed;
  if (extremes)
    text_print(to, ",%" PRIu64, row->min_cycles);
  else
    fputc(',', to);
  if (quantiles)
    text_print(to, ",%" PRIu64 ",%" PRIu64, row->median_cycles, row->p99_cycles);
  else
    fputs(",,", to);
  if (extremes)
    text_print(to, ",%" PRIu64 ",%.3f,%.3f", row->max_cycles, row->total_ns, row->min_ns);
  else
    text_print(to, ",,%.3f,", row->total_ns);
  if (quantiles)
    text_print(to, ",%.3f,%.3f", row->median_ns, row->p99_ns);
  else
    fputs(",,", to);
  if (extremes)
    text_print(to, ",%.3f", row->max_ns);
  else
    fputc(',', to);
}

static void csv_row(const report_view *report, const ink_table_row *row, FILE *to) {
  const ink_kernel *kernels;
  ink_capture_kernels(report->loaded.capture, &kernels);
  const char *table = section_table_name(report, row);
  csv_field(to, report->loaded.path);
  text_print(to, ",%s,", ink_capture_simulated(report->loaded.capture) ? "simulated" : "gpu");
  csv_field(to, kernels[row->kernel].name);
  text_print(to, ",%s,", report_by_name(report->settings->by));
  if (row->group == INK_ROW_UNKNOWN)
    fputs("unknown", to);
  else if (report->settings->by != INK_BY_SECTION && row->group != INK_ROW_NONE)
    text_print(to, "%" PRId64, row->group);
  text_print(to, ",%s,", table ? table : "");
  csv_field(to, load_section_name(&report->loaded, row->section));
  text_print(to, ",%u,%d,%d,%" PRIu64 ",%" PRIu64 ",%" PRIu64, row->depth, row->called, row->summed,
          row->count, row->cut, row->total_cycles);
  csv_quantiles(to, row);
  text_print(to, ",%.6f,", row->share);
  if (row->section != INK_SECTION_UNKNOWN)
    text_print(to, "%.6f", row->imbalance);
  text_print(to, ",%" PRIu64 ",%.3f,", row->marking_cycles, row->marking_bound_cycles);
  if (isfinite(row->bound_ns))
    text_print(to, "%.3f", row->bound_ns);
  text_print(to, ",%d\n", ink_table_row_below_bound(row));
}

void report_csv_begin(report_sink *sink) {
  fputs("file,clock,kernel,by,group,table,section,depth,called,summed,count,cut,total_cycles,"
        "min_cycles,median_cycles,p99_cycles,max_cycles,total_ns,min_ns,median_ns,p99_ns,max_ns,"
        "share,imbalance,marking_cycles,marking_bound_cycles,bound_ns,below_bound\n",
        sink->to);
}

bool report_csv(const report_view *report, report_sink *sink) {
  for (size_t i = 0; i < report->row_count; i++)
    csv_row(report, report->rows[i], sink->to);
  return true;
}
