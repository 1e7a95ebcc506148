/* SPDX-License-Identifier: MIT */
/* The first guess of the offset between two clocks: every launch of a stretch votes, with every
 * kernel that it could be, for the offsets that would put it inside. */
#include "join_private.h"

#include <math.h>
#include <stdlib.h>

/* A stretch is short, so that the drift within it is small; it is allowed for all the same. Where
 * nothing says when the other profiler was on, more of them are tried. */
enum { STRETCH = 256, STRETCH_LEAST = 32, STRETCHES = 5, STRETCHES_BLIND = 24, PAIRS_MAX = 500000 };
#define STRETCH_NS 1000000000
/* Launches that must fall into what the other profiler recorded, or a quarter where that is less:
 * a few at its edge fit anywhere. */
#define WITHIN_LEAST 12.0
#define SHARP_NS 20000.0 /* a vote for this wide a range counts half */

typedef struct search {
  int64_t limit_ns;        /* offsets are at most this; INT64_MAX: any */
  double slack_ns;         /* by which ours may stick out of theirs */
  int64_t low_ns, high_ns; /* when the other profiler was on, by its kernels that ours could be */
} search;

typedef struct vote {
  double at;     /* relative to the middle of the stretch's offsets */
  double weight; /* > 0: begins, < 0: ends */
} vote;

typedef struct votes {
  vote *items;
  size_t count, room;
} votes;

static int by_place(const void *left, const void *right) {
  const vote *a = left, *b = right;
  if (a->at != b->at)
    return a->at < b->at ? -1 : 1;
  return (a->weight < b->weight) - (a->weight > b->weight);
}

static bool add(votes *v, double low, double high, double weight) {
  if (v->count + 2 > v->room) {
    size_t room = v->room ? v->room * 2 : 4096;
    vote *grown = realloc(v->items, room * sizeof *grown);
    if (!grown)
      return false;
    v->items = grown;
    v->room = room;
  }
  v->items[v->count++] = (vote){low, weight};
  v->items[v->count++] = (vote){high, -weight};
  return true;
}

static int64_t minus(int64_t a, int64_t b) { /* without overflow */
  int64_t out;
  if (__builtin_sub_overflow(a, b, &out))
    return b > 0 ? INT64_MIN : INT64_MAX;
  return out;
}
static int64_t plus(int64_t a, int64_t b) {
  int64_t out;
  if (__builtin_add_overflow(a, b, &out))
    return b > 0 ? INT64_MAX : INT64_MIN;
  return out;
}

/* One launch's votes; `full` is what it could give at most. */
static bool vote_launch(const join_device *d, size_t i, const search *how, int64_t middle,
                        int64_t base, votes *v, double *full) {
  int64_t limit = how->limit_ns;
  const ink_join_launch *l = &d->launches[d->mine[i]];
  const join_group *group = &d->groups[d->group_of[i]];
  double slack = how->slack_ns + JOIN_DRIFT_MAX * fabs((double)(l->begin_ns - middle));
  double best = 0;
  size_t from = limit < INT64_MAX ? ink_join_first_from(d, group, minus(l->begin_ns, limit)) : 0;
  for (size_t c = from; c < group->count; c++) {
    const ink_foreign_kernel *k = &d->kernels[d->candidates[group->first + c]];
    if (limit < INT64_MAX && k->begin_ns > plus(l->begin_ns, limit))
      break;
    if (!ink_join_fits_length(l, k))
      continue;
    double low = (double)(k->begin_ns - l->begin_ns - base) - slack;
    double high = (double)(k->end_ns - l->end_ns - base) + slack;
    if (high < low)
      continue;
    double weight = 1 / (1 + (high - low) / SHARP_NS);
    if (weight > best)
      best = weight;
    if (!add(v, low, high, weight))
      return false;
  }
  *full = best;
  return true;
}

/* What the launches that fall between `low_ns` and `high_ns` of theirs could give at an offset. */
static double could_give(const join_device *d, size_t from, size_t to, const double *full,
                         int64_t offset, int64_t low_ns, int64_t high_ns) {
  double sum = 0;
  for (size_t i = from; i < to; i++) {
    const ink_join_launch *l = &d->launches[d->mine[i]];
    if (plus(l->end_ns, offset) >= low_ns && plus(l->begin_ns, offset) <= high_ns)
      sum += full[i - from];
  }
  return sum;
}

/* The highest sum of votes; where several are as good, the one nearest to `wanted`. `not_near`:
 * leave out what lies around it (NAN: nothing). */
static double highest(const vote *items, size_t n, double wanted, double not_near, double around,
                      double *at) {
  double sum = 0, best = 0, found = 0;
  for (size_t i = 0; i + 1 < n; i++) {
    sum += items[i].weight;
    if (items[i].weight < 0)
      continue;
    double from = items[i].at, to = items[i + 1].at, here = from + (to - from) / 2;
    if (fabs(here - not_near) < around) /* never with NAN */
      continue;
    if (sum > best * 1.02 || (sum > best * 0.98 && fabs(here - wanted) < fabs(found - wanted))) {
      best = sum > best ? sum : best;
      found = here;
    }
  }
  *at = found;
  return best;
}

static size_t candidates_within(const join_device *d, size_t i, int64_t limit) {
  const join_group *group = &d->groups[d->group_of[i]];
  if (limit == INT64_MAX)
    return group->count;
  int64_t begin = d->launches[d->mine[i]].begin_ns;
  return ink_join_first_from(d, group, plus(begin, limit)) -
         ink_join_first_from(d, group, minus(begin, limit));
}

/* Votes of the launches [from, to); those with the fewest candidates first, so that many launches
 * of one busy kernel do not crowd out the telling ones. */
static ink_status vote_stretch(const join_device *d, size_t from, size_t to, const search *how,
                               join_guess *out, ink_error *error) {
  int64_t limit = how->limit_ns;
  votes v = {0};
  double each_full[STRETCH] = {0}, full = 0, at = 0, other = 0;
  int64_t middle = d->launches[d->mine[from + (to - from) / 2]].begin_ns, base = 0;
  bool have_base = false, done = true;
  *out = (join_guess){.at_ns = middle};
  size_t pairs = 0, each = PAIRS_MAX / (to - from);
  for (int busy = 0; busy < 2 && done; busy++)
    for (size_t i = from; i < to && done; i++) {
      size_t n = candidates_within(d, i, limit);
      if (!n || (n > each) != busy || (busy && pairs + n > PAIRS_MAX && pairs))
        continue;
      const join_group *group = &d->groups[d->group_of[i]];
      if (!have_base) /* doubles hold the ns of differences, not those of Unix time */
        base = d->kernels[d->candidates[group->first]].begin_ns - d->launches[d->mine[i]].begin_ns;
      have_base = true;
      pairs += n;
      done = vote_launch(d, i, how, middle, base, &v, &each_full[i - from]);
      full += each_full[i - from];
      out->launches += each_full[i - from] > 0;
    }
  if (done && full > 0) {
    qsort(v.items, v.count, sizeof *v.items, by_place);
    double wanted = limit < INT64_MAX ? -(double)base : 0;
    double first = highest(v.items, v.count, wanted, NAN, 0, &at);
    double second = highest(v.items, v.count, wanted, at, 2 * how->slack_ns + 5000, &other);
    out->offset_ns = base + llround(at);
    /* Of those that the other profiler was on for. */
    double least = fmin(full / 4, WITHIN_LEAST * full / (double)out->launches);
    double within =
        fmax(could_give(d, from, to, each_full, out->offset_ns, how->low_ns, how->high_ns), least);
    out->share = first / within; /* above 1 where a launch fits several */
    out->second = second / within;
  }
  free(v.items);
  return done ? INK_OK : ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
}

/* The launch that begins first at `ns` or later. */
static size_t launch_from(const join_device *d, int64_t ns) {
  size_t low = 0, high = d->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (d->launches[d->mine[middle]].begin_ns < ns)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Where a stretch from there ends: so many launches, fewer where they take long. */
static size_t stretch_end(const join_device *d, size_t from, size_t last) {
  size_t to = last - from < STRETCH ? last : from + STRETCH;
  int64_t begin = d->launches[d->mine[from]].begin_ns;
  while (to - from > STRETCH_LEAST && d->launches[d->mine[to - 1]].begin_ns - begin > STRETCH_NS)
    to--;
  return to;
}

static ink_status guess_with(const join_device *d, const search *how, join_guess *out,
                             ink_error *error) {
  bool blind = how->limit_ns == INT64_MAX;
  size_t first = blind ? 0 : launch_from(d, minus(how->low_ns, how->limit_ns));
  size_t last = blind ? d->count : launch_from(d, plus(how->high_ns, how->limit_ns));
  size_t tries = 0, count = last - first;
  if (first >= last)
    return INK_OK;
  if (count > STRETCH || stretch_end(d, first, last) < last)
    tries = blind ? STRETCHES_BLIND : STRETCHES;
  for (size_t i = 0; i < tries || !i; i++) {
    /* the middles of equal parts */
    size_t from = first + (tries ? count * (2 * i + 1) / (2 * tries) : 0);
    from -= tries && from - first > STRETCH / 2 ? STRETCH / 2 : from - first;
    join_guess guess;
    ink_status status = vote_stretch(d, from, stretch_end(d, from, last), how, &guess, error);
    if (status != INK_OK)
      return status;
    /* clear before high: how far it stands out from the next */
    if (guess.launches && guess.share - guess.second / 2 > out->share - out->second / 2)
      *out = guess;
    if (out->share >= 0.8 && out->second < 0.5 * out->share)
      break; /* no doubt is left */
  }
  return INK_OK;
}

ink_status ink_join_guess(const join_device *d, int64_t limit_ns, join_guess *out,
                          ink_error *error) {
  search how = {limit_ns, 300, INT64_MAX, INT64_MIN};
  *out = (join_guess){0};
  for (size_t i = 0; i < d->candidate_count; i++) {
    const ink_foreign_kernel *k = &d->kernels[d->candidates[i]];
    how.low_ns = k->begin_ns < how.low_ns ? k->begin_ns : how.low_ns;
    how.high_ns = k->end_ns > how.high_ns ? k->end_ns : how.high_ns;
  }
  if (!d->candidate_count)
    return INK_OK;
  /* Sharp first: with little slack a wrong offset finds little. */
  ink_status status = guess_with(d, &how, out, error);
  how.slack_ns = JOIN_COARSE_NS;
  if (status == INK_OK && (out->share < 0.8 || out->second > 0.8 * out->share))
    status = guess_with(d, &how, out, error);
  return status;
}
