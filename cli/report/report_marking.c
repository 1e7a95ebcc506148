/* SPDX-License-Identifier: MIT */
/* What a report says of the marks' own cost: taken out of the times or not, how much, how well
 * known. */
#include "report.h"

#include "message.h"
#include "text_out.h"

static const ink_mark_costs *costs_of(const report_view *report, int32_t device) {
  const ink_mark_costs *list;
  size_t n = ink_capture_mark_costs(report->loaded.capture, &list);
  for (size_t i = 0; i < n; i++)
    if (list[i].device == device)
      return &list[i];
  return NULL;
}

void report_marking_note(const report_view *report, FILE *to) {
  const ink_device_info *devices;
  size_t n = ink_capture_devices(report->loaded.capture, &devices);
  if (report->settings->raw) {
    fputs("raw: the times include the marks' own cost\n", to);
    return;
  }
  for (size_t i = 0; i < n; i++) {
    const ink_mark_costs *costs = costs_of(report, devices[i].index);
    if (costs && costs->count && !costs->note[0])
      continue;
    text_print(to, "device %d: the times include the marks' own cost, which was not measured",
            devices[i].index);
    if (costs && costs->note[0])
      text_print(to, " (%s)", costs->note);
    fputc('\n', to);
  }
}

/* The unit of the settings, at the kernel's own mean rate. */
static number_text time_of(const report_view *report, const ink_kernel_total *total,
                           double cycles) {
  const double rate = total->total_cycles ? total->total_ns / (double)total->total_cycles : 0;
  return report_time(report, (uint64_t)(cycles + 0.5), cycles * rate);
}

bool report_below_bound(const ink_table_row *row) {
  return ink_table_row_below_marking_bound(row);
}

/* The sections of which nothing can be said but that they are short. */
static void too_short(const report_view *report, size_t first, size_t last, FILE *to) {
  uint64_t n = 0;
  if (report->settings->by != INK_BY_SECTION)
    return;
  for (size_t i = first; i < last; i++)
    if (report_below_bound(report->rows[i]))
      text_print(to, "%s%s", n++ ? ", " : "  less is left than the marks' cost is known to: ",
              load_section_name(&report->loaded, report->rows[i]->section));
  if (n)
    fputc('\n', to);
}

void report_marking(const report_view *report, const ink_kernel_total *total, size_t first, size_t last, FILE *to) {
  const double whole = (double)total->total_cycles + (double)total->marking_cycles;
  if (total->rows_executed && !report->settings->raw && whole > 0)
    text_print(to, "  marks: what they cost in tracks of rows was not measured, and is in the times\n");
  if (!total->without_marking || whole <= 0)
    return;
  static const char *const units[] = {"cycles", "ns", "us"};
  const char *unit = units[report->settings->unit];
  text_print(to, "  marks: their own cost in one warp alone, %s %s (%.1f %% of the tracks' time, known to %s), is taken out;",
          time_of(report, total, (double)total->marking_cycles).text, unit,
          100 * (double)total->marking_cycles / whole,
          time_of(report, total, total->marking_bound_cycles).text);
  text_print(to, " opening, closing and sums took about %s more\n",
          time_of(report, total, total->outside_cycles).text);
  too_short(report, first, last, to);
}
