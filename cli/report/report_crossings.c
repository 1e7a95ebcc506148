/* SPDX-License-Identifier: MIT */
/* What a report says of ranges across threads, and of launches that may be several. */
#include "report.h"

#include "message.h"
#include "text_out.h"

#include <inttypes.h>
#include <math.h>

static const char *role_name(const report_view *report, uint32_t role) {
  return role == INK_SECTION_UNKNOWN ? NULL : load_section_name(&report->loaded, role);
}

static const char *scope_name(uint8_t scope) {
  return scope == INK_SCOPE_BLOCK ? "block" : scope == INK_SCOPE_CLUSTER ? "cluster" : "grid";
}

static void time_cell(text_grid *grid, const report_view *report, const ink_crossing_total *c, uint64_t cycles,
                      double ns) {
  if (report->settings->unit == REPORT_CYCLES && !c->exact) /* no one clock counts them */
    grid_cell(grid, "%s ns", number_fraction(ns, 0).text);
  else
    grid_cell(grid, "%s", report_time(report, cycles, ns).text);
}

static void crossing_row(text_grid *grid, const report_view *report, const ink_crossing_total *c, bool bounded) {
  const char *from = role_name(report, c->from_role), *to = role_name(report, c->to_role);
  grid_cell(grid, "%s", load_section_name(&report->loaded, c->section));
  grid_cell(grid, "%s%s%s", from ? from : "", from || to ? " -> " : "", to ? to : "");
  grid_cell(grid, "%s", scope_name(c->scope));
  grid_cell(grid, "%s", number_whole(c->count).text);
  if (c->count) {
    time_cell(grid, report, c, c->min_cycles, c->min_ns);
    time_cell(grid, report, c, c->median_cycles, c->median_ns);
    time_cell(grid, report, c, c->max_cycles, c->max_ns);
  } else {
    for (int i = 0; i < 3; i++)
      grid_cell(grid, "%s", "");
  }
  grid_cell(grid, "%s", c->count ? number_fraction(c->mean_in_flight, 1).text : "");
  grid_cell(grid, "%s", c->count ? number_whole(c->most_in_flight).text : "");
  if (!bounded)
    return;
  if (!c->count || c->exact)
    grid_cell(grid, "%s", "");
  else if (isfinite(c->bound_ns))
    grid_cell(grid, "%s ns", number_fraction(ceil(c->bound_ns), 0).text);
  else
    grid_cell(grid, "not known");
}

static void remarks(const report_view *report, const ink_crossing_total *c, FILE *to) {
  const char *name = load_section_name(&report->loaded, c->section);
  if (c->backwards)
    report_remark(to, "backwards: %s of %s ended before %s began, by less than the bound of the SMs' clocks; "
                      "counted as 0",
                  number_whole(c->backwards).text, name, c->backwards == 1 ? "it" : "they");
  if (c->without_end)
    report_remark(to, "no end: %s of %s", number_whole(c->without_end).text, name);
  if (c->without_begin)
    report_remark(to, "no begin: %s of %s", number_whole(c->without_begin).text, name);
}

bool report_crossings(const report_view *report, const ink_kernel_total *total, FILE *to) {
  static const char *const titles[] = {"count", "min", "median", "max", "mean in flight", "max in flight", "good to"};
  const ink_crossing_total *all;
  const size_t n = ink_table_crossings(report->table, &all);
  size_t first = 0, last;
  while (first < n && all[first].kernel != total->kernel)
    first++;
  for (last = first; last < n && all[last].kernel == total->kernel; last++)
    ;
  if (first == last)
    return true;
  text_grid *grid = grid_new();
  if (!grid) {
    message_say("out of memory");
    return false;
  }
  bool bounded = false; /* some are across SMs, whose clocks are known to a bound */
  for (size_t i = first; i < last; i++)
    bounded = bounded || (all[i].count && !all[i].exact);
  grid_column(grid, GRID_LEFT, "across threads");
  grid_column(grid, GRID_LEFT, "roles");
  grid_column(grid, GRID_LEFT, "scope");
  for (size_t i = 0; i < sizeof titles / sizeof *titles - !bounded; i++)
    grid_column(grid, GRID_RIGHT, titles[i]);
  for (size_t i = first; i < last; i++)
    crossing_row(grid, report, &all[i], bounded);
  const bool fine = grid_print(grid, to, 2);
  grid_free(grid);
  if (!fine)
    message_say("out of memory");
  for (size_t i = first; i < last; i++)
    remarks(report, &all[i], to);
  return fine;
}

void report_launches(const report_view *report, const ink_kernel_total *total, FILE *to) {
  const ink_launch *launches;
  const size_t n = ink_capture_launches(report->loaded.capture, &launches);
  uint64_t sure = 0, most = 0;
  size_t first = n;
  for (size_t i = 0; i < n; i++) {
    if (launches[i].kernel != total->kernel || launches[i].at_most < 2 ||
        (report->settings->launch != UINT64_MAX && report->settings->launch != i))
      continue;
    first = first == n ? i : first;
    sure++;
    most += launches[i].at_most;
  }
  if (sure)
    report_remark(to,
                  "launches: %s may be up to %s, first launch %zu: a thread opened its track again when all had "
                  "closed, by PROF_KERNEL in a function that is called again, or because grid ids repeat",
                  number_whole(sure).text, number_whole(most).text, first);
}
