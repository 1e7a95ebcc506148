/* SPDX-License-Identifier: MIT */
/* The line between our clock and theirs: where ours lies inside theirs for most of the pairs. */
#include "join_private.h"

#include <math.h>
#include <stdlib.h>

enum { FEW = 64 }; /* pairs, of which each is set against each */
enum { REFINED = 2000, SLOPES = 16 };

double ink_join_line(const ink_join_clock *c, int64_t ours_ns) {
  return (double)c->offset_ns + c->drift_ppm * 1e-6 * (double)(ours_ns - c->at_ns);
}

int64_t ink_join_clock_theirs(const ink_join_clock *c, int64_t ours_ns) {
  return ours_ns + c->offset_ns + llround(c->drift_ppm * 1e-6 * (double)(ours_ns - c->at_ns));
}

int ink_join_by_double(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

/* The median slope of the middles: between all pairs where they are few, else between each and the
 * one half the list away (Theil 1950, complete and incomplete). */
static double slope_of(const join_pair *pairs, size_t n, double *scratch) {
  size_t count = 0;
  for (size_t i = 0; i < n; i++) {
    size_t from = n <= FEW ? i + 1 : i + n / 2, to = n <= FEW ? n : from + 1;
    for (size_t j = from; j < to && j < n; j++) {
      double run = (double)(pairs[j].at_ns - pairs[i].at_ns);
      if (run > 0)
        scratch[count++] = (double)(ink_join_middle(pairs[j].low_ns, pairs[j].high_ns) -
                                    ink_join_middle(pairs[i].low_ns, pairs[i].high_ns)) /
                           run;
    }
  }
  if (!count)
    return 0;
  qsort(scratch, count, sizeof *scratch, ink_join_by_double);
  double slope = scratch[count / 2];
  return fmin(fmax(slope, -JOIN_DRIFT_MAX), JOIN_DRIFT_MAX);
}

static int by_edge(const void *left, const void *right) {
  const join_edge *a = left, *b = right;
  if (a->at != b->at)
    return a->at < b->at ? -1 : 1;
  return b->step - a->step;
}

join_depth ink_join_deepest(const join_fit *f, double slope) {
  join_depth best = {.slope = slope};
  long deep = 0;
  for (size_t i = 0; i < f->n; i++) {
    double shift = slope * (double)(f->pairs[i].at_ns - f->at_ns);
    double low = (double)(f->pairs[i].low_ns - f->base_ns) - shift;
    double high = (double)(f->pairs[i].high_ns - f->base_ns) - shift;
    f->edges[2 * i] = (join_edge){low < high ? low : high, 1};
    f->edges[2 * i + 1] = (join_edge){low < high ? high : low, -1};
  }
  qsort(f->edges, 2 * f->n, sizeof *f->edges, by_edge);
  for (size_t i = 0; i + 1 < 2 * f->n; i++) {
    deep += f->edges[i].step;
    if (deep > best.pairs) {
      best.pairs = deep;
      best.from = f->edges[i].at;
      best.to = f->edges[i + 1].at;
    }
  }
  return best;
}

/* Where pairs are few, the median slope is off by more than what it should tell: slopes around it,
 * and of those that fit as many pairs the one with the most room. `low` to `high`: the offsets that
 * any of them allows. */
static join_depth refine(const join_fit *f, double slope, double half_room, double *low, double *high) {
  join_depth best = ink_join_deepest(f, slope);
  double span = (double)(f->pairs[f->n - 1].at_ns - f->pairs[0].at_ns);
  *low = best.from;
  *high = best.to;
  if (f->n < 3 || f->n > REFINED || span <= 0)
    return best;
  double step = fmax(half_room, 50) / span / 2;
  for (int i = -SLOPES; i <= SLOPES; i++) {
    double other = slope + i * step;
    if (!i || fabs(other) > JOIN_DRIFT_MAX)
      continue;
    join_depth d = ink_join_deepest(f, other);
    if (d.pairs < best.pairs)
      continue;
    bool more = d.pairs > best.pairs;
    *low = more ? d.from : fmin(*low, d.from);
    *high = more ? d.to : fmax(*high, d.to);
    if (more || d.to - d.from > best.to - best.from)
      best = d;
  }
  return best;
}

bool ink_join_fit(const join_pair *pairs, size_t n, ink_join_clock *c) {
  size_t room = n <= FEW ? n * n + 1 : n; /* slopes, then half widths */
  double *scratch = malloc(room * sizeof *scratch);
  join_edge *edges = malloc(2 * n * sizeof *edges);
  bool done = scratch && edges;
  if (!done)
    goto cleanup;
  double slope = slope_of(pairs, n, scratch), low, high;
  int64_t first_ns = pairs[0].at_ns, last_ns = first_ns; /* they begin in order, no more */
  for (size_t i = 0; i < n; i++) {
    first_ns = pairs[i].at_ns < first_ns ? pairs[i].at_ns : first_ns;
    last_ns = pairs[i].at_ns > last_ns ? pairs[i].at_ns : last_ns;
    scratch[i] = fabs((double)(pairs[i].high_ns - pairs[i].low_ns)) / 2;
  }
  c->at_ns = ink_join_middle(first_ns, last_ns);
  qsort(scratch, n, sizeof *scratch, ink_join_by_double);
  const join_fit f = {pairs, n, edges, c->at_ns, pairs[0].low_ns};
  join_depth best = refine(&f, slope, scratch[n / 2], &low, &high);
  double middle = (best.from + best.to) / 2;
  c->offset_ns = f.base_ns + llround(middle);
  c->drift_ppm = best.slope * 1e6;
  /* What is left open, and half of the room that a launch has in its kernel. */
  c->bound_ns = (int64_t)ceil(fmax(high - middle, middle - low) + scratch[n / 2]) + 1;
cleanup:
  free(scratch);
  free(edges);
  return done;
}
