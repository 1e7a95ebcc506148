/* SPDX-License-Identifier: MIT */
/* Launches of kernels that run at the same time on several streams, where the order of begins tells
 * nothing: a pair must fit at both ends as nearly all pairs do, and of all ways to pair them up the
 * one is taken that joins the most, then the one that fits best. Where that is not the only one
 * that fits, the pair is uncertain. */
#include "join_private.h"

#include "merge/read/foreign_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 8, ROUNDS = 3, SPARE_NS = 200, NEAREST = 256 };
enum { MEASURED = 4, SAMPLE = 12, ENOUGH = 64 }; /* how often, and of how many pairs */

typedef struct edge {
  size_t launch, kernel;
  double cost;
} edge;

typedef struct overlap {
  join_device *d;
  bool *crowded; /* [kernels] overlaps another of its group */
  edge *edges;   /* by launch */
  size_t *first; /* [count + 1] of a launch's */
  size_t count, room;
  edge **by_cost;
  size_t *owner; /* [kernels] the launch that has it, or SIZE_MAX */
  size_t *seen;  /* [kernels] in which search; 0: none */
  size_t search;
  double low[2], middle[2], high[2]; /* how far ours is inside at the begin and at the end */
  double weight[2]; /* of that end: 1 for the one that scatters less, where not all blocks are
                       recorded it is the begin */
} overlap;

static void overlap_free(overlap *o) {
  free(o->crowded);
  free(o->edges);
  free(o->first);
  free(o->by_cost);
  free(o->owner);
  free(o->seen);
}

static bool find_groups(overlap *o) {
  const join_device *d = o->d;
  bool any = false;
  for (size_t g = 0; g < d->group_count; g++) {
    const size_t *candidates = d->candidates + d->groups[g].first;
    size_t last = SIZE_MAX; /* the one that ends last so far */
    for (size_t i = 0; i < d->groups[g].count; i++) {
      const ink_foreign_kernel *k = &d->kernels[candidates[i]];
      if (last != SIZE_MAX && k->begin_ns < d->kernels[last].end_ns)
        d->groups[g].overlaps = o->crowded[candidates[i]] = o->crowded[last] = true;
      if (last == SIZE_MAX || k->end_ns > d->kernels[last].end_ns)
        last = candidates[i];
    }
    any |= d->groups[g].overlaps;
  }
  return any;
}

/* By how much the launch lies inside the kernel at either end. */
static void insides(const join_device *d, size_t launch, size_t kernel, double *inside) {
  join_pair p = ink_join_pair(d, launch, kernel);
  double offset = ink_join_line(&d->clock, p.at_ns);
  inside[0] = offset - (double)p.low_ns;
  inside[1] = (double)p.high_ns - offset;
}

/* How the chosen pairs fit; once it is known which are certain, how those do: the others were
 * chosen for fitting well. */
static bool measure(overlap *o, bool certain) {
  const join_device *d = o->d;
  double *values[2] = {malloc((d->count + 1) * sizeof(double)),
                       malloc((d->count + 1) * sizeof(double))};
  size_t n = 0;
  bool done = values[0] && values[1];
  for (size_t i = 0; done && i < d->count; i++) {
    double inside[2];
    if (d->chosen[i] == SIZE_MAX || (certain && d->uncertain[i]))
      continue;
    insides(d, i, d->chosen[i], inside);
    values[0][n] = inside[0];
    values[1][n++] = inside[1];
  }
  if (certain && n < SAMPLE)
    n = 0;
  for (int side = 0; done && n && side < 2; side++) {
    if (certain && n < ENOUGH && o->weight[side] < 1)
      continue; /* few tell little of the side that scatters more */
    qsort(values[side], n, sizeof(double), ink_join_by_double);
    double low = values[side][n / 50], high = values[side][n - 1 - n / 50];
    double spare = fmax((high - low) / 4, SPARE_NS);
    o->low[side] = low - spare;
    o->middle[side] = values[side][n / 2];
    o->high[side] = high + spare;
  }
  if (done && n) {
    double wide[2] = {o->high[0] - o->low[0], o->high[1] - o->low[1]};
    for (int side = 0; side < 2; side++)
      o->weight[side] = fmin(wide[0], wide[1]) / wide[side];
  }
  free(values[0]);
  free(values[1]);
  return done;
}

static bool add_edge(overlap *o, size_t launch, size_t kernel) {
  double inside[2], cost = 0;
  insides(o->d, launch, kernel, inside);
  for (int side = 0; side < 2; side++) {
    if (inside[side] < o->low[side] || inside[side] > o->high[side])
      return true;
    cost += o->weight[side] * fabs(inside[side] - o->middle[side]);
  }
  if (o->count == o->room) {
    size_t room = o->room ? o->room * 2 : 1024;
    edge *grown = realloc(o->edges, room * sizeof *grown);
    if (!grown)
      return false;
    o->edges = grown;
    o->room = room;
  }
  o->edges[o->count++] = (edge){launch, kernel, cost};
  return true;
}

/* All that a launch could be: candidates that begin a little before it. */
static bool add_edges(overlap *o, size_t launch) {
  const join_device *d = o->d;
  const join_group *g = &d->groups[d->group_of[launch]];
  const ink_join_launch *l = &d->launches[d->mine[launch]];
  double offset = ink_join_line(&d->clock, ink_join_middle(l->begin_ns, l->end_ns));
  int64_t begin = l->begin_ns + d->shift_ns + llround(offset);
  double drift = JOIN_DRIFT_MAX * (double)(l->end_ns - l->begin_ns);
  size_t at = ink_join_first_from(d, g, begin - llround(o->high[0] + drift) - 1);
  size_t end = ink_join_first_from(d, g, begin - llround(o->low[0] - drift) + 2);
  at = end > at + NEAREST ? end - NEAREST : at; /* where fits scatter widely */
  for (; at < end; at++)
    if (!add_edge(o, launch, d->candidates[g->first + at]))
      return false;
  return true;
}

static int by_cost(const void *left, const void *right) {
  const edge *a = *(edge *const *)left, *b = *(edge *const *)right;
  if (a->cost != b->cost)
    return a->cost < b->cost ? -1 : 1;
  return (a > b) - (a < b);
}

static void own(overlap *o, size_t launch, size_t kernel) {
  o->d->chosen[launch] = kernel;
  o->owner[kernel] = launch;
}

/* A kernel for the launch, if need be by moving others to what else they could be. */
static bool augment(overlap *o, size_t launch, int depth) {
  for (size_t e = o->first[launch]; e < o->first[launch + 1]; e++) {
    size_t kernel = o->edges[e].kernel;
    if (o->seen[kernel] == o->search)
      continue;
    o->seen[kernel] = o->search;
    size_t holder = o->owner[kernel];
    if (holder != SIZE_MAX && (depth == DEEPEST || !augment(o, holder, depth + 1)))
      continue;
    own(o, launch, kernel);
    return true;
  }
  return false;
}

static double cost_between(const overlap *o, size_t launch, size_t kernel) {
  for (size_t e = o->first[launch]; e < o->first[launch + 1]; e++)
    if (o->edges[e].kernel == kernel)
      return o->edges[e].cost;
  return INFINITY;
}

/* Two launches that fit better the other way round. */
static bool swap_pairs(overlap *o) {
  bool better = false;
  for (size_t e = 0; e < o->count; e++) {
    size_t a = o->edges[e].launch, kernel = o->edges[e].kernel, had = o->d->chosen[a];
    size_t b = o->owner[kernel];
    if (b == SIZE_MAX || a == b || had == SIZE_MAX)
      continue;
    if (o->edges[e].cost + cost_between(o, b, had) <
        cost_between(o, a, had) + cost_between(o, b, kernel)) {
      own(o, a, kernel);
      own(o, b, had);
      better = true;
    }
  }
  return better;
}

static void give_confidence(overlap *o) {
  for (size_t i = 0; i < o->d->count; i++) {
    double mine = INFINITY, next = INFINITY;
    for (size_t e = o->first[i]; e < o->first[i + 1]; e++) {
      bool chosen = o->edges[e].kernel == o->d->chosen[i];
      mine = chosen ? o->edges[e].cost : mine;
      next = chosen ? next : fmin(next, o->edges[e].cost);
    }
    if (mine < INFINITY)
      o->d->confidence[i] = next == INFINITY ? 1 : fmax(0, (next - mine) / (mine + next + 100));
  }
}

/* Which pairs another kernel, or another launch, would do for. */
static bool doubt(overlap *o, size_t kernels) {
  join_device *d = o->d;
  size_t *fitting = o->seen; /* [kernels] launches */
  memset(fitting, 0, kernels * sizeof *fitting);
  o->count = 0;
  for (size_t i = 0; i < d->count; i++) {
    o->first[i] = o->count;
    if (d->groups[d->group_of[i]].overlaps && !add_edges(o, i))
      return false;
  }
  o->first[d->count] = o->count;
  for (size_t e = 0; e < o->count; e++)
    fitting[o->edges[e].kernel]++;
  for (size_t i = 0; i < d->count; i++) {
    if (d->chosen[i] == SIZE_MAX || !d->groups[d->group_of[i]].overlaps)
      continue;
    size_t own = cost_between(o, i, d->chosen[i]) < INFINITY;
    d->uncertain[i] = o->first[i + 1] - o->first[i] > own || fitting[d->chosen[i]] > own;
  }
  return true;
}

static bool make_edges(overlap *o) {
  join_device *d = o->d;
  o->count = 0;
  for (size_t i = 0; i < d->count; i++) {
    o->first[i] = o->count;
    if (!d->groups[d->group_of[i]].overlaps ||
        (d->chosen[i] != SIZE_MAX && !o->crowded[d->chosen[i]]))
      continue; /* there time alone decides */
    if (!add_edges(o, i))
      return false;
    d->chosen[i] = SIZE_MAX;
  }
  o->first[d->count] = o->count;
  free(o->by_cost);
  o->by_cost = malloc((o->count + 1) * sizeof *o->by_cost);
  if (!o->by_cost)
    return false;
  for (size_t e = 0; e < o->count; e++)
    o->by_cost[e] = &o->edges[e];
  qsort(o->by_cost, o->count, sizeof *o->by_cost, by_cost);
  return true;
}

static void pair_up(overlap *o) {
  join_device *d = o->d;
  size_t kernels = d->foreign->kernel_count;
  memset(o->seen, 0, kernels * sizeof *o->seen);
  o->search = 0;
  for (size_t k = 0; k < kernels; k++)
    o->owner[k] = SIZE_MAX;
  for (size_t i = 0; i < d->count; i++)
    if (d->chosen[i] != SIZE_MAX)
      o->owner[d->chosen[i]] = i;
  for (size_t e = 0; e < o->count; e++) {
    const edge *best = o->by_cost[e];
    if (d->chosen[best->launch] == SIZE_MAX && o->owner[best->kernel] == SIZE_MAX)
      own(o, best->launch, best->kernel);
  }
  for (size_t i = 0; i < d->count; i++)
    if (d->chosen[i] == SIZE_MAX && o->first[i] < o->first[i + 1]) {
      o->search++;
      augment(o, i, 0);
    }
  for (int round = 0; round < ROUNDS && swap_pairs(o); round++)
    ;
  give_confidence(o);
}

ink_status ink_join_overlaps(join_device *d, ink_error *error) {
  size_t kernels = d->foreign->kernel_count;
  overlap o = {.d = d};
  o.crowded = calloc(kernels + 1, sizeof *o.crowded);
  bool done = o.crowded != NULL;
  if (!done || !find_groups(&o))
    goto cleanup;
  o.first = calloc(d->count + 1, sizeof *o.first);
  o.owner = malloc((kernels + 1) * sizeof *o.owner);
  o.seen = calloc(kernels + 1, sizeof *o.seen);
  done = o.first && o.owner && o.seen;
  for (int i = 0; done && i < MEASURED; i++) {
    done = measure(&o, i > 0) && make_edges(&o);
    if (done)
      pair_up(&o);
    done = done && doubt(&o, kernels);
  }
cleanup:
  overlap_free(&o);
  if (!done)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  return ink_join_fit_chosen(d, error);
}
