/* SPDX-License-Identifier: MIT */
/* Adds ranges across threads up, by kernel, section, scope and the roles of both ends. */
#include "table_private.h"

#include <math.h>
#include <stdlib.h>

static ink_status no_memory(const ink_table *table) {
  return ink_error_set(table->error, INK_ERROR_MEMORY, "out of memory for the table");
}

static uint32_t role_at(const ink_table *table, uint64_t track) {
  return track == UINT64_MAX ? INK_SECTION_UNKNOWN
                             : ink_role_section(table->capture, ink_track_role(table->capture, track));
}

static bool same(const ink_crossing_total *a, const ink_crossing_total *b) {
  return a->kernel == b->kernel && a->section == b->section && a->scope == b->scope &&
         a->from_role == b->from_role && a->to_role == b->to_role;
}

/* There are few of them. One without an end has no role to go to. */
static crossing_cell *cell_of(ink_table *table, const ink_crossing *c) {
  const uint64_t one = c->from_track == UINT64_MAX ? c->to_track : c->from_track;
  const ink_crossing_total key = {.kernel = ink_table_kernel_of(table, table->capture->tracks.items[one].kernel), .section = c->section,
                                  .scope = c->scope, .exact = 1, .from_role = role_at(table, c->from_track),
                                  .to_role = role_at(table, c->to_track)};
  for (size_t i = 0; i < table->crossing_cells.count; i++)
    if (same(&table->crossing_cells.items[i].total, &key))
      return &table->crossing_cells.items[i];
  if (!INK_I_ROOM(table->crossing_cells))
    return NULL;
  crossing_cell *cell = &table->crossing_cells.items[table->crossing_cells.count++];
  *cell = (crossing_cell){.total = key};
  return cell;
}

ink_status ink_table_crossing(ink_table *table, const ink_crossing *c) {
  crossing_cell *cell = cell_of(table, c);
  if (!cell)
    return no_memory(table);
  ink_crossing_total *total = &cell->total;
  if (c->section < table->section_count)
    table->seen[c->section] = 1;
  total->without_end += c->cut == INK_CUT_NEVER_ENDED;
  total->without_begin += c->cut == INK_CUT_BEGIN;
  if (c->cut)
    return INK_OK;
  const int64_t ns = (int64_t)((uint64_t)c->end_ns - (uint64_t)c->begin_ns);
  const double time = ns > 0 ? (double)ns : 0;
  if (!total->count || time < total->min_ns)
    total->min_ns = time;
  if (!total->count || time > total->max_ns)
    total->max_ns = time;
  if (!total->count || c->cycles < total->min_cycles)
    total->min_cycles = c->cycles;
  if (c->cycles > total->max_cycles)
    total->max_cycles = c->cycles;
  total->count++;
  total->total_ns += time;
  total->backwards += c->backwards;
  total->exact &= c->exact;
  total->bound_ns = fmax(total->bound_ns, c->bound_ns);
  return ink_quantile_add(&cell->cycles, c->cycles) && ink_quantile_add(&cell->ns, ns > 0 ? (uint64_t)ns : 0)
             ? INK_OK
             : no_memory(table);
}

#define COMPARE(field)                                                                             \
  if (a->field != b->field)                                                                        \
  return a->field < b->field ? -1 : 1

static int compare(const void *left, const void *right) {
  const ink_crossing_total *a = left, *b = right;
  COMPARE(kernel);
  COMPARE(section);
  COMPARE(scope);
  COMPARE(from_role);
  COMPARE(to_role);
  return 0;
}

ink_status ink_table_finish_crossings(ink_table *table) {
  const size_t n = table->crossing_cells.count;
  table->crossings = malloc((n + 1) * sizeof *table->crossings);
  if (!table->crossings)
    return no_memory(table);
  for (size_t i = 0; i < n; i++) {
    crossing_cell *cell = &table->crossing_cells.items[i];
    ink_crossing_total *total = &table->crossings[i];
    *total = cell->total;
    total->median_ns = (double)ink_quantile_get(&cell->ns, 0.5);
    total->median_cycles = total->exact ? ink_quantile_get(&cell->cycles, 0.5) : 0;
    /* beyond 32 values a quantile is known to 1/128, and may lie outside of what was seen */
    total->median_ns = fmin(fmax(total->median_ns, total->min_ns), total->max_ns);
    if (total->exact && total->median_cycles < total->min_cycles)
      total->median_cycles = total->min_cycles;
    if (total->exact && total->median_cycles > total->max_cycles)
      total->median_cycles = total->max_cycles;
    if (!total->exact)
      total->min_cycles = total->max_cycles = 0;
  }
  if (n)
    qsort(table->crossings, n, sizeof *table->crossings, compare);
  return INK_OK;
}

void ink_table_free_crossings(ink_table *table) {
  for (size_t i = 0; i < table->crossing_cells.count; i++) {
    ink_quantile_free(&table->crossing_cells.items[i].cycles);
    ink_quantile_free(&table->crossing_cells.items[i].ns);
  }
  free(table->crossing_cells.items);
  free(table->crossings);
}

size_t ink_table_crossings(const ink_table *table, const ink_crossing_total **out) {
  *out = table->crossings;
  return table->crossing_cells.count;
}
