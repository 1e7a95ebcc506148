/* SPDX-License-Identifier: MIT */
/* Growth and reading of the sketch of quantile.h. */
#include "quantile.h"

#include <math.h>

ink_octave *ink_quantile_octave(ink_quantile *sketch, unsigned octave) {
  if (!sketch->octaves[octave])
    sketch->octaves[octave] = calloc(1, sizeof *sketch->octaves[octave]);
  return sketch->octaves[octave];
}

static bool spread(ink_quantile *sketch) {
  sketch->octaves = calloc(INK_QUANTILE_OCTAVES, sizeof *sketch->octaves);
  if (!sketch->octaves)
    return false;
  for (uint32_t i = 0; i < sketch->few_count; i++)
    if (!ink_quantile_add(sketch, sketch->few[i]))
      return false;
  free(sketch->few);
  sketch->few = NULL;
  sketch->few_count = sketch->few_room = 0;
  return true;
}

bool ink_quantile_add_few(ink_quantile *sketch, uint64_t value) {
  if (sketch->few_count == INK_QUANTILE_EXACT)
    return spread(sketch) && ink_quantile_add(sketch, value);
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

static uint64_t bucket_middle(unsigned octave, unsigned sub) {
  if (octave == 0)
    return sub;
  unsigned shift = octave - 1;
  uint64_t low = (uint64_t)(INK_QUANTILE_SUB + sub) << shift;
  return low + (((uint64_t)1 << shift) - 1) / 2;
}

uint64_t ink_quantile_get(ink_quantile *sketch, double quantile) {
  if (!sketch->octaves) {
    if (!sketch->few_count)
      return 0;
    qsort(sketch->few, sketch->few_count, sizeof *sketch->few, compare);
    double rank = ceil(quantile * sketch->few_count);
    return sketch->few[rank < 1 ? 0 : (uint32_t)rank - 1];
  }
  uint64_t total = 0, seen = 0;
  for (unsigned o = 0; o < INK_QUANTILE_OCTAVES; o++)
    for (unsigned s = 0; sketch->octaves[o] && s < INK_QUANTILE_SUB; s++)
      total += sketch->octaves[o]->counts[s];
  double rank = ceil(quantile * (double)total);
  uint64_t wanted = rank < 1 ? 1 : (uint64_t)rank, last = 0;
  for (unsigned o = 0; o < INK_QUANTILE_OCTAVES; o++)
    for (unsigned s = 0; sketch->octaves[o] && s < INK_QUANTILE_SUB; s++) {
      if (!sketch->octaves[o]->counts[s])
        continue;
      last = bucket_middle(o, s);
      seen += sketch->octaves[o]->counts[s];
      if (seen >= wanted)
        return last;
    }
  return last;
}

void ink_quantile_free(ink_quantile *sketch) {
  for (unsigned o = 0; sketch->octaves && o < INK_QUANTILE_OCTAVES; o++)
    free(sketch->octaves[o]);
  free(sketch->octaves);
  free(sketch->few);
  *sketch = (ink_quantile){0};
}
