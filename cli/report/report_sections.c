/* SPDX-License-Identifier: MIT */
/* The table of one kernel's sections, and what is said of its rows below it. */
#include "report.h"

#include "message.h"
#include "style.h"
#include "text_out.h"

#include <math.h>
#include <stdlib.h>

/* Which columns are worth their width. */
typedef struct section_columns {
  bool bars, self, places;
} section_columns;

/* A longest slice that is as long as most others is nowhere in particular. */
static bool stands_out(const ink_table_row *row) {
  return row->count > 1 && row->max_cycles > (row->summed ? row->min_cycles : row->median_cycles);
}

static void section_cell(text_grid *grid, const report_view *report, const report_branch *branch) {
  const ink_table_row *row = branch->row;
  char inside[200];
  report_inside(report, row, inside, sizeof inside);
  grid_cell(grid, "%*s%s%s%s%s%s%s", branch->level < 20 ? (int)branch->level * 2 : 40, "",
            load_section_name(&report->loaded, row->section), row->called || inside[0] ? " (" : "",
            row->called ? "called" : "", row->called && inside[0] ? " " : "", inside,
            row->called || inside[0] ? ")" : "");
}

static void section_row(text_grid *grid, const report_view *report, const report_branch *branch,
                        section_columns columns) {
  const ink_table_row *row = branch->row;
  section_cell(grid, report, branch);
  bool unmarked = row->section == INK_SECTION_UNKNOWN;
  bool quantiles = !unmarked && !row->summed && row->count > 0;
  bool extremes = !unmarked && row->count > 0;
  grid_cell(grid, "%s", unmarked ? "" : number_whole(row->count).text);
  grid_cell(grid, "%s%s", report_doubt(report, row),
            report_time(report, row->total_cycles, row->total_ns).text);
  if (columns.self)
    grid_cell(grid, "%s", unmarked           ? ""
                          : row->self_known ? report_time(report, row->self_cycles, row->self_ns).text
                                            : "?");
  grid_cell(grid, "%s", extremes ? report_time(report, row->min_cycles, row->min_ns).text : "");
  grid_cell(grid, "%s",
            quantiles ? report_time(report, row->median_cycles, row->median_ns).text : "");
  grid_cell(grid, "%s", quantiles ? report_time(report, row->p99_cycles, row->p99_ns).text : "");
  grid_cell(grid, "%s", extremes ? report_time(report, row->max_cycles, row->max_ns).text : "");
  grid_cell(grid, "%.1f %%", row->share * 100);
  if (columns.bars)
    grid_cell(grid, "%s", number_bar(row->share, 10).text);
  if (!extremes || !isfinite(row->imbalance))
    grid_cell(grid, "%s", "");
  else
    grid_cell(grid, "%.2f", row->imbalance);
  if (columns.places)
    grid_cell(grid, "%s", extremes && stands_out(row) ? report_max_place(report, row) : "");
}

/* A PROF_SUM tells how long, not where: its ranges may lie in any section's. */
static void sums_inside(const report_branch *tree, size_t n, FILE *to) {
  double whole = 0;
  bool summed = false;
  for (size_t i = 0; i < n; i++) {
    whole += tree[i].level ? 0 : tree[i].row->share;
    summed |= tree[i].row->summed != 0;
  }
  if (summed && whole > 1.0005)
    text_print(to,
            "  sums: what PROF_SUM adds up lies inside of other rows, so shares make %.1f %% together\n",
            whole * 100);
}

static section_columns choose_columns(const report_view *report, size_t first, size_t last, FILE *to) {
  section_columns columns = {.bars = style_draws() && to == stdout};
  for (size_t i = first; i < last; i++) {
    const ink_table_row *row = report->rows[i];
    const bool unmarked = row->section == INK_SECTION_UNKNOWN;
    columns.self |= !unmarked && row->count && (!row->self_known || row->self_cycles != row->total_cycles);
    columns.places |= !unmarked && stands_out(row) && report_max_place(report, row)[0];
  }
  return columns;
}

static bool out_of_memory(void) {
  message_say("out of memory");
  return false;
}

static void column_titles(text_grid *grid, section_columns columns) {
  static const char *const titles[] = {"min", "median", "p99", "max", "share"};
  grid_column(grid, GRID_LEFT, "section");
  grid_column(grid, GRID_RIGHT, "count");
  grid_column(grid, GRID_RIGHT, "total");
  if (columns.self)
    grid_column(grid, GRID_RIGHT, "self");
  for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
    grid_column(grid, GRID_RIGHT, titles[i]);
  if (columns.bars)
    grid_column(grid, GRID_LEFT, "");
  grid_column(grid, GRID_RIGHT, "imbalance");
  if (columns.places)
    grid_column(grid, GRID_LEFT, "where max was");
}

bool report_sections(const report_view *report, size_t first, size_t last, FILE *to) {
  const section_columns columns = choose_columns(report, first, last, to);
  const size_t top = report->settings->top, n = last - first;
  text_grid *grid = grid_new();
  report_branch *tree = calloc(n + 1, sizeof *tree);
  bool *placed = calloc(n + 1, sizeof *placed);
  bool fine = grid && tree && placed;
  if (fine) {
    report_tree(report, first, last, tree, placed);
    column_titles(grid, columns);
    for (size_t i = 0; i < n && (!top || i < top); i++)
      section_row(grid, report, &tree[i], columns);
    fine = grid_print(grid, to, 2);
  }
  if (fine && top && n > top)
    text_print(to, "  %s more row%s not shown (--top)\n", number_whole(n - top).text, n - top == 1 ? " is" : "s are");
  if (fine)
    sums_inside(tree, n, to);
  grid_free(grid);
  free(tree);
  free(placed);
  return fine || out_of_memory();
}

/* Of rings that were overwritten: what is left is no sample of the whole. */
bool report_kept(const report_view *report, const ink_kernel_total *total, size_t first, size_t last, FILE *to) {
  text_grid *grid = grid_new();
  if (!grid)
    return out_of_memory();
  grid_column(grid, GRID_LEFT, "section");
  grid_column(grid, GRID_RIGHT, "kept");
  for (size_t i = first; i < last; i++) {
    const ink_table_row *row = report->rows[i];
    if (row->section == INK_SECTION_UNKNOWN)
      continue;
    grid_cell(grid, "%s", load_section_name(&report->loaded, row->section));
    grid_cell(grid, "%s", number_whole(row->count + row->cut).text);
  }
  const bool fine = grid_print(grid, to, 2);
  grid_free(grid);
  if (fine)
    text_print(to, "  no times: only %s of %s %s were kept, the %s of each track; they say nothing about the "
                   "others (--kept shows them)\n",
            number_whole(total->marks_kept).text, number_whole(total->marks_executed).text,
            total->rows_executed == total->marks_executed ? "rows" : total->rows_executed ? "rows and marks" : "marks",
            report_keeps_first(report) ? "first" : "newest");
  return fine || out_of_memory();
}

void report_cut(const report_view *report, size_t first, size_t last, FILE *to) {
  uint64_t cut = 0;
  for (size_t i = first; i < last; i++)
    cut += report->rows[i]->cut;
  if (cut)
    report_remark(to, "cut: %s slice%s, whose begin or end is not there, %s left out of the times",
                  number_whole(cut).text, number_plural(cut), cut == 1 ? "is" : "are");
}

/* Times of a section that lie in each other: counted once or, where that comes too late, twice. */
void report_nested(const report_view *report, size_t first, size_t last, FILE *to) {
  uint64_t inside = 0;
  for (size_t i = first; i < last; i++)
    inside += report->rows[i]->nested;
  if (inside && report->settings->by != INK_BY_SECTION)
    text_print(to,
            "  recursion: %s slice%s inside of another one of the section; totals and means are of "
            "the outermost\n",
            number_whole(inside).text, inside == 1 ? " lies" : "s lie");
  for (size_t i = first; i < last && report->settings->by == INK_BY_SECTION; i++) {
    const ink_table_row *row = report->rows[i];
    const char *name = load_section_name(&report->loaded, row->section);
    if (row->nested)
      text_print(to,
              "  recursion: %s of %s slices of %s lie inside of another one; total, share and "
              "imbalance are of the outermost\n",
              number_whole(row->nested).text, number_whole(row->count).text, name);
    if (row->twice)
      report_remark(
          to,
          "twice: called functions mark %s inside of its own slices, so total and share count that time twice",
          name);
  }
}

