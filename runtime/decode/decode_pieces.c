/* SPDX-License-Identifier: MIT */
/* The words of a track piece by piece: most have one for each ring. Each is cut into records by itself; what they add
 * up to, and where the words between two of them were lost, is known before the first record is looked at. */
#include "decode_events.h"

#include <stdlib.h>
#include <string.h>

static ink_status no_memory(ink_decoder *decoder) {
  return ink_error_set(decoder->error, INK_ERROR_MEMORY, "out of memory for the pieces of a track");
}

/* Of an open track no clock is known but the opening's: less than 2^48 cycles later its last record was made. */
static uint64_t last_clock(const ink_piece *piece, uint64_t open) {
  const uint64_t upper = open & ~INK_CLOCK_MASK;
  for (size_t i = 1; i <= 2 && i <= piece->count; i++) {
    uint64_t clock = upper | (piece->words[piece->count - i] & INK_CLOCK_MASK);
    if (clock < open)
      clock += INK_CLOCK_MASK + 1;
    const uint64_t kind = (piece->words[piece->count - i] ^ (clock & ~INK_CLOCK_MASK)) >> 61;
    if (kind != INK_KIND_ESCAPE || i == 2)
      return clock;
  }
  return open;
}

static void cut(ink_decoder *decoder, int called, size_t k) {
  const ink_pieces *pieces = &decoder->pieces[called];
  const ink_piece *piece = &pieces->items[k];
  ink_ring *ring = &decoder->rings[called];
  ring->words = piece->words;
  ring->count = (size_t)piece->count;
  ring->close_clock = pieces->clocks[k];
  ring->lost_front = piece->lost || piece->lost_more;
  if (ring->payload && ring->count)
    memset(ring->payload, 0, ring->count);
  ink_ring_cut(ring);
}

/* The clock of the oldest record of the ring as it is cut; `otherwise` where there is none. */
static uint64_t first_clock(const ink_ring *ring, uint64_t otherwise) {
  ink_record record;
  uint64_t upper = ring->first_upper;
  if (ring->first >= ring->count)
    return otherwise;
  ink_ring_record(ring, ring->first, &upper, &record);
  return record.clock64;
}

/* From the last piece to the first: each is cut by the clock that follows it. */
static void look_at_pieces(ink_decoder *decoder, int called) {
  ink_pieces *pieces = &decoder->pieces[called];
  uint64_t clock = pieces->clocks[pieces->count - 1];
  for (size_t k = pieces->count; k--;) {
    pieces->clocks[k] = clock;
    cut(decoder, called, k);
    const ink_ring *ring = &decoder->rings[called];
    pieces->kept += ring->count;
    pieces->whole += ring->count - ring->first;
    pieces->records += ring->records;
    pieces->torn[k] = ring->lost_front;
    pieces->ranges |= ring->ranges;
    if (ring->bad && !pieces->bad) {
      pieces->bad = ring->bad;
      pieces->bad_at = ring->first;
    }
    clock = first_clock(ring, clock);
    if (ring->lost_front && !pieces->has_gap) { /* the last one */
      pieces->gap = k;
      pieces->gap_clock = clock;
      pieces->has_gap = true;
    }
  }
}

static bool room(ink_pieces *pieces, size_t count) {
  while (pieces->capacity < count) {
    const size_t before = pieces->capacity;
    size_t clocks = before, torn = before;
    if (!ink_list_room((void **)&pieces->clocks, &clocks, before, sizeof *pieces->clocks) ||
        !ink_list_room((void **)&pieces->torn, &torn, before, sizeof *pieces->torn))
      return false;
    pieces->capacity = clocks < torn ? clocks : torn;
  }
  return true;
}

/* Words behind the last piece of a closed track were lost: there was no room for its ring when it closed. */
static bool ends_early(const ink_stored_track *stored, int called, uint64_t executed, uint64_t end_of_rows) {
  uint64_t end = 0;
  if (end_of_rows)
    return executed > end_of_rows;
  for (uint64_t i = 0; i < stored->piece_count[called]; i++)
    end += stored->pieces[called][i].lost + stored->pieces[called][i].count;
  return end && executed > end;
}

ink_status ink_pieces_set(ink_decoder *decoder, int called) {
  const ink_stored_track *stored = &decoder->stored;
  const ink_track *header = &stored->header;
  ink_pieces *pieces = &decoder->pieces[called];
  const uint64_t executed = called ? header->aux_words : header->words;
  const uint64_t count = called ? stored->aux_words : stored->ring_words;
  const bool first = stored->flags & INK_BUFFER_KEEP_FIRST;
  const bool lost = executed > count && !first;
  pieces->only = (ink_piece){.words = called ? stored->aux : stored->ring, .count = count,
                             .lost = lost ? executed - count : 0,
                             .lost_more = decoder->open && header->flags & INK_TRACK_LOST_OLDER};
  pieces->items = stored->piece_count[called] ? stored->pieces[called] : &pieces->only;
  pieces->count = stored->piece_count[called] ? (size_t)stored->piece_count[called] : 1;
  pieces->kept = pieces->whole = pieces->records = 0;
  pieces->bad = NULL;
  pieces->has_gap = pieces->ranges = false;
  pieces->gap = 0;
  pieces->at = 0;
  if (!room(pieces, pieces->count))
    return no_memory(decoder);
  ink_ring *ring = &decoder->rings[called];
  *ring = (ink_ring){.payload = decoder->payload, .open_clock = header->open_clock1};
  if (called && ring->payload)
    ring->payload += decoder->payload_called;
  uint64_t close = header->close_clock0;
  if (decoder->open)
    close = last_clock(&pieces->items[pieces->count - 1], header->open_clock1);
  pieces->clocks[pieces->count - 1] = close < header->open_clock1 ? header->open_clock1 : close;
  look_at_pieces(decoder, called);
  const ink_decoded_rows *rows = &decoder->rows;
  if (!called && rows->rows) {
    pieces->kept = pieces->whole = rows->kept_words;
    pieces->records = rows->kept_words / INK_ROWS_WORDS(rows->rows);
  }
  ring->lost_back = decoder->open ? !(header->flags & INK_TRACK_NEWEST)
                                  : (executed > pieces->kept && first) ||
                                        ends_early(stored, called, executed, called ? 0 : rows->end);
  return INK_OK;
}

/* The words of the longest piece. */
size_t ink_pieces_longest(const ink_stored_track *stored, int called) {
  uint64_t most = called ? stored->aux_words : stored->ring_words;
  for (uint64_t i = 0; i < stored->piece_count[called]; i++)
    if (stored->pieces[called][i].count > most)
      most = stored->pieces[called][i].count;
  return (size_t)most;
}

void ink_pieces_load(ink_decoder *decoder, int called, size_t k) {
  decoder->pieces[called].at = k;
  if (decoder->pieces[called].count > 1)
    cut(decoder, called, k); /* the only one is cut already */
}

size_t ink_pieces_open_at_front(ink_decoder *decoder, int called) {
  const ink_pieces *pieces = &decoder->pieces[called];
  const size_t from = pieces->at;
  size_t depth = 0, missing = 0, k = from;
  do {
    if (k != from)
      cut(decoder, called, k);
    ink_ring_open_ranges(&decoder->rings[called], &depth, &missing);
  } while (++k < pieces->count && !pieces->torn[k]);
  if (k != from + 1)
    cut(decoder, called, from);
  return missing;
}

void ink_pieces_free(ink_pieces *pieces) {
  free(pieces->clocks);
  free(pieces->torn);
}
