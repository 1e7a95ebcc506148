/* SPDX-License-Identifier: MIT */
/* A report as text: per kernel a table, and below it everything that the table leaves out. */
#include "report.h"

#include "message.h"
#include "style.h"
#include "text_out.h"

#include "inkmark/activity.h"

#include <stdlib.h>
#include <string.h>

static const char *const unit_names[] = {"cycles", "ns", "us"};

/* What no table shows. */
static void others(const ink_kernel_total *total, FILE *to) {
  const struct {
    uint64_t count;
    const char *one, *several;
  } all[] = {{total->async_ranges, "range of PROF_ASYNC", "ranges of PROF_ASYNC"},
             {total->instants, "PROF_EVENT", "PROF_EVENTs"},
             {total->values, "PROF_VALUE", "PROF_VALUEs"}};
  const char *between = "  not in the table: ";
  bool some = false;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (all[i].count) {
      text_print(to, "%s%s %s", between, number_whole(all[i].count).text,
              all[i].count == 1 ? all[i].one : all[i].several);
      between = ", ";
      some = true;
    }
  if (some)
    fputs("; 'inkmark export' shows them\n", to);
}

void report_kernel_name(const report_view *report, const ink_kernel_total *total, FILE *to) {
  const ink_kernel *kernels;
  const ink_device_info *devices;
  char instance[200];
  ink_capture_kernels(report->loaded.capture, &kernels);
  const ink_kernel *kernel = &kernels[total->kernel];
  const uint32_t section = (uint32_t)(kernel->key & 0xffff);
  const bool all = report->settings->by == INK_BY_INSTANCE && kernel->table && section - 1 < kernel->table->section_count;
  text_print(to, "kernel %s", all ? kernel->table->sections[section - 1] : kernel->name);
  if (kernel->table)
    text_print(to, " (%s)", kernel->table->name);
  const bool told = kernel->table && section - 1 < kernel->table->section_count &&
                    strcmp(kernel->name, kernel->table->sections[section - 1]) != 0;
  if (total->instance && total->instance != kernel->instance && !told) {
    ink_activity_short_name(total->instance, instance, sizeof instance);
    text_print(to, " as %s", report_short_is_one(report, total) ? instance : total->instance);
  }
  if (ink_capture_devices(report->loaded.capture, &devices) > 1 && report->settings->by != INK_BY_DEVICE)
    text_print(to, " on device %d", total->device);
}

static void kernel_title(const report_view *report, const ink_kernel_total *total, FILE *to) {
  /* A PROF_ITER is a record as a mark is; which of those that are lost were some is not known. */
  const uint64_t rows = total->rows_executed;
  const uint64_t marks = total->marks_executed - (rows ? rows : total->marks_dropped ? 0 : total->iterations);
  text_print(to, "\n%s", style_code(to, STYLE_BOLD));
  report_kernel_name(report, total, to);
  text_print(to, "%s: %s launch%s, %s track%s, ",
             style_code(to, STYLE_PLAIN), number_whole(total->launches).text, total->launches == 1 ? "" : "es",
             number_whole(total->tracks).text, number_plural(total->tracks));
  if (rows)
    text_print(to, "%s row%s, ", number_whole(rows).text, number_plural(rows));
  if (marks || !rows)
    text_print(to, "%s mark%s, ", number_whole(marks).text, number_plural(marks));
  text_print(to, "%s %s in all tracks\n",
          report_time(report, total->total_cycles, total->total_ns).text,
          unit_names[report->settings->unit]);
}

static bool kernel_report(const report_view *report, size_t part, FILE *to) {
  const ink_kernel_total *totals;
  ink_table_kernels(report->table, &totals);
  const ink_kernel_total *total = &totals[part];
  const size_t first = report_first_row(report, part), last = report_first_row(report, part + 1);
  kernel_title(report, total, to);
  report_shared(report, total, to);
  bool fine = true;
  const int by = report->settings->by;
  const bool kept = total->marks_dropped && by != INK_BY_ITERATION && !report->settings->kept;
  if (first == last)
    fputs("  no section was passed\n", to);
  else if (kept)
    fine = report_kept(report, total, first, last, to);
  else if (by == INK_BY_SECTION)
    fine = report_sections(report, first, last, to);
  else
    fine = report_matrix(report, first, last, to);
  if (report->settings->quiet)
    return fine;
  if (!kept)
    report_doubts(report, first, last, to);
  fine = report_crossings(report, total, to) && fine;
  report_launches(report, total, to);
  report_unseen(report, total, to);
  others(total, to);
  if (!kept)
    report_marking(report, total, first, last, to);
  report_left_out(report, total, to);
  if (kept)
    return fine;
  report_cut(report, first, last, to);
  report_nested(report, first, last, to);
  return fine;
}

/* A line for each kernel. */
static bool overview(const report_view *report, const size_t *order, size_t n, FILE *to) {
  const ink_kernel_total *totals;
  const size_t shown = report->settings->top && report->settings->top < n ? report->settings->top : n;
  uint64_t all = 0;
  ink_table_kernels(report->table, &totals);
  for (size_t i = 0; i < n; i++)
    all += totals[i].total_cycles;
  for (size_t i = 0; i < shown; i++) {
    const ink_kernel_total *total = &totals[order[i]];
    report_kernel_name(report, total, to);
    text_print(to, ": %s %s in %s launch%s, %.1f %% of all\n",
            report_time(report, total->total_cycles, total->total_ns).text,
            unit_names[report->settings->unit], number_whole(total->launches).text,
            total->launches == 1 ? "" : "es", all ? 100.0 * (double)total->total_cycles / (double)all : 0);
  }
  return true;
}

/* How good the nanoseconds are: only where the table shows any. */
static void clock_lines(const report_view *report, FILE *to) {
  const ink_clock_quality *quality;
  size_t n = ink_clock_map_quality(report->loaded.map, &quality);
  for (size_t i = 0; i < n && report->settings->unit != REPORT_CYCLES; i++) {
    const ink_clock_quality *q = &quality[i];
    if (q->sms_refused)
      text_print(to,
              "device %d: globaltimer ran back by up to %s ns, because a timer restarted: no bound on the "
              "times is known",
              q->device, number_whole(q->went_back_ns).text);
    else if (q->bound_ns == INT64_MAX)
      text_print(to, "device %d: too few clock readings to say how good a time is", q->device);
    else
      text_print(to, "device %d: any single time is good to %s ns", q->device,
              number_whole((uint64_t)q->bound_ns).text);
    if (q->timer_step_ns)
      text_print(to, " (globaltimer steps by %u ns)", q->timer_step_ns);
    if (q->sms_guessed)
      text_print(to, "; %u of %u SMs have too few readings for a rate of their own", q->sms_guessed,
              q->sms_seen);
    if (q->sms_changed)
      text_print(to, "; the rate of %u of %u SMs changed, and each time is at the rate of its moment", q->sms_changed,
              q->sms_seen);
    fputc('\n', to);
  }
}

bool report_text(const report_view *report, report_sink *sink) {
  FILE *to = sink->to;
  const ink_capture *capture = report->loaded.capture;
  const char *program = ink_capture_fact(capture, "command");
  const char *incomplete = load_incomplete(capture);
  if (sink->follows)
    fputc('\n', to);
  sink->follows = true;
  text_print(to, "%s%s%s%s%s%s\n", report->loaded.path, program ? ": " : "", program ? program : "",
          incomplete ? " (" : "", incomplete ? incomplete : "", incomplete ? ")" : "");
  if (ink_capture_simulated(capture))
    text_print(to, "%s%s%s\n", style_code(to, STYLE_WARNING), LOAD_SIMULATED_LINE,
            style_code(to, STYLE_PLAIN));
  const ink_kernel_total *totals;
  const size_t n = ink_table_kernels(report->table, &totals);
  size_t *order = report_kernel_order(report);
  bool fine = order != NULL;
  if (!report->settings->quiet) {
    report_unfinished(report, to);
    report_marking_note(report, to);
    clock_lines(report, to);
  }
  if (fine && report->settings->head) {
    fine = overview(report, order, n, to);
  } else {
    for (size_t i = 0; i < n && fine; i++)
      fine = kernel_report(report, order[i], to);
    if (!report->settings->quiet)
      report_unseen_of_several(report, to);
  }
  report_findings(report, to);
  if (!n)
    fputs("\nno kernel was recorded\n", to);
  if (!report->settings->quiet)
    report_problems(report, to);
  free(order);
  return fine;
}
