/* SPDX-License-Identifier: MIT */
/* A report as CSV: rows in long form, with both cycles and ns. */
#include "report.h"
#include "text_out.h"

#include <inttypes.h>
#include <math.h>

static const char *section_table_name(const report_view *report, const ink_table_row *row) {
  const ink_section *sections;
  size_t n = ink_capture_sections(report->loaded.capture, &sections);
  return row->section < n ? sections[row->section].table->name : NULL;
}

/* One line a row; a field that does not apply is empty. */

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

/* What stands behind the columns that version 0.1 had. */
static void csv_more(const report_view *report, const ink_table_row *row, FILE *to) {
  const ink_kernel_total *totals;
  ink_table_kernels(report->table, &totals);
  const ink_kernel_total *total = &totals[row->part];
  const bool extremes = row->section != INK_SECTION_UNKNOWN && row->count;
  text_print(to, ",%d,", total->device);
  csv_field(to, total->instance ? total->instance : "");
  if (row->self_known && row->section != INK_SECTION_UNKNOWN)
    text_print(to, ",%" PRIu64 ",%.3f", row->self_cycles, row->self_ns);
  else
    fputs(",,", to);
  if (extremes && !row->summed)
    text_print(to, ",%" PRIu64, row->p1_cycles);
  else
    fputc(',', to);
  if (report->settings->by == INK_BY_ITERATION)
    text_print(to, ",%" PRIu64, row->passes);
  else
    fputc(',', to);
  if (extremes && row->max_track != UINT64_MAX) {
    ink_stored_track track;
    ink_capture_track(report->loaded.capture, row->max_track, &track);
    text_print(to, ",%u,%" PRIu64 ",%u,", track.launch, report_linear_block(&track.header),
               track.header.thread / 32);
    if (row->max_iteration != INK_ROW_NONE && row->max_iteration != INK_ROW_UNKNOWN)
      text_print(to, "%" PRId64, row->max_iteration);
  } else {
    fputs(",,,,", to);
  }
  fputc('\n', to);
}

static void csv_row(const report_view *report, const ink_table_row *row, FILE *to) {
  const ink_kernel *kernels;
  ink_capture_kernels(report->loaded.capture, &kernels);
  const char *table = section_table_name(report, row);
  csv_field(to, report->loaded.path);
  text_print(to, ",%s,", ink_capture_simulated(report->loaded.capture) ? "simulated" : "gpu");
  csv_field(to, kernels[row->kernel].name);
  text_print(to, ",%s,", report_by_name(report->settings->by));
  if ((report->settings->by == INK_BY_INSTANCE || (report->settings->by == INK_BY_ROLE && row->group != INK_NO_ROLE)))
    csv_field(to, report_group_name(report, row->group));
  else if (row->group == INK_ROW_UNKNOWN)
    fputs("unknown", to);
  else if (report->settings->by != INK_BY_SECTION && report->settings->by != INK_BY_ROLE && row->group != INK_ROW_NONE)
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
  text_print(to, ",%d", ink_table_row_below_bound(row));
  csv_more(report, row, to);
}

void report_csv_begin(report_sink *sink) {
  fputs("file,clock,kernel,by,group,table,section,depth,called,summed,count,cut,total_cycles,"
        "min_cycles,median_cycles,p99_cycles,max_cycles,total_ns,min_ns,median_ns,p99_ns,max_ns,"
        "share,imbalance,marking_cycles,marking_bound_cycles,bound_ns,below_bound,device,instance,"
        "self_cycles,self_ns,p1_cycles,passes,max_launch,max_block,max_warp,max_iteration\n",
        sink->to);
}

bool report_csv(const report_view *report, report_sink *sink) {
  for (size_t i = 0; i < report->row_count; i++)
    csv_row(report, report->rows[i], sink->to);
  return true;
}
