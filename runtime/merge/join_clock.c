/* SPDX-License-Identifier: MIT */
/* The line between our clock and theirs: where ours lies inside theirs for most of the pairs. */
#include "join_private.h"

#include <math.h>
#include <stdlib.h>

enum { FEW = 64 }; /* pairs, of which each is set against each */

double ink_join_line(const ink_join_clock *c, int64_t ours_ns) {
  return (double)c->offset_ns + c->drift_ppm * 1e-6 * (double)(ours_ns - c->at_ns);
}

int64_t ink_join_clock_theirs(const ink_join_clock *c, int64_t ours_ns) {
  return ours_ns + c->offset_ns + llround(c->drift_ppm * 1e-6 * (double)(ours_ns - c->at_ns));
}

static int by_double(const void *left, const void *right) {
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
  qsort(scratch, count, sizeof *scratch, by_double);
  double slope = scratch[count / 2];
  return fmin(fmax(slope, -JOIN_DRIFT_MAX), JOIN_DRIFT_MAX);
}

typedef struct edge {
  double at;
  int step;
} edge;

static int by_edge(const void *left, const void *right) {
  const edge *a = left, *b = right;
  if (a->at != b->at)
    return a->at < b->at ? -1 : 1;
  return b->step - a->step;
}

bool ink_join_fit(const join_pair *pairs, size_t n, ink_join_clock *c) {
  size_t room = n <= FEW ? n * n + 1 : n; /* slopes, then half widths */
  double *scratch = malloc(room * sizeof *scratch);
  edge *edges = malloc(2 * n * sizeof *edges);
  bool done = scratch && edges;
  if (!done)
    goto cleanup;
  double slope = slope_of(pairs, n, scratch);
  int64_t base = pairs[0].low_ns;
  c->at_ns = ink_join_middle(pairs[0].at_ns, pairs[n - 1].at_ns);
  double from = 0, to = 0;
  for (size_t i = 0; i < n; i++) {
    double shift = slope * (double)(pairs[i].at_ns - c->at_ns);
    double low = (double)(pairs[i].low_ns - base) - shift;
    double high = (double)(pairs[i].high_ns - base) - shift;
    edges[2 * i] = (edge){low < high ? low : high, 1};
    edges[2 * i + 1] = (edge){low < high ? high : low, -1};
    scratch[i] = fabs(high - low) / 2;
  }
  qsort(edges, 2 * n, sizeof *edges, by_edge);
  long deep = 0, best = 0;
  for (size_t i = 0; i < 2 * n; i++) {
    deep += edges[i].step;
    if (deep > best && i + 1 < 2 * n) {
      best = deep;
      from = edges[i].at;
      to = edges[i + 1].at;
    }
  }
  qsort(scratch, n, sizeof *scratch, by_double);
  c->offset_ns = base + llround((from + to) / 2);
  c->drift_ppm = slope * 1e6;
  /* Half of the room that is left, and what the slope may be off at the middle. */
  c->bound_ns = (int64_t)ceil((to - from) / 2 + scratch[n / 2]) + 1;
cleanup:
  free(scratch);
  free(edges);
  return done;
}
