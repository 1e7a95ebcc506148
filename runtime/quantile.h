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
  INK_QUANTILE_SUB = 1 << INK_QUANTILE_BITS /* buckets an octave */
};

typedef struct ink_quantile { /* all zero: empty */
  /* Of the buckets [first, first + room), whole octaves; NULL while the values are few. A count is
   * 32 bits: more in one bucket would be a capture of 32 GiB. */
  uint32_t *counts;
  uint32_t first, room;
  uint64_t *few;             /* [few_room] */
  uint32_t few_count, few_room;
} ink_quantile;

/* The slow way of ink_quantile_add: keeps the value as it is, or makes room for its bucket; false
 * when out of memory. */
bool ink_quantile_add_slowly(ink_quantile *sketch, uint64_t value);

/* The bucket of a value: below 128 each has its own, then there are 64 an octave. */
static inline uint32_t ink_quantile_bucket(uint64_t value) {
  unsigned shift = 63u - INK_QUANTILE_BITS - (unsigned)__builtin_clzll(value | INK_QUANTILE_SUB);
  return (shift << INK_QUANTILE_BITS) + (uint32_t)(value >> shift);
}

static inline bool ink_quantile_add(ink_quantile *sketch, uint64_t value) {
  uint32_t place = ink_quantile_bucket(value) - sketch->first;
  if (place >= sketch->room)
    return ink_quantile_add_slowly(sketch, value);
  sketch->counts[place]++;
  return true;
}

/* The value that `quantile` (0 to 1) of the values do not exceed, nearest rank; 0 when empty. */
uint64_t ink_quantile_get(ink_quantile *sketch, double quantile);
/* How many values lie in each of `n` bins from `low` to `high`, whose ends have one ratio: bin i begins at
 * low * (high / low)^(i / n). Where the values were many, those of a bucket lie in the bin of its middle. */
void ink_quantile_bins(const ink_quantile *sketch, uint64_t low, uint64_t high, uint64_t *bins, size_t n);
void ink_quantile_free(ink_quantile *sketch);

/* Of any n numbers but 0 of them; sorts them. */
double ink_median(double *numbers, size_t n);

#endif
