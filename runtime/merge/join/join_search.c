/* SPDX-License-Identifier: MIT */
/* Offset and drift anew, both at once. Where kernels of one name follow each other closely, an
 * offset that is followed along time can slip by one of them, most easily over a pause, after which
 * the drift alone may be more than half a kernel. A sample of the launches is set against every
 * drift there can be; the right line is the one on which the most of them lie inside kernels. */
#include "join_private.h"

#include <math.h>
#include <stdlib.h>

enum { SAMPLE = 256, SLOPES_MOST = 2000, SLACK_NS = 250, ROOM_LEAST_NS = 200 };

size_t ink_join_inside(const join_device *d) {
  size_t n = 0;
  for (size_t i = 0; i < d->count; i++) {
    if (d->chosen[i] == SIZE_MAX)
      continue;
    join_pair pair = ink_join_pair(d, i, d->chosen[i]);
    n += ink_join_sticks_out(&pair, ink_join_line(&d->clock, pair.at_ns)) <= SLACK_NS;
  }
  return n;
}

/* The median room that the chosen launches have in their kernels, in ns. */
static double room_of(const join_device *d, double *scratch) {
  size_t n = 0;
  for (size_t i = 0; i < d->count; i++)
    if (d->chosen[i] != SIZE_MAX) {
      join_pair pair = ink_join_pair(d, i, d->chosen[i]);
      scratch[n++] = fabs((double)(pair.high_ns - pair.low_ns));
    }
  qsort(scratch, n, sizeof *scratch, ink_join_by_double);
  return n ? fmax(scratch[n / 2], ROOM_LEAST_NS) : ROOM_LEAST_NS;
}

/* Launches around a moment, evenly spread over a time that the slopes there may be can cover. */
static size_t sample(const join_device *d, int64_t at_ns, double span_ns, size_t *out) {
  size_t first = 0, last = d->count;
  while (first < last && (double)(at_ns - d->launches[d->mine[first]].begin_ns) > span_ns / 2)
    first++;
  while (last > first && (double)(d->launches[d->mine[last - 1]].begin_ns - at_ns) > span_ns / 2)
    last--;
  size_t n = last - first < SAMPLE ? last - first : SAMPLE;
  for (size_t i = 0; i < n; i++)
    out[i] = first + (last - first) * i / n;
  return n;
}

/* All pairs that a line through the guess with that slope allows, near it. */
static size_t pairs_near(const join_device *d, const join_guess *guess, double slope,
                         const size_t *sampled, size_t n, join_pair *out) {
  size_t count = 0;
  for (size_t i = 0; i < n; i++) {
    const ink_join_launch *l = &d->launches[d->mine[sampled[i]]];
    double offset = slope * (double)(l->begin_ns - guess->at_ns);
    join_nearest near[JOIN_NEAREST];
    size_t found = ink_join_nearest(d, sampled[i], offset, near);
    for (size_t j = 0; j < found; j++)
      out[count++] = ink_join_pair(d, sampled[i], near[j].kernel);
  }
  return count;
}

ink_status ink_join_search(const join_device *d, const join_guess *guess, join_line *out,
                           ink_error *error) {
  const size_t most = SAMPLE * JOIN_NEAREST;
  double *scratch = malloc((d->count + 1) * sizeof *scratch);
  size_t *sampled = malloc(SAMPLE * sizeof *sampled);
  join_pair *pairs = malloc(most * sizeof *pairs);
  join_edge *edges = malloc(2 * most * sizeof *edges);
  ink_status status = INK_OK;
  if (!scratch || !sampled || !pairs || !edges) {
    status = ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
    goto cleanup;
  }
  join_device at = *d; /* as seen from the guess, with nothing known of the drift */
  at.shift_ns = guess->offset_ns;
  at.clock.drift_ppm = 0;
  /* A step of the slope moves the ends by a quarter of the room. */
  const double room = room_of(d, scratch);
  const double span = SLOPES_MOST * room / (4 * JOIN_DRIFT_MAX);
  *out = (join_line){guess->offset_ns, guess->at_ns, 0, span};
  const size_t n = sample(d, guess->at_ns, span, sampled);
  if (n < 2)
    goto cleanup;
  const double covered = fmax((double)(d->launches[d->mine[sampled[n - 1]]].begin_ns -
                                       d->launches[d->mine[sampled[0]]].begin_ns), 1);
  const int steps = (int)ceil(JOIN_DRIFT_MAX * covered * 2 / room);
  long deepest = 0;
  for (int i = 0; i <= 2 * steps; i++) { /* 0, 1, -1, 2, ...: of equal ones the least */
    const int step = i % 2 ? (i + 1) / 2 : -i / 2;
    const double slope = steps ? step * JOIN_DRIFT_MAX / steps : 0;
    join_fit fit = {pairs, pairs_near(&at, guess, slope, sampled, n, pairs), edges, guess->at_ns, 0};
    const join_depth found = ink_join_deepest(&fit, slope);
    if (found.pairs <= deepest)
      continue;
    deepest = found.pairs;
    out->offset_ns = guess->offset_ns + llround((found.from + found.to) / 2);
    out->slope = slope;
  }
cleanup:
  free(scratch);
  free(sampled);
  free(pairs);
  free(edges);
  return status;
}
