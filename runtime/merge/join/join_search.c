/* SPDX-License-Identifier: MIT */
/* Offset and drift anew, both at once. Where kernels of one name follow each other closely, an
 * offset that is followed along time can slip by one of them, most easily over a pause, after which
 * the drift alone may be more than half a kernel. A sample of the launches is set against every
 * drift there can be; the right line is the one on which the most of them lie inside kernels. */
#include "join_private.h"

#include <math.h>
#include <stdlib.h>

enum { SAMPLE = 256, SLOPES_MOST = 2000, ROOM_LEAST_NS = 200 };

size_t ink_join_inside(const join_device *d, double slack_ns) {
  size_t n = 0;
  for (size_t i = 0; i < d->count; i++) {
    if (d->chosen[i] == SIZE_MAX)
      continue;
    join_pair pair = ink_join_pair(d, i, d->chosen[i]);
    n += ink_join_sticks_out(&pair, ink_join_line(&d->clock, pair.at_ns)) <= slack_ns;
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

/* All pairs that lie near a line. */
static size_t pairs_near(const join_device *d, const ink_join_clock *line, const size_t *sampled,
                         size_t n, join_pair *out) {
  size_t count = 0;
  for (size_t i = 0; i < n; i++) {
    const ink_join_launch *l = &d->launches[d->mine[sampled[i]]];
    join_nearest near[JOIN_NEAREST];
    const double offset = ink_join_line(line, ink_join_middle(l->begin_ns, l->end_ns));
    size_t found = ink_join_nearest(d, sampled[i], offset, near);
    for (size_t j = 0; j < found; j++)
      out[count++] = ink_join_pair(d, sampled[i], near[j].kernel);
  }
  return count;
}

typedef struct buffers {
  double *scratch; /* [launches + 1] */
  size_t *sampled; /* [SAMPLE] */
  join_pair *pairs;
  join_edge *edges;
} buffers;

static bool buffers_make(buffers *b, const join_device *d) {
  const size_t most = SAMPLE * JOIN_NEAREST;
  *b = (buffers){malloc((d->count + 1) * sizeof *b->scratch), malloc(SAMPLE * sizeof *b->sampled),
                 malloc(most * sizeof *b->pairs), malloc(2 * most * sizeof *b->edges)};
  return b->scratch && b->sampled && b->pairs && b->edges;
}

static void buffers_free(buffers *b) {
  free(b->scratch);
  free(b->sampled);
  free(b->pairs);
  free(b->edges);
}

ink_status ink_join_search(const join_device *d, const join_guess *guess, join_line *out,
                           ink_error *error) {
  buffers b;
  ink_status status = INK_OK;
  if (!buffers_make(&b, d)) {
    status = ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
    goto cleanup;
  }
  join_device at = *d; /* as seen from the guess, with nothing known of the drift */
  at.shift_ns = guess->offset_ns;
  at.clock.drift_ppm = 0;
  /* A step of the slope moves the ends by a quarter of the room. */
  const double room = room_of(d, b.scratch);
  const double span = SLOPES_MOST * room / (4 * JOIN_DRIFT_MAX);
  *out = (join_line){guess->offset_ns, guess->at_ns, 0, span};
  const size_t n = sample(d, guess->at_ns, span, b.sampled);
  if (n < 2)
    goto cleanup;
  const double covered = (double)(d->launches[d->mine[b.sampled[n - 1]]].begin_ns -
                                  d->launches[d->mine[b.sampled[0]]].begin_ns);
  const int steps = (int)ceil(JOIN_DRIFT_MAX * covered * 2 / room);
  long deepest = 0;
  for (int i = 0; i <= 2 * steps; i++) { /* 0, 1, -1, 2, ...: of equal ones the least */
    const int step = i % 2 ? (i + 1) / 2 : -i / 2;
    const double slope = steps ? step * JOIN_DRIFT_MAX / steps : 0;
    const ink_join_clock line = {.at_ns = guess->at_ns, .drift_ppm = slope * 1e6};
    const size_t pairs = pairs_near(&at, &line, b.sampled, n, b.pairs);
    const join_fit fit = {b.pairs, pairs, b.edges, guess->at_ns, 0};
    const join_depth found = ink_join_deepest(&fit, slope);
    if (found.pairs <= deepest)
      continue;
    deepest = found.pairs;
    out->offset_ns = guess->offset_ns + llround((found.from + found.to) / 2);
    out->slope = slope;
  }
cleanup:
  buffers_free(&b);
  return status;
}

bool ink_join_stands_out(const join_device *d) {
  buffers b;
  bool stands_out = false;
  if (!buffers_make(&b, d))
    goto cleanup;
  const double room = room_of(d, b.scratch), slope = d->clock.drift_ppm * 1e-6;
  const size_t n = sample(d, d->clock.at_ns, INFINITY, b.sampled);
  join_fit fit = {b.pairs, pairs_near(d, &d->clock, b.sampled, n, b.pairs), b.edges,
                  d->clock.at_ns, 0};
  const join_depth best = ink_join_deepest(&fit, slope);
  size_t others = 0; /* without the pairs that are for the best, what would be the next? */
  for (size_t i = 0; i < fit.n; i++) {
    const double shift = slope * (double)(b.pairs[i].at_ns - fit.at_ns);
    const double low = (double)b.pairs[i].low_ns - shift, high = (double)b.pairs[i].high_ns - shift;
    if (fmax(low, high) < best.from - room || fmin(low, high) > best.to + room)
      b.pairs[others++] = b.pairs[i];
  }
  fit.n = others;
  const join_depth second = ink_join_deepest(&fit, slope);
  stands_out = best.pairs * 10 >= (long)n * 7 && second.pairs * 10 <= best.pairs * 8;
cleanup:
  buffers_free(&b);
  return stands_out;
}
