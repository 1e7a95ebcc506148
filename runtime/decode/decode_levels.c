/* SPDX-License-Identifier: MIT */
/* Merges the records of a track's two rings by their clocks, and turns them into slices, points and gaps. The opening
 * comment of decode.h has the rules for levels and rows. */
#include "decode_events.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { BODY, CALLED };

/* The next record of a ring. Its clock is unwrapped. */
typedef struct cursor {
  ink_record record;
  size_t at, next;
  uint64_t upper, cycles;
  bool there;
} cursor;

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }
static uint64_t earlier(uint64_t a, uint64_t b) { return a < b ? a : b; }

static bool is_nested(const ink_decoder *decoder, uint32_t section) {
  return section != INK_SECTION_UNKNOWN && decoder->open_of[section];
}

/* Named ranges of a section, of an unknown one too, that are open in one ring. */
static uint32_t *open_in(ink_decoder *decoder, int called, uint32_t section) {
  const size_t unknown = decoder->capture->sections.count;
  return &decoder->open_in[called][section == INK_SECTION_UNKNOWN ? unknown : section];
}

static ink_level *top(ink_decoder *decoder, int called) {
  ink_levels *levels = &decoder->levels[called];
  return &levels->items[levels->count - 1];
}

/* The section around what comes next in the body or in called functions. */
static uint32_t around(const ink_decoder *decoder, int called) {
  const ink_levels *levels = &decoder->levels[called];
  const ink_level *inner = &levels->items[levels->count - 1];
  if (levels->count == 1)
    return called || decoder->body_unknown ? INK_PARENT_UNKNOWN : INK_PARENT_BODY;
  return inner->named && inner->section != INK_SECTION_UNKNOWN ? inner->section
                                                               : INK_PARENT_UNKNOWN;
}

/* A level on top, for the caller to fill; NULL: out of memory. */
static ink_level *push(ink_decoder *decoder, int called) {
  ink_levels *levels = &decoder->levels[called];
  if (!ink_list_room((void **)&levels->items, &levels->capacity, levels->count,
                     sizeof *levels->items)) {
    ink_error_set(decoder->error, INK_ERROR_MEMORY, "out of memory for nested ranges");
    return NULL;
  }
  return &levels->items[levels->count++];
}

/* ---- clocks -------------------------------------------------------------------------------- */

/* Stamps of a ring rise, up to the close. A stamp that does not rise counts as equal to the one before it. */
static ink_status check_clock(ink_decoder *decoder, int called, const ink_record *record,
                              uint64_t *cycles) {
  uint64_t last = decoder->last[called], clock = record->clock64;
  *cycles = clock;
  if (clock >= last && clock <= decoder->limit)
    return INK_OK;
  *cycles = last;
  if (clock < last)
    return ink_decoder_problem(decoder, INK_PROBLEM_CLOCK, INK_SECTION_UNKNOWN, called,
                               record->word, "clock goes back by %" PRIu64 " cycles", last - clock);
  return ink_decoder_problem(decoder, INK_PROBLEM_CLOCK, INK_SECTION_UNKNOWN, called, record->word,
                             "clock is %" PRIu64 " cycles after the close", clock - decoder->limit);
}

/* ---- sections ------------------------------------------------------------------------------ */

static bool enter_other_table(ink_decoder *decoder, uint64_t hash48) {
  if (hash48 != decoder->other_hash) {
    const ink_section_table *table = ink_capture_table(decoder->capture, hash48);
    decoder->other_hash = hash48;
    decoder->other_count = table ? table->section_count : 0;
    decoder->other_base = table ? ink_table_base(decoder->capture, table) : 0;
  }
  return decoder->other_count != 0;
}

static ink_status find_section(ink_decoder *decoder, int called, const ink_record *record,
                               uint32_t *out) {
  uint32_t base = decoder->base_section, count = decoder->section_count;
  *out = INK_SECTION_UNKNOWN;
  if (record->hash48) {
    if (!enter_other_table(decoder, record->hash48))
      return ink_decoder_problem(decoder, INK_PROBLEM_NO_TABLE, INK_SECTION_UNKNOWN, called,
                                 record->word, "section %u of the unknown table %012" PRIx64,
                                 (unsigned)record->section, record->hash48);
    base = decoder->other_base;
    count = decoder->other_count;
  } else if (!count) {
    if (decoder->told_unknown_table)
      return INK_OK;
    decoder->told_unknown_table = true;
    return ink_decoder_problem(decoder, INK_PROBLEM_NO_TABLE, INK_SECTION_UNKNOWN, called,
                               record->word, "the kernel's section table is unknown");
  }
  if (record->section == INK_SECTION_NONE && count < INK_SECTION_NONE)
    return ink_decoder_problem(decoder, INK_PROBLEM_OUT_OF_RANGE, INK_SECTION_UNKNOWN, called, record->word,
                               "PROF_MARK_ID with an index that table '%s' does not have, which has %u sections",
                               decoder->capture->sections.items[base].table->name, (unsigned)count);
  if (record->section < 1 || record->section > count)
    return ink_decoder_problem(decoder, INK_PROBLEM_NO_SECTION, INK_SECTION_UNKNOWN, called,
                               record->word, "section %u is not in table '%s', which has %u",
                               (unsigned)record->section,
                               decoder->capture->sections.items[base].table->name, (unsigned)count);
  *out = base + record->section - 1;
  return INK_OK;
}

/* ---- what no section claims ---------------------------------------------------------------- */

static void forget_claims(ink_decoder *decoder) {
  decoder->called_claimed = 0;
  decoder->called_cost = (ink_cost){0, 0};
}

/* Moves the body's base stamp to `now`. Called slices since the last stamp claim their part. If the time is not known
 * to be whole, it is no gap. */
static ink_status gap(ink_decoder *decoder, uint64_t now) {
  const ink_level *base = &decoder->levels[BODY].items[0];
  const uint64_t begin = later(base->stamp, decoder->track.partial_before_cycles);
  const uint64_t end = earlier(now, decoder->track.partial_after_cycles);
  const uint64_t claimed = decoder->called_claimed;
  const ink_cost claimed_cost = decoder->called_cost;
  forget_claims(decoder);
  if (begin >= end || claimed >= end - begin)
    return INK_OK;
  const uint64_t cycles = end - begin - claimed;
  ink_cost cost = {0, 0};
  if (decoder->costed) {
    cost = ink_cost_of_gap(decoder, base, now, claimed_cost);
    cost.cycles = earlier(cost.cycles, cycles);
  }
  decoder->track.unmarked_cycles += cycles;
  decoder->track.unmarked_marking_cycles += cost.cycles;
  *ink_decoder_next(decoder) =
      (ink_event){.type = INK_EVENT_GAP, .section = INK_SECTION_UNKNOWN, .row = base->row,
                  .begin = begin, .end = end, .cost = cost, .u.value = cycles};
  return ink_decoder_give(decoder);
}

static void claim_called(ink_decoder *decoder, uint64_t begin, uint64_t end, ink_cost cost) {
  begin = later(begin, decoder->track.partial_before_cycles);
  end = earlier(end, decoder->track.partial_after_cycles);
  if (decoder->levels[BODY].count == 1 && decoder->levels[CALLED].count == 1 && begin < end) {
    decoder->called_claimed += end - begin;
    decoder->called_cost.cycles += cost.cycles;
    decoder->called_cost.bound_millicycles += cost.bound_millicycles;
  }
}

/* ---- records ------------------------------------------------------------------------------- */

static uint32_t depth_of(const ink_decoder *decoder, int called) {
  size_t body = decoder->levels[BODY].count - 1;
  return (uint32_t)(called ? body + decoder->levels[CALLED].count : body);
}

static int64_t row_of(const ink_decoder *decoder, int called) {
  const ink_levels *levels = &decoder->levels[called];
  if (called && levels->count == 1 && decoder->body_unknown)
    return INK_ROW_UNKNOWN;
  if (called && levels->count == 1 && decoder->called_row_at != decoder->body_changes)
    return row_of(decoder, BODY); /* called anew: the row is that of the caller */
  return levels->items[levels->count - 1].row;
}

static void move_stamp(const ink_decoder *decoder, ink_level *level, uint64_t now) {
  level->stamp = now;
  level->stamp_cost = decoder->cost;
  level->stamp_known = true;
}

static uint64_t net_cycles(uint64_t begin, uint64_t end, ink_cost cost) {
  const uint64_t cycles = end - begin;
  return cycles - earlier(cost.cycles, cycles);
}

static ink_status mark(ink_decoder *decoder, int called, uint32_t section, uint64_t now) {
  ink_level *level = top(decoder, called);
  uint64_t begin = level->stamp;
  bool cut = !level->stamp_known;
  ink_cost cost = ink_cost_since(decoder, level->stamp_cost);
  ink_status status = INK_OK;
  if (called) {
    const ink_level *body = top(decoder, BODY);
    const bool base = decoder->levels[CALLED].count == 1;
    if (body->stamp > begin)
      cost = ink_cost_since(decoder, body->stamp_cost);
    /* Within a range the body's stamps should not have moved; the range's END tells. */
    cut |= base ? !body->stamp_known : begin < body->stamp;
    begin = later(begin, body->stamp);
    if (base)
      ink_decoder_wait(decoder, section, cut ? 0 : net_cycles(begin, now, cost));
    claim_called(decoder, begin, now, cost);
  } else {
    status = ink_decoder_settle(decoder, section);
    if (decoder->levels[BODY].count == 1)
      forget_claims(decoder);
  }
  decoder->track.place.after = section;
  move_stamp(decoder, level, now);
  if (status != INK_OK)
    return status;
  *ink_decoder_next(decoder) =
      (ink_event){.type = INK_EVENT_SLICE, .kind = INK_KIND_MARK, .called = (uint8_t)called,
                  .cut = cut, .nested = is_nested(decoder, section), .section = section,
                  .depth = depth_of(decoder, called), .parent = around(decoder, called),
                  .row = row_of(decoder, called), .begin = begin, .end = now, .cost = cost};
  return ink_decoder_give(decoder);
}

static ink_status range_begin(ink_decoder *decoder, int called, const ink_record *record, uint32_t section,
                              uint64_t now) {
  ink_level *level = top(decoder, called);
  if (!called) {
    ink_status status = ink_decoder_settle(decoder, around(decoder, BODY));
    if (status == INK_OK && decoder->levels[BODY].count == 1)
      status = gap(decoder, now);
    if (status != INK_OK)
      return status;
    decoder->body_changes++;
  }
  if (section != INK_SECTION_UNKNOWN)
    decoder->open_of[section]++;
  ++*open_in(decoder, called, section);
  const int64_t row = row_of(decoder, called);
  move_stamp(decoder, level, now);
  ink_level *inner = push(decoder, called);
  if (!inner)
    return INK_ERROR_MEMORY;
  *inner = (ink_level){.stamp = now, .begin = now, .row = row, .section = section,
                       .stamp_known = true, .begin_known = true, .named = true, .escape = record->escape,
                       .value = record->escape ? record->payload[0] : 0,
                       .stamp_cost = decoder->cost, .begin_cost = decoder->cost};
  return INK_OK;
}

/* Takes the top range off and makes its slice. If `cut` is 2, the range never ended, and the slice goes up to `now`. */
static ink_status pop(ink_decoder *decoder, int called, size_t word, uint64_t now, uint8_t cut) {
  const int64_t row = row_of(decoder, called);
  const ink_level *range = top(decoder, called); /* stays as it is until another is pushed */
  const uint32_t section = range->section;
  const bool begin_known = range->begin_known;
  const uint8_t escape = range->escape;
  const uint64_t value = range->value;
  uint64_t begin = range->begin;
  ink_cost cost = ink_cost_since(decoder, range->begin_cost);
  ink_status status =
      called ? INK_OK : ink_decoder_settle(decoder, range->named ? section : INK_PARENT_UNKNOWN);
  if (range->named && section != INK_SECTION_UNKNOWN)
    decoder->open_of[section]--;
  if (range->named)
    --*open_in(decoder, called, section);
  if (!begin_known && !cut)
    cut = 1;
  decoder->levels[called].count--;
  move_stamp(decoder, top(decoder, called), now);
  if (!called) {
    decoder->body_changes++;
    if (decoder->levels[BODY].count == 1)
      forget_claims(decoder);
  } else {
    const ink_level *body = top(decoder, BODY);
    if (body->stamp_known && body->stamp > begin)
      cost = ink_cost_since(decoder, body->stamp_cost);
    if (begin < body->stamp && begin_known && body->stamp_known) {
      status = ink_decoder_problem(decoder, INK_PROBLEM_ACROSS, section, called, word,
                                   "range '%s' of a called function is open across the body's marks",
                                   ink_decoder_section_name(decoder, section));
      begin = body->stamp; /* so that slices nest */
      cut = cut ? cut : 1;
    } else {
      begin = later(begin, body->stamp_known ? body->stamp : 0);
    }
    if (decoder->levels[CALLED].count == 1)
      ink_decoder_wait(decoder, section, cut ? 0 : net_cycles(begin, now, cost));
    claim_called(decoder, begin, now, cost);
  }
  if (status != INK_OK)
    return status;
  *ink_decoder_next(decoder) =
      (ink_event){.type = INK_EVENT_SLICE, .kind = INK_KIND_BEGIN, .called = (uint8_t)called,
                  .cut = cut, .nested = is_nested(decoder, section), .section = section,
                  .depth = depth_of(decoder, called), .parent = around(decoder, called),
                  .row = row, .begin = begin, .end = now, .cost = cost, .escape = escape, .u.value = value};
  return ink_decoder_give(decoder);
}

static ink_status range_end(ink_decoder *decoder, int called, const ink_record *record,
                            uint32_t section, uint64_t now) {
  ink_levels *levels = &decoder->levels[called];
  ink_status status = INK_OK;
  if (levels->count == 1)
    return ink_decoder_problem(decoder, INK_PROBLEM_NEVER_BEGUN, section, called, record->word,
                               "END of '%s' without its BEGIN", ink_decoder_section_name(decoder, section));
  if (top(decoder, called)->named && top(decoder, called)->section != section) {
    const char *name = ink_decoder_section_name(decoder, section);
    const bool deeper = *open_in(decoder, called, section);
    while (deeper && top(decoder, called)->section != section && status == INK_OK) {
      status = ink_decoder_problem(
          decoder, INK_PROBLEM_STILL_OPEN, top(decoder, called)->section, called, record->word,
          "'%s' is still open at the END of '%s'",
          ink_decoder_section_name(decoder, top(decoder, called)->section), name);
      if (status == INK_OK)
        status = pop(decoder, called, record->word, now, 2);
    }
    if (!deeper)
      status = ink_decoder_problem(
          decoder, INK_PROBLEM_WRONG_END, section, called, record->word, "END of '%s' closes '%s'", name,
          ink_decoder_section_name(decoder, top(decoder, called)->section));
  }
  if (!top(decoder, called)->named)
    top(decoder, called)->section = section;
  decoder->track.place.after = section;
  return status == INK_OK ? pop(decoder, called, record->word, now, 0) : status;
}

static ink_status new_row(ink_decoder *decoder, int called, const ink_record *record,
                          uint64_t now) {
  int64_t row;
  memcpy(&row, record->payload, sizeof row);
  if (!called) {
    ink_status status = ink_decoder_settle(decoder, around(decoder, BODY));
    if (status == INK_OK && decoder->levels[BODY].count == 1)
      status = gap(decoder, now);
    if (status != INK_OK)
      return status;
    decoder->body_changes++;
    decoder->row_at = now;
  } else if (decoder->levels[CALLED].count == 1) {
    decoder->called_row_at = decoder->body_changes;
  }
  ink_level *level = top(decoder, called);
  level->row = row;
  move_stamp(decoder, level, now);
  *ink_decoder_next(decoder) =
      (ink_event){.type = INK_EVENT_POINT, .kind = INK_KIND_ITER, .called = (uint8_t)called,
                  .section = INK_SECTION_UNKNOWN, .depth = depth_of(decoder, called), .row = row,
                  .end = now, .u.value = (uint64_t)row};
  return ink_decoder_give(decoder);
}

static ink_status point(ink_decoder *decoder, int called, const ink_record *record,
                        uint32_t section, uint64_t now) {
  const bool sum = record->escape == INK_ESCAPE_SUM;
  const ink_cost none = {0, 0};
  ink_event *event = ink_decoder_next(decoder);
  *event = (ink_event){.type = INK_EVENT_POINT, .kind = record->kind, .escape = record->escape,
                       .called = (uint8_t)called, .section = section,
                       .depth = depth_of(decoder, called), .parent = around(decoder, called),
                       .row = row_of(decoder, called), .end = now,
                       .cost = sum && !called ? ink_cost_pay_passes(decoder, record, now) : none};
  if (sum)
    event->u.words = record->payload;
  else if (record->escape)
    event->u.value = record->payload[0];
  return ink_decoder_give(decoder);
}

static ink_status take(ink_decoder *decoder, int called, const cursor *at) {
  const ink_record *record = &at->record;
  uint32_t section = INK_SECTION_UNKNOWN;
  ink_status status = INK_OK;
  bool plain_iter = record->kind == INK_KIND_ITER, clocks = record->escape == INK_ESCAPE_CLOCKS;
  if (!plain_iter && !clocks)
    status = find_section(decoder, called, record, &section);
  if (status == INK_OK && decoder->sink->want_records) {
    *ink_decoder_next(decoder) =
        (ink_event){.type = INK_EVENT_RECORD, .called = (uint8_t)called, .section = section,
                    .row = plain_iter ? (int64_t)record->payload[0] : row_of(decoder, called),
                    .end = at->cycles, .u.head = record->head};
    status = ink_decoder_give(decoder);
  }
  if (status != INK_OK)
    return status;
  if (decoder->costed && clocks)
    ink_cost_pay_clocks(decoder, record, at->cycles);
  else if (decoder->costed)
    ink_cost_pay(decoder, at->cycles, ink_cost_of_record(decoder, called, record));
  switch (record->kind) {
  case INK_KIND_MARK:
    return mark(decoder, called, section, at->cycles);
  case INK_KIND_BEGIN:
    return range_begin(decoder, called, record, section, at->cycles);
  case INK_KIND_END:
    return range_end(decoder, called, record, section, at->cycles);
  case INK_KIND_ITER:
    return new_row(decoder, called, record, at->cycles);
  case INK_KIND_ASYNC_BEGIN:
  case INK_KIND_ASYNC_END:
    if (record->escape)
      return ink_decode_shared_key(decoder, called, record, section, row_of(decoder, called), at->cycles);
    return ink_decode_async(decoder, called, record, section, row_of(decoder, called),
                            at->cycles);
  default:
    return clocks ? INK_OK : point(decoder, called, record, section, at->cycles);
  }
}

/* A run stays in the first-level cache for whoever reads it next. */
enum { RUN_MAX = 2048 };

static void take_costs(ink_decoder *decoder, const cursor at[2], const ink_level *level, bool base,
                       ink_event *run) {
  const cursor *first = &at[BODY];
  ink_cost_pay(decoder, first->cycles, ink_cost_of_record(decoder, BODY, &first->record));
  run->costs = &decoder->costs;
  run->cost = ink_cost_since(decoder, level->stamp_cost);
  uint64_t gaps = ink_cost_pay_run(decoder, run);
  if (run->payload && run->payload[0])
    gaps += run->cost.cycles;
  if (base)
    decoder->track.unmarked_marking_cycles += gaps;
}

static void note_last_mark(ink_decoder *decoder, size_t first, size_t next) {
  const ink_ring *ring = &decoder->rings[BODY];
  while (next >= first + 2 && ring->payload[next - 2]) /* an ITER */
    next -= 2;
  if (next > first)
    decoder->track.place.after =
        decoder->base_section - 1 +
        (uint32_t)((ring->words[next - 1] ^ ring->first_upper) >> INK_TAG_SHIFT);
}

/* Takes the body's plain MARKs and ITERs from `at` on as one event, up to the first record of another kind or of the
 * other ring. Most of what kernels record is of this form. Returns how many words it took. It returns 0 if the next
 * record must be decoded on its own. */
static size_t take_run(ink_decoder *decoder, const cursor at[2], ink_status *status) {
  const ink_ring *ring = &decoder->rings[BODY];
  ink_level *level = top(decoder, BODY);
  bool base = decoder->levels[BODY].count == 1;
  const uint8_t kind = at[BODY].record.kind;
  if ((kind != INK_KIND_MARK && kind != INK_KIND_ITER) || !ring->steady ||
      decoder->sink->want_records || !level->stamp_known)
    return 0;
  uint64_t limit = decoder->limit;
  if (at[CALLED].there && at[CALLED].cycles <= limit)
    limit = at[CALLED].cycles - (at[CALLED].cycles != 0); /* it goes first where clocks are equal */
  /* A gap that an ITER ends must be whole, and not claimed in part by called functions. */
  bool rows = !base || (level->stamp >= decoder->track.partial_before_cycles &&
                        decoder->track.partial_after_cycles == UINT64_MAX &&
                        !decoder->called_claimed);
  size_t first = at[BODY].at;
  size_t most = ring->count - first < RUN_MAX ? ring->count : first + RUN_MAX;
  ink_run_scan scan = {.next = first, .last = level->stamp, .row = level->row};
  if (!base && level->named && level->section - decoder->base_section < decoder->section_count)
    scan.inner = level->section - decoder->base_section + 1;
  if (decoder->levels[BODY].count > 2)
    scan.open_of = decoder->open_of + decoder->base_section;
  if (at[BODY].cycles != at[BODY].record.clock64)
    return 0; /* it went back: a problem was raised, and its own clock must not be used */
  ink_ring_scan(ring, most, decoder->section_count, limit, rows, &scan);
  if (scan.next - first < 2)
    return 0;
  const size_t words = scan.next - first;
  const uint32_t parent = around(decoder, BODY);
  const bool begins_row = ring->payload[first] != 0;
  const uint32_t ends_in = (uint32_t)((ring->words[first] ^ ring->first_upper) >> INK_TAG_SHIFT);
  *status =
      ink_decoder_settle(decoder, begins_row ? parent : decoder->base_section + ends_in - 1);
  if (*status != INK_OK)
    return words;
  ink_event *run = ink_decoder_next(decoder);
  *run = (ink_event){.type = INK_EVENT_RUN, .kind = INK_KIND_MARK,
                     .section = decoder->base_section, .depth = depth_of(decoder, BODY),
                     .parent = parent, .row = level->row, .begin = level->stamp, .end = scan.last,
                     .u.words = ring->words + first, .count = (uint32_t)words,
                     .payload = scan.iters ? ring->payload + first : NULL, .gaps = base};
  if (decoder->costed)
    take_costs(decoder, at, level, base, run);
  if (decoder->open)
    note_last_mark(decoder, first, scan.next);
  move_stamp(decoder, level, scan.last);
  decoder->last[BODY] = scan.last;
  level->row = scan.row;
  decoder->body_changes += scan.iters;
  if (ring->payload[scan.next - 2]) /* ends with an ITER */
    decoder->row_at = scan.last;
  if (base) {
    forget_claims(decoder);
    decoder->track.unmarked_cycles += scan.unmarked;
  }
  *status = ink_decoder_give(decoder);
  return words;
}

/* ---- the track ----------------------------------------------------------------------------- */

/* Sets up the levels at the front of the loaded piece. If words before it were lost, some ranges must have been open,
 * and nothing else is known of them. */
static ink_status open_levels(ink_decoder *decoder, int called, uint64_t from) {
  const ink_pieces *pieces = &decoder->pieces[called];
  const bool lost = pieces->torn[pieces->at];
  size_t count = 1;
  if (lost && pieces->ranges)
    count += ink_pieces_open_at_front(decoder, called);
  decoder->levels[called].count = 0;
  decoder->last[called] = from;
  decoder->lost[called] |= lost;
  for (size_t i = 0; i < count; i++) {
    ink_level *level = push(decoder, called);
    if (!level)
      return INK_ERROR_MEMORY;
    *level = (ink_level){.stamp = from, .begin = from, .section = INK_SECTION_UNKNOWN,
                         .row = lost ? INK_ROW_UNKNOWN : INK_ROW_NONE, .stamp_known = !lost};
    if (called && !lost)
      level->stamp = 0; /* the body's stamp is the later one */
  }
  return INK_OK;
}

/* Ends what is still open when the track closes. This is a mistake in the program, unless the ring dropped its newest
 * words or the track is open itself. */
static ink_status close_levels(ink_decoder *decoder, int called, uint64_t close, uint8_t cut) {
  const bool mistake = cut == INK_CUT_NEVER_ENDED && !decoder->rings[called].lost_back;
  ink_status status = INK_OK;
  while (decoder->levels[called].count > 1 && status == INK_OK) {
    if (mistake)
      status = ink_decoder_problem(
          decoder, INK_PROBLEM_NEVER_ENDED, top(decoder, called)->section, called,
          decoder->rings[called].count, "range '%s' never ended",
          ink_decoder_section_name(decoder, top(decoder, called)->section));
    if (status == INK_OK)
      status = pop(decoder, called, decoder->rings[called].count, close,
                   cut == INK_CUT_END_LOST ? INK_CUT_NEVER_ENDED : cut);
  }
  return status;
}

/* Loads the next piece of a ring. If words before it were lost, ranges that were open are known to have been open
 * until here. */
static ink_status next_piece(ink_decoder *decoder, int called, cursor *at) {
  const ink_pieces *pieces = &decoder->pieces[called];
  const size_t next = pieces->at + 1;
  const bool torn = pieces->torn[next];
  const uint64_t last = decoder->last[called];
  ink_status status = torn ? close_levels(decoder, called, last, INK_CUT_END_LOST) : INK_OK;
  if (status == INK_OK && torn)
    status = ink_decode_async_rest(decoder, later(decoder->last[BODY], decoder->last[CALLED]), true);
  if (status == INK_OK && torn && !called) {
    status = ink_decoder_settle(decoder, INK_PARENT_UNKNOWN);
    decoder->body_unknown = true;
    forget_claims(decoder);
  }
  if (torn)
    decoder->track.place.after = INK_SECTION_UNKNOWN;
  if (status == INK_OK)
    status = ink_decoder_flush(decoder); /* events have the payload lengths of what goes now */
  if (status != INK_OK)
    return status;
  ink_pieces_load(decoder, called, next);
  at->at = decoder->rings[called].first;
  at->upper = decoder->rings[called].first_upper;
  return torn ? open_levels(decoder, called, last) : INK_OK;
}

static ink_status advance(ink_decoder *decoder, int called, cursor *at) {
  const ink_ring *ring = &decoder->rings[called];
  const ink_pieces *pieces = &decoder->pieces[called];
  ink_status status = INK_OK;
  at->at = at->next;
  while (at->at >= ring->count && pieces->at + 1 < pieces->count && status == INK_OK)
    status = next_piece(decoder, called, at);
  at->there = status == INK_OK && at->at < ring->count;
  if (!at->there)
    return status;
  at->next = ink_ring_record(ring, at->at, &at->upper, &at->record);
  status = check_clock(decoder, called, &at->record, &at->cycles);
  decoder->last[called] = at->cycles;
  return status;
}

/* Says where an open track stands: the innermost range, and its last MARK or END. */
static void take_place(ink_decoder *decoder) {
  ink_place *place = &decoder->track.place;
  const int called = decoder->levels[CALLED].count > 1;
  const ink_level *level = top(decoder, called);
  const uint64_t records = decoder->pieces[BODY].records + decoder->pieces[CALLED].records;
  place->newest = decoder->stored.header.flags & INK_TRACK_NEWEST;
  place->known = records || (place->newest && !decoder->lost[BODY] && !decoder->lost[CALLED]);
  place->row = row_of(decoder, called);
  place->inside = INK_SECTION_UNKNOWN;
  place->ranges = decoder->levels[BODY].count + decoder->levels[CALLED].count > 2;
  if (place->ranges && level->named) {
    place->inside = level->section;
    place->begin_cycles = level->begin;
  }
}

/* Says which ring's record comes next. Called functions are placed by the body's levels. These levels are unknown
 * before the body's oldest record if older records are lost, and after its newest record if newer ones are lost. */
static int choose(ink_decoder *decoder, const cursor at[2]) {
  const ink_ring *rings = decoder->rings;
  int called = !at[BODY].there || (at[CALLED].there && at[CALLED].cycles <= at[BODY].cycles);
  if (!called && decoder->body_unknown) {
    decoder->body_unknown = false;
    decoder->body_changes++;
  } else if (called && !at[BODY].there && rings[BODY].lost_back && !decoder->body_unknown) {
    decoder->body_unknown = true;
    top(decoder, BODY)->stamp_known = false;
  }
  if (called && at[CALLED].at == rings[CALLED].first && rings[CALLED].lost_front)
    decoder->called_row_at = decoder->body_changes; /* an overwritten ITER may have set it */
  return called;
}

ink_status ink_decode_levels(ink_decoder *decoder) {
  cursor at[2];
  for (int called = 0; called < 2; called++)
    at[called] = (cursor){.next = decoder->rings[called].first,
                          .upper = decoder->rings[called].first_upper};
  decoder->body_changes = decoder->called_claimed = 0;
  decoder->called_row_at = UINT64_MAX;
  decoder->body_unknown = decoder->pieces[BODY].torn[0];
  decoder->lost[BODY] = decoder->lost[CALLED] = false;
  decoder->track.place = (ink_place){.after = INK_SECTION_UNKNOWN};
  ink_costs_open(decoder);
  ink_status status = open_levels(decoder, BODY, decoder->track.open_cycles);
  if (status == INK_OK)
    status = open_levels(decoder, CALLED, decoder->track.open_cycles);
  for (int called = 0; called < 2 && status == INK_OK; called++)
    status = advance(decoder, called, &at[called]);
  while (status == INK_OK && (at[BODY].there || at[CALLED].there)) {
    int called = choose(decoder, at);
    size_t run = called ? 0 : take_run(decoder, at, &status);
    if (run)
      at[BODY].next = at[BODY].at + run;
    else
      status = take(decoder, called, &at[called]);
    if (status == INK_OK)
      status = advance(decoder, called, &at[called]);
    /* What the rest of the called functions did was dropped: their ranges are known to have been
     * open until here, and must not cross what the body does next. */
    if (status == INK_OK && called && !at[CALLED].there && decoder->rings[CALLED].lost_back &&
        (at[BODY].there || !decoder->open))
      status = close_levels(decoder, CALLED, decoder->last[CALLED], INK_CUT_NEVER_ENDED);
  }
  if (status != INK_OK)
    return status;
  const uint8_t open = decoder->open ? INK_CUT_OPEN : INK_CUT_NEVER_ENDED;
  if (decoder->open)
    take_place(decoder);
  uint64_t close =
      later(decoder->track.close_cycles, later(decoder->last[BODY], decoder->last[CALLED]));
  ink_cost_pay(decoder, decoder->open ? later(decoder->last[BODY], decoder->last[CALLED]) : close, (ink_cost){0, 0});
  /* A damaged track may close before its marks. */
  decoder->track.marking_cycles =
      earlier(decoder->cost.cycles, decoder->track.close_cycles - decoder->track.open_cycles);
  decoder->track.marking_bound_millicycles = decoder->cost.bound_millicycles;
  decoder->track.whole_marking_cycles =
      earlier(decoder->whole_to.cycles - earlier(decoder->whole_to.cycles, decoder->whole_from.cycles),
              decoder->track.marking_cycles);
  for (int called = CALLED; called >= BODY && status == INK_OK; called--)
    status = close_levels(decoder, called, close, open);
  if (status == INK_OK)
    status = ink_decoder_settle(decoder, around(decoder, BODY));
  if (status == INK_OK)
    status = gap(decoder, close);
  return status == INK_OK ? ink_decode_async_rest(decoder, close, false) : status;
}
