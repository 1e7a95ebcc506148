/* SPDX-License-Identifier: MIT */
/* What a report says of times that are shorter than the clocks are known to. */
#include "report.h"

#include "message.h"
#include "text_out.h"

static bool is_doubted(const report_view *report, const ink_table_row *row) {
  return report->settings->unit != REPORT_CYCLES && ink_table_row_below_bound(row);
}

const char *report_doubt(const report_view *report, const ink_table_row *row) {
  return is_doubted(report, row) ? "~" : "";
}

void report_doubts(const report_view *report, size_t first, size_t last, FILE *to) {
  size_t n = 0;
  double worst_ns = 0;
  for (size_t i = first; i < last; i++) {
    const ink_table_row *row = report->rows[i];
    if (!is_doubted(report, row))
      continue;
    n++;
    if (row->bound_ns / (double)row->count > worst_ns)
      worst_ns = row->bound_ns / (double)row->count;
  }
  if (n)
    text_print(to, "  ~ a time is less than the clocks are known to: in %zu row%s, a slice to %s ns\n", n,
            n == 1 ? "" : "s", number_fraction(worst_ns, 1).text);
}
