/* SPDX-License-Identifier: MIT */
/* Cuts a ring into records, backwards from its newest word: a payload stands before its head, so
 * only this direction can tell one from the other, and only from the closing's clock are the upper
 * bits known that every head's tag is XORed with (record.h). */
#include "decode_events.h"

#include <string.h>

#define UPPER_ONE (UINT64_C(1) << INK_TAG_SHIFT)
#define UPPER_MASK (~INK_CLOCK_MASK)

/* Of a head or escape word whose upper bits have been XORed away. */
static uint32_t kind_of(uint64_t plain) { return (uint32_t)(plain >> 61); }

static uint32_t section_of(uint64_t plain) {
  return (uint32_t)(plain >> INK_TAG_SHIFT) & INK_SECTION_MASK;
}

/* Words of the escaped record that ends at `end`, of which `left` are there; 0: not all are; -1: it
 * is no record, and *bad says why. `upper` is that of its stamp. */
static int escape_words(const uint64_t *end, size_t left, uint64_t upper, const char **bad) {
  const uint32_t inner = left < 2 ? 0 : kind_of(end[-2] ^ upper), code = section_of(end[-1] ^ upper);
  switch (code) {
  case INK_ESCAPE_TABLE:
    if (left < 2)
      return 0;
    if (inner == INK_KIND_ESCAPE) {
      *bad = "a table escape around an escape";
      return -1;
    }
    return inner >= INK_KIND_ITER ? 3 : 2;
  case INK_ESCAPE_BLOCK:
  case INK_ESCAPE_CLUSTER:
  case INK_ESCAPE_GRID:
    if (left < 2)
      return 0;
    if (inner != INK_KIND_ASYNC_BEGIN && inner != INK_KIND_ASYNC_END) {
      *bad = "a shared key without its range";
      return -1;
    }
    return code == INK_ESCAPE_CLUSTER ? 4 : 3;
  case INK_ESCAPE_VALUE_I64:
  case INK_ESCAPE_VALUE_U64:
  case INK_ESCAPE_VALUE_F64:
    if (left >= 2 && inner == INK_KIND_BEGIN)
      return 3;
    /* fall through */
  case INK_ESCAPE_SUM:
  case INK_ESCAPE_CLOCKS:
    if (left < 2)
      return 0;
    if (inner != INK_KIND_INSTANT) {
      *bad = "a value without its instant";
      return -1;
    }
    switch (code) {
    case INK_ESCAPE_SUM:
      return 6;
    case INK_ESCAPE_CLOCKS:
      return 5;
    default:
      return 3;
    }
  default:
    *bad = "an unknown kind of record";
    return -1;
  }
}

/* The usual case: the clock's upper bits did not change while the track was open. */
static size_t cut_plain(ink_ring *ring) {
  const uint64_t *words = ring->words, upper = ring->close_clock & UPPER_MASK;
  size_t left = ring->count;
  uint64_t records = 0, all = 0;
  while (left) {
    /* Kinds below ITER are one word and have the top bit clear: eight at a time. */
    while (left >= 8) {
      const uint64_t *w = words + left - 8;
      uint64_t any = (w[0] ^ upper) | (w[1] ^ upper) | (w[2] ^ upper) | (w[3] ^ upper);
      any |= (w[4] ^ upper) | (w[5] ^ upper) | (w[6] ^ upper) | (w[7] ^ upper);
      if (any >> 63)
        break;
      all |= any;
      left -= 8;
      records += 8;
    }
    if (!left)
      break;
    /* Down to the one that is not: where it is, eight at a time would fail again. */
    uint64_t plain = words[left - 1] ^ upper;
    while (!(plain >> 63)) {
      all |= plain;
      records++;
      if (!--left)
        break;
      plain = words[left - 1] ^ upper;
    }
    if (!left)
      break;
    all |= plain;
    int n = kind_of(plain) == INK_KIND_ESCAPE
                ? escape_words(words + left, left, upper, &ring->bad)
                : 2;
    if (n <= 0 || (size_t)n > left)
      break;
    left -= (size_t)n;
    ring->payload[left] = (uint8_t)(n - 1);
    records++;
  }
  ring->ranges = all >> 61 & 3;
  ring->first_upper = upper;
  ring->records = records;
  return left;
}

/* The clock's lower 48 bits wrapped while the track was open: a stamp above the one after it lies
 * before the wrap; an escape word that comes out with an odd code follows such a stamp. */
static size_t cut_wrapped(ink_ring *ring) {
  const uint64_t *words = ring->words;
  uint64_t upper = ring->close_clock & UPPER_MASK, after = ring->close_clock & INK_CLOCK_MASK;
  uint64_t least = ring->open_clock & UPPER_MASK;
  size_t left = ring->count, newer = SIZE_MAX;
  while (left) {
    uint64_t word = words[left - 1];
    bool escape = kind_of(word ^ upper) == INK_KIND_ESCAPE, wraps;
    if (escape)
      wraps = section_of(word ^ upper) % 2;
    else
      wraps = (word & INK_CLOCK_MASK) > after;
    wraps = wraps && upper > least;
    if (wraps)
      upper -= UPPER_ONE;
    uint64_t plain = word ^ upper;
    int n = kind_of(plain) == INK_KIND_ESCAPE
                ? escape_words(words + left, left, upper, &ring->bad)
                : 1 + (kind_of(plain) >= INK_KIND_ITER);
    if (n <= 0 || (size_t)n > left) {
      upper += wraps ? UPPER_ONE : 0;
      break;
    }
    after = words[left - (kind_of(plain) == INK_KIND_ESCAPE ? 2 : 1)] & INK_CLOCK_MASK;
    left -= (size_t)n;
    ring->payload[left] = (uint8_t)((unsigned)(n - 1) | (wraps && newer != SIZE_MAX ? INK_RING_WRAPS : 0));
    newer = left;
    ring->records++;
  }
  ring->first_upper = upper;
  return left;
}

void ink_ring_cut(ink_ring *ring) {
  ring->bad = NULL;
  ring->records = 0;
  ring->ranges = true;
  bool wrapped = (ring->open_clock ^ ring->close_clock) & UPPER_MASK;
  size_t left = wrapped ? cut_wrapped(ring) : cut_plain(ring);
  if (left && !ring->bad && !ring->lost_front)
    ring->bad = "a record without its beginning";
  ring->lost_front |= left != 0;
  ring->steady = !wrapped;
  ring->first = left;
}

size_t ink_ring_long_record(const ink_ring *ring, size_t at, uint64_t *upper, ink_record *out) {
  size_t payload = ring->payload[at] & (INK_RING_WRAPS - 1);
  const uint64_t *words = ring->words + at;
  uint64_t head = words[payload] ^ *upper, inner = head;
  out->word = at;
  out->payload = words;
  out->hash48 = 0;
  out->escape = 0;
  if (kind_of(head) == INK_KIND_ESCAPE) {
    uint32_t code = section_of(head);
    inner = words[payload - 1] ^ *upper;
    out->hash48 = head & INK_CLOCK_MASK;
    if (code != INK_ESCAPE_TABLE)
      out->escape = (uint8_t)code;
    if (code == INK_ESCAPE_TABLE || kind_of(inner) != INK_KIND_INSTANT)
      head = inner;
  }
  out->head = head ^ *upper;
  out->kind = (uint8_t)kind_of(head);
  out->section = section_of(inner);
  out->clock64 = *upper | (inner & INK_CLOCK_MASK);
  if (ring->payload[at] & INK_RING_WRAPS)
    *upper += UPPER_ONE;
  return at + payload + 1;
}

void ink_ring_open_ranges(const ink_ring *ring, size_t *depth, size_t *missing) {
  const uint64_t *words = ring->words;
  const uint8_t *payload = ring->payload;
  uint64_t upper = ring->first_upper;
  const size_t count = ring->count;
  for (size_t at = ring->first; at < count && ring->ranges;) {
    uint32_t kind;
    if (!payload[at]) { /* by far the most are one word */
      kind = kind_of(words[at++] ^ upper);
    } else {
      ink_record record;
      at = ink_ring_record(ring, at, &upper, &record);
      kind = record.kind;
    }
    if (kind == INK_KIND_BEGIN)
      ++*depth;
    else if (kind == INK_KIND_END && *depth)
      --*depth;
    else if (kind == INK_KIND_END)
      ++*missing;
  }
}

static bool payload_in_8(const uint8_t *payload) {
  uint64_t eight;
  memcpy(&eight, payload, sizeof eight);
  return eight != 0;
}

typedef uint64_t pair __attribute__((vector_size(16)));

/* Whether eight words are MARKs of the kernel's sections, of which `most` is the highest that one can
 * be, with no tag `inner`, and their stamps rise from `before`. Two at a time, without a branch: what is
 * not as it should be comes out negative. */
static inline __attribute__((always_inline)) bool
eight_marks(const uint64_t *words, uint64_t upper, uint64_t before, uint64_t most, uint64_t inner) {
  const uint64_t least = UPPER_ONE; /* section 0 is none */
  pair bad = {0, 0}, older = {0, before};
  for (int i = 0; i < 8; i += 2) {
    pair plain;
    memcpy(&plain, words + i, sizeof plain);
    plain ^= upper;
    const pair clock = plain & INK_CLOCK_MASK;
    bad |= (plain - least) | (most - plain) | (clock - (pair){older[1], clock[0]});
    if (inner) /* known at each of the two calls */
      bad |= ((plain >> INK_TAG_SHIFT) ^ inner) - 1;
    older = clock;
  }
  return !((bad[0] | bad[1]) >> 63);
}

static inline __attribute__((always_inline)) void
scan_marks(const ink_ring *ring, size_t most, uint64_t highest, uint64_t limit, uint64_t inner,
           ink_run_scan *scan) {
  const uint64_t *words = ring->words, upper = ring->first_upper;
  const uint8_t *payload = ring->payload;
  uint64_t last = scan->last;
  size_t next = scan->next;
  while (next + 8 <= most && !payload_in_8(payload + next) &&
         eight_marks(words + next, upper, last & INK_CLOCK_MASK, highest, inner)) {
    const uint64_t newest = upper | ((words[next + 7] ^ upper) & INK_CLOCK_MASK);
    if (newest > limit)
      break;
    last = newest;
    next += 8;
  }
  scan->last = last;
  scan->next = next;
}

static bool is_nested(const ink_run_scan *scan, uint64_t tag) {
  return tag == scan->inner || (scan->open_of && scan->open_of[tag - 1]);
}

void ink_ring_scan(const ink_ring *ring, size_t most, uint64_t sections, uint64_t limit, bool rows,
                   ink_run_scan *out) {
  const uint64_t *words = ring->words, upper = ring->first_upper;
  const uint64_t highest = (sections << INK_TAG_SHIFT) | INK_CLOCK_MASK;
  ink_run_scan scan = *out; /* a copy stays in registers */
  const bool ranges = scan.open_of || scan.inner;
  if (!ranges)
    scan_marks(ring, most, highest, limit, 0, &scan);
  else if (!scan.open_of)
    scan_marks(ring, most, highest, limit, scan.inner, &scan);
  while (scan.next < most) {
    const size_t payload = ring->payload[scan.next];
    const uint64_t plain = words[scan.next + payload] ^ upper;
    const uint64_t clock = upper | (plain & INK_CLOCK_MASK);
    if (clock < scan.last || clock > limit)
      break;
    if (!payload) { /* a MARK's section is 1 or more; any other kind's tag is above all */
      if (plain < UPPER_ONE || plain > highest ||
          (ranges && is_nested(out, plain >> INK_TAG_SHIFT)))
        break;
    } else if (payload == 1 && rows && plain >> INK_TAG_SHIFT == INK_TAG(INK_KIND_ITER, 0)) {
      scan.unmarked += clock - scan.last;
      scan.row = (int64_t)words[scan.next];
      scan.iters++;
    } else {
      break;
    }
    scan.last = clock;
    scan.next += payload + 1;
  }
  *out = scan;
}
