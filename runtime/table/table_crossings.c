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

static uint64_t hash_of(const ink_crossing_total *key) {
  const uint64_t place = ink_mix64((uint64_t)key->kernel << 32 | key->section) + key->scope;
  return ink_mix64(ink_mix64(place) + ((uint64_t)key->from_role << 32 | key->to_role));
}

/* One without an end has no role to go to. */
static crossing_cell *cell_of(ink_table *table, const ink_crossing *c) {
  const uint64_t one = c->from_track == UINT64_MAX ? c->to_track : c->from_track;
  const ink_crossing_total key = {.kernel = ink_table_kernel_of(table, table->capture->tracks.items[one].kernel), .section = c->section,
                                  .scope = c->scope, .exact = 1, .from_role = role_at(table, c->from_track),
                                  .to_role = role_at(table, c->to_track)};
  const uint64_t hash = hash_of(&key);
  const uint32_t first = id_map_get(&table->crossing_map, hash);
  for (uint32_t i = first; i != INK_ID_NONE; i = table->crossing_cells.items[i].next)
    if (same(&table->crossing_cells.items[i].total, &key))
      return &table->crossing_cells.items[i];
  const size_t n = table->crossing_cells.count;
  if (n >= INK_ID_NONE - 1 || !INK_I_ROOM(table->crossing_cells) || !id_map_put(&table->crossing_map, hash, (uint32_t)n))
    return NULL;
  crossing_cell *cell = &table->crossing_cells.items[table->crossing_cells.count++];
  *cell = (crossing_cell){.total = key, .next = first};
  return cell;
}

/* Ends go before begins of the same moment: what took the place of another is not beside it. */
static int by_moment(const void *left, const void *right) {
  const crossing_moment *a = left, *b = right;
  if (a->block != b->block)
    return a->block < b->block ? -1 : 1;
  if (a->ns != b->ns)
    return a->ns < b->ns ? -1 : 1;
  return a->step - b->step;
}

/* All of a launch's ranges are there: how many were open at a time, block by block. */
static void count_in_flight(crossing_cell *cell) {
  crossing_moment *m = cell->moments.items;
  const size_t n = cell->moments.count;
  if (n)
    qsort(m, n, sizeof *m, by_moment);
  for (size_t at = 0, end; at < n; at = end) {
    int64_t open = 0;
    for (end = at; end < n && m[end].block == m[at].block; end++) {
      if (end > at)
        cell->open_ns += (double)open * (double)((uint64_t)m[end].ns - (uint64_t)m[end - 1].ns);
      open += m[end].step;
      cell->total.most_in_flight = open > (int64_t)cell->total.most_in_flight ? (uint64_t)open : cell->total.most_in_flight;
    }
    cell->span_ns += (double)((uint64_t)m[end - 1].ns - (uint64_t)m[at].ns);
  }
  cell->moments.count = 0;
}

static bool put_moments(const ink_table *table, crossing_cell *cell, const ink_crossing *c) {
  ink_stored_track track;
  ink_capture_track(table->capture, c->from_track, &track);
  const uint64_t block = c->scope == INK_SCOPE_BLOCK ? ink_linear_block(&track.header) : 0;
  if (cell->launch != c->launch)
    count_in_flight(cell);
  cell->launch = c->launch;
  for (int end = 0; end < 2; end++) {
    if (!INK_I_ROOM(cell->moments))
      return false;
    const int64_t ns = end && c->end_ns > c->begin_ns ? c->end_ns : c->begin_ns;
    cell->moments.items[cell->moments.count++] = (crossing_moment){block, ns, end ? -1 : 1};
  }
  return true;
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
  return put_moments(table, cell, c) && ink_quantile_add(&cell->cycles, c->cycles) && ink_quantile_add(&cell->ns, ns > 0 ? (uint64_t)ns : 0)
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
    count_in_flight(cell);
    *total = cell->total;
    total->mean_in_flight = cell->span_ns > 0 ? cell->open_ns / cell->span_ns : 0;
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
    free(table->crossing_cells.items[i].moments.items);
  }
  free(table->crossing_cells.items);
  id_map_free(&table->crossing_map);
  free(table->crossings);
}

size_t ink_table_crossings(const ink_table *table, const ink_crossing_total **out) {
  *out = table->crossings;
  return table->crossing_cells.count;
}
