/* SPDX-License-Identifier: MIT */
/* Growth and reading of the sketch of quantile.h. */
#include "quantile.h"

#include <math.h>
#include <string.h>

/* Makes the window of counted buckets reach to `bucket`. */
static bool reach(ink_quantile *sketch, uint32_t bucket) {
  uint32_t octave = bucket / INK_QUANTILE_SUB * INK_QUANTILE_SUB;
  uint32_t first = sketch->counts && sketch->first < octave ? sketch->first : octave;
  uint32_t end = sketch->first + sketch->room;
  if (!sketch->counts || end < octave + INK_QUANTILE_SUB)
    end = octave + INK_QUANTILE_SUB;
  uint32_t *counts = calloc(end - first, sizeof *counts);
  if (!counts)
    return false;
  if (sketch->counts)
    memcpy(counts + (sketch->first - first), sketch->counts, sketch->room * sizeof *counts);
  free(sketch->counts);
  sketch->counts = counts;
  sketch->first = first;
  sketch->room = end - first;
  return true;
}

static bool count(ink_quantile *sketch, uint64_t value) {
  uint32_t bucket = ink_quantile_bucket(value);
  if (bucket - sketch->first >= sketch->room && !reach(sketch, bucket))
    return false;
  sketch->counts[bucket - sketch->first]++;
  return true;
}

bool ink_quantile_add_slowly(ink_quantile *sketch, uint64_t value) {
  if (sketch->counts)
    return count(sketch, value);
  if (sketch->few_count == INK_QUANTILE_EXACT) {
    for (uint32_t i = 0; i < sketch->few_count; i++)
      if (!count(sketch, sketch->few[i]))
        return false;
    free(sketch->few);
    sketch->few = NULL;
    sketch->few_count = sketch->few_room = 0;
    return count(sketch, value);
  }
  if (sketch->few_count == sketch->few_room) {
    uint32_t room = sketch->few_room ? sketch->few_room * 2 : 4;
    uint64_t *few = realloc(sketch->few, room * sizeof *few);
    if (!few)
      return false;
    sketch->few = few;
    sketch->few_room = room;
  }
  sketch->few[sketch->few_count++] = value;
  return true;
}

static int compare(const void *left, const void *right) {
  uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return a < b ? -1 : a > b;
}

static uint64_t bucket_middle(uint32_t bucket) {
  if (bucket < 2 * INK_QUANTILE_SUB)
    return bucket;
  uint32_t shift = bucket / INK_QUANTILE_SUB - 1;
  uint64_t low = (uint64_t)(INK_QUANTILE_SUB + bucket % INK_QUANTILE_SUB) << shift;
  return low + (((uint64_t)1 << shift) - 1) / 2;
}

uint64_t ink_quantile_get(ink_quantile *sketch, double quantile) {
  if (!sketch->counts) {
    if (!sketch->few_count)
      return 0;
    qsort(sketch->few, sketch->few_count, sizeof *sketch->few, compare);
    double rank = ceil(quantile * sketch->few_count);
    return sketch->few[rank < 1 ? 0 : (uint32_t)rank - 1];
  }
  uint64_t total = 0, seen = 0;
  for (uint32_t i = 0; i < sketch->room; i++)
    total += sketch->counts[i];
  double rank = ceil(quantile * (double)total);
  uint64_t wanted = rank < 1 ? 1 : (uint64_t)rank, last = 0;
  for (uint32_t i = 0; i < sketch->room && seen < wanted; i++) {
    if (sketch->counts[i])
      last = bucket_middle(sketch->first + i);
    seen += sketch->counts[i];
  }
  return last;
}

static void put_in_bin(uint64_t value, uint64_t count, double low, double high, uint64_t *bins, size_t n) {
  const double at = (double)value <= low || high <= low ? 0 : (double)n * log((double)value / low) / log(high / low);
  bins[at >= (double)n ? n - 1 : (size_t)at] += count;
}

void ink_quantile_bins(const ink_quantile *sketch, uint64_t low, uint64_t high, uint64_t *bins, size_t n) {
  const double from = low ? (double)low : 1, to = (double)high;
  for (size_t i = 0; i < n; i++)
    bins[i] = 0;
  for (uint32_t i = 0; !sketch->counts && i < sketch->few_count; i++)
    put_in_bin(sketch->few[i], 1, from, to, bins, n);
  for (uint32_t i = 0; sketch->counts && i < sketch->room; i++)
    if (sketch->counts[i])
      put_in_bin(bucket_middle(sketch->first + i), sketch->counts[i], from, to, bins, n);
}

void ink_quantile_free(ink_quantile *sketch) {
  free(sketch->counts);
  free(sketch->few);
  *sketch = (ink_quantile){0};
}

static int by_number(const void *left, const void *right) {
  const double a = *(const double *)left, b = *(const double *)right;
  return a < b ? -1 : a > b;
}

double ink_median(double *numbers, size_t n) {
  qsort(numbers, n, sizeof *numbers, by_number);
  return n % 2 ? numbers[n / 2] : (numbers[n / 2 - 1] + numbers[n / 2]) / 2;
}
