/* SPDX-License-Identifier: MIT */
/* Adds the decoder's events up into rows: one cell for each kernel, section and group. */
#include "findings.h"
#include "capture/capture_match.h"
#include "options_take.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static ink_status no_memory(ink_table *table) {
  return ink_error_set(table->error, INK_ERROR_MEMORY, "out of memory for the table");
}

static inline __attribute__((always_inline)) bool add_value(ink_cell *cell, int64_t row, uint64_t cycles) {
  cell->now_count++;
  cell->now_total += cycles;
  if (cycles < cell->now_min)
    cell->now_min = cycles;
  if (cycles > cell->now_max) {
    cell->now_max = cycles;
    cell->now_max_row = row;
  }
  return ink_quantile_add(&cell->sketch, cycles);
}

/* Takes the marks' cost off a stretch, but at most the stretch itself. The rest is also added to *sum. */
static inline __attribute__((always_inline)) bool
add_costed(ink_cell *cell, int64_t row, uint64_t cycles, ink_cost cost, uint64_t *sum) {
  uint64_t paid = cost.cycles < cycles ? cost.cycles : cycles;
  cell->now_cost.cycles += paid;
  cell->now_cost.bound_millicycles += cost.bound_millicycles;
  *sum += cycles - paid;
  return add_value(cell, row, cycles - paid);
}

/* A slice inside another slice of its section: its time is already in the outer slice. */
static bool add_nested(ink_cell *cell, int64_t row, uint64_t cycles, ink_cost cost, uint64_t *sum) {
  const uint64_t total = cell->now_total;
  const uint64_t net = cycles - (cost.cycles < cycles ? cost.cycles : cycles);
  const bool fine = add_value(cell, row, net);
  cell->now_total = total;
  cell->nested++;
  cell->nested_cycles += net;
  *sum += net;
  return fine;
}

/* ---- events -------------------------------------------------------------------------------- */

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
  const uint64_t cycles = event->end - event->begin;
  uint64_t net = 0;
  const bool fine = event->nested ? add_nested(cell, event->row, cycles, event->cost, &net)
                                  : add_costed(cell, event->row, cycles, event->cost, &net);
  return fine && ink_table_child(table, event->parent, event->row, net) ? INK_OK : no_memory(table);
}

/* A called function's slices turned out to lie directly in one of `parent`. */
static ink_status take_inside(ink_table *table, const ink_event *event) {
  if (event->section == INK_SECTION_UNKNOWN)
    return ink_table_child(table, event->parent, 0, event->u.value) ? INK_OK : no_memory(table);
  ink_cell *cell = ink_table_visit(table, event->section, 0);
  if (!cell)
    return no_memory(table);
  cell->twice |= event->parent == event->section;
  ink_cell_inside(cell, event->parent);
  return INK_OK;
}

/* Makes the cell of a run's word ready for the current visit; NULL when out of memory. */
static ink_cell *ready(ink_table *table, uint32_t depth, size_t place, int64_t row) {
  bool gap = place == table->cache_room - 1;
  ink_cell *cell = ink_table_visit(table, gap ? INK_SECTION_UNKNOWN : (uint32_t)place, row);
  if (!cell)
    return NULL;
  if (!gap)
    table->seen[place] = 1;
  if (depth < cell->depth)
    cell->depth = depth;
  cell->called = 0;
  if (!gap)
    ink_cell_inside(cell, table->visit_parent);
  cell->visit = table->visit;
  return cell;
}

/* The table's cache and visit are passed as arguments. If they were read again after every store, that would cost as
 * much as the sums. */
static inline __attribute__((always_inline)) bool add_at(ink_table *table, ink_cell **cells,
                                                         uint64_t now, uint32_t depth,
                                                         size_t place, int64_t row,
                                                         uint64_t cycles, ink_cost cost,
                                                         uint64_t *sum) {
  ink_cell *cell = cells[place];
  if (__builtin_expect(!cell || cell->visit != now, 0) &&
      !(cell = ready(table, depth, place, row)))
    return false;
  return add_costed(cell, row, cycles, cost, sum);
}

static void begin_visit(ink_table *table, const ink_event *run, int64_t row) {
  int64_t group = table->options.by == INK_BY_ITERATION ? row : table->group;
  if (table->visit_track == table->track && table->visit_group == group &&
      table->visit_depth == run->depth && table->visit_parent == run->parent && table->visit)
    return;
  table->visit++;
  table->visit_track = table->track;
  table->visit_group = group;
  table->visit_depth = run->depth;
  table->visit_parent = run->parent;
}

/* Made for each of the four that take_run calls, so that what one lacks costs it nothing. */
static inline __attribute__((always_inline)) ink_status take_stamps(ink_table *table, const ink_event *run,
                                                                    const uint8_t *payload, const ink_costs *costs) {
  ink_cell **cells = table->cache;
  uint64_t now = table->visit, last = run->begin, sum = 0, gaps = 0;
  const size_t gap = table->cache_room - 1;
  const bool rows = table->options.by == INK_BY_ITERATION;
  int64_t row = run->row;
  bool ok = true;
  ink_run_stamps at = ink_run_begin(run, payload, costs);
  while (ok && ink_run_next(&at)) {
    if (!at.iter) {
      ok = add_at(table, cells, now, run->depth, at.section, row, at.clock - last, at.cost, &sum);
    } else {
      if (run->gaps && at.clock != last)
        ok = add_at(table, cells, now, 0, gap, row, at.clock - last, at.cost, &gaps);
      row = at.row;
      ok = ok && ink_table_pass(table, row);
      if (rows) {
        begin_visit(table, run, row);
        now = table->visit;
      }
    }
    last = at.clock;
  }
  return ok && ink_table_child(table, run->parent, row, sum) ? INK_OK : no_memory(table);
}

static ink_status take_run(ink_table *table, const ink_event *run) {
  begin_visit(table, run, run->row);
  if (run->costs)
    return run->payload ? take_stamps(table, run, run->payload, run->costs) : take_stamps(table, run, NULL, run->costs);
  return run->payload ? take_stamps(table, run, run->payload, NULL) : take_stamps(table, run, NULL, NULL);
}

ink_status ink_table_sum(ink_table *table, const ink_event *event, ink_cell **out,
                         uint64_t *cycles) {
  *out = NULL;
  if (event->section == INK_SECTION_UNKNOWN || !event->u.words[0])
    return INK_OK;
  ink_cell *cell = ink_table_visit(table, event->section, event->row);
  if (!cell)
    return no_memory(table);
  ink_cell_note(cell, event);
  cell->summed = 1;
  const ink_cost inside = table->costs.sum_inside;
  const uint64_t count = event->u.words[0], total = event->u.words[1];
  const uint64_t least = event->u.words[2], most = event->u.words[3];
  const uint64_t each = ink_cost_of_pass(&table->costs, count, total, least);
  const uint64_t paid = count * each;
  cell->now_count += count;
  cell->now_total += total - paid;
  *out = cell;
  *cycles = total - paid;
  cell->now_cost.cycles += paid;
  if (inside.bound_millicycles && count < UINT32_MAX)
    cell->now_cost.bound_millicycles += count * inside.bound_millicycles;
  if (least - each < cell->now_min)
    cell->now_min = least - each;
  if (most >= each && most - each > cell->now_max) {
    cell->now_max = most - each;
    cell->now_max_row = event->row;
  }
  table->totals.items[table->part].outside_cycles +=
      (double)count * (double)table->costs.sum_pair.cycles - (double)event->cost.cycles;
  return INK_OK;
}

static ink_status take_sum(ink_table *table, const ink_event *event) {
  ink_cell *cell;
  uint64_t cycles;
  return ink_table_sum(table, event, &cell, &cycles);
}

static ink_status take_gap(ink_table *table, const ink_event *event) {
  ink_cell *cell = ink_table_visit(table, INK_SECTION_UNKNOWN, event->row);
  if (!cell)
    return no_memory(table);
  uint64_t net = 0;
  cell->depth = 0;
  cell->called = 0;
  return add_costed(cell, event->row, event->u.value, event->cost, &net) ? INK_OK : no_memory(table);
}

/* What is in no row, so that a report can say that it is there. */
static void count_others(ink_kernel_total *total, const ink_event *event) {
  if (event->type == INK_EVENT_ASYNC)
    total->async_ranges++;
  else if (event->type == INK_EVENT_POINT && event->kind == INK_KIND_INSTANT)
    total->instants++;
  else if (event->type == INK_EVENT_POINT && event->kind == INK_KIND_ESCAPE)
    total->values += event->escape >= INK_ESCAPE_VALUE_I64 && event->escape <= INK_ESCAPE_VALUE_F64;
}

static ink_status on_events(void *user, const ink_event *events, size_t n) {
  ink_table *table = user;
  ink_status status = INK_OK;
  for (size_t i = 0; i < n && status == INK_OK; i++) {
    const ink_event *event = &events[i];
    if (event->type == INK_EVENT_INSIDE)
      status = take_inside(table, event);
    else if (table->timed)
      status = ink_table_timed(table, event);
    else if (event->type == INK_EVENT_RUN)
      status = take_run(table, event);
    else if (event->type == INK_EVENT_SLICE)
      status = take_slice(table, event);
    else if (event->type == INK_EVENT_GAP)
      status = take_gap(table, event);
    else if (event->type == INK_EVENT_POINT && event->escape == INK_ESCAPE_SUM)
      status = take_sum(table, event);
    if (event->type == INK_EVENT_POINT && event->kind == INK_KIND_ITER && status == INK_OK &&
        !ink_table_pass(table, (int64_t)event->u.value))
      status = no_memory(table);
    if (event->type == INK_EVENT_POINT || event->type == INK_EVENT_ASYNC)
      count_others(&table->totals.items[table->part], event);
    if (event->section < table->section_count && event->type != INK_EVENT_RUN)
      table->seen[event->section] = 1;
  }
  return status;
}

/* ---- launches and tracks ------------------------------------------------------------------- */

static bool on_want_kernel(void *user, uint32_t kernel) {
  const ink_table *table = user;
  return table->wanted[kernel];
}

static ink_status on_launch(void *user, uint32_t launch, const ink_launch *info) {
  ink_table *table = user;
  (void)info;
  table->launch = launch;
  return INK_OK;
}

/* A launch may have tracks of several kernels. */
static ink_status enter_kernel(ink_table *table, const ink_stored_track *track) {
  const uint32_t part = ink_table_part(table, table->launch, track->device, track->kernel);
  if (part == UINT32_MAX)
    return no_memory(table);
  table->kernel = ink_table_kernel_of(table, track->kernel);
  if (table->parts_of[table->launch] == UINT32_MAX)
    table->parts_of[table->launch] = part;
  if (table->part != part) { /* cells are cached for one part */
    memset(table->cache, 0, table->cache_room * sizeof *table->cache);
    table->part = part;
  }
  return INK_OK;
}

/* The bound of a stretch: a part of its length for the clock rate, and one cycle, because stamps are whole cycles. */
static void set_bounds(ink_table *table, const ink_line *line) {
  const double rate = line->now.ns_per_cycle;
  table->bound_scale = line->piece_count ? fmax(line->now.slope_max - rate, rate - line->now.slope_min)
                                         : 0;
  table->cycle_ns = rate;
  for (size_t i = 0; i < line->piece_count; i++)
    table->cycle_ns = fmax(table->cycle_ns, line->pieces[i].ns_per_cycle);
  table->bound_each = table->cycle_ns;
  if (!line->piece_count)
    table->bound_each += 2 * line->moved_ns;
  if (!line->bound_known)
    table->bound_each = INFINITY;
}

static ink_status on_track_begin(void *user, const ink_decoded_track *track,
                                 const ink_line *line) {
  ink_table *table = user;
  const ink_status entered = enter_kernel(table, track->stored);
  if (entered != INK_OK)
    return entered;
  if (track->stored->role < table->section_count)
    table->seen[track->stored->role] = 1;
  table->track = track->index;
  table->warp = track->stored->header.thread / 32;
  table->line = *line;
  set_bounds(table, line);
  table->gap_ns = 0;
  table->gap_cycles = 0;
  if (table->options.without_marking && table->costs_device != track->stored->device) {
    table->costs_device = track->stored->device;
    table->costs = ink_costs_of(table->capture, table->costs_device);
  }
  switch (table->options.by) {
  case INK_BY_BLOCK:
    table->group = (int64_t)ink_linear_block(&track->stored->header);
    break;
  case INK_BY_SM:
    table->group = track->stored->header.sm_open;
    break;
  case INK_BY_LAUNCH:
    table->group = table->launch;
    break;
  case INK_BY_WARP:
    table->group = track->stored->header.thread / 32;
    break;
  case INK_BY_DEVICE:
    table->group = track->stored->device;
    break;
  case INK_BY_INSTANCE:
    table->group = ink_table_instance_of(table, table->launch, track->stored->kernel);
    break;
  case INK_BY_ROLE:
    table->group = track->stored->role == INK_SECTION_UNKNOWN ? INK_NO_ROLE : (int64_t)track->stored->role;
    break;
  default:
    table->group = 0;
  }
  return INK_OK;
}

static ink_status on_track_end(void *user, const ink_decoded_track *track) {
  ink_table *table = user;
  ink_kernel_total *total = &table->totals.items[table->part];
  bool open = track->stored->header.state != INK_TRACK_CLOSED;
  /* Of an open track the time up to its last mark: what comes after is of no section yet. */
  const bool early = open && track->partial_after_cycles < track->close_cycles;
  uint64_t cycles = (early ? track->partial_after_cycles : track->close_cycles) - track->open_cycles;
  uint64_t unmarked = track->unmarked_cycles - track->unmarked_marking_cycles;
  total->tracks++;
  total->marks_executed += track->marks_executed;
  total->marks_kept += track->marks_kept;
  total->rows_executed += track->rows_executed;
  total->marks_dropped += track->marks_dropped;
  total->marks_dropped_open += open ? track->marks_dropped : 0;
  total->tracks_partial += open || track->marks_dropped;
  total->total_cycles += cycles - track->marking_cycles;
  if (table->launch_cycles)
    table->launch_cycles[table->launch] += cycles - track->marking_cycles;
  total->total_ns += (double)(cycles - track->marking_cycles) * table->line.ns_per_cycle;
  if (!open)
    total->bound_ns += table->cycle_ns + ink_line_span_bound(&table->line, track->open_cycles,
                                                             track->close_cycles);
  total->unmarked_cycles += unmarked;
  total->unmarked_ns += table->timed && table->gap_cycles == unmarked
                            ? table->gap_ns
                            : (double)unmarked * table->line.ns_per_cycle;
  total->marking_cycles += track->marking_cycles;
  total->marking_bound_cycles += (double)track->marking_bound_millicycles / 1000;
  total->outside_cycles += (double)table->costs.track.cycles;
  total->without_marking = (total->without_marking || total->tracks == 1) && table->costs.known &&
                           !track->rows_executed; /* what a slot of a row costs is not measured */
  uint64_t from = track->open_cycles > track->partial_before_cycles ? track->open_cycles
                                                                    : track->partial_before_cycles;
  uint64_t to = track->close_cycles < track->partial_after_cycles ? track->close_cycles
                                                                  : track->partial_after_cycles;
  uint64_t unknown = cycles - (to > from ? to - from : 0);
  uint64_t its_marks = track->marking_cycles - track->whole_marking_cycles;
  total->unknown_cycles += unknown - (its_marks < unknown ? its_marks : unknown);
  return INK_OK;
}

/* A mistake in the marks comes again in every track: the first of its kind stands for all. */
static ink_status on_problem(void *user, const ink_problem *problem) {
  ink_table *table = user;
  const track_ref *at = &table->capture->tracks.items[problem->track];
  const uint32_t part = ink_table_part_of(table, at->launch, at->kernel);
  table->problem_total++;
  for (size_t i = 0; i < table->problem_count; i++) {
    ink_problem *known = &table->problems[i];
    if (known->kind == problem->kind && known->section == problem->section &&
        known->called == problem->called && table->problem_parts[i] == part) {
      known->times++;
      return INK_OK;
    }
  }
  if (table->problem_count < INK_PROBLEMS_KEPT) {
    table->problem_parts[table->problem_count] = part;
    table->problems[table->problem_count++] = *problem;
  }
  return INK_OK;
}

static ink_status on_crossing(void *user, const ink_crossing *crossing) {
  return ink_table_crossing(user, crossing);
}

static ink_status on_progress(void *user, uint64_t done, uint64_t total) {
  const ink_table *table = user;
  return table->options.progress ? table->options.progress(table->options.user, done, total)
                                 : INK_OK;
}

/* ---- making -------------------------------------------------------------------------------- */

static bool allocate(ink_table *table) {
  size_t kernels = table->capture->kernels.count;
  table->section_count = table->capture->sections.count;
  table->cache_room = table->section_count + 1;
  table->cache = calloc(table->cache_room, sizeof *table->cache);
  table->seen = calloc(table->section_count + 1, 1);
  table->unseen = calloc(table->section_count + 1, sizeof *table->unseen);
  table->unseen_of = calloc(kernels + 1, sizeof *table->unseen_of);
  table->kernel_count = kernels;
  table->launch_count = table->capture->launches.count;
  table->parts_of = malloc((table->launch_count + 1) * sizeof *table->parts_of);
  if (table->parts_of)
    memset(table->parts_of, 0xff, (table->launch_count + 1) * sizeof *table->parts_of);
  table->problems = calloc(INK_PROBLEMS_KEPT, sizeof *table->problems);
  return table->cache && table->seen && table->unseen && table->parts_of && table->unseen_of && table->problems;
}

ink_status ink_table_make(const ink_capture *capture, const ink_clock_map *map,
                          const ink_table_options *options, ink_table **out, ink_error *error) {
  if (!capture || !map || !out)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "nothing to make a table of");
  ink_table *table = calloc(1, sizeof *table);
  if (!table)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the table");
  table->capture = capture;
  table->timed = ink_clock_map_changes(map);
  table->error = error;
  table->kernel = table->part = UINT32_MAX;
  table->options = (ink_table_options){.launch = UINT32_MAX};
  ink_status status = INK_I_OPTIONS_TAKE(&table->options, ink_table_options, user, options, error);
  if (status != INK_OK) {
    free(table);
    return status;
  }
  status = allocate(table) ? ink_match_kernels(capture, table->options.kernel_regex, &table->wanted, error) : no_memory(table);
  table->map = map;
  if (status == INK_OK)
    status = ink_table_find_instances(table);
  if (status == INK_OK && table->options.findings && table->options.by == INK_BY_SECTION)
    status = ink_findings_begin(table);
  table->costs_device = INT32_MIN;
  ink_event_sink sink = {.user = table, .want_costs = table->options.without_marking,
                         .want_inside = table->options.by != INK_BY_ITERATION,
                         .want_kernel = on_want_kernel, .launch = on_launch, .crossing = on_crossing,
                         .track_begin = on_track_begin, .events = on_events,
                         .problem = on_problem, .track_end = on_track_end,
                         .progress = on_progress};
  if (status == INK_OK)
    status = ink_decode_events(capture, map, table->options.launch, &sink, error);
  for (uint32_t i = 0; i < table->cell_count; i++)
    ink_table_fold(table, ink_table_cell(table, i));
  if (status == INK_OK)
    status = ink_table_finish(table);
  if (status == INK_OK)
    status = ink_table_finish_crossings(table);
  if (status == INK_OK && table->waits)
    status = ink_findings_make(table);
  table->error = NULL;
  table->map = NULL;
  if (status == INK_OK)
    *out = table;
  else
    ink_table_free(table);
  return status;
}

void ink_table_free(ink_table *table) {
  if (!table)
    return;
  ink_table_free_cells(table);
  free(table->cache);
  free(table->seen);
  free(table->unseen);
  free(table->unseen_of);
  free(table->wanted);
  free(table->totals.items);
  free(table->waits);
  free(table->launch_cycles);
  free(table->findings.items);
  free(table->passes.items);
  id_map_free(&table->pass_map);
  free(table->parts_of);
  id_map_free(&table->part_map);
  id_map_free(&table->part_index);
  free(table->part_notes);
  free(table->first_kernels);
  free(table->instance_next);
  id_map_free(&table->instance_map);
  free(table->slow_launches);
  ink_table_free_crossings(table);
  free(table->instances);
  free(table->instance_names);
  free(table->problems);
  free(table->rows);
  free(table->histograms);
  free(table);
}
