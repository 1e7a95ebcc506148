/* SPDX-License-Identifier: MIT */
/* Cuts a ring into records, backwards from its newest word: a payload stands before its head, so
 * only this direction can tell one from the other. */
#include "decode_events.h"

static uint32_t kind_of(uint64_t head) { return (uint32_t)(head >> 61); }

static uint32_t section_of(uint64_t head) {
  return (uint32_t)(head >> INK_CLOCK_BITS) & INK_SECTION_MASK;
}

/* Words of the record whose head is the last of the `left` words that end at `end`; 0: they are not
 * all there; -1: no record, and *bad says why. */
static int escape_words(const uint64_t *end, size_t left, const char **bad) {
  uint32_t inner;
  switch (section_of(end[-1])) {
  case INK_ESCAPE_TABLE:
    if (left < 2)
      return 0;
    inner = kind_of(end[-2]);
    if (inner == INK_KIND_ESCAPE) {
      *bad = "a table escape around an escape";
      return -1;
    }
    return inner >= INK_KIND_ITER ? 3 : 2;
  case INK_ESCAPE_VALUE_I64:
  case INK_ESCAPE_VALUE_U64:
  case INK_ESCAPE_VALUE_F64:
  case INK_ESCAPE_SUM:
    if (left < 2)
      return 0;
    if (kind_of(end[-2]) != INK_KIND_INSTANT) {
      *bad = "a value without its instant";
      return -1;
    }
    return section_of(end[-1]) == INK_ESCAPE_SUM ? 6 : 3;
  case INK_ESCAPE_CLOCKS:
    return 3;
  default:
    *bad = "an unknown kind of record";
    return -1;
  }
}

void ink_ring_cut(ink_ring *ring) {
  const uint64_t *words = ring->words;
  size_t left = ring->count;
  uint64_t records = 0;
  ring->bad = NULL;
  while (left) {
    /* Kinds below ITER are one word, and have the top bit clear. */
    if (!(words[left - 1] >> 63)) {
      left--;
      records++;
      continue;
    }
    int n = kind_of(words[left - 1]) == INK_KIND_ESCAPE
                ? escape_words(words + left, left, &ring->bad)
                : 2;
    if (n <= 0 || (size_t)n > left)
      break;
    left -= (size_t)n;
    ring->payload[left] = (uint8_t)(n - 1);
    records++;
  }
  if (left && !ring->bad && !ring->lost_front)
    ring->bad = "a record without its beginning";
  ring->lost_front |= left != 0;
  ring->first = left;
  ring->records = records;
}

size_t ink_ring_record(const ink_ring *ring, size_t at, ink_record *out) {
  size_t payload = ring->payload[at];
  const uint64_t *words = ring->words + at;
  uint64_t head = words[payload], inner = head;
  out->word = at;
  out->payload = words;
  out->hash48 = 0;
  out->escape = 0;
  if (kind_of(head) == INK_KIND_ESCAPE) {
    uint32_t code = section_of(head);
    if (code != INK_ESCAPE_CLOCKS) {
      inner = words[payload - 1];
      out->hash48 = head & INK_CLOCK_MASK;
    }
    if (code == INK_ESCAPE_TABLE)
      head = inner;
    else
      out->escape = (uint8_t)code;
  }
  out->head = head;
  out->kind = (uint8_t)kind_of(head);
  out->section = out->escape == INK_ESCAPE_CLOCKS ? 0 : section_of(inner);
  out->clock48 = inner & INK_CLOCK_MASK;
  return at + payload + 1;
}
