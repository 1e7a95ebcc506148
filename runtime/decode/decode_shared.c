/* SPDX-License-Identifier: MIT */
/* Ranges across threads: collects the ends that tracks of a launch have, and joins them when it is through, by scope,
 * section and key, the first begun with the first ended. On one SM its clock tells which came first; between SMs
 * the mapped times do, which are good to a bound: an end may seem to come before its begin by less than that. */
#include "decode_events.h"

#include <inttypes.h>
#include <stdlib.h>

static uint8_t scope_of(uint8_t escape) {
  return escape == INK_ESCAPE_BLOCK     ? INK_SCOPE_BLOCK
         : escape == INK_ESCAPE_CLUSTER ? INK_SCOPE_CLUSTER
                                        : INK_SCOPE_GRID;
}

ink_status ink_decode_shared_key(ink_decoder *decoder, int called, const ink_record *record, uint32_t section,
                                 int64_t row, uint64_t cycles) {
  const uint8_t scope = scope_of(record->escape);
  const bool cluster = scope == INK_SCOPE_CLUSTER;
  const ink_track *header = &decoder->stored.header;
  *ink_decoder_next(decoder) =
      (ink_event){.type = INK_EVENT_POINT, .kind = record->kind, .escape = record->escape, .called = (uint8_t)called,
                  .section = section, .row = row, .end = cycles, .u.value = record->payload[cluster]};
  const ink_status status = ink_decoder_give(decoder);
  if (status != INK_OK || decoder->sink->only_open)
    return status;
  if (!INK_I_ROOM(decoder->shared))
    return ink_error_set(decoder->error, INK_ERROR_MEMORY, "out of memory for ranges across threads");
  decoder->shared.items[decoder->shared.count++] = (ink_shared_mark){
      .group = cluster ? record->payload[0] : scope == INK_SCOPE_BLOCK ? ink_linear_block(header) : 0,
      .key = record->payload[cluster], .cycles = cycles, .track = decoder->track.index,
      .ns = ink_line_ns(&decoder->line, cycles), .row = row, .word = record->word, .section = section,
      .bound_ns = ink_clock_map_bound_ns(decoder->map, decoder->stored.device, header->sm_open, cycles),
      .sm = header->sm_open, .scope = scope, .called = called != 0,
      .begins = record->kind == INK_KIND_ASYNC_BEGIN};
  return INK_OK;
}

#define COMPARE(field)                                                                             \
  if (a->field != b->field)                                                                        \
  return a->field < b->field ? -1 : 1

static int same_ranges(const ink_shared_mark *a, const ink_shared_mark *b) {
  COMPARE(scope);
  COMPARE(section);
  COMPARE(group);
  COMPARE(key);
  return 0;
}

/* A block is on one SM, whose clock is exact. */
static int by_time(const void *left, const void *right) {
  const ink_shared_mark *a = left, *b = right;
  const int order = same_ranges(a, b);
  if (order)
    return order;
  if (a->scope != INK_SCOPE_BLOCK) {
    COMPARE(ns);
    COMPARE(sm);
  }
  COMPARE(cycles);
  COMPARE(track);
  COMPARE(word);
  return 0;
}

/* What the time between the two is good to. */
static double bound_of(const ink_shared_mark *a, const ink_shared_mark *b) {
  return a->sm == b->sm ? 0 : a->bound_ns + b->bound_ns;
}

static ink_status problem(ink_decoder *decoder, enum ink_problem_kind kind, const ink_shared_mark *at,
                          const char *what) {
  decoder->track.index = at->track;
  return ink_decoder_problem(decoder, kind, at->section, at->called, at->word, "%s '%s' with key %" PRIu64 " %s",
                             at->begins ? "shared range" : "end of the shared range",
                             ink_decoder_section_name(decoder, at->section), at->key, what);
}

static ink_status give(ink_decoder *decoder, uint32_t launch, const ink_shared_mark *begin, const ink_shared_mark *end) {
  const ink_shared_mark *one = begin ? begin : end;
  ink_crossing crossing = {.launch = launch, .section = one->section, .scope = one->scope, .key = one->key,
                           .cut = !begin ? INK_CUT_BEGIN : !end ? INK_CUT_NEVER_ENDED : 0,
                           .from_track = UINT64_MAX, .to_track = UINT64_MAX,
                           .from_row = INK_ROW_NONE, .to_row = INK_ROW_NONE};
  if (begin) {
    crossing.from_track = begin->track;
    crossing.from_row = begin->row;
    crossing.begin_cycles = begin->cycles;
    crossing.begin_ns = begin->ns;
  }
  if (end) {
    crossing.to_track = end->track;
    crossing.to_row = end->row;
    crossing.end_cycles = end->cycles;
    crossing.end_ns = end->ns;
  }
  ink_status status = INK_OK;
  if (begin && end) {
    crossing.bound_ns = bound_of(begin, end);
    crossing.exact = begin->sm == end->sm;
    crossing.cycles = crossing.exact ? end->cycles - begin->cycles : 0;
    crossing.backwards = end->ns < begin->ns;
    if (crossing.backwards)
      status = problem(decoder, INK_PROBLEM_BACKWARDS, end, "came before its begin, by less than the clocks are known");
  } else if (!decoder->shared_lost) {
    status = begin ? problem(decoder, INK_PROBLEM_SHARED_NEVER_ENDED, begin, "never ended")
                   : problem(decoder, INK_PROBLEM_SHARED_NEVER_BEGUN, end, "has no begin");
  }
  if (status == INK_OK && decoder->sink->crossing)
    status = decoder->sink->crossing(decoder->sink->user, &crossing);
  return status;
}

/* The first end that has no begin yet and may have come after `begin` all the same. */
static ink_shared_mark *end_before(ink_shared_mark *marks, size_t from, const ink_shared_mark *begin) {
  for (ink_shared_mark *end = marks + from; end < begin; end++)
    if (!end->begins && !end->matched && (double)(begin->ns - end->ns) <= bound_of(begin, end) && begin->sm != end->sm)
      return end;
  return NULL;
}

/* The marks of one section and key, in the order of their time. */
static ink_status join(ink_decoder *decoder, uint32_t launch, ink_shared_mark *marks, size_t count) {
  ink_status status = INK_OK;
  size_t open = 0, orphans = 0; /* the first that may be either */
  uint64_t waiting = 0, ends = 0;
  for (size_t i = 0; i < count && status == INK_OK; i++) {
    ink_shared_mark *mark = &marks[i], *other = NULL;
    if (mark->begins && ends) {
      other = end_before(marks, orphans, mark);
      ends -= other != NULL;
    } else if (!mark->begins && waiting) {
      while (!marks[open].begins || marks[open].matched)
        open++;
      other = &marks[open];
      waiting--;
    }
    if (other) {
      mark->matched = other->matched = true;
      status = mark->begins ? give(decoder, launch, mark, other) : give(decoder, launch, other, mark);
    } else if (mark->begins) {
      waiting++;
    } else {
      ends++;
    }
    while (orphans < i && (marks[orphans].begins || marks[orphans].matched))
      orphans++;
  }
  for (size_t i = 0; i < count && status == INK_OK; i++)
    if (!marks[i].matched)
      status = marks[i].begins ? give(decoder, launch, &marks[i], NULL) : give(decoder, launch, NULL, &marks[i]);
  return status;
}

ink_status ink_decode_shared_rest(ink_decoder *decoder, uint32_t launch) {
  ink_shared_mark *marks = decoder->shared.items;
  const size_t count = decoder->shared.count;
  const uint64_t last = decoder->track.index;
  ink_status status = INK_OK;
  if (count)
    qsort(marks, count, sizeof *marks, by_time);
  for (size_t from = 0, to; from < count && status == INK_OK; from = to) {
    for (to = from + 1; to < count && !same_ranges(&marks[from], &marks[to]); to++)
      ;
    status = join(decoder, launch, marks + from, to - from);
  }
  decoder->track.index = last;
  decoder->shared.count = 0;
  decoder->shared_lost = false;
  return status;
}
