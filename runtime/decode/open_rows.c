/* SPDX-License-Identifier: MIT */
/* Finds the rows of an open track of rows in its ring. A row's clock is stored last, so a row that has one of the
 * track is whole but for marks to come; rows whose clocks rise from one to the next are the track's, up to the
 * newest, which is left out while the kernel may still mark it. */
#include "decode/open_ring.h"

#include <string.h>

typedef struct finder {
  const ink_open_ring *ring;
  uint32_t words, rows; /* of a row; in the ring */
  uint64_t after, limit;
} finder;

static bool known(const finder *f, uint32_t word) {
  return !f->ring->again || f->ring->words[word] == f->ring->again[word];
}

static uint64_t clock_of(const finder *f, uint32_t row) { return f->ring->words[row * f->words + 1]; }

static bool is_own(const finder *f, uint32_t row) {
  const uint32_t at = row * f->words;
  return known(f, at) && known(f, at + 1) && clock_of(f, row) > f->after && clock_of(f, row) <= f->limit;
}

static bool is_unwritten(const finder *f, uint32_t row) {
  return known(f, row * f->words + 1) && clock_of(f, row) == INK_UNWRITTEN;
}

static bool newest_row(const finder *f, uint32_t *out) {
  bool found = false;
  for (uint32_t row = 0; row < f->rows; row++)
    if (is_own(f, row) && (!found || clock_of(f, row) > clock_of(f, *out))) {
      *out = row;
      found = true;
    }
  return found;
}

static uint32_t before(const finder *f, uint32_t row) { return row ? row - 1 : f->rows - 1; }

/* Rows that end with `newest`. */
static uint32_t chain_to(const finder *f, uint32_t newest) {
  uint32_t length = 1;
  for (uint32_t row = newest; length < f->rows; length++) {
    const uint32_t older = before(f, row);
    if (!is_own(f, older) || clock_of(f, older) >= clock_of(f, row))
      break;
    row = older;
  }
  return length;
}

static void place(const finder *f, uint32_t newest, uint32_t length, ink_open_words *out) {
  const ink_open_ring *ring = f->ring;
  const uint32_t oldest = (newest + f->rows - (length - 1)) & (f->rows - 1), at = oldest * f->words;
  const bool from_opening = oldest == 0 && newest + 1 < f->rows && is_unwritten(f, newest + 1);
  out->first = ring->reached + ((at - ring->reached) & (ring->records - 1));
  if (ring->reached)
    out->joined = known(f, before(f, oldest) * f->words + 1) && clock_of(f, before(f, oldest)) == ring->reached_clock;
  else
    out->joined = from_opening;
  out->exact = ring->reached ? ring->reached_exact && out->joined : from_opening;
}

void ink_i_open_rows_find(const ink_open_ring *ring, uint64_t *to, ink_open_words *out) {
  const uint64_t base = ring->reached ? ring->reached_clock : ring->open_clock;
  const uint64_t far = UINT64_MAX - base < INK_CLOCK_MASK / 2 ? UINT64_MAX - 1 : base + INK_CLOCK_MASK / 2;
  finder f = {.ring = ring, .words = INK_ROWS_WORDS(ring->rows), .after = ring->reached ? base : base - (base != 0),
              .limit = ring->clock_most < far ? ring->clock_most : far};
  f.rows = ring->records / f.words;
  uint32_t newest = 0;
  *out = (ink_open_words){.reached = ring->reached, .reached_clock = ring->reached_clock,
                          .reached_exact = ring->reached_exact};
  if (!ring->wiped || f.words < 4 || f.words > INK_ROWS_WORDS_MAX || !f.rows || !newest_row(&f, &newest))
    return;
  uint32_t length = chain_to(&f, newest);
  place(&f, newest, length, out);
  if (length == f.rows) { /* the row to come may have cleared the oldest */
    length--;
    out->first += f.words;
    out->exact = out->joined = false;
  }
  if (ring->again && length) { /* marks may still come to it */
    length--;
    newest = before(&f, newest);
  }
  out->newest = !ring->again;
  if (!length)
    return;
  const uint32_t oldest = (newest + f.rows - (length - 1)) & (f.rows - 1);
  for (uint32_t i = 0; i < length; i++)
    memcpy(to + (uint64_t)i * f.words, ring->words + ((oldest + i) & (f.rows - 1)) * f.words, f.words * sizeof *to);
  out->count = (uint64_t)length * f.words;
  out->reached = out->first + out->count;
  out->reached_clock = clock_of(&f, newest);
  out->reached_exact = out->exact;
}
