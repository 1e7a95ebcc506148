/* SPDX-License-Identifier: MIT */
/* The cells of a table while it is made: finding them, and folding in what one track adds. */
#include "findings.h"

#include <math.h>
#include <stdlib.h>

enum { CELLS_PER_BLOCK = 256 };

ink_cell *ink_table_cell(const ink_table *table, uint32_t index) {
  return &table->blocks[index / CELLS_PER_BLOCK][index % CELLS_PER_BLOCK];
}

static ink_cell *make_cell(ink_table *table, uint32_t part, uint32_t section, int64_t group,
                           uint64_t hash, uint32_t next) {
  if (table->cell_count >= INK_ID_NONE - 1)
    return NULL;
  if (table->cell_count % CELLS_PER_BLOCK == 0) {
    size_t n = table->cell_count / CELLS_PER_BLOCK;
    ink_cell **blocks = realloc(table->blocks, (n + 1) * sizeof *blocks);
    if (!blocks)
      return NULL;
    table->blocks = blocks;
    blocks[n] = calloc(CELLS_PER_BLOCK, sizeof **blocks);
    if (!blocks[n])
      return NULL;
  }
  struct ink_cell_more *more = table->waits ? calloc(1, sizeof *more) : NULL;
  if (table->waits && !more) {
    if (table->cell_count % CELLS_PER_BLOCK == 0)
      free(table->blocks[table->cell_count / CELLS_PER_BLOCK]);
    return NULL;
  }
  if (!id_map_put(&table->cell_map, hash, table->cell_count)) {
    free(more);
    if (table->cell_count % CELLS_PER_BLOCK == 0)
      free(table->blocks[table->cell_count / CELLS_PER_BLOCK]);
    return NULL;
  }
  ink_cell *cell = ink_table_cell(table, table->cell_count++);
  *cell = (ink_cell){.part = part, .section = section, .group = group, .next = next,
                     .track = UINT64_MAX, .min = UINT64_MAX, .depth = UINT32_MAX, .called = 1,
                     .max_track = UINT64_MAX, .max_row = INK_ROW_NONE, .launch = UINT32_MAX, .more = more};
  return cell;
}

/* The cell of a section in the current part; NULL when out of memory. */
static ink_cell *find_cell(ink_table *table, uint32_t section, int64_t group) {
  uint32_t part = table->part;
  uint64_t hash = ink_mix64(ink_mix64((uint64_t)group) + ((uint64_t)part << 32 | section));
  uint32_t first = id_map_get(&table->cell_map, hash);
  for (uint32_t i = first; i != INK_ID_NONE;) {
    ink_cell *cell = ink_table_cell(table, i);
    if (cell->part == part && cell->section == section && cell->group == group)
      return cell;
    i = cell->next;
  }
  return make_cell(table, part, section, group, hash, first);
}

/* Tracks pass the same cells in the same order: the guess from last time saves looking them up, and
 * brings the one after it near. */
static ink_cell *follow(ink_table *table, uint32_t section, int64_t group) {
  ink_cell *before = table->latest, *cell = before ? before->follow : NULL;
  if (!cell || cell->section != section || cell->group != group ||
      cell->part != table->part) {
    cell = find_cell(table, section, group);
    if (!cell)
      return NULL;
    if (before)
      before->follow = cell;
  }
  table->latest = cell;
  if (cell->follow) {
    const char *next = (const char *)cell->follow;
    for (size_t i = 0; i < sizeof *cell; i += 64)
      __builtin_prefetch(next + i, 1);
    /* Its values are likely near its largest so far. */
    const ink_quantile *sketch = &cell->follow->sketch;
    uint32_t place = ink_quantile_bucket(cell->follow->max) - sketch->first;
    if (place < sketch->room)
      __builtin_prefetch(sketch->counts + place, 1);
  }
  return cell;
}

void ink_cell_end_launch(ink_cell *cell) {
  cell->uneven += (double)cell->launch_largest * (double)cell->launch_tracks;
  cell->launch_largest = cell->launch_tracks = 0;
}

/* Ends the visit of a track to a cell: its sums become the cell's. Where no SM changed its rate, a track
 * has one rate. */
void ink_table_fold(const ink_table *table, ink_cell *cell) {
  if (cell->track == UINT64_MAX || !cell->now_count)
    return;
  cell->tracks++;
  cell->count += cell->now_count;
  cell->total += cell->now_total;
  cell->cost.cycles += cell->now_cost.cycles;
  cell->cost.bound_millicycles += cell->now_cost.bound_millicycles;
  if (cell->more)
    ink_findings_fold(cell);
  if (cell->launch != cell->now_launch)
    ink_cell_end_launch(cell);
  cell->launch = cell->now_launch;
  cell->launch_tracks++;
  if (cell->now_total > cell->launch_largest)
    cell->launch_largest = cell->now_total;
  if (cell->now_min < cell->min)
    cell->min = cell->now_min;
  if (cell->now_max > cell->max || cell->max_track == UINT64_MAX) {
    cell->max = cell->now_max;
    cell->max_track = cell->track;
    cell->max_row = cell->now_max_row;
  }
  if (!table->timed) {
    cell->now_ns = (double)cell->now_total * cell->now_scale;
    cell->now_min_ns = (double)cell->now_min * cell->now_scale;
    cell->now_max_ns = (double)cell->now_max * cell->now_scale;
    cell->now_bound_ns = (double)cell->now_total * cell->now_bound_scale +
                         (double)cell->now_count * cell->now_bound_each;
  }
  cell->total_ns += cell->now_ns;
  cell->bound_ns += cell->now_bound_ns;
  if (cell->tracks == 1 || cell->now_min_ns < cell->min_ns)
    cell->min_ns = cell->now_min_ns;
  if (cell->now_max_ns > cell->max_ns)
    cell->max_ns = cell->now_max_ns;
  cell->now_count = 0;
}

/* Cells of the current part and group, by section: most events hit the same few. */
ink_cell *ink_table_visit(ink_table *table, uint32_t section, int64_t row) {
  int64_t group = table->options.by == INK_BY_ITERATION ? row : table->group;
  size_t place = section == INK_SECTION_UNKNOWN ? table->cache_room - 1 : section;
  ink_cell *cell = table->cache[place];
  if (!cell || cell->group != group || cell->part != table->part) {
    cell = follow(table, section, group);
    if (!cell)
      return NULL;
    table->cache[place] = cell;
  }
  if (cell->track != table->track) {
    ink_table_fold(table, cell);
    cell->track = table->track;
    cell->now_launch = table->launch;
    cell->now_warp = table->warp;
    cell->now_max_row = INK_ROW_NONE;
    cell->now_scale = table->line.ns_per_cycle;
    cell->now_bound_scale = table->bound_scale;
    cell->now_bound_each = table->bound_each;
    cell->now_ns = cell->now_max_ns = cell->now_bound_ns = 0;
    cell->now_min_ns = INFINITY;
    cell->now_count = cell->now_total = cell->now_max = 0;
    cell->now_cost = (ink_cost){0, 0};
    cell->now_min = UINT64_MAX;
  }
  return cell;
}

static bool is_pass(const ink_table *table, size_t at, int64_t row) {
  return at < table->passes.count && table->passes.items[at].row == row &&
         table->passes.items[at].part == table->part;
}

/* Tracks pass the same iterations in the same order. */
bool ink_table_pass(ink_table *table, int64_t row) {
  size_t at = table->pass_at + 1;
  table->totals.items[table->part].iterations++;
  if (table->options.by != INK_BY_ITERATION)
    return true;
  if (!is_pass(table, at, row)) {
    const uint64_t hash = ink_mix64(ink_mix64((uint64_t)row) + table->part);
    const uint32_t first = id_map_get(&table->pass_map, hash);
    uint32_t i = first;
    while (i != INK_ID_NONE && !is_pass(table, i, row))
      i = table->passes.items[i].next;
    at = i != INK_ID_NONE ? i : table->passes.count;
    if (i == INK_ID_NONE) {
      if (at >= INK_ID_NONE - 1 || !INK_I_ROOM(table->passes) || !id_map_put(&table->pass_map, hash, (uint32_t)at))
        return false;
      table->passes.items[table->passes.count++] = (ink_passes){.row = row, .part = table->part, .next = first};
    }
  }
  table->passes.items[at].count++;
  table->pass_at = at;
  return true;
}

void ink_table_free_cells(ink_table *table) {
  for (uint32_t i = 0; i < table->cell_count; i++) {
    free(ink_table_cell(table, i)->more);
    ink_quantile_free(&ink_table_cell(table, i)->sketch);
    ink_quantile_free(&ink_table_cell(table, i)->sketch_ns);
  }
  for (uint32_t i = 0; i < table->cell_count; i += CELLS_PER_BLOCK)
    free(table->blocks[i / CELLS_PER_BLOCK]);
  free(table->blocks);
  id_map_free(&table->cell_map);
}
