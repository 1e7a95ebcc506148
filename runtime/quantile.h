/* SPDX-License-Identifier: MIT */
/* A sketch of a distribution of cycle counts: exact while there are few values, then a log-linear
 * histogram whose quantiles are within 1/128 of the true value. Memory is bounded by the number of
 * octaves that the values span, never by how many values there are. */
#ifndef INKMARK_QUANTILE_H
#define INKMARK_QUANTILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

enum {
  INK_QUANTILE_EXACT = 32,  /* so many values are kept as they are */
  INK_QUANTILE_BITS = 6,
  INK_QUANTILE_SUB = 1 << INK_QUANTILE_BITS, /* buckets an octave */
  INK_QUANTILE_OCTAVES = 64 - INK_QUANTILE_BITS + 1
};

typedef struct ink_octave {
  uint32_t counts[INK_QUANTILE_SUB]; /* stay at their maximum */
} ink_octave;

typedef struct ink_quantile { /* all zero: empty */
  uint64_t *few;             /* [few_room]; NULL once there are octaves */
  ink_octave **octaves;      /* [INK_QUANTILE_OCTAVES], each NULL until it is needed */
  uint32_t few_count, few_room;
} ink_quantile;

/* The slow ways of ink_quantile_add; false when out of memory. */
bool ink_quantile_add_few(ink_quantile *sketch, uint64_t value);
ink_octave *ink_quantile_octave(ink_quantile *sketch, unsigned octave);

/* Values below 64 have buckets of their own (octave 0). */
static inline unsigned ink_quantile_place(uint64_t value, unsigned *sub) {
  if (value < INK_QUANTILE_SUB) {
    *sub = (unsigned)value;
    return 0;
  }
  unsigned high = 63u - (unsigned)__builtin_clzll(value), shift = high - INK_QUANTILE_BITS;
  *sub = (unsigned)(value >> shift) & (INK_QUANTILE_SUB - 1);
  return shift + 1;
}

static inline bool ink_quantile_add(ink_quantile *sketch, uint64_t value) {
  if (!sketch->octaves)
    return ink_quantile_add_few(sketch, value);
  unsigned sub, octave = ink_quantile_place(value, &sub);
  ink_octave *found = sketch->octaves[octave];
  if (!found && !(found = ink_quantile_octave(sketch, octave)))
    return false;
  found->counts[sub] += found->counts[sub] != UINT32_MAX;
  return true;
}

/* The value that `quantile` (0 to 1) of the values do not exceed, nearest rank; 0 when empty. */
uint64_t ink_quantile_get(ink_quantile *sketch, double quantile);
void ink_quantile_free(ink_quantile *sketch);

#endif
