/* SPDX-License-Identifier: MIT */
/* Events of a table whose SMs changed their rate: every stretch of time is converted by the lines that its
 * own stamps lie on. Slower than sums of cycles at a track's one rate. */
#include "table_private.h"

#include <math.h>

static ink_status no_memory(ink_table *table) {
  return ink_error_set(table->error, INK_ERROR_MEMORY, "out of memory for the table");
}

static void add_ns(ink_cell *cell, double ns, double min_ns, double max_ns, double bound_ns) {
  cell->now_ns += ns;
  cell->now_bound_ns += bound_ns;
  if (min_ns < cell->now_min_ns)
    cell->now_min_ns = min_ns;
  if (max_ns > cell->now_max_ns)
    cell->now_max_ns = max_ns;
}

/* `cycles` of the stretch are the cell's, all but what the marks in it cost. */
static bool add(ink_table *table, ink_cell *cell, int64_t row, uint64_t from, uint64_t to, uint64_t cycles,
                ink_cost cost) {
  const uint64_t paid = cost.cycles < cycles ? cost.cycles : cycles;
  const double part = to > from ? (double)(cycles - paid) / (double)(to - from) : 0;
  const double ns = ink_line_span_ns(&table->line, from, to) * part;
  cell->now_cost.cycles += paid;
  cell->now_cost.bound_millicycles += cost.bound_millicycles;
  cell->now_count++;
  cell->now_total += cycles - paid;
  if (cycles - paid < cell->now_min)
    cell->now_min = cycles - paid;
  if (cycles - paid > cell->now_max) {
    cell->now_max = cycles - paid;
    cell->now_max_row = row;
  }
  add_ns(cell, ns, ns, ns, table->cycle_ns + ink_line_span_bound(&table->line, from, to));
  const double parts = ns * INK_NS_PARTS + 0.5;
  return ink_quantile_add(&cell->sketch, cycles - paid) &&
         ink_quantile_add(&cell->sketch_ns, parts > 0 && parts < 9e18 ? (uint64_t)parts : 0);
}

static ink_status add_gap(ink_table *table, int64_t row, uint64_t from, uint64_t to,
                          uint64_t cycles, ink_cost cost) {
  ink_cell *cell = ink_table_visit(table, INK_SECTION_UNKNOWN, row);
  if (!cell)
    return no_memory(table);
  const double before_ns = cell->now_ns;
  const uint64_t before_cycles = cell->now_total;
  cell->depth = 0;
  cell->called = 0;
  if (!add(table, cell, row, from, to, cycles, cost))
    return no_memory(table);
  table->gap_ns += cell->now_ns - before_ns;
  table->gap_cycles += cell->now_total - before_cycles;
  return INK_OK;
}

static ink_status add_mark(ink_table *table, const ink_event *run, size_t section, int64_t row,
                           uint64_t from, uint64_t to, ink_cost cost, uint64_t *sum) {
  ink_cell *cell = ink_table_visit(table, (uint32_t)section, row);
  if (!cell)
    return no_memory(table);
  const uint64_t before = cell->now_total;
  table->seen[section] = 1;
  if (run->depth < cell->depth)
    cell->depth = run->depth;
  cell->called = 0;
  ink_cell_inside(cell, run->parent);
  const bool fine = add(table, cell, row, from, to, to - from, cost);
  *sum += cell->now_total - before;
  return fine ? INK_OK : no_memory(table);
}

static ink_status take_run(ink_table *table, const ink_event *run) {
  uint64_t last = run->begin, sum = 0;
  ink_status status = INK_OK;
  int64_t row = run->row;
  ink_run_stamps at = ink_run_begin(run, run->payload, run->costs);
  while (status == INK_OK && ink_run_next(&at)) {
    if (!at.iter) {
      status = add_mark(table, run, at.section, row, last, at.clock, at.cost, &sum);
    } else {
      if (run->gaps && at.clock != last)
        status = add_gap(table, row, last, at.clock, at.clock - last, at.cost);
      row = at.row;
      if (status == INK_OK && !ink_table_pass(table, row))
        status = no_memory(table);
    }
    last = at.clock;
  }
  if (status == INK_OK && !ink_table_child(table, run->parent, row, sum))
    status = no_memory(table);
  return status;
}

static ink_status take_slice(ink_table *table, const ink_event *event) {
  if (event->section == INK_SECTION_UNKNOWN)
    return INK_OK; /* a problem was raised; nothing to name it by */
  ink_cell *cell = ink_table_visit(table, event->section, event->row);
  if (!cell)
    return no_memory(table);
  ink_cell_note(cell, event);
  if (event->cut) {
    cell->cut++;
    return INK_OK;
  }
  const uint64_t total = cell->now_total;
  const ink_cost paid = cell->now_cost;
  const double ns = cell->now_ns, bound_ns = cell->now_bound_ns;
  if (!add(table, cell, event->row, event->begin, event->end, event->end - event->begin, event->cost))
    return no_memory(table);
  const uint64_t net = cell->now_total - total;
  if (event->nested) { /* its time is in the slice's around it already */
    cell->nested++;
    cell->nested_cycles += net;
    cell->now_total = total;
    cell->now_cost = paid;
    cell->now_ns = ns;
    cell->now_bound_ns = bound_ns;
  }
  return ink_table_child(table, event->parent, event->row, net) ? INK_OK : no_memory(table);
}

/* The passes of a sum have no stamps: the rate at its end is taken, and what other rates of the track
 * would make of it is in the bound. */
static ink_status take_sum(ink_table *table, const ink_event *event) {
  ink_cell *cell;
  uint64_t cycles;
  ink_status status = ink_table_sum(table, event, &cell, &cycles);
  if (status != INK_OK || !cell)
    return status;
  const ink_line *line = &table->line;
  const size_t last = line->piece_count
                          ? ink_clock_piece_at(line->pieces, line->piece_count, event->end)
                          : 0;
  const ink_clock_piece *at = line->piece_count ? &line->pieces[last] : &line->now;
  double low = at->slope_min, high = at->slope_max;
  for (size_t i = last; i-- > 0 && line->pieces[i + 1].from_cycles > line->now.from_cycles;) {
    low = fmin(low, line->pieces[i].slope_min);
    high = fmax(high, line->pieces[i].slope_max);
  }
  const double rate = at->ns_per_cycle;
  const uint64_t *words = event->u.words;
  const uint64_t each = ink_cost_of_pass(&table->costs, words[0], words[1], words[2]);
  add_ns(cell, (double)cycles * rate, (double)(words[2] - each) * rate,
         (double)(words[3] > each ? words[3] - each : 0) * rate,
         (double)event->u.words[0] * table->bound_each +
             (double)cycles * fmax(high - rate, rate - low));
  return INK_OK;
}

ink_status ink_table_timed(ink_table *table, const ink_event *event) {
  switch (event->type) {
  case INK_EVENT_RUN:
    return take_run(table, event);
  case INK_EVENT_SLICE:
    return take_slice(table, event);
  case INK_EVENT_GAP:
    return add_gap(table, event->row, event->begin, event->end, event->u.value, event->cost);
  case INK_EVENT_POINT:
    return event->escape == INK_ESCAPE_SUM ? take_sum(table, event) : INK_OK;
  default:
    return INK_OK;
  }
}
