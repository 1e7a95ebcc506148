/* SPDX-License-Identifier: MIT */
/* A report with one row for each iteration, block, SM, launch, ..., and the sections as columns. What
 * does not fit the terminal or 40 rows is left out, and said to be. */
#include "report.h"

#include "message.h"
#include "style.h"
#include "text_out.h"

#include <stdlib.h>

enum { ROWS_SHOWN = 40 };

typedef struct matrix_column {
  ink_section_index section;
  uint8_t called;
  uint64_t total_cycles; /* what decides which columns stay */
  size_t width;
  bool shown;
} matrix_column;

typedef struct section_matrix {
  const report_view *report;
  const ink_table_row *const *rows;
  size_t row_count, groups, groups_shown;
  matrix_column *columns;
  size_t column_count;
  enum report_cell cell;
} section_matrix;

static number_text plain_cell(const section_matrix *matrix, const ink_table_row *row) {
  /* Of those that the total is of. */
  uint64_t count = row->count > row->nested ? row->count - row->nested : 1;
  switch (matrix->cell) {
  case CELL_TOTAL:
    break;
  case CELL_MEAN:
    return report_time(matrix->report, (row->total_cycles + count / 2) / count,
                       row->total_ns / (double)count);
  case CELL_MEDIAN:
    return report_time(matrix->report, row->median_cycles, row->median_ns);
  case CELL_MAX:
    return report_time(matrix->report, row->max_cycles, row->max_ns);
  case CELL_COUNT:
    return number_whole(row->count);
  }
  return report_time(matrix->report, row->total_cycles, row->total_ns);
}

static number_text cell_text(const section_matrix *matrix, const ink_table_row *row) {
  if (matrix->cell == CELL_MEDIAN && row->summed)
    return (number_text){""}; /* of sums, least and most are known */
  number_text plain = plain_cell(matrix, row), text = plain;
  if (matrix->cell != CELL_COUNT)
    snprintf(text.text, sizeof text.text, "%s%s", report_doubt(matrix->report, row), plain.text);
  return text;
}

static matrix_column *column_of(const section_matrix *matrix, const ink_table_row *row) {
  for (size_t i = 0; i < matrix->column_count; i++)
    if (matrix->columns[i].section == row->section && matrix->columns[i].called == row->called)
      return &matrix->columns[i];
  return NULL;
}

static int compare_columns(const void *left, const void *right) {
  const matrix_column *a = left, *b = right;
  if (a->section != b->section)
    return a->section < b->section ? -1 : 1;
  return a->called - b->called;
}

static void column_title(const section_matrix *matrix, const matrix_column *column, char *out,
                         size_t room) {
  snprintf(out, room, "%s%s", load_section_name(&matrix->report->loaded, column->section),
           column->called ? " (called)" : "");
}

static uint64_t rows_shown(const report_settings *settings) {
  return settings->top ? settings->top : settings->all ? UINT64_MAX : ROWS_SHOWN;
}

/* Finds the columns, their widths over the shown rows, and the number of groups. */
static bool measure(section_matrix *matrix) {
  char title[160];
  matrix->columns = malloc(matrix->row_count * sizeof *matrix->columns);
  if (!matrix->columns)
    return false;
  for (size_t i = 0; i < matrix->row_count; i++) {
    const ink_table_row *row = matrix->rows[i];
    matrix->groups += !i || row->group != matrix->rows[i - 1]->group;
    if (matrix->groups <= rows_shown(matrix->report->settings))
      matrix->groups_shown = matrix->groups;
    matrix_column *column = column_of(matrix, row);
    if (!column) {
      column = &matrix->columns[matrix->column_count++];
      *column = (matrix_column){.section = row->section, .called = row->called, .shown = true};
      column_title(matrix, column, title, sizeof title);
      column->width = text_width(title);
    }
    size_t width = text_width(cell_text(matrix, row).text);
    if (matrix->groups == matrix->groups_shown && width > column->width)
      column->width = width;
    column->total_cycles += row->total_cycles;
  }
  qsort(matrix->columns, matrix->column_count, sizeof *matrix->columns, compare_columns);
  return true;
}

/* Hides the columns with the least time until the rest fits; returns how many. */
static size_t fit(section_matrix *matrix, size_t width) {
  size_t hidden = 0, used = 20; /* the group's name and the count */
  for (size_t i = 0; i < matrix->column_count; i++)
    used += matrix->columns[i].width + 2;
  while (used > width && hidden + 1 < matrix->column_count) {
    matrix_column *least = NULL;
    for (size_t i = 0; i < matrix->column_count; i++) {
      matrix_column *column = &matrix->columns[i];
      if (column->shown && (!least || column->total_cycles < least->total_cycles))
        least = column;
    }
    least->shown = false;
    used -= least->width + 2;
    hidden++;
  }
  return hidden;
}

/* The cells of the rows [at, end), which are one group. */
static void group_row(const section_matrix *matrix, text_grid *grid, size_t at, size_t end) {
  const bool passes = matrix->report->settings->by == INK_BY_ITERATION;
  uint64_t most = passes ? matrix->rows[at]->passes : 0;
  for (size_t i = at; i < end && !passes; i++)
    if (matrix->rows[i]->section != INK_SECTION_UNKNOWN && matrix->rows[i]->count > most)
      most = matrix->rows[i]->count;
  grid_cell(grid, "%s", report_group_name(matrix->report, matrix->rows[at]->group));
  grid_cell(grid, "%s", number_whole(most).text);
  for (size_t c = 0; c < matrix->column_count; c++) {
    const matrix_column *column = &matrix->columns[c];
    const ink_table_row *found = NULL;
    for (size_t i = at; i < end && !found; i++)
      if (matrix->rows[i]->section == column->section && matrix->rows[i]->called == column->called)
        found = matrix->rows[i];
    if (column->shown)
      grid_cell(grid, "%s", found ? cell_text(matrix, found).text : "");
  }
}

static text_grid *fill(const section_matrix *matrix) {
  char title[160];
  text_grid *grid = grid_new();
  if (!grid)
    return NULL;
  grid_column(grid, GRID_RIGHT, report_by_name(matrix->report->settings->by));
  grid_column(grid, GRID_RIGHT, matrix->report->settings->by == INK_BY_ITERATION ? "passes" : "count");
  for (size_t c = 0; c < matrix->column_count; c++)
    if (matrix->columns[c].shown) {
      column_title(matrix, &matrix->columns[c], title, sizeof title);
      grid_column(grid, GRID_RIGHT, title);
    }
  size_t groups = 0;
  for (size_t at = 0, end; at < matrix->row_count && groups < matrix->groups_shown; at = end) {
    for (end = at; end < matrix->row_count && matrix->rows[end]->group == matrix->rows[at]->group;)
      end++;
    group_row(matrix, grid, at, end);
    groups++;
  }
  return grid;
}

static void caption(const section_matrix *matrix, FILE *to) {
  static const char *const words[] = {"total", "mean of a slice", "median of the slices",
                                      "longest slice", "number of slices"};
  static const char *const units[] = {", cycles", ", ns", ", us"};
  const bool passes = matrix->report->settings->by == INK_BY_ITERATION;
  text_print(to, "  cells: %s over all tracks%s; %s\n", words[matrix->cell],
          matrix->cell == CELL_COUNT ? "" : units[matrix->report->settings->unit],
          passes ? "passes: of the iteration, by all tracks" : "count: slices of the section with the most");
}

static void hidden_columns(const section_matrix *matrix, size_t hidden, FILE *to) {
  if (!hidden)
    return;
  text_print(to, "  %zu section%s with less time %s not shown (--all):", hidden,
          hidden == 1 ? "" : "s", hidden == 1 ? "is" : "are");
  for (size_t c = 0; c < matrix->column_count; c++) {
    char title[160];
    column_title(matrix, &matrix->columns[c], title, sizeof title);
    if (!matrix->columns[c].shown)
      text_print(to, " %s%s", title, --hidden ? "," : "");
  }
  fputc('\n', to);
}

bool report_matrix(const report_view *report, size_t first, size_t last, FILE *to) {
  section_matrix matrix = {
      .report = report, .rows = report->rows + first, .row_count = last - first};
  int cell = report->settings->cell;
  matrix.cell = cell >= 0                                  ? (enum report_cell)cell
                : report->settings->by == INK_BY_ITERATION ? CELL_MEAN
                                                           : CELL_TOTAL;
  bool fine = measure(&matrix);
  if (fine) {
    size_t hidden = report->settings->all ? 0 : fit(&matrix, style_columns());
    text_grid *grid = fill(&matrix);
    caption(&matrix, to);
    fine = grid && grid_print(grid, to, 2);
    grid_free(grid);
    if (matrix.groups > matrix.groups_shown)
      text_print(to, "  %s more row%s not shown (%s)\n",
              number_whole(matrix.groups - matrix.groups_shown).text,
              matrix.groups - matrix.groups_shown == 1 ? " is" : "s are", report->settings->top ? "--top" : "--all");
    hidden_columns(&matrix, hidden, to);
  }
  if (!fine)
    message_say("out of memory");
  free(matrix.columns);
  return fine;
}
