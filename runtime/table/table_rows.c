/* SPDX-License-Identifier: MIT */
/* Finishes a table: cells become rows in a stable order, with shares, quantiles and imbalance. */
#include "table_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double quantile_ns(ink_cell *cell, double quantile) {
  double ns = (double)ink_quantile_get(&cell->sketch_ns, quantile) / INK_NS_PARTS;
  return fmin(fmax(ns, cell->min_ns), cell->max_ns);
}

/* Slices inside of others of the section have children of their own, and are children of these. */
static void set_self(const ink_table *table, const ink_cell *cell, ink_table_row *row) {
  const uint64_t whole = cell->total + cell->nested_cycles;
  row->self_known = table->options.by != INK_BY_ITERATION && !cell->cut && cell->child_cycles <= whole;
  row->self_cycles = row->self_known ? whole - cell->child_cycles : 0;
  row->self_ns = cell->total ? cell->total_ns * ((double)row->self_cycles / (double)cell->total) : 0;
}

static ink_table_row row_of(ink_table *table, ink_cell *cell) {
  const ink_kernel_total *total = &table->totals.items[cell->part];
  ink_table_row row = {.part = cell->part, .kernel = total->kernel, .section = cell->section,
                       .group = cell->group, .max_track = UINT64_MAX, .max_iteration = INK_ROW_NONE,
                       .tracks = cell->tracks,
                       .depth = cell->depth == UINT32_MAX ? 0 : cell->depth,
                       .called = cell->called, .summed = cell->summed, .count = cell->count,
                       .cut = cell->cut, .nested = cell->nested, .twice = cell->twice,
                       .inside_count = cell->inside_count};
  memcpy(row.inside, cell->inside, sizeof row.inside);
  if (!cell->count)
    return row;
  row.total_cycles = cell->total;
  row.min_cycles = cell->min;
  row.max_cycles = cell->max;
  row.total_ns = cell->total_ns;
  row.min_ns = cell->min_ns;
  row.max_ns = cell->max_ns;
  row.bound_ns = cell->bound_ns;
  row.marking_cycles = cell->cost.cycles;
  row.marking_bound_cycles = (double)cell->cost.bound_millicycles / 1000;
  if (total->total_cycles)
    row.share = (double)cell->total / (double)total->total_cycles;
  ink_cell_end_launch(cell);
  row.imbalance = cell->total ? cell->uneven / (double)cell->total : 1;
  row.max_track = cell->max_track;
  row.max_iteration = cell->max_row;
  set_self(table, cell, &row);
  if (cell->summed)
    return row;
  row.p1_cycles = ink_quantile_get(&cell->sketch, 0.01);
  row.median_cycles = ink_quantile_get(&cell->sketch, 0.5);
  row.p99_cycles = ink_quantile_get(&cell->sketch, 0.99);
  /* A histogram bucket's middle may lie outside of what was seen. */
  uint64_t *quantiles[] = {&row.p1_cycles, &row.median_cycles, &row.p99_cycles};
  for (int i = 0; i < 3; i++) {
    if (*quantiles[i] < cell->min)
      *quantiles[i] = cell->min;
    if (*quantiles[i] > cell->max)
      *quantiles[i] = cell->max;
  }
  if (table->timed) {
    row.p1_ns = quantile_ns(cell, 0.01);
    row.median_ns = quantile_ns(cell, 0.5);
    row.p99_ns = quantile_ns(cell, 0.99);
    return row;
  }
  double scale = cell->total ? cell->total_ns / (double)cell->total : 0;
  row.p1_ns = (double)row.p1_cycles * scale;
  row.median_ns = (double)row.median_cycles * scale;
  row.p99_ns = (double)row.p99_cycles * scale;
  return row;
}

static int compare(const void *left, const void *right) {
  const ink_table_row *a = left, *b = right;
  if (a->part != b->part)
    return a->part < b->part ? -1 : 1;
  if (a->group != b->group)
    return a->group < b->group ? -1 : 1;
  if (a->section != b->section)
    return a->section < b->section ? -1 : 1;
  return 0;
}

static int compare_passes(const void *left, const void *right) {
  const ink_passes *a = left, *b = right;
  if (a->part != b->part)
    return a->part < b->part ? -1 : 1;
  return a->row < b->row ? -1 : a->row > b->row;
}

/* Both are sorted by part and iteration. */
static void tell_passes(ink_table *table) {
  size_t at = 0;
  if (table->passes.count)
    qsort(table->passes.items, table->passes.count, sizeof *table->passes.items, compare_passes);
  for (size_t i = 0; i < table->row_count; i++) {
    const ink_passes wanted = {.part = table->rows[i].part, .row = table->rows[i].group};
    while (at < table->passes.count && compare_passes(&table->passes.items[at], &wanted) < 0)
      at++;
    if (at < table->passes.count && !compare_passes(&table->passes.items[at], &wanted))
      table->rows[i].passes = table->passes.items[at].count;
  }
}

/* The first of `count` unseen sections from `section` on. */
static size_t first_unseen(const ink_table *table, size_t count, uint32_t section) {
  size_t low = 0, high = count;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (table->unseen[middle] < section)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Sections that no thread passed, whichever kernel it ran; a kernel's own name is none. */
static void list_unseen(ink_table *table) {
  const ink_capture *capture = table->capture;
  size_t count = 0;
  for (size_t i = 0; i < capture->kernels.count; i++) {
    const ink_kernel *kernel = &capture->kernels.items[i];
    uint32_t section = (uint32_t)(kernel->key & 0xffff);
    if (kernel->table && section >= 1 && section <= kernel->table->section_count)
      table->seen[ink_table_base(capture, kernel->table) + section - 1] = 1;
  }
  for (uint32_t i = 0; i < table->section_count; i++)
    if (!table->seen[i])
      table->unseen[count++] = i;
  for (size_t i = 0; i < table->totals.count; i++) {
    const uint32_t at = table->totals.items[i].kernel;
    const ink_kernel *kernel = &capture->kernels.items[at];
    if (!kernel->table || !table->totals.items[i].tracks)
      continue;
    const uint32_t base = ink_table_base(capture, kernel->table);
    const size_t first = first_unseen(table, count, base);
    table->unseen_of[at][0] = first;
    table->unseen_of[at][1] = first_unseen(table, count, base + kernel->table->section_count) - first;
  }
}

static bool has_histogram(const ink_table_row *row) {
  return row->section != INK_SECTION_UNKNOWN && !row->summed && row->count;
}

/* The rows are sorted; `passes`, which only rows by iteration have, holds their cells until now. */
static bool make_histograms(ink_table *table) {
  table->histograms = malloc((table->row_count + 1) * INK_HISTOGRAM_BINS * sizeof *table->histograms);
  for (size_t i = 0; i < table->row_count; i++) {
    ink_table_row *row = &table->rows[i];
    if (table->histograms && has_histogram(row))
      ink_quantile_bins(&ink_table_cell(table, (uint32_t)row->passes)->sketch, row->min_cycles, row->max_cycles,
                        table->histograms + i * INK_HISTOGRAM_BINS, INK_HISTOGRAM_BINS);
    row->passes = 0;
  }
  return table->histograms != NULL;
}

const uint64_t *ink_table_histogram(const ink_table *table, const ink_table_row *row) {
  return table->histograms && has_histogram(row) ? table->histograms + (size_t)(row - table->rows) * INK_HISTOGRAM_BINS : NULL;
}

ink_status ink_table_finish(ink_table *table) {
  ink_status status = ink_table_sort_parts(table);
  if (status == INK_OK && !(table->rows = malloc(((size_t)table->cell_count + 1) * sizeof *table->rows)))
    status = INK_ERROR_MEMORY;
  if (status != INK_OK)
    return ink_error_set(table->error, INK_ERROR_MEMORY, "out of memory for the table");
  for (uint32_t i = 0; i < table->cell_count; i++) {
    ink_cell *cell = ink_table_cell(table, i);
    if (!cell->count && !cell->cut)
      continue;
    table->rows[table->row_count] = row_of(table, cell);
    table->rows[table->row_count++].passes = table->options.by == INK_BY_SECTION ? i : 0;
  }
  qsort(table->rows, table->row_count, sizeof *table->rows, compare);
  if (table->options.by == INK_BY_ITERATION)
    tell_passes(table);
  if (table->options.by == INK_BY_SECTION && !make_histograms(table))
    return ink_error_set(table->error, INK_ERROR_MEMORY, "out of memory for the table");
  list_unseen(table);
  return INK_OK;
}

size_t ink_table_rows(const ink_table *table, const ink_table_row **out) {
  *out = table->rows;
  return table->row_count;
}

bool ink_table_row_below_bound(const ink_table_row *row) {
  return row->count && isfinite(row->bound_ns) && row->total_ns < row->bound_ns;
}

bool ink_table_row_below_marking_bound(const ink_table_row *row) {
  return row->count && row->marking_cycles && (double)row->total_cycles < row->marking_bound_cycles;
}

size_t ink_table_kernels(const ink_table *table, const ink_kernel_total **out) {
  *out = table->totals.items;
  return table->totals.count;
}

size_t ink_table_unseen(const ink_table *table, uint32_t kernel, const ink_section_index **out) {
  if (kernel >= table->kernel_count)
    return 0;
  *out = table->unseen + table->unseen_of[kernel][0];
  return table->unseen_of[kernel][1];
}

size_t ink_table_problems(const ink_table *table, const ink_problem **out, uint64_t *total) {
  *out = table->problems;
  if (total)
    *total = table->problem_total;
  return table->problem_count;
}
