/* SPDX-License-Identifier: MIT */
/* From a first guess of the offset to a kernel for every launch that has one. First the guess is
 * followed along time in both directions, which gives the line between the clocks; then, for the
 * launches of each kernel and size, the best increasing chain of pairs near that line is taken as a
 * whole, so that a missed or an extra kernel shifts nothing after it. */
#include "join_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RECENT = 31, WINDOW_NS = 5000, WIDEST_NS = 50000, NEAR_NS = 1000 };
/* A slope is of pairs that are so far apart; a pair with so much room says nothing of the offset.
 */
enum { SLOPE_NS = 20000000, VAGUE_NS = 100000 };
#define ROUNDS 3

/* By how much ours sticks out of theirs at an offset. */
double ink_join_sticks_out(const join_pair *p, double offset) {
  double low = (double)p->low_ns, high = (double)p->high_ns;
  if (low > high) { /* ours is the longer one: as little as can be on both sides */
    double swap = low;
    low = high;
    high = swap;
  }
  return offset < low ? low - offset : offset > high ? offset - high : 0;
}

/* How far a pair may be from an offset: by what it sticks out, and from middle to middle. */
typedef struct reach {
  double out_ns, middle_ns;
} reach;

static double off_middle(const join_pair *p, double offset) {
  return fabs(((double)p->low_ns + (double)p->high_ns) / 2 - offset);
}

double ink_join_cost(const join_pair *p, double offset) {
  return ink_join_sticks_out(p, offset) + 0.05 * off_middle(p, offset);
}

/* Takes a candidate among the best; false when it lies wholly after the window. */
static bool consider(const join_device *d, size_t i, size_t kernel, double offset, reach within,
                     join_nearest *best, size_t *n) {
  join_pair pair = ink_join_pair(d, i, kernel);
  if ((double)(pair.low_ns < pair.high_ns ? pair.low_ns : pair.high_ns) >
      offset + within.out_ns + JOIN_COARSE_NS)
    return false;
  if (!ink_join_fits_length(&d->launches[d->mine[i]], &d->kernels[kernel]) ||
      ink_join_sticks_out(&pair, offset) > within.out_ns ||
      off_middle(&pair, offset) > within.middle_ns)
    return true;
  join_nearest item = {kernel, ink_join_cost(&pair, offset)};
  if (*n < JOIN_NEAREST) {
    best[(*n)++] = item;
    return true;
  }
  size_t worst = 0;
  for (size_t j = 1; j < JOIN_NEAREST; j++)
    worst = best[j].cost > best[worst].cost ? j : worst;
  if (item.cost < best[worst].cost)
    best[worst] = item;
  return true;
}

/* The up to JOIN_NEAREST best candidates of a launch at an offset, in no order; returns how many. The
 * kernel that holds ours began before it, maybe long before; so the walk goes further back than
 * forward. */
static size_t find_nearest(const join_device *d, size_t i, double offset, reach within,
                           join_nearest *out) {
  const join_group *g = &d->groups[d->group_of[i]];
  const size_t *candidates = d->candidates + g->first;
  int64_t begin = d->launches[d->mine[i]].begin_ns + d->shift_ns + llround(offset);
  size_t at = ink_join_first_from(d, g, begin), n = 0;
  for (size_t c = at; c < g->count && c - at < 2 * JOIN_NEAREST; c++)
    if (!consider(d, i, candidates[c], offset, within, out, &n))
      break;
  for (size_t c = at; c-- > 0 && at - c <= 4 * JOIN_NEAREST;)
    consider(d, i, candidates[c], offset, within, out, &n);
  return n;
}

/* Of at least one. */
static size_t best_of(const join_nearest *near, size_t n) {
  size_t best = 0;
  for (size_t j = 1; j < n; j++)
    best = near[j].cost < near[best].cost ? j : best;
  return near[best].kernel;
}

size_t ink_join_nearest(const join_device *d, size_t i, double offset, join_nearest *out) {
  return find_nearest(d, i, offset, (reach){WIDEST_NS, INFINITY}, out);
}

static double median(const double *values, size_t n) {
  double sorted[RECENT];
  memcpy(sorted, values, n * sizeof *values);
  qsort(sorted, n, sizeof *sorted, ink_join_by_double);
  return sorted[n / 2];
}

/* What the last pairs say of the offset: a median, and how it changes since the first. */
typedef struct trail {
  double at[RECENT], offset[RECENT]; /* ns since the start; the offset then */
  size_t count, next;
  double slope;
} trail;

static void trail_add(trail *t, double at, double offset) {
  t->at[t->next] = at;
  t->offset[t->next] = offset;
  t->next = (t->next + 1) % RECENT;
  t->count += t->count < RECENT;
  if (t->count == RECENT && t->next % 8)
    return;
  double slopes[RECENT];
  size_t n = 0;
  for (size_t i = 0; i < t->count; i++)
    if (fabs(t->at[i]) > SLOPE_NS)
      slopes[n++] = t->offset[i] / t->at[i];
  if (n)
    t->slope = fmin(fmax(median(slopes, n), -JOIN_DRIFT_MAX), JOIN_DRIFT_MAX);
}

static double trail_offset(const trail *t, double at) {
  double from_line[RECENT];
  for (size_t i = 0; i < t->count; i++)
    from_line[i] = t->offset[i] + t->slope * (at - t->at[i]);
  return t->count ? median(from_line, t->count) : 0;
}

/* Follows the offset from launch `start`, where it is 0, to the end in one direction. */
static void follow(join_device *d, size_t start, int step) {
  trail t = {0};
  int64_t first_ns = d->launches[d->mine[start]].begin_ns, last_ns = first_ns;
  for (size_t i = start; i < d->count; i += (size_t)step) { /* below 0 wraps and ends it */
    const ink_join_launch *l = &d->launches[d->mine[i]];
    double at = (double)(l->begin_ns - first_ns), offset = trail_offset(&t, at);
    double window = WINDOW_NS + JOIN_DRIFT_MAX * fabs((double)(l->begin_ns - last_ns));
    join_nearest near[JOIN_NEAREST];
    size_t n = find_nearest(d, i, offset, (reach){window, INFINITY}, near);
    if (!n)
      continue;
    d->chosen[i] = best_of(near, n);
    join_pair p = ink_join_pair(d, i, d->chosen[i]);
    double low = (double)(p.low_ns < p.high_ns ? p.low_ns : p.high_ns);
    double high = (double)(p.low_ns < p.high_ns ? p.high_ns : p.low_ns);
    if (high - low > VAGUE_NS)
      continue; /* it says nothing, and may be another's that ours happens to lie in */
    /* the nearest offset that keeps a tenth of the room on either side */
    double room = (high - low) / 10;
    trail_add(&t, at, fmin(fmax(offset, low + room), high - room));
    last_ns = l->begin_ns;
  }
}

ink_status ink_join_fit_chosen(join_device *d, ink_error *error) {
  size_t n = 0;
  join_pair *pairs = malloc((d->count + 1) * sizeof *pairs);
  if (!pairs)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  for (size_t i = 0; i < d->count; i++)
    if (d->chosen[i] != SIZE_MAX)
      pairs[n++] = ink_join_pair(d, i, d->chosen[i]);
  bool done = !n || ink_join_fit(pairs, n, &d->clock);
  d->clock.joined = n;
  free(pairs);
  return done ? INK_OK : ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
}

/* How far from the line a pair may be: some times what nearly all of the chosen ones are. */
static reach reach_of(const join_device *d, double *out, double *middle) {
  size_t n = 0;
  for (size_t i = 0; i < d->count; i++)
    if (d->chosen[i] != SIZE_MAX) {
      join_pair p = ink_join_pair(d, i, d->chosen[i]);
      double offset = ink_join_line(&d->clock, p.at_ns);
      out[n] = ink_join_sticks_out(&p, offset);
      middle[n++] = off_middle(&p, offset);
    }
  if (!n)
    return (reach){WINDOW_NS, INFINITY};
  qsort(out, n, sizeof *out, ink_join_by_double);
  qsort(middle, n, sizeof *middle, ink_join_by_double);
  double bound = (double)d->clock.bound_ns;
  double most = 4 * out[n - 1 - n / 4] + bound;
  double far = fmin(3 * middle[n - 1 - n / 20], 20 * middle[n - 1 - n / 4]) + bound;
  return (reach){fmin(fmax(most, 1000), WIDEST_NS), fmax(far, 1000)};
}

/* ---- the chain ------------------------------------------------------------------------------ */

typedef struct link {
  double weight;                 /* of the best chain that ends here */
  size_t launch, kernel, before; /* before: index of the link before, SIZE_MAX: none */
  double cost;
} link;

typedef struct chain {
  link *links;
  size_t count, room;
  size_t *best; /* Fenwick tree of maxima over candidate ranks: link index + 1 */
} chain;

/* The best chain that ends at a rank below `rank`. */
static size_t best_below(const chain *c, size_t rank) {
  size_t best = 0;
  for (size_t i = rank; i; i &= i - 1)
    if (c->best[i] && (!best || c->links[c->best[i] - 1].weight > c->links[best - 1].weight))
      best = c->best[i];
  return best;
}

static void keep_best(chain *c, size_t rank, size_t ranks, size_t link_plus_1) {
  for (size_t i = rank + 1; i <= ranks; i += i & -i)
    if (!c->best[i] || c->links[link_plus_1 - 1].weight > c->links[c->best[i] - 1].weight)
      c->best[i] = link_plus_1;
}

static int by_kernel_down(const void *left, const void *right) {
  const join_nearest *a = left, *b = right;
  return (a->kernel < b->kernel) - (a->kernel > b->kernel);
}

static size_t rank_of(const join_device *d, const join_group *g, size_t kernel) {
  size_t low = 0, high = g->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (d->candidates[g->first + middle] < kernel)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* A pair on the line weighs 1, one at the tolerance nothing: what is as good as not being there
 * must not be gained by shifting a neighbour. */
static bool add_links(join_device *d, chain *c, const join_group *g, size_t launch, reach allowed) {
  join_nearest near[JOIN_NEAREST];
  const ink_join_launch *l = &d->launches[d->mine[launch]];
  double offset = ink_join_line(&d->clock, ink_join_middle(l->begin_ns, l->end_ns));
  size_t n = find_nearest(d, launch, offset, allowed, near), first = c->count;
  qsort(near, n, sizeof *near, by_kernel_down);
  if (c->count + n > c->room) {
    size_t room = c->room ? c->room * 2 : 4096;
    link *grown = realloc(c->links, room * sizeof *grown);
    if (!grown)
      return false;
    c->links = grown;
    c->room = room;
  }
  for (size_t j = 0; j < n; j++) {
    double far = fmin(near[j].cost / (allowed.out_ns + 0.05 * fmin(allowed.middle_ns, 1e6)), 1);
    size_t rank = rank_of(d, g, near[j].kernel), before = best_below(c, rank);
    c->links[c->count++] =
        (link){.weight = 1 - far * far + (before ? c->links[before - 1].weight : 0) + 1e-9,
               .launch = launch,
               .kernel = near[j].kernel,
               .before = before - 1,
               .cost = near[j].cost};
  }
  /* Only now, so that a launch is never chained to itself. */
  for (size_t j = first; j < c->count; j++)
    keep_best(c, rank_of(d, g, c->links[j].kernel), g->count, j + 1);
  return true;
}

/* How much nearer the chosen kernel is than the next that the launch could have been. */
static double confidence_of(const chain *c, size_t chosen) {
  const link *own = &c->links[chosen];
  double next = INFINITY;
  for (size_t j = chosen; j-- > 0 && c->links[j].launch == own->launch;)
    next = fmin(next, c->links[j].cost);
  for (size_t j = chosen + 1; j < c->count && c->links[j].launch == own->launch; j++)
    next = fmin(next, c->links[j].cost);
  if (next == INFINITY)
    return 1;
  double sum = own->cost + next + 100; /* 100 ns apart is as good as the same */
  return next > own->cost ? (next - own->cost) / sum : 0;
}

static bool chain_group(join_device *d, chain *c, const size_t *members, size_t n, reach allowed) {
  const join_group *g = &d->groups[d->group_of[members[0]]];
  if (!g->count)
    return true;
  c->count = 0;
  c->best = calloc(g->count + 1, sizeof *c->best);
  if (!c->best)
    return false;
  bool done = true;
  for (size_t i = 0; i < n && done; i++)
    done = add_links(d, c, g, members[i], allowed);
  size_t at = done ? best_below(c, g->count) : 0;
  while (at) {
    const link *l = &c->links[at - 1];
    d->chosen[l->launch] = l->kernel;
    d->confidence[l->launch] = confidence_of(c, at - 1);
    at = l->before + 1;
  }
  free(c->best);
  return done;
}

static int by_group_then_time(const void *left, const void *right, void *user) {
  const uint32_t *group_of = user;
  size_t a = *(const size_t *)left, b = *(const size_t *)right;
  if (group_of[a] != group_of[b])
    return group_of[a] < group_of[b] ? -1 : 1;
  return (a > b) - (a < b);
}

static double cost_chosen(const join_device *d, size_t i) {
  join_pair p = ink_join_pair(d, i, d->chosen[i]);
  return ink_join_cost(&p, ink_join_line(&d->clock, p.at_ns));
}

/* Groups whose launches could be the same kernels (two of our names for one of theirs) are chained
 * one by one; a kernel that two launches then claim goes to the nearer one. */
static void settle_claims(join_device *d, size_t kernels, size_t *owner) {
  for (size_t k = 0; k < kernels; k++)
    owner[k] = SIZE_MAX;
  for (size_t i = 0; i < d->count; i++) {
    if (d->chosen[i] == SIZE_MAX)
      continue;
    size_t *held = &owner[d->chosen[i]];
    size_t loser = *held;
    if (loser == SIZE_MAX || cost_chosen(d, i) < cost_chosen(d, loser))
      *held = i;
    else
      loser = i;
    if (loser != SIZE_MAX)
      d->chosen[loser] = SIZE_MAX;
  }
}

static ink_status chains(join_device *d, reach allowed, ink_error *error) {
  size_t total = ink_foreign_kernels(d->foreign, &(const ink_foreign_kernel *){NULL});
  size_t *order = malloc((d->count + 1) * sizeof *order);
  size_t *owner = malloc((total + 1) * sizeof *owner);
  chain c = {0};
  bool done = order && owner;
  for (size_t i = 0; done && i < d->count; i++) {
    order[i] = i;
    d->chosen[i] = SIZE_MAX;
  }
  if (done)
    qsort_r(order, d->count, sizeof *order, by_group_then_time, d->group_of);
  for (size_t i = 0, j; done && i < d->count; i = j) {
    for (j = i; j < d->count && d->group_of[order[j]] == d->group_of[order[i]];)
      j++;
    done = chain_group(d, &c, order + i, j - i, allowed);
  }
  if (done)
    settle_claims(d, total, owner);
  free(order);
  free(owner);
  free(c.links);
  return done ? INK_OK : ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
}

/* Chooses anew in rounds: the chains, and the line that they give. */
static ink_status settle(join_device *d, ink_error *error) {
  double *scratch = malloc((2 * d->count + 1) * sizeof *scratch);
  if (!scratch)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  ink_status status = INK_OK;
  for (int round = 0; round < ROUNDS && status == INK_OK && d->clock.joined; round++) {
    status = chains(d, reach_of(d, scratch, scratch + d->count), error);
    if (status == INK_OK)
      status = ink_join_fit_chosen(d, error);
  }
  free(scratch);
  return status;
}

static ink_status align_from(join_device *d, const join_guess *guess, ink_error *error) {
  size_t start = 0;
  while (start + 1 < d->count && d->launches[d->mine[start]].begin_ns < guess->at_ns)
    start++;
  for (size_t i = 0; i < d->count; i++)
    d->chosen[i] = SIZE_MAX;
  d->shift_ns = guess->offset_ns;
  follow(d, start, 1);
  follow(d, start, -1);
  ink_status status = ink_join_fit_chosen(d, error);
  return status == INK_OK ? settle(d, error) : status;
}

/* From a line that holds for `span_ns` around a moment: to what is nearest to it there, to the line
 * of these, and so on, each time for twice as long. */
static ink_status align_on(join_device *d, const join_line *line, ink_error *error) {
  d->shift_ns = line->offset_ns;
  d->clock.offset_ns = 0;
  d->clock.at_ns = line->at_ns;
  d->clock.drift_ppm = line->slope * 1e6;
  ink_status status = INK_OK;
  bool all = false;
  for (double span = line->span_ns; status == INK_OK && !all; span *= 2) {
    all = true;
    for (size_t i = 0; i < d->count; i++) {
      const ink_join_launch *l = &d->launches[d->mine[i]];
      d->chosen[i] = SIZE_MAX;
      if (fabs((double)(l->begin_ns - line->at_ns)) > span / 2 + 1) {
        all = false;
        continue;
      }
      join_nearest near[JOIN_NEAREST];
      const double offset = ink_join_line(&d->clock, ink_join_middle(l->begin_ns, l->end_ns));
      const size_t n = find_nearest(d, i, offset, (reach){NEAR_NS, INFINITY}, near);
      if (n)
        d->chosen[i] = best_of(near, n);
    }
    status = ink_join_fit_chosen(d, error);
  }
  return status == INK_OK ? settle(d, error) : status;
}

/* Aligns anew on the line that a search finds, and keeps what puts more launches inside. */
static ink_status align_better(join_device *d, const join_guess *guess, ink_error *error) {
  join_device other = *d;
  join_line line;
  other.chosen = malloc((d->count + 1) * sizeof *other.chosen);
  other.confidence = calloc(d->count + 1, sizeof *other.confidence);
  ink_status status = INK_OK;
  if (!other.chosen || !other.confidence)
    status = ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  if (status == INK_OK)
    status = ink_join_search(d, guess, &line, error);
  if (status == INK_OK)
    status = align_on(&other, &line, error);
  if (status == INK_OK && ink_join_inside(&other, JOIN_SLACK_NS) > ink_join_inside(d, JOIN_SLACK_NS)) {
    memcpy(d->chosen, other.chosen, d->count * sizeof *d->chosen);
    memcpy(d->confidence, other.confidence, d->count * sizeof *d->confidence);
    d->shift_ns = other.shift_ns;
    d->clock = other.clock;
  }
  free(other.chosen);
  free(other.confidence);
  return status;
}

ink_status ink_join_align(join_device *d, const join_guess *guess, ink_error *error) {
  ink_status status = align_from(d, guess, error);
  if (status == INK_OK && d->clock.joined && ink_join_inside(d, JOIN_SLACK_NS) * 10 < d->clock.joined * 9)
    status = align_better(d, guess, error);
  if (status == INK_OK && d->clock.joined)
    status = ink_join_overlaps(d, error);
  return status;
}
