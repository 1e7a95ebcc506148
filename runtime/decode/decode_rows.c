/* SPDX-License-Identifier: MIT */
/* Tracks of rows (record.h): turns the rows of a track into the records that marks of its kernel would have left, in the
 * order of their clocks, so that everything behind knows records only. Counts stay those of rows. */
#include "decode_events.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A row whose clocks' upper halves are not known: it lasted longer than their lower halves can say. */
#define LOW_HALVES (UINT64_C(1) << 32)

typedef struct slot_mark {
  uint32_t delta; /* cycles since the row began */
  uint8_t kind, section;
} slot_mark;

/* What a row of this shape can become: the row's two words, and one for each slot. */
static size_t words_at_most(uint32_t rows) { return 2 + INK_ROWS_SLOTS(rows); }

static bool is_possible(uint32_t rows) {
  const uint32_t words = INK_ROWS_WORDS(rows), slots = INK_ROWS_SLOTS(rows);
  return words >= 4 && words <= INK_ROWS_WORDS_MAX && 4 + slots <= 2 * words &&
         INK_ROWS_RANGES(rows) <= INK_ROWS_SECTIONS(rows);
}

static uint32_t slot_at(const uint64_t *row, uint32_t slot) {
  uint64_t word;
  memcpy(&word, row + 2 + slot / 2, sizeof word); /* of a file: not aligned */
  return (uint32_t)(word >> (slot % 2 * 32));
}

static uint64_t word_at(const uint64_t *row, size_t word) {
  uint64_t value;
  memcpy(&value, row + word, sizeof value);
  return value;
}

/* Slots are few, and most marks are passed in the order in which they are named. */
static void insert(slot_mark *marks, uint32_t *count, slot_mark mark) {
  uint32_t at = (*count)++;
  for (; at && marks[at - 1].delta > mark.delta; at--)
    marks[at] = marks[at - 1];
  marks[at] = mark;
}

static uint32_t marks_of(uint32_t rows, const uint64_t *row, uint64_t begin, slot_mark marks[INK_ROWS_SLOTS_MAX + 4]) {
  const uint32_t sections = INK_ROWS_SECTIONS(rows), ranges = INK_ROWS_RANGES(rows);
  uint32_t count = 0;
  for (uint32_t slot = 0; slot < sections + 2 * ranges; slot++) {
    const uint32_t low = slot_at(row, slot), of_range = slot - sections;
    if (!low)
      continue;
    const bool mark = slot < sections;
    insert(marks, &count,
           (slot_mark){.delta = low - (uint32_t)begin,
                       .kind = mark ? INK_KIND_MARK : of_range % 2 ? INK_KIND_END : INK_KIND_BEGIN,
                       .section = (uint8_t)(mark ? slot + 1 : of_range / 2 + 1)});
  }
  return count;
}

/* One row, which ends at `end` at the latest; returns behind the last word. */
static uint64_t *expand_row(ink_decoder *decoder, const uint64_t *row, uint64_t end, bool first, uint64_t *to) {
  ink_decoded_rows *of = &decoder->rows;
  slot_mark marks[INK_ROWS_SLOTS_MAX + 4];
  const uint64_t number = word_at(row, 0), begin = word_at(row, 1);
  if (!first || number != (uint64_t)INK_ROW_NONE) { /* what is in front of the first PROF_ITER has no row anyhow */
    *to++ = number;
    *to++ = INK_HEAD(INK_KIND_ITER, 0, begin);
  }
  if (INK_ROWS_CHECKED(of->rows)) {
    const uint32_t again = slot_at(row, INK_ROWS_SLOTS(of->rows) - 1);
    of->again += again;
    of->again_in += again != 0;
  }
  const uint32_t count = marks_of(of->rows, row, begin, marks);
  if (count && end > begin && end - begin >= LOW_HALVES) {
    of->too_long++;
    of->too_long_cycles = end - begin > of->too_long_cycles ? end - begin : of->too_long_cycles;
    return to;
  }
  for (uint32_t i = 0; i < count; i++)
    *to++ = INK_HEAD(marks[i].kind, marks[i].section, begin + marks[i].delta);
  return to;
}

static void expand_piece(ink_decoder *decoder, const ink_piece *piece, const ink_piece *next, bool first,
                         ink_piece *out, uint64_t *to) {
  ink_decoded_rows *of = &decoder->rows;
  const uint32_t words = INK_ROWS_WORDS(of->rows);
  const ink_track *header = &decoder->stored.header;
  const uint64_t n = piece->count / words;
  uint64_t close = decoder->open ? 0 : header->close_clock0; /* 0: not known */
  if (next && next->count >= words)
    close = word_at(next->words, 1);
  uint64_t *at = to;
  for (uint64_t i = 0; i < n; i++) {
    const uint64_t *row = piece->words + i * words;
    at = expand_row(decoder, row, i + 1 < n ? word_at(row + words, 1) : close, first && !i, at);
  }
  *out = *piece;
  out->words = to;
  out->count = (uint64_t)(at - to);
  of->kept_words += n * words;
}

static ink_status expand(ink_decoder *decoder, const ink_piece *pieces, size_t count, ink_piece *out) {
  ink_decoded_rows *of = &decoder->rows;
  uint64_t rows = 0;
  for (size_t i = 0; i < count; i++)
    rows += pieces[i].count / INK_ROWS_WORDS(of->rows);
  of->words = malloc((size_t)rows * words_at_most(of->rows) * sizeof *of->words + 1);
  if (!of->words)
    return ink_error_set(decoder->error, INK_ERROR_MEMORY, "out of memory for a track of %" PRIu64 " rows", rows);
  uint64_t *to = of->words;
  bool lost = false;
  for (size_t i = 0; i < count; i++) {
    lost |= pieces[i].lost || pieces[i].lost_more;
    of->end += pieces[i].lost + pieces[i].count;
    expand_piece(decoder, &pieces[i], i + 1 < count ? &pieces[i + 1] : NULL, !i && !lost, &out[i], to);
    to += out[i].count;
  }
  return INK_OK;
}

ink_status ink_rows_set(ink_decoder *decoder) {
  ink_decoded_rows *of = &decoder->rows;
  ink_stored_track *stored = &decoder->stored;
  const ink_track *header = &stored->header;
  ink_rows_free(decoder);
  of->rows = INK_TRACK_ROWS(header);
  if (!of->rows)
    return INK_OK;
  if (!is_possible(of->rows)) {
    of->rows = 0;
    of->impossible = true;
    stored->ring_words = stored->piece_count[0] = 0;
    return INK_OK;
  }
  const bool lost = header->words > stored->ring_words && !(stored->flags & INK_BUFFER_KEEP_FIRST);
  const ink_piece only = {.words = stored->ring, .count = stored->ring_words,
                          .lost = lost ? header->words - stored->ring_words : 0,
                          .lost_more = decoder->open && header->flags & INK_TRACK_LOST_OLDER};
  const size_t count = stored->piece_count[0] ? (size_t)stored->piece_count[0] : 1;
  of->pieces = malloc(count * sizeof *of->pieces);
  if (!of->pieces)
    return ink_error_set(decoder->error, INK_ERROR_MEMORY, "out of memory for the pieces of a track");
  const ink_status status = expand(decoder, stored->piece_count[0] ? stored->pieces[0] : &only, count, of->pieces);
  stored->pieces[0] = of->pieces;
  stored->piece_count[0] = count;
  return status;
}

void ink_rows_free(ink_decoder *decoder) {
  free(decoder->rows.words);
  free(decoder->rows.pieces);
  decoder->rows = (ink_decoded_rows){0};
}

ink_status ink_rows_check(ink_decoder *decoder) {
  const ink_decoded_rows *of = &decoder->rows;
  ink_status status = INK_OK;
  if (of->impossible)
    return ink_decoder_problem(decoder, INK_PROBLEM_COUNTS, INK_SECTION_UNKNOWN, 0, 0,
                               "its rows have a shape that is not possible");
  if (of->too_long)
    status = ink_decoder_problem(decoder, INK_PROBLEM_LONG_ROW, INK_SECTION_UNKNOWN, 0, 0,
                                 "%" PRIu64 " rows lasted 2^32 cycles or longer, up to %" PRIu64
                                 ": their marks have no time", of->too_long, of->too_long_cycles);
  if (status == INK_OK && of->again)
    status = ink_decoder_problem(decoder, INK_PROBLEM_PASSED_AGAIN, INK_SECTION_UNKNOWN, 0, 0,
                                 "%" PRIu64 " marks were passed again in their row, in %" PRIu64
                                 " rows: the last pass is kept", of->again, of->again_in);
  return status;
}
