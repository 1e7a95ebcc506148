/* SPDX-License-Identifier: MIT */
/* A report as text: per kernel a table, and below it everything that the table leaves out. */
#include "report.h"

#include "message.h"
#include "text_out.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const unit_names[] = {"cycles", "ns", "us"};

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
                        bool bars) {
  const ink_table_row *row = branch->row;
  section_cell(grid, report, branch);
  bool unmarked = row->section == INK_SECTION_UNKNOWN;
  bool quantiles = !unmarked && !row->summed && row->count > 0;
  bool extremes = !unmarked && row->count > 0;
  grid_cell(grid, "%s", unmarked ? "" : number_whole(row->count).text);
  grid_cell(grid, "%s%s", report_doubt(report, row),
            report_time(report, row->total_cycles, row->total_ns).text);
  grid_cell(grid, "%s", extremes ? report_time(report, row->min_cycles, row->min_ns).text : "");
  grid_cell(grid, "%s",
            quantiles ? report_time(report, row->median_cycles, row->median_ns).text : "");
  grid_cell(grid, "%s", quantiles ? report_time(report, row->p99_cycles, row->p99_ns).text : "");
  grid_cell(grid, "%s", extremes ? report_time(report, row->max_cycles, row->max_ns).text : "");
  grid_cell(grid, "%.1f %%", row->share * 100);
  if (bars)
    grid_cell(grid, "%s", number_bar(row->share, 10).text);
  if (!extremes || !isfinite(row->imbalance))
    grid_cell(grid, "%s", "");
  else
    grid_cell(grid, "%.2f", row->imbalance);
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

static bool section_table(const report_view *report, size_t first, size_t last, FILE *to) {
  static const char *const titles[] = {"count", "total", "min", "median", "p99", "max", "share"};
  bool bars = message_draws() && to == stdout;
  text_grid *grid = grid_new();
  report_branch *tree = calloc(last - first + 1, sizeof *tree);
  bool *placed = calloc(last - first + 1, sizeof *placed);
  if (!grid || !tree || !placed) {
    message_say("out of memory");
    grid_free(grid);
    free(tree);
    free(placed);
    return false;
  }
  report_tree(report, first, last, tree, placed);
  grid_column(grid, GRID_LEFT, "section");
  for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
    grid_column(grid, GRID_RIGHT, titles[i]);
  if (bars)
    grid_column(grid, GRID_LEFT, "");
  grid_column(grid, GRID_RIGHT, "imbalance");
  for (size_t i = 0; i < last - first; i++)
    section_row(grid, report, &tree[i], bars);
  bool fine = grid_print(grid, to, 2);
  if (fine)
    sums_inside(tree, last - first, to);
  else
    message_say("out of memory");
  grid_free(grid);
  free(tree);
  free(placed);
  return fine;
}

static void cut_slices(const report_view *report, size_t first, size_t last, FILE *to) {
  uint64_t cut = 0;
  for (size_t i = first; i < last; i++)
    cut += report->rows[i]->cut;
  if (cut)
    report_remark(to, "cut: %s slice%s whose begin or end is not there %s left out of the times",
                  number_whole(cut).text, number_plural(cut), cut == 1 ? "is" : "are");
}

/* Times of a section that lie in each other: counted once or, where that comes too late, twice. */
static void nested(const report_view *report, size_t first, size_t last, FILE *to) {
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
          "twice: called functions mark %s inside of its own slices; total and share count that "
          "time twice",
          name);
  }
}

/* What no table shows. */
static void others(const ink_kernel_total *total, FILE *to) {
  const struct {
    uint64_t count;
    const char *one, *several;
  } all[] = {{total->async_ranges, "range of PROF_ASYNC", "ranges of PROF_ASYNC"},
             {total->instants, "PROF_EVENT", "PROF_EVENTs"},
             {total->values, "PROF_VALUE", "PROF_VALUEs"}};
  const char *between = "  in no row: ";
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

static void section_list(const report_view *report, const ink_section_index *sections, size_t n,
                         FILE *to) {
  for (size_t i = 0; i < n; i++)
    text_print(to, "%s%s", i ? ", " : "", load_section_name(&report->loaded, sections[i]));
  fputc('\n', to);
}

/* Kernels of one file share its sections, and so what no recording thread passed of these: the next
 * kernel from `at` on whose list is that of `kernel`; n: none. */
static size_t next_unseen(const report_view *report, uint32_t kernel, size_t at) {
  const ink_kernel_total *totals;
  const ink_section_index *sections, *others;
  const size_t n = ink_table_kernels(report->table, &totals);
  const size_t count = ink_table_unseen(report->table, kernel, &sections);
  for (; at < n; at++)
    if (ink_table_unseen(report->table, totals[at].kernel, &others) == count && count &&
        !memcmp(sections, others, count * sizeof *sections))
      return at;
  return n;
}

/* Under a kernel only what is its alone. */
static void unseen(const report_view *report, const ink_kernel_total *total, FILE *to) {
  const ink_kernel_total *totals;
  const ink_section_index *sections;
  const size_t kernels = ink_table_kernels(report->table, &totals);
  const uint32_t kernel = total->kernel;
  const size_t n = ink_table_unseen(report->table, kernel, &sections);
  if (!n || next_unseen(report, kernel, next_unseen(report, kernel, 0) + 1) < kernels)
    return;
  text_print(to, total->marks_dropped ? "  not in what was kept: " : "  no recording thread passed: ");
  section_list(report, sections, n, to);
}

static void unseen_of_several(const report_view *report, FILE *to) {
  const ink_kernel_total *totals;
  const ink_section_index *sections;
  const ink_kernel *kernels;
  const size_t n = ink_table_kernels(report->table, &totals);
  ink_capture_kernels(report->loaded.capture, &kernels);
  for (size_t i = 0; i < n; i++) {
    const uint32_t kernel = totals[i].kernel;
    if (next_unseen(report, kernel, 0) != i || next_unseen(report, kernel, i + 1) == n)
      continue;
    const size_t count = ink_table_unseen(report->table, kernel, &sections);
    bool dropped = false;
    for (size_t other = i; other < n; other = next_unseen(report, kernel, other + 1))
      dropped |= totals[other].marks_dropped != 0;
    fputs(dropped ? "\nnot in what was kept, of any kernel" : "\nno recording thread passed, in any kernel",
          to);
    if (kernels[kernel].table)
      text_print(to, " of %s", kernels[kernel].table->name);
    fputs(": ", to);
    section_list(report, sections, count, to);
  }
}

static void kernel_title(const report_view *report, const ink_kernel_total *total, FILE *to) {
  const ink_kernel *kernels;
  ink_capture_kernels(report->loaded.capture, &kernels);
  const ink_kernel *kernel = &kernels[total->kernel];
  text_print(to, "\n%skernel %s%s", message_style(to, STYLE_BOLD), kernel->name,
          message_style(to, STYLE_PLAIN));
  if (kernel->table)
    text_print(to, " (%s)", kernel->table->name);
  text_print(to, ": %s launch%s, %s track%s, %s mark%s, %s %s in all tracks\n",
          number_whole(total->launches).text, total->launches == 1 ? "" : "es",
          number_whole(total->tracks).text, number_plural(total->tracks),
          number_whole(total->marks_executed).text, number_plural(total->marks_executed),
          report_time(report, total->total_cycles, total->total_ns).text,
          unit_names[report->settings->unit]);
}

static bool kernel_report(const report_view *report, const ink_kernel_total *total, FILE *to) {
  size_t first = 0, last;
  while (first < report->row_count && report->rows[first]->kernel != total->kernel)
    first++;
  for (last = first; last < report->row_count && report->rows[last]->kernel == total->kernel;
       last++)
    ;
  kernel_title(report, total, to);
  report_shared(report, total, to);
  bool fine = true;
  if (first == last)
    fputs("  no section was passed\n", to);
  else if (report->settings->by == INK_BY_SECTION)
    fine = section_table(report, first, last, to);
  else
    fine = report_matrix(report, first, last, to);
  report_doubts(report, first, last, to);
  unseen(report, total, to);
  others(total, to);
  report_marking(report, total, to);
  report_left_out(report, total, to);
  cut_slices(report, first, last, to);
  nested(report, first, last, to);
  return fine;
}

/* How good the nanoseconds are: only where the table shows any. */
static void clock_lines(const report_view *report, FILE *to) {
  const ink_clock_quality *quality;
  size_t n = ink_clock_map_quality(report->loaded.map, &quality);
  for (size_t i = 0; i < n && report->settings->unit != REPORT_CYCLES; i++) {
    const ink_clock_quality *q = &quality[i];
    if (q->sms_refused)
      text_print(to,
              "device %d: globaltimer ran back by up to %s ns, a timer restarted: times are not "
              "good to anything",
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
      text_print(to, "; the rate of %u of %u SMs changed, every time is at its own", q->sms_changed,
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
    text_print(to, "%s%s%s\n", message_style(to, STYLE_WARNING), LOAD_SIMULATED_LINE,
            message_style(to, STYLE_PLAIN));
  report_unfinished(report, to);
  report_marking_note(report, to);
  clock_lines(report, to);

  const ink_kernel_total *totals;
  size_t n = ink_table_kernels(report->table, &totals);
  bool fine = true;
  for (size_t i = 0; i < n && fine; i++)
    fine = kernel_report(report, &totals[i], to);
  unseen_of_several(report, to);
  if (!n)
    fputs("\nno kernel was recorded\n", to);
  report_problems(report, to);
  return fine;
}
