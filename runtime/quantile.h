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
  uint32_t counts[INK_QUANTILE_SUB]; /* 2^32 of one bucket would be a capture of 32 GiB */
} ink_octave;

typedef struct ink_quantile { /* all zero: empty */
  uint64_t *few;             /* [few_room]; NULL once there are octaves */
  ink_octave **octaves;      /* [INK_QUANTILE_OCTAVES], each NULL until it is needed */
  uint32_t few_count, few_room;
} ink_quantile;

/* The slow ways of ink_quantile_add; false when out of memory. */
bool ink_quantile_add_few(ink_quantile *sketch, uint64_t value);
ink_octave *ink_quantile_octave(ink_quantile *sketch, unsigned octave);

/* The bucket of a value, over all octaves: below 128 each has its own, then 64 an octave. */
static inline unsigned ink_quantile_bucket(uint64_t value) {
  unsigned shift = 63u - INK_QUANTILE_BITS - (unsigned)__builtin_clzll(value | INK_QUANTILE_SUB);
  return (shift << INK_QUANTILE_BITS) + (unsigned)(value >> shift);
}

static inline bool ink_quantile_add(ink_quantile *sketch, uint64_t value) {
  if (!sketch->octaves)
    return ink_quantile_add_few(sketch, value);
  unsigned bucket = ink_quantile_bucket(value);
  ink_octave *found = sketch->octaves[bucket / INK_QUANTILE_SUB];
  if (!found && !(found = ink_quantile_octave(sketch, bucket / INK_QUANTILE_SUB)))
    return false;
  found->counts[bucket % INK_QUANTILE_SUB]++;
  return true;
}

/* The value that `quantile` (0 to 1) of the values do not exceed, nearest rank; 0 when empty. */
uint64_t ink_quantile_get(ink_quantile *sketch, double quantile);
void ink_quantile_free(ink_quantile *sketch);

#endif
