/* SPDX-License-Identifier: MIT */
/* The best other place of the whole join: at which distance from the line would most of the launches lie
 * inside kernels other than those that were chosen? A stretch of launches finds an offset; what it leaves
 * unexplained at the ends of a loop shows only over all of them. */
#include "join_private.h"
#include "merge/read/foreign_private.h"

#include <math.h>
#include <stdlib.h>

/* Launches that are asked, and pairs that they may bring: a loop of thousands is looked at near the line. */
enum { ASKED = 512, EDGE = 128, PAIRS_MAX = 1500000 };

typedef struct rivals {
  join_edge *edges;
  size_t count;
} rivals;

static int by_place(const void *left, const void *right) {
  const join_edge *a = left, *b = right;
  if (a->at != b->at)
    return a->at < b->at ? -1 : 1;
  return b->step - a->step; /* what touches overlaps */
}

/* All of few launches; of many those at both ends, where another place leaves some out, and some between. */
static size_t ask(const join_device *d, size_t *out) {
  size_t n = 0;
  if (d->count <= ASKED) {
    for (; n < d->count; n++)
      out[n] = n;
    return n;
  }
  for (size_t i = 0; i < EDGE; i++)
    out[n++] = i;
  const size_t between = ASKED - 2 * EDGE;
  for (size_t i = 0; i < between; i++)
    out[n++] = EDGE + (d->count - 2 * EDGE) * i / between;
  for (size_t i = d->count - EDGE; i < d->count; i++)
    out[n++] = i;
  return n;
}

static bool is_inside(const join_device *d, size_t launch, size_t kernel) {
  const join_pair pair = ink_join_pair(d, launch, kernel);
  return ink_join_sticks_out(&pair, ink_join_line(&d->clock, pair.at_ns)) <= JOIN_SLACK_NS;
}

/* The ranges of distances from the line at which a launch would lie inside a kernel that is not its own, in
 * rising order and apart, so that a launch counts once at each. `each`: kernels on either side. */
static void add_launch(const join_device *d, size_t launch, size_t each, double limit_ns, rivals *out) {
  const ink_join_launch *l = &d->launches[d->mine[launch]];
  const join_group *g = &d->groups[d->group_of[launch]];
  const double line = ink_join_line(&d->clock, ink_join_middle(l->begin_ns, l->end_ns));
  const size_t at = ink_join_first_from(d, g, l->begin_ns + d->shift_ns + llround(line));
  const size_t first = at > each ? at - each : 0, last = g->count - at > each ? at + each : g->count;
  double open_low = 0, open_high = -INFINITY;
  bool open = false;
  for (size_t c = first; c < last; c++) {
    const size_t kernel = d->candidates[g->first + c];
    if (kernel == d->chosen[launch] || !ink_join_fits_length(l, &d->kernels[kernel]))
      continue;
    const join_pair pair = ink_join_pair(d, launch, kernel);
    const double low = (double)pair.low_ns - line - JOIN_SLACK_NS;
    const double high = (double)pair.high_ns - line + JOIN_SLACK_NS;
    if (high < low || low + line + (double)d->shift_ns > limit_ns ||
        high + line + (double)d->shift_ns < -limit_ns)
      continue;
    if (open && low <= open_high) {
      open_high = fmax(open_high, high);
      continue;
    }
    if (open) {
      out->edges[out->count++] = (join_edge){open_low, 1};
      out->edges[out->count++] = (join_edge){open_high, -1};
    }
    open_low = low;
    open_high = high;
    open = true;
  }
  if (open) {
    out->edges[out->count++] = (join_edge){open_low, 1};
    out->edges[out->count++] = (join_edge){open_high, -1};
  }
}

/* The deepest place; of equal ones the one whose offset is nearest to 0. */
static void deepest(const rivals *all, double zero, join_rival *out) {
  long depth = 0, best = 0;
  double nearest = INFINITY;
  for (size_t i = 0; i + 1 < all->count; i++) {
    depth += all->edges[i].step;
    const double low = all->edges[i].at, high = all->edges[i + 1].at;
    const double from_zero = zero < low ? low - zero : zero > high ? zero - high : 0;
    if (depth > best || (depth == best && from_zero < nearest)) {
      best = depth;
      nearest = from_zero;
      out->distance_ns = fmin(fmax(zero, low), high);
      if (high - low > 2 * JOIN_SLACK_NS) /* not at its very edge */
        out->distance_ns = fmin(fmax(zero, low + JOIN_SLACK_NS), high - JOIN_SLACK_NS);
    }
  }
  out->elsewhere = (size_t)best;
}

ink_status ink_join_rival(const join_device *d, double limit_ns, join_rival *out, ink_error *error) {
  size_t asked[ASKED];
  const size_t n = ask(d, asked), each = n ? PAIRS_MAX / n / 2 : 0;
  *out = (join_rival){.asked = n};
  size_t most = 0;
  for (size_t i = 0; i < n; i++) {
    const size_t group = d->groups[d->group_of[asked[i]]].count;
    most += group < 2 * each ? group : 2 * each;
    out->here += d->chosen[asked[i]] != SIZE_MAX && is_inside(d, asked[i], d->chosen[asked[i]]);
  }
  rivals all = {malloc((2 * most + 1) * sizeof *all.edges), 0};
  if (!all.edges)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  for (size_t i = 0; i < n; i++)
    add_launch(d, asked[i], each, limit_ns, &all);
  qsort(all.edges, all.count, sizeof *all.edges, by_place);
  const double middle = ink_join_line(&d->clock, d->clock.at_ns) + (double)d->shift_ns;
  deepest(&all, d->foreign->facts.base_known ? -middle : 0, out);
  free(all.edges);
  return INK_OK;
}
