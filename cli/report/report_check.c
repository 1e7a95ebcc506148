/* SPDX-License-Identifier: MIT */
/* `inkmark report --check`: an expression about the table that must hold, 'KERNEL/SECTION WHAT OP NUMBER[UNIT]'. */
#include "report.h"

#include "commands.h"
#include "message.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct check_expression {
  char kernel[200], section[200], what[32], op[4], unit[16];
  double number;
} check_expression;

static const char *const whats[] = {"total", "self", "mean", "min", "p1", "median", "p99", "max",
                                    "count", "imbalance", "share"};

static bool is_one_of(const char *word, const char *const *words, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!strcmp(word, words[i]))
      return true;
  return false;
}

/* "20 us" becomes "20us". */
static void join_unit(char *text) {
  static const char *const units[] = {"cycles", "ns", "us", "ms", "%"};
  char *space = strrchr(text, ' ');
  if (space && space > text && strchr("0123456789.", space[-1]) && is_one_of(space + 1, units, sizeof units / sizeof *units))
    memmove(space, space + 1, strlen(space + 1) + 1);
}

/* NULL: it was read; else what is wrong with it. */
static const char *parse(const char *text, check_expression *out) {
  static const char *const ops[] = {"<", "<=", ">", ">="}, *const units[] = {"cycles", "ns", "us", "ms"};
  char name[420], number[64], *end;
  const char *slash = strchr(text, '/');
  memset(out, 0, sizeof *out);
  if (strlen(text) >= sizeof out->section || !slash || slash == text || (size_t)(slash - text) >= sizeof out->kernel)
    return "it begins with KERNEL/SECTION";
  memcpy(out->kernel, text, (size_t)(slash - text));
  /* A section's name may hold spaces: the last three words are the rest. */
  snprintf(name, sizeof name, "%s", slash + 1);
  join_unit(name);
  char *words[3] = {NULL, NULL, NULL};
  for (int i = 2; i >= 0; i--) {
    char *space = strrchr(name, ' ');
    if (!space)
      return "behind the section come a statistic, < or >, and a number";
    words[i] = strdup(space + 1);
    *space = 0;
  }
  snprintf(out->section, sizeof out->section, "%.199s", name);
  snprintf(out->what, sizeof out->what, "%s", words[0] ? words[0] : "");
  snprintf(out->op, sizeof out->op, "%.3s", words[1] ? words[1] : "");
  snprintf(number, sizeof number, "%s", words[2] ? words[2] : "");
  for (int i = 0; i < 3; i++)
    free(words[i]);
  if (!is_one_of(out->what, whats, sizeof whats / sizeof *whats))
    return "the statistic is none of total, self, mean, min, p1, median, p99, max, count, imbalance, share";
  if (!is_one_of(out->op, ops, 4))
    return "compare with <, <=, > or >=";
  out->number = strtod(number, &end);
  if (end == number || !isfinite(out->number))
    return "there is no number at the end";
  if (number[strcspn(number, "xX")] && number + strcspn(number, "xX") < end) /* strtod reads hexadecimal too */
    return "the number is not decimal";
  snprintf(out->unit, sizeof out->unit, "%.15s", end);
  const bool plain = !strcmp(out->what, "count") || !strcmp(out->what, "imbalance");
  const bool share = !strcmp(out->what, "share");
  if (plain ? out->unit[0] != 0 : share ? strcmp(out->unit, "%") != 0 : out->unit[0] && !is_one_of(out->unit, units, 4))
    return "the unit does not go with the statistic";
  return NULL;
}

int report_check_parse(const report_settings *settings) {
  check_expression expression;
  const char *wrong = settings->check ? parse(settings->check, &expression) : NULL;
  if (!wrong && settings->check && settings->by != INK_BY_SECTION)
    wrong = "it is of sections, not of other groups";
  return wrong ? cli_usage_error(&cmd_report, "cannot check '%s': %s", settings->check, wrong) : CLI_OK;
}

/* False: the row has no such number. */
static bool value_of(const ink_table_row *row, const check_expression *e, double *out) {
  const double counted = (double)(row->count - row->nested);
  const struct {
    const char *what;
    double cycles, ns;
    bool known;
  } all[] = {{"total", (double)row->total_cycles, row->total_ns, true},
             {"self", (double)row->self_cycles, row->self_ns, row->self_known},
             {"mean", (double)row->total_cycles / counted, row->total_ns / counted, counted > 0},
             {"min", (double)row->min_cycles, row->min_ns, true},
             {"p1", (double)row->p1_cycles, row->p1_ns, !row->summed},
             {"median", (double)row->median_cycles, row->median_ns, !row->summed},
             {"p99", (double)row->p99_cycles, row->p99_ns, !row->summed},
             {"max", (double)row->max_cycles, row->max_ns, true},
             {"count", (double)row->count, (double)row->count, true},
             {"imbalance", row->imbalance, row->imbalance, true},
             {"share", row->share * 100, row->share * 100, true}};
  const double unit = !strcmp(e->unit, "us") ? 1e3 : !strcmp(e->unit, "ms") ? 1e6 : 1;
  const bool ns = !strcmp(e->unit, "ns") || unit > 1;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (!strcmp(all[i].what, e->what)) {
      *out = ns ? all[i].ns / unit : all[i].cycles;
      return all[i].known && row->count && isfinite(*out);
    }
  return false;
}

static bool holds(double value, const check_expression *e) {
  return !strcmp(e->op, "<")    ? value < e->number
         : !strcmp(e->op, "<=") ? value <= e->number
         : !strcmp(e->op, ">")  ? value > e->number
                                : value >= e->number;
}

/* " on device 1", where there are several: the condition is of each. */
static const char *place_of(const report_view *report, const ink_kernel_total *total, char *text, size_t bytes) {
  const ink_device_info *devices;
  text[0] = 0;
  if (ink_capture_devices(report->loaded.capture, &devices) > 1)
    snprintf(text, bytes, " on device %d", total->device);
  return text;
}

static bool is_sum(const check_expression *e) {
  return !strcmp(e->what, "total") || !strcmp(e->what, "self") || !strcmp(e->what, "count");
}

/* Some launch of the part has blocks without a track: they were not chosen, or lost. */
static bool lacks_blocks(const report_view *report, uint32_t part) {
  const ink_launch *launches;
  const ink_kernel_total *totals;
  const size_t n = ink_capture_launches(report->loaded.capture, &launches);
  ink_table_kernels(report->table, &totals);
  bool lacks = totals[part].missed || totals[part].tracks_lost;
  for (size_t i = 0; i < n && !lacks; i++)
    lacks = launches[i].one_of > 1 && ink_table_part_of(report->table, (uint32_t)i, launches[i].kernel) == part;
  return lacks;
}

bool report_check(const report_view *report, bool *fine) {
  char place[40];
  const ink_kernel_total *totals;
  const ink_kernel *kernels;
  check_expression e;
  size_t met = 0;
  bool all = true;
  parse(report->settings->check, &e);
  ink_table_kernels(report->table, &totals);
  ink_capture_kernels(report->loaded.capture, &kernels);
  for (size_t i = 0; i < report->row_count; i++) {
    const ink_table_row *row = report->rows[i];
    double value;
    if (strcmp(kernels[row->kernel].name, e.kernel) || strcmp(load_section_name(&report->loaded, row->section), e.section))
      continue;
    if (totals[row->part].marks_dropped || !value_of(row, &e, &value)) {
      message_say("'%s': '%s' cannot be judged: %s", report->loaded.path, report->settings->check,
                  totals[row->part].marks_dropped ? "marks were dropped" : "the section has no such number");
      *fine = false;
      return true;
    }
    met++;
    const bool fits = holds(value, &e);
    if (is_sum(&e) && lacks_blocks(report, row->part) && fits == (e.op[0] == '<')) { /* with the others it may be otherwise */
      message_say("'%s': '%s' cannot be judged: blocks of the kernel were not recorded, and would add to the %s%s",
                  report->loaded.path, report->settings->check, e.what, place_of(report, &totals[row->part], place, sizeof place));
      *fine = false;
      return true;
    }
    if (fits)
      continue;
    message_say("'%s': '%s' does not hold%s: it is %.6g%s", report->loaded.path, report->settings->check,
                place_of(report, &totals[row->part], place, sizeof place), value, e.unit);
    all = false;
  }
  if (!met) {
    message_say("'%s': no section '%s' of a kernel '%s' was passed", report->loaded.path, e.section, e.kernel);
    *fine = false;
  }
  return all;
}
