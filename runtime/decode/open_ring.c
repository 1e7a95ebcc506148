/* SPDX-License-Identifier: MIT */
/* Finds the words of an open track in its ring. Every position is looked at as the last word of a record:
 * whether it can be one, how long that is and what its clock says. Records whose clocks rise and which lie end to end
 * are a chain; in a ring whose words were all there at one moment, a chain has no gap inside, for at the one place
 * where the newest word meets the oldest the clock falls. */
#include "decode/open_ring.h"

#include <stdlib.h>
#include <string.h>

/* A record that is being stored may have touched this many words behind the newest whole one: but for its head all,
 * and the escape word stands behind that. */
enum { UNFINISHED = INK_RECORD_WORDS_MAX };

/* In the minutes after the clock's lower 48 bits began anew, once in 39 hours at 2 GHz, a number below this is a possible
  * head too. It is taken for none. */
#define SMALL_NUMBERS (UINT64_C(1) << 40)

typedef struct finder {
  const ink_open_ring *ring;
  uint32_t mask;
  uint64_t base;       /* the opening's clock, or the last one reached */
  uint64_t limit;      /* no clock is later */
  uint64_t not_before; /* nor earlier */
  uint64_t *clock;     /* [records]: of the record whose last word this is */
  uint64_t *run;       /* [records]: words of the chain up to here */
  uint8_t *length;     /* [records]: its words; 0: no record ends here */
} finder;

/* ---- one record ---------------------------------------------------------------------------- */

static bool known(const finder *f, uint32_t at) {
  const ink_open_ring *ring = f->ring;
  return !ring->again || ring->words[at & f->mask] == ring->again[at & f->mask];
}

/* All words of a record of `length` that ends at `at`. */
static bool all_known(const finder *f, uint32_t at, uint32_t length) {
  for (uint32_t i = 0; i < length; i++)
    if (!known(f, at - i))
      return false;
  return true;
}

/* The full clock of a head: its lower 48 bits are there, and less than 2^48 cycles are possible. */
static bool clock_of(const finder *f, uint64_t head, uint64_t *out) {
  uint64_t clock = (f->base & ~INK_CLOCK_MASK) | (head & INK_CLOCK_MASK);
  if (clock < f->base)
    clock += INK_CLOCK_MASK + 1;
  *out = clock;
  return clock >= f->not_before && clock <= f->limit;
}

/* Behind a wrap of the clock's lower 48 bits. */
static bool is_behind_wrap(const finder *f, uint64_t clock) {
  return (clock ^ f->base) & ~INK_CLOCK_MASK;
}

static bool section_fits(const finder *f, uint64_t tag, bool own_table) {
  const uint64_t section = tag & INK_SECTION_MASK;
  return section && (!own_table || !f->ring->sections || section <= f->ring->sections || section == INK_SECTION_NONE);
}

/* Words of the record whose head is the word `head`, without an escape; 0: it is none. */
static uint32_t plain_words(const finder *f, uint64_t head, bool own_table, uint64_t *clock) {
  if (!clock_of(f, head, clock))
    return 0;
  const uint64_t top = head >> INK_TAG_SHIFT, tag = top ^ *clock >> INK_TAG_SHIFT;
  if ((*clock & INK_CLOCK_MASK) < SMALL_NUMBERS && !top)
    return 0;
  switch (tag >> INK_SECTION_BITS) {
  case INK_KIND_MARK:
  case INK_KIND_BEGIN:
  case INK_KIND_END:
  case INK_KIND_INSTANT:
    return section_fits(f, tag, own_table) && !(own_table && f->ring->called) ? 1 : 0;
  case INK_KIND_ITER:
    return own_table && !(tag & INK_SECTION_MASK) ? 2 : 0;
  case INK_KIND_ASYNC_BEGIN:
  case INK_KIND_ASYNC_END:
    return section_fits(f, tag, own_table) && !(own_table && f->ring->called) ? 2 : 0;
  default:
    return 0;
  }
}

/* The same of the record that ends with the escape word `escape`, `head` before it. */
static uint32_t escaped_words(const finder *f, uint64_t head, uint64_t escape, uint64_t *clock) {
  if (!clock_of(f, head, clock))
    return 0;
  const uint64_t upper = *clock & ~INK_CLOCK_MASK;
  const uint64_t tag = (escape ^ upper) >> INK_TAG_SHIFT, inner = (head ^ upper) >> INK_TAG_SHIFT;
  if (tag >> INK_SECTION_BITS != INK_KIND_ESCAPE)
    return 0;
  const uint64_t kind = inner >> INK_SECTION_BITS;
  const bool instant = kind == INK_KIND_INSTANT, named = inner & INK_SECTION_MASK;
  const bool async = kind == INK_KIND_ASYNC_BEGIN || kind == INK_KIND_ASYNC_END;
  switch (tag & INK_SECTION_MASK) {
  case INK_ESCAPE_TABLE: {
    const uint32_t words = plain_words(f, head, false, clock);
    return words ? words + 1 : 0;
  }
  case INK_ESCAPE_VALUE_I64:
  case INK_ESCAPE_VALUE_U64:
  case INK_ESCAPE_VALUE_F64:
    return (instant || kind == INK_KIND_BEGIN) && named ? 3 : 0;
  case INK_ESCAPE_BLOCK:
  case INK_ESCAPE_GRID:
    return async && named ? 3 : 0;
  case INK_ESCAPE_CLUSTER:
    return async && named ? 4 : 0;
  case INK_ESCAPE_SUM:
    return instant && named ? 6 : 0;
  case INK_ESCAPE_CLOCKS:
    return inner == INK_TAG(INK_KIND_INSTANT, 0) && !(escape & INK_CLOCK_MASK) ? 5 : 0;
  default:
    return 0;
  }
}

static uint64_t word_at(const finder *f, uint32_t at) { return f->ring->words[at & f->mask]; }

/* Where a wrap of the clock's lower 48 bits is possible a word may pass for both: then it is neither. */
static uint32_t record_words(const finder *f, uint32_t at, uint64_t *clock) {
  uint64_t plain_clock, escaped_clock;
  const uint32_t plain = plain_words(f, word_at(f, at), true, &plain_clock);
  const uint32_t escaped = escaped_words(f, word_at(f, at - 1), word_at(f, at), &escaped_clock);
  if (plain && escaped)
    return 0;
  const uint32_t length = plain ? plain : escaped;
  *clock = plain ? plain_clock : escaped_clock;
  return length <= f->ring->records && all_known(f, at, length) ? length : 0;
}

static void look_at_all(finder *f) {
  for (uint32_t at = 0; at < f->ring->records; at++)
    f->length[at] = (uint8_t)record_words(f, at, &f->clock[at]);
}

/* ---- chains -------------------------------------------------------------------------------- */

/* Whether the record that ends at `at` follows one that ends right before it. */
static bool follows(const finder *f, uint32_t at) {
  const uint32_t before = (at - f->length[at]) & f->mask;
  return f->length[before] && f->clock[before] <= f->clock[at];
}

/* From the record that ends at `from` on (or from the ring's beginning: `from` UINT32_MAX) over words up to `most`:
 * how many words follow as whole records. */
static uint32_t chain_from(finder *f, uint32_t from, uint32_t most) {
  uint32_t best = 0;
  uint64_t *reaches = f->run;
  for (uint32_t i = 1; i <= most; i++) {
    const uint32_t at = (from + i) & f->mask, length = f->length[at];
    reaches[at] = length && length <= i &&
                  (length == i ? from == UINT32_MAX || follows(f, at)
                               : reaches[(at - length) & f->mask] && follows(f, at));
    if (reaches[at])
      best = i;
  }
  return best;
}

/* The last word of the longest chain of records later than `after`, whose words go to *length. Twice around:
 * the second time what goes over the ring's end is whole. */
static uint32_t longest(finder *f, uint64_t after, uint64_t *length) {
  const uint32_t records = f->ring->records;
  uint32_t best = 0;
  *length = 0;
  memset(f->run, 0, records * sizeof *f->run);
  for (uint64_t i = 0; i < (uint64_t)records * 2; i++) {
    const uint32_t at = (uint32_t)i & f->mask;
    const uint32_t before = (at - f->length[at]) & f->mask;
    f->run[at] = 0;
    if (!f->length[at] || f->clock[at] <= after)
      continue;
    f->run[at] = f->length[at] + (follows(f, at) ? f->run[before] : 0);
    if (f->run[at] > records) /* the oldest record was overwritten in part, by the newest */
      f->run[at] = records;
    if (f->run[at] > *length || (f->run[at] == *length && f->clock[at] > f->clock[best])) {
      *length = f->run[at];
      best = at;
    }
  }
  return best;
}

static bool is_escape(uint64_t word, uint64_t upper) {
  const uint64_t tag = (word ^ upper) >> INK_TAG_SHIFT;
  return tag >> INK_SECTION_BITS == INK_KIND_ESCAPE && (tag & INK_SECTION_MASK) <= INK_ESCAPE_CLOCKS;
}

/* Whether the word behind the record that ends at `at` may be the escape word of a record that is not whole yet and went
 * around the ring: its head is to come where that record ends. */
static bool may_be_overtaken(const finder *f, uint32_t at) {
  const uint64_t word = word_at(f, at + 1), upper = f->base & ~INK_CLOCK_MASK;
  return is_escape(word, upper) ||
         (is_behind_wrap(f, f->limit) && is_escape(word, upper + INK_CLOCK_MASK + 1));
}

/* How many words of whole records later than `after` end with `last`. The two oldest records of a chain are left
 * out: a newest one that is not whole yet may have overwritten words of one up to where its head will be, and
 * of another where its escape word is. */
static uint64_t walk_back(const finder *f, uint32_t last, uint64_t after) {
  uint64_t words = 0;
  uint32_t at = last, newer = 0;
  while (f->length[at] && words + f->length[at] <= f->ring->records && f->clock[at] > after) {
    const uint32_t length = f->length[at];
    if (!follows(f, at))
      return words - newer;
    words += length;
    newer = length;
    at = (at - length) & f->mask;
  }
  return f->clock[at] > after || may_be_overtaken(f, at) ? words - newer : words;
}

/* Whether the last record of a chain is whole. Kernels store a head when all other words of its record are
 * stored, so one behind which no escape word stands has none; but a word there that changed meanwhile may be
 * one, and an escape word that an older record left there looks as if it were this one's. */
static bool is_whole(const finder *f, uint32_t last, bool may_be_older) {
  uint64_t clock;
  const uint32_t before = (last - 1) & f->mask, length = f->length[last];
  if (plain_words(f, word_at(f, last), true, &clock))
    return known(f, last + 1) &&
           !escaped_words(f, word_at(f, last), word_at(f, last + 1), &clock);
  if (!may_be_older || !f->length[before])
    return true;
  /* Its head may be a record by itself: does that begin where this one does, or go on from another? */
  const uint32_t beginning = (before - f->length[before]) & f->mask;
  return beginning != ((last - length) & f->mask) && !(f->length[beginning] && follows(f, before));
}

/* Words up to `last` that are cut into records in two ways, from `last` back by `one` and by `other` words on, up to
 * where both agree. */
static uint32_t until_agreed(const finder *f, uint32_t last, uint64_t count, uint32_t one, uint32_t other) {
  while (one != other && one < count && other < count) {
    uint32_t *nearer = one < other ? &one : &other;
    const uint32_t length = f->length[(last - *nearer) & f->mask];
    *nearer = length ? *nearer + length : (uint32_t)count;
  }
  return one == other ? one : (uint32_t)count;
}

/* Takes records off the end of a chain of `count` words that are not certain; returns how many words. Behind a
 * wrap any number may pass for a head, and what looks like the newest records be payload of one that is not whole. */
static uint32_t take_off(const finder *f, uint32_t last, uint64_t count, bool may_be_older) {
  uint64_t clock;
  uint32_t off = 0;
  for (uint32_t at = last & f->mask; off < count && off < UNFINISHED; at = (last - off) & f->mask) {
    if (!plain_words(f, word_at(f, at), true, &clock) || !is_behind_wrap(f, clock))
      break;
    off += f->length[at];
  }
  last &= f->mask;
  if (!count || off || is_whole(f, last, may_be_older))
    return off;
  const uint32_t length = f->length[last], before = f->length[(last - 1) & f->mask];
  return length > 1 && before ? until_agreed(f, last, count, length, before + 1) : length;
}

/* ---- what the ring says -------------------------------------------------------------------- */

static bool unwritten(const finder *f, uint32_t at) {
  return f->ring->words[at & f->mask] == INK_UNWRITTEN && known(f, at);
}

/* The ring's end was never reached: a record has a head, which INK_UNWRITTEN is not, in any six words. */
static bool has_not_wrapped(const finder *f) {
  if (f->ring->keep_first)
    return true;
  for (uint32_t i = 1; i <= INK_RECORD_WORDS_MAX; i++)
    if (f->ring->records < INK_RECORD_WORDS_MAX || !unwritten(f, f->ring->records - i))
      return false;
  return f->ring->wiped;
}

static bool all_settled(const finder *f) {
  return !f->ring->again ||
         !memcmp(f->ring->words, f->ring->again, (size_t)f->ring->records * sizeof *f->ring->words);
}

/* Words that may be a head and something else are taken for none (SMALL_NUMBERS, record_words): whether one behind `last`
 * may be the head of a record newer than the clock `reached`. */
static bool may_hide_newer(const finder *f, uint32_t last, uint64_t reached) {
  for (uint32_t i = 1; i <= UNFINISHED; i++) {
    uint64_t clock;
    const uint64_t word = word_at(f, last + i);
    if (!clock_of(f, word, &clock) || clock < reached)
      continue;
    const bool small = clock >> INK_TAG_SHIFT && word < SMALL_NUMBERS;
    if (small || (plain_words(f, word, true, &clock) &&
                  escaped_words(f, word_at(f, last + i - 1), word, &clock)))
      return true;
  }
  return is_behind_wrap(f, reached);
}

/* Nothing behind the `count` words from the ring's beginning on but a record that was not whole. */
static bool rest_unwritten(const finder *f, uint32_t count) {
  for (uint64_t at = (uint64_t)count + UNFINISHED; at < f->ring->records; at++)
    if (!unwritten(f, (uint32_t)at))
      return false;
  return true;
}

static void from_the_beginning(finder *f, ink_open_words *out) {
  const uint32_t records = f->ring->records;
  uint32_t count = chain_from(f, UINT32_MAX, records);
  const uint32_t off = count < records ? take_off(f, count - 1, count, false) : 0;
  count -= off;
  out->count = count;
  out->exact = out->joined = true;
  out->newest = all_settled(f) && !off && rest_unwritten(f, count);
  if (f->ring->keep_first && out->count + INK_RECORD_WORDS_MAX > records)
    out->newest = false; /* what does not fit is counted, not stored */
}

/* Whether the chain of `count` words from the ring's beginning on begins with the opening. */
static bool begins_with_opening(const finder *f, uint64_t count) {
  const uint32_t records = f->ring->records;
  if (f->ring->stale_clock_most > f->ring->open_clock || !known(f, records - 1) ||
      count + 2 * UNFINISHED > records) /* else one that is not whole may have touched the ring's last record */
    return false;
  return !f->ring->wiped && !f->length[records - 1]; /* wiped: it went around, or has_not_wrapped() */
}

static void from_anywhere(finder *f, ink_open_words *out) {
  const ink_open_ring *ring = f->ring;
  const uint32_t records = ring->records;
  uint64_t length;
  uint32_t last = longest(f, ring->reached_clock, &length);
  const uint32_t off = take_off(f, last, length, true);
  if (length <= off)
    return;
  length -= off;
  last = (last - off) & f->mask;
  uint64_t first = (last + 1 - length) & f->mask;
  if (!ring->reached && !first && length < records && begins_with_opening(f, length)) {
    out->exact = out->joined = true;
    out->newest = all_settled(f) && !off;
  } else {
    /* Where all of a wiped ring is the track's own, no more than its ends can be left over. */
    out->newest = all_settled(f) && (!ring->wiped || length + 2 * UNFINISHED >= records);
    length = walk_back(f, last, ring->reached_clock);
    out->newest = out->newest && !off;
    first = (last + 1 - length) & f->mask;
    /* The least index at this place that what was reached before allows. */
    first = ring->reached + ((first - ring->reached) & f->mask);
  }
  out->first = first;
  out->count = length;
}

/* Of `count` words of whole records up to `last`, those that are not among the first that a record not whole yet can
 * have touched. */
static uint64_t trimmed(const finder *f, uint32_t last, uint32_t count) {
  uint32_t words = 0;
  while (words < count) {
    const uint32_t length = f->length[(last - words) & f->mask];
    if (words + length + 2 * UNFINISHED > count)
      break;
    words += length;
  }
  return words;
}

/* Goes on from the record that was the last one the call before; false: it is gone. */
static bool from_reached(finder *f, ink_open_words *out) {
  const ink_open_ring *ring = f->ring;
  const uint32_t records = ring->records, at = (uint32_t)(ring->reached - 1) & f->mask;
  if (!f->length[at] || f->clock[at] != ring->reached_clock || (!has_not_wrapped(f) && may_be_overtaken(f, at)))
    return false;
  uint32_t more = chain_from(f, at, ring->keep_first ? records - 1 - at : records - 1);
  const bool wrapped = !ring->reached_exact || ring->reached + more >= records || !ring->wiped;
  const uint32_t off =
      ring->keep_first && at + more == records - 1 ? 0 : take_off(f, at + more, more, wrapped);
  more -= off < more ? off : more;
  const uint64_t end = ring->reached + more;
  /* A record that is not whole yet may have gone once around the ring, into the first of these. */
  out->joined = ring->keep_first || (uint64_t)more + off + UNFINISHED <= records;
  out->count = out->joined ? more : trimmed(f, (at + more) & f->mask, more);
  out->exact = ring->reached_exact;
  out->first = end - out->count;
  out->newest = all_settled(f) && !off;
  if (ring->wiped && end <= records && ring->reached_exact)
    out->newest = out->newest && rest_unwritten(f, (uint32_t)end);
  if (ring->keep_first && end + INK_RECORD_WORDS_MAX > records)
    out->newest = false;
  return true;
}

static ink_status make_finder(finder *f, const ink_open_ring *ring, ink_error *error) {
  const uint64_t base = ring->reached ? ring->reached_clock : ring->open_clock;
  const uint64_t span = INK_CLOCK_MASK / 2, far = UINT64_MAX - base < span ? UINT64_MAX : base + span;
  *f = (finder){.ring = ring, .mask = ring->records - 1, .base = base, .not_before = base,
                .limit = ring->clock_most < far ? ring->clock_most : far};
  if (ring->stale_clock_most >= base)
    f->not_before = ring->stale_clock_most + (ring->stale_clock_most != UINT64_MAX);
  f->clock = calloc(ring->records, sizeof *f->clock);
  f->run = calloc(ring->records, sizeof *f->run);
  f->length = calloc(ring->records, sizeof *f->length);
  return f->clock && f->run && f->length
             ? INK_OK
             : ink_error_set(error, INK_ERROR_MEMORY, "out of memory for a ring of %u words",
                             (unsigned)ring->records);
}

ink_status ink_i_open_ring_find(const ink_open_ring *ring, uint64_t *to, ink_open_words *out,
                                ink_error *error) {
  if (!ring || !ring->words || !to || !out || !ring->records ||
      (ring->records & (ring->records - 1)) || ring->records > UINT32_C(1) << 31)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "no ring to look into");
  if (ring->rows) {
    ink_i_open_rows_find(ring, to, out);
    return INK_OK;
  }
  ink_open_words found = {0};
  finder f;
  ink_status status = make_finder(&f, ring, error);
  /* Of an earlier track's words the clock's upper bits are known only where they are the same. */
  const uint64_t stale = ring->stale_clock_most;
  if (status == INK_OK && (!stale || !((stale ^ ring->open_clock) & ~INK_CLOCK_MASK))) {
    look_at_all(&f);
    if (!ring->reached && has_not_wrapped(&f))
      from_the_beginning(&f, &found);
    else if (!ring->reached || !from_reached(&f, &found))
      from_anywhere(&f, &found);
    for (uint64_t i = 0; i < found.count; i++)
      to[i] = ring->words[(found.first + i) & f.mask];
    found.reached = found.count ? found.first + found.count : ring->reached;
    found.reached_clock =
        found.count ? f.clock[(found.reached - 1) & f.mask] : ring->reached_clock;
    found.reached_exact = found.count ? found.exact : ring->reached_exact;
    found.newest =
        found.newest && (found.count || (!ring->reached && found.exact)) &&
        !may_hide_newer(&f, (uint32_t)(found.reached - 1), found.count ? found.reached_clock : f.base);
  }
  free(f.clock);
  free(f.run);
  free(f.length);
  if (status == INK_OK)
    *out = found;
  return status;
}
