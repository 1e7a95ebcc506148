/* SPDX-License-Identifier: MIT */
/* What stands out, at the end of a report: the costliest findings first. */
#include "report.h"

#include "commands.h"
#include "message.h"
#include "style.h"
#include "text_out.h"

#include <string.h>

enum { FINDINGS_SHOWN = 5 };

static bool is_silenced(const char *list, const char *id) {
  const size_t length = strlen(id);
  while (list && *list) {
    const size_t one = strcspn(list, ",");
    if (one == length && !strncmp(list, id, length))
      return true;
    list += one + (list[one] == ',');
  }
  return false;
}

int report_silence_check(const report_settings *settings) {
  static const char *const ids[] = {"tail", "wait", "late", "outlier", "first-launch"};
  const char *list = settings->silence;
  while (list && *list) {
    const size_t one = strcspn(list, ",");
    bool known = false;
    for (size_t i = 0; i < sizeof ids / sizeof *ids && !known; i++)
      known = strlen(ids[i]) == one && !strncmp(list, ids[i], one);
    if (!known)
      return cli_usage_error(&cmd_report, "'--silence' knows tail, wait, late, outlier and first-launch, not '%.*s'", (int)one, list);
    list += one + (list[one] == ',');
  }
  return CLI_OK;
}

void report_findings(const report_view *report, FILE *to) {
  const ink_finding *findings;
  const ink_kernel_total *totals;
  const size_t n = ink_table_findings(report->table, &findings);
  const size_t parts = ink_table_kernels(report->table, &totals);
  size_t shown = 0, left = 0;
  for (size_t i = 0; i < n; i++) {
    if (is_silenced(report->settings->silence, findings[i].id))
      continue;
    if (shown == FINDINGS_SHOWN && !report->settings->all) {
      left++;
      continue;
    }
    if (!shown++)
      text_print(to, "\n%sfindings%s\n", style_code(to, STYLE_BOLD), style_code(to, STYLE_PLAIN));
    fputs("  ", to);
    if (parts > 1) {
      report_kernel_name(report, &totals[findings[i].part], to);
      fputs(": ", to);
    }
    text_print(to, "%s [%s]\n", findings[i].text, findings[i].id);
  }
  if (left)
    text_print(to, "  %zu more (--all)\n", left);
}
