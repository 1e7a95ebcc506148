/* SPDX-License-Identifier: MIT */
/* The rows of a report in the order in which every format prints them, and how they are worded. */
#include "report.h"

#include "message.h"

#include <inttypes.h>
#include <stdlib.h>

const char *report_by_name(int by) {
  static const char *const names[] = {"section", "iteration", "block", "sm", "launch"};
  return names[by];
}

static int compare(const void *left, const void *right) {
  const ink_table_row *a = *(const ink_table_row *const *)left;
  const ink_table_row *b = *(const ink_table_row *const *)right;
  if (a->kernel != b->kernel)
    return a->kernel < b->kernel ? -1 : 1;
  if (a->group != b->group) /* no row and unknown rows are the smallest numbers: they come first */
    return a->group < b->group ? -1 : 1;
  if (a->section != b->section) /* INK_SECTION_UNKNOWN is the largest: "(unmarked)" comes last */
    return a->section < b->section ? -1 : 1;
  if (a->called != b->called)
    return a->called < b->called ? -1 : 1;
  return (a->summed > b->summed) - (a->summed < b->summed);
}

bool report_prepare(report_view *report) {
  const ink_table_row *rows;
  report->row_count = ink_table_rows(report->table, &rows);
  report->rows = malloc((report->row_count + 1) * sizeof *report->rows);
  if (!report->rows) {
    message_say("out of memory");
    return false;
  }
  for (size_t i = 0; i < report->row_count; i++)
    report->rows[i] = &rows[i];
  qsort(report->rows, report->row_count, sizeof *report->rows, compare);
  return true;
}

void report_release(report_view *report) {
  free(report->rows);
  ink_table_free(report->table);
  unload_capture(&report->loaded);
}

number_text report_group_name(const report_view *report, int64_t group) {
  number_text out;
  if (group == INK_ROW_NONE)
    snprintf(out.text, sizeof out.text, "(none)");
  else if (group == INK_ROW_UNKNOWN)
    snprintf(out.text, sizeof out.text, "(unknown)");
  else
    snprintf(out.text, sizeof out.text, "%" PRId64, group);
  const ink_launch *launches;
  size_t n = ink_capture_launches(report->loaded.capture, &launches);
  if (report->settings->by == INK_BY_LAUNCH && group >= 0 && (uint64_t)group < n)
    snprintf(out.text, sizeof out.text, "%" PRId64 " (grid %" PRIu64 ")", group,
             launches[group].grid_id);
  return out;
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
