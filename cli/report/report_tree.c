/* SPDX-License-Identifier: MIT */
/* The order of a kernel's sections in a report: each below the one section whose slices its own lie
 * in; what lies in several stands by itself, with their names. */
#include "report.h"

#include <string.h>

typedef struct tree_walk {
  const report_view *report;
  size_t first, last;
  report_branch *out;
  size_t count;
  bool *placed; /* [last - first] */
} tree_walk;

/* The only section that a row lies in; INK_SECTION_UNKNOWN: none, or there are several. */
static ink_section_index parent_of(const ink_table_row *row) {
  return row->inside_count == 1 ? row->inside[0] : INK_SECTION_UNKNOWN;
}

static bool is_there(const tree_walk *walk, ink_section_index section) {
  for (size_t i = walk->first; i < walk->last; i++)
    if (walk->report->rows[i]->section == section)
      return true;
  return false;
}

/* Rows below `parent`, each followed by those below itself. */
static void place_below(tree_walk *walk, ink_section_index parent, uint32_t level) {
  for (size_t i = walk->first; i < walk->last; i++) {
    const ink_table_row *row = walk->report->rows[i];
    if (walk->placed[i - walk->first] || row->section == INK_SECTION_UNKNOWN ||
        parent_of(row) != parent)
      continue;
    walk->placed[i - walk->first] = true;
    walk->out[walk->count++] = (report_branch){row, level};
    place_below(walk, row->section, level + 1);
  }
}

static void place(tree_walk *walk, size_t i) {
  const ink_table_row *row = walk->report->rows[i];
  walk->placed[i - walk->first] = true;
  walk->out[walk->count++] = (report_branch){row, 0};
  if (row->section != INK_SECTION_UNKNOWN)
    place_below(walk, row->section, 1);
}

void report_tree(const report_view *report, size_t first, size_t last, report_branch *out,
                 bool *placed) {
  tree_walk walk = {.report = report, .first = first, .last = last, .out = out, .placed = placed};
  memset(placed, 0, last - first);
  for (size_t i = first; i < last; i++) {
    const ink_section_index parent = parent_of(report->rows[i]);
    if (!placed[i - first] && (parent == INK_SECTION_UNKNOWN || !is_there(&walk, parent)))
      place(&walk, i);
  }
  for (size_t i = first; i < last;
       i++) /* two that lie in each other only: the ends were overwritten */
    if (!placed[i - first])
      place(&walk, i);
}

/* "in Outer, Other" of a row that no single other one stands above. */
void report_inside(const report_view *report, const ink_table_row *row, char *text, size_t bytes) {
  size_t used = 0;
  text[0] = 0;
  if (row->inside_count < 2)
    return;
  bool body = false;
  for (uint32_t i = 0; i < row->inside_count; i++)
    body |= row->inside[i] == INK_SECTION_UNKNOWN;
  for (uint32_t i = 0; i < row->inside_count && used < bytes; i++)
    if (row->inside[i] != INK_SECTION_UNKNOWN)
      used += (size_t)snprintf(text + used, bytes - used, "%s%s",
                               used   ? ", "
                               : body ? "also in "
                                      : "in ",
                               load_section_name(&report->loaded, row->inside[i]));
}
