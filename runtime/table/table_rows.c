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

static ink_table_row row_of(ink_table *table, ink_cell *cell) {
  const ink_kernel_total *total = &table->totals[cell->kernel];
  ink_table_row row = {.kernel = cell->kernel, .section = cell->section, .group = cell->group,
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
  row.marking_cycles = cell->toll.cycles;
  row.marking_bound_cycles = (double)cell->toll.bound_millicycles / 1000;
  if (total->total_cycles)
    row.share = (double)cell->total / (double)total->total_cycles;
  if (cell->total)
    row.imbalance =
        (double)cell->largest_track / ((double)cell->total / (double)cell->tracks);
  else
    row.imbalance = 1;
  if (cell->summed)
    return row;
  row.median_cycles = ink_quantile_get(&cell->sketch, 0.5);
  row.p99_cycles = ink_quantile_get(&cell->sketch, 0.99);
  /* A histogram bucket's middle may lie outside of what was seen. */
  uint64_t *quantiles[] = {&row.median_cycles, &row.p99_cycles};
  for (int i = 0; i < 2; i++) {
    if (*quantiles[i] < cell->min)
      *quantiles[i] = cell->min;
    if (*quantiles[i] > cell->max)
      *quantiles[i] = cell->max;
  }
  if (table->timed) {
    row.median_ns = quantile_ns(cell, 0.5);
    row.p99_ns = quantile_ns(cell, 0.99);
    return row;
  }
  double scale = cell->total ? cell->total_ns / (double)cell->total : 0;
  row.median_ns = (double)row.median_cycles * scale;
  row.p99_ns = (double)row.p99_cycles * scale;
  return row;
}

static int compare(const void *left, const void *right) {
  const ink_table_row *a = left, *b = right;
  if (a->kernel != b->kernel)
    return a->kernel < b->kernel ? -1 : 1;
  if (a->group != b->group)
    return a->group < b->group ? -1 : 1;
  if (a->section != b->section)
    return a->section < b->section ? -1 : 1;
  return 0;
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
  for (size_t i = 0; i < capture->kernels.count; i++) {
    const ink_kernel *kernel = &capture->kernels.items[i];
    if (!kernel->table || !table->totals[i].tracks)
      continue;
    uint32_t base = ink_table_base(capture, kernel->table);
    size_t first = 0, last;
    while (first < count && table->unseen[first] < base)
      first++;
    for (last = first; last < count && table->unseen[last] < base + kernel->table->section_count;)
      last++;
    table->unseen_of[i][0] = first;
    table->unseen_of[i][1] = last - first;
  }
}

ink_status ink_table_finish(ink_table *table) {
  table->rows = malloc(((size_t)table->cell_count + 1) * sizeof *table->rows);
  if (!table->rows)
    return ink_error_set(table->error, INK_ERROR_MEMORY, "out of memory for the table");
  for (uint32_t i = 0; i < table->cell_count; i++) {
    ink_cell *cell = ink_table_cell(table, i);
    if (cell->count || cell->cut)
      table->rows[table->row_count++] = row_of(table, cell);
  }
  qsort(table->rows, table->row_count, sizeof *table->rows, compare);
  list_unseen(table);
  for (uint32_t i = 0; i < table->capture->kernels.count; i++) {
    const ink_kernel *kernel = &table->capture->kernels.items[i];
    if (!table->wanted[i])
      continue;
    ink_kernel_total total = table->totals[i];
    total.kernel = i;
    total.missed = kernel->missed;
    total.tracks_lost = kernel->tracks_lost;
    total.marks_lost = kernel->marks_lost;
    table->totals[table->total_count++] = total;
  }
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
  *out = table->totals;
  return table->total_count;
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
