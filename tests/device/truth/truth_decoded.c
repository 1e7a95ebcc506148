/* SPDX-License-Identifier: MIT */
/* Decodes a capture with the library and holds what comes out of it against the tracks of the
 * model: records, slices, points, asynchronous ranges, counts, and the table by iteration. */
#include "truth_slices.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct collected { /* of the track that is being decoded */
  truth_context *c;
  truth_track *track;
  const ink_section *sections;
  size_t record, point, slice; /* the next to be expected */
  truth_slice *slices;
  size_t slice_count;
  const truth_step **ended; /* asynchronous ranges that the model has ended, as they end */
  const truth_step **begun;
  size_t async_count, async;
  bool whole;
  truth_cells cells;
  uint64_t unmarked, total, tracks, marks;
} collected;

#define WHERE "%s block %u thread %u: "
#define AT(d) (d)->track->launch->function, (d)->track->linear_block, (d)->track->thread

static bool is_section(const collected *d, ink_section_index index, const char *name) {
  if (!name)
    return index == INK_SECTION_UNKNOWN;
  return index == truth_section_index(d->c, name);
}

static const truth_step *next_kept(const truth_steps *steps, size_t *at, bool points) {
  for (; *at < steps->count; ++*at) {
    const truth_step *step = &steps->items[*at];
    const bool is_point = step->kind >= INK_KIND_INSTANT && step->escape != INK_ESCAPE_CLOCKS;
    if (step->kept && step->stored && (!points || is_point))
      return &steps->items[(*at)++];
  }
  return NULL;
}

/* The model's asynchronous ranges: an end belongs to the first begun of its section and key. */
static void match_asyncs(collected *d) {
  const truth_steps *steps = &d->track->steps;
  bool *used = calloc(steps->count + 1, sizeof *used);
  d->begun = calloc(steps->count + 1, sizeof *d->begun);
  d->ended = calloc(steps->count + 1, sizeof *d->ended);
  d->async_count = d->async = 0;
  for (size_t i = 0; i < steps->count; i++) {
    const truth_step *end = &steps->items[i];
    for (size_t j = 0; j < i && end->kind == INK_KIND_ASYNC_END; j++) {
      const truth_step *begin = &steps->items[j];
      if (used[j] || begin->kind != INK_KIND_ASYNC_BEGIN || begin->payload[0] != end->payload[0] ||
          strcmp(begin->section, end->section) != 0)
        continue;
      used[j] = true;
      d->begun[d->async_count] = begin;
      d->ended[d->async_count++] = end;
      break;
    }
  }
  free(used);
}

/* The first and last moments that are known to be whole, from which steps are kept. */
static void check_partial(const collected *d, const ink_decoded_track *track) {
  uint64_t before = 0, after = UINT64_MAX, executed = 0, kept = 0;
  const uint64_t starts[2] = {d->c->kind->words_start, d->c->kind->aux_words_start};
  for (int called = 0; called < 2; called++) {
    uint64_t oldest = track->close_cycles, newest = track->open_cycles;
    bool dropped = starts[called] != 0;
    executed += starts[called];
    for (size_t i = 0; i < d->track->steps.count; i++) {
      const truth_step *step = &d->track->steps.items[i];
      if (step->called != called)
        continue;
      executed += truth_counts(d->track, step);
      kept += step->kept && truth_counts(d->track, step);
      dropped |= !step->kept && truth_counts(d->track, step);
      if (!step->stored)
        continue;
      if (step->kept && oldest == track->close_cycles)
        oldest = step->clock;
      if (step->kept)
        newest = step->clock;
    }
    if (dropped && !d->c->run->keep_first && oldest > before)
      before = oldest;
    if (dropped && d->c->run->keep_first && newest < after)
      after = newest;
  }
  CHECK(track->partial_before_cycles == before,
        WHERE "partial before %" PRIu64 ", should be %" PRIu64, AT(d), track->partial_before_cycles,
        before);
  CHECK(track->partial_after_cycles == after, WHERE "partial after %" PRIu64 ", should be %" PRIu64,
        AT(d), track->partial_after_cycles, after);
  CHECK(track->marks_executed == executed && track->marks_kept == kept &&
            track->marks_dropped == executed - kept,
        WHERE "%" PRIu64 " = %" PRIu64 " + %" PRIu64 " marks, should be %" PRIu64 " = %" PRIu64
              " + %" PRIu64,
        AT(d), track->marks_executed, track->marks_kept, track->marks_dropped, executed, kept,
        executed - kept);
}

static ink_status on_begin(void *user, const ink_decoded_track *track) {
  collected *d = user;
  d->track = d->c->by_index[track->index];
  if (!d->track)
    return INK_OK;
  const ink_launch *launches;
  ink_capture_launches(d->c->capture, &launches);
  const ink_launch *launch = &launches[track->stored->launch];
  check_partial(d, track);
  d->whole = track->marks_dropped == 0;
  d->record = d->point = d->slice = d->slice_count = 0;
  if (d->whole) {
    d->slices =
        truth_slices(d->c, d->track, launch->kernel, &d->slice_count, &d->cells, &d->unmarked);
    match_asyncs(d);
  }
  d->total += track->close_cycles - track->open_cycles;
  d->tracks++;
  d->marks += track->marks_executed;
  CHECK(track->open_cycles == d->track->opening[2].value &&
            track->close_cycles == d->track->closing[0].value,
        WHERE "wrong bounds", AT(d));
  return INK_OK;
}

static ink_status on_record(void *user, uint64_t head, uint64_t cycles, ink_section_index section,
                            int64_t row, uint8_t called) {
  collected *d = user;
  const truth_step *step = d->track ? next_kept(&d->track->steps, &d->record, false) : NULL;
  if (!step && (!d->track || !d->track->closed))
    return INK_OK; /* the model has no steps of tracks that stay open */
  if (!step) {
    truth_fail("a record that the model does not have");
    return INK_OK;
  }
  const uint32_t tag = (uint32_t)((head ^ cycles) >> INK_TAG_SHIFT);
  const uint32_t id = section == INK_SECTION_UNKNOWN ? 0 : d->sections[section].id;
  CHECK(tag == (step->escape ? INK_TAG(INK_KIND_ESCAPE, step->escape) : INK_TAG(step->kind, id)) &&
            cycles == step->clock && is_section(d, section, step->section) &&
            called == step->called &&
            (step->kind != INK_KIND_ITER || row == (int64_t)step->payload[0]),
        WHERE "record %zu: tag %04x at %" PRIu64 ", should be kind %d %s at %" PRIu64, AT(d),
        d->record, tag, cycles, step->kind, step->section ? step->section : "", step->clock);
  return INK_OK;
}

static ink_status on_point(void *user, const ink_point *point) {
  collected *d = user;
  const truth_step *step = d->track ? next_kept(&d->track->steps, &d->point, true) : NULL;
  if (!step && (!d->track || !d->track->closed))
    return INK_OK; /* the model has no steps of tracks that stay open */
  if (!step) {
    truth_fail("a point that the model does not have");
    return INK_OK;
  }
  const bool sum = step->escape == INK_ESCAPE_SUM,
             instant = !step->escape && step->kind == INK_KIND_INSTANT;
  const bool value = sum       ? memcmp(&point->value.sum, step->payload, 32) == 0
                     : instant ? true
                               : point->value.u64 == step->payload[0];
  CHECK(value && point->kind == (step->escape ? INK_KIND_ESCAPE : step->kind) &&
            point->escape == step->escape && point->cycles == step->clock &&
            point->called == step->called && is_section(d, point->section, step->section),
        WHERE "point at %" PRIu64 ": kind %d escape %d value %" PRIx64
              ", should be kind %d escape %d value %" PRIx64 " at %" PRIu64,
        AT(d), point->cycles, point->kind, point->escape, point->value.u64, step->kind,
        step->escape, step->payload[0], step->clock);
  return INK_OK;
}

static ink_status on_slice(void *user, const ink_slice *slice) {
  collected *d = user;
  if (!d->track || !d->whole)
    return INK_OK;
  if (d->slice++ >= d->slice_count) {
    truth_fail(WHERE "a slice that the model does not have", AT(d));
    return INK_OK;
  }
  const truth_slice *s = &d->slices[d->slice - 1];
  CHECK(slice->section == s->section && slice->depth == s->depth && slice->kind == s->kind &&
            slice->called == s->called && !slice->cut && slice->row == s->row &&
            slice->begin_cycles == s->begin && slice->end_cycles == s->end,
        WHERE "slice %zu: section %u depth %u row %" PRId64 " [%" PRIu64 ", %" PRIu64
              "] should be section %u depth %u row %" PRId64 " [%" PRIu64 ", %" PRIu64 "]",
        AT(d), d->slice - 1, slice->section, slice->depth, slice->row, slice->begin_cycles,
        slice->end_cycles, s->section, s->depth, s->row, s->begin, s->end);
  return INK_OK;
}

static ink_status on_async(void *user, const ink_async *async) {
  collected *d = user;
  if (!d->track || !d->whole)
    return INK_OK;
  if (d->async++ >= d->async_count) {
    truth_fail(WHERE "an asynchronous range that the model does not have", AT(d));
    return INK_OK;
  }
  const truth_step *begin = d->begun[d->async - 1], *end = d->ended[d->async - 1];
  CHECK(async->key == begin->payload[0] && is_section(d, async->section, begin->section) &&
            !async->cut && async->begin_cycles == begin->clock && async->end_cycles == end->clock,
        WHERE "asynchronous range of key %" PRIu64 ", should be that of key %" PRIu64, AT(d),
        async->key, begin->payload[0]);
  return INK_OK;
}

static ink_status on_problem(void *user, const ink_problem *problem) {
  collected *d = user;
  if (d->track)
    truth_fail(WHERE "the decoder complains: %s", AT(d), problem->text);
  return INK_OK;
}

static ink_status on_end(void *user, const ink_decoded_track *track) {
  collected *d = user;
  (void)track;
  if (!d->track)
    return INK_OK;
  CHECK(!next_kept(&d->track->steps, &d->record, false), WHERE "records are missing", AT(d));
  CHECK(!next_kept(&d->track->steps, &d->point, true), WHERE "points are missing", AT(d));
  if (d->whole) {
    CHECK(d->slice == d->slice_count, WHERE "%zu slices, should be %zu", AT(d), d->slice,
          d->slice_count);
    CHECK(d->async == d->async_count, WHERE "%zu asynchronous ranges, should be %zu", AT(d),
          d->async, d->async_count);
    free(d->slices);
    free(d->begun);
    free(d->ended);
    d->slices = NULL;
    d->begun = d->ended = NULL;
  }
  return INK_OK;
}

/* ---- the table by iteration ---------------------------------------------------------------- */

static int compare_values(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

static void check_row(const truth_cell *cell, const ink_table_row *row) {
  uint64_t values[32];
  const size_t n = cell->count < 32 ? (size_t)cell->count : 32;
  memcpy(values, cell->values, sizeof values);
  qsort(values, n, sizeof *values, compare_values);
  const uint64_t median = n ? values[(n + 1) / 2 - 1] : 0;
  CHECK(row->count == cell->count && row->nested == cell->nested && row->total_cycles == cell->total && row->cut == 0 &&
            row->min_cycles == cell->least && row->max_cycles == cell->most &&
            (bool)row->summed == cell->summed &&
            (cell->summed || cell->count > 32 || row->median_cycles == median),
        "table: section %u row %" PRId64 ": %" PRIu64 " times %" PRIu64 " (%" PRIu64 " to %" PRIu64
        "), should be %" PRIu64 " times %" PRIu64 " (%" PRIu64 " to %" PRIu64 ")",
        cell->section, cell->row, row->count, row->total_cycles, row->min_cycles, row->max_cycles,
        cell->count, cell->total, cell->least, cell->most);
}

static void check_table(const collected *d, const ink_clock_map *map) {
  const ink_table_options options = {
      .size = sizeof options, .by = INK_BY_ITERATION, .launch = UINT32_MAX};
  ink_table *table;
  ink_error error = {0};
  if (ink_table_make(d->c->capture, map, &options, &table, &error)) {
    truth_fail("%s", error.message);
    return;
  }
  const ink_table_row *rows;
  const ink_kernel_total *totals;
  const size_t row_count = ink_table_rows(table, &rows);
  const size_t kernels = ink_table_kernels(table, &totals);
  uint64_t total = 0, unmarked = 0, tracks = 0, marks = 0;
  for (size_t i = 0; i < kernels; i++) {
    total += totals[i].total_cycles;
    unmarked += totals[i].unmarked_cycles;
    tracks += totals[i].tracks;
    marks += totals[i].marks_executed;
    CHECK(totals[i].marks_executed == totals[i].marks_kept + totals[i].marks_dropped,
          "kernel %zu of the table: kept + dropped is not executed", i);
  }
  CHECK(total == d->total && unmarked == d->unmarked && tracks == d->tracks && marks == d->marks,
        "table: %" PRIu64 " tracks, %" PRIu64 " marks, %" PRIu64 " cycles, %" PRIu64
        " unmarked, should be %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64,
        tracks, marks, total, unmarked, d->tracks, d->marks, d->total, d->unmarked);
  CHECK(row_count == d->cells.count, "table: %zu rows, should be %zu", row_count, d->cells.count);
  for (size_t i = 0; i < d->cells.count; i++) {
    const truth_cell *cell = &d->cells.items[i];
    size_t found = 0;
    for (size_t r = 0; r < row_count; r++)
      if (rows[r].kernel == cell->kernel && rows[r].group == cell->row &&
          rows[r].section == cell->section && ++found)
        check_row(cell, &rows[r]);
    CHECK(found == 1, "table: section %u row %" PRId64 " is there %zu times", cell->section,
          cell->row, found);
  }
  ink_table_free(table);
}

void truth_check_decoded(truth_context *c) {
  collected d = {.c = c};
  ink_clock_map *map = NULL;
  ink_error error = {0};
  ink_capture_sections(c->capture, &d.sections);
  const ink_sink sink = {.user = &d,
                         .track_begin = on_begin,
                         .record = on_record,
                         .slice = on_slice,
                         .point = on_point,
                         .async = on_async,
                         .problem = on_problem,
                         .track_end = on_end};
  if (ink_clock_map_make(c->capture, &map, &error) ||
      ink_decode(c->capture, map, UINT32_MAX, &sink, &error)) {
    truth_fail("%s", error.message);
  } else {
    bool whole = true;
    for (size_t i = 0; i < c->track_count; i++)
      for (size_t s = 0; s < c->tracks[i].steps.count; s++)
        whole &= !c->tracks[i].captured || !c->tracks[i].steps.items[s].stored ||
                 c->tracks[i].steps.items[s].kept;
    if (whole && !c->kind->words_start)
      check_table(&d, map);
  }
  free(d.cells.items);
  ink_clock_map_free(map);
}
