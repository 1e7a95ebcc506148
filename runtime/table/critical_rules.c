/* SPDX-License-Identifier: MIT */
/* What ends a section's waits: the section in which another track of the block is, at their ends, far more often
 * than chance would have it; or the last that comes, where several wait in one section. */
#include "critical.h"

#include <math.h>
#include <stdlib.h>

#define SEEN_LEAST 0.6  /* docs/answers.md has both */
#define ABOVE_CHANCE 0.3
enum { WAITS_LOOKED_AT = 4096 };

static int64_t lasted(const ink_stretch *s) { return s->end - s->begin; }

/* The wait of `section` that the lane was in when another one ended; NULL: it did not wait with it. */
static const ink_stretch *waited_too(const ink_lanes *all, const ink_lane *lane, const ink_stretch *wait, int64_t near) {
  const ink_stretch *first = all->stretches.items + lane->first;
  const ink_stretch *at = ink_lane_before(all, lane, wait->end);
  for (int back = 0; at && at >= first && back < 2; at--, back++)
    if (at->section == wait->section && at->end > wait->begin && llabs(at->end - wait->end) <= near)
      return at;
  return NULL;
}

/* The stretch of the rule's section whose place at the end of the wait is the rule's sign; NULL: the lane has none. */
static const ink_stretch *sign_in(const ink_lanes *all, const ink_lane *lane, const ink_stretch *wait,
                                  const ink_wait_rule *rule) {
  const ink_stretch *first = all->stretches.items + lane->first;
  const ink_stretch *at = ink_lane_before(all, lane, wait->end + (rule->told.sign == INK_SIGN_COMES ? rule->near : 0));
  for (; at && at >= first && at->end > wait->begin && at->end >= wait->end - rule->near; at--) {
    if (at->section != rule->told.ends)
      continue;
    if (rule->told.sign == INK_SIGN_IN || (rule->told.sign == INK_SIGN_LEAVES && llabs(at->end - wait->end) <= rule->near) ||
        (rule->told.sign == INK_SIGN_COMES && llabs(at->begin - wait->end) <= rule->near && at->begin > wait->begin))
      return at;
  }
  return NULL;
}

const ink_lane *ink_wait_ended_by(const ink_lanes *all, const ink_lane *self, const ink_stretch *wait,
                                  const ink_wait_rule *rule, int64_t *when) {
  const ink_lane *found = NULL;
  int64_t latest = INT64_MIN;
  for (size_t i = self->peers; i < self->peers + self->peer_count; i++) {
    const ink_lane *other = &all->lanes.items[i];
    if (other == self)
      continue;
    if (rule->told.sign == INK_SIGN_LAST) {
      const ink_stretch *too = waited_too(all, other, wait, rule->near);
      if (!too || too->begin <= wait->begin || too->begin <= latest || lasted(too) > rule->near)
        continue;
      found = other;
      latest = *when = too->begin;
      continue;
    }
    const ink_stretch *in = sign_in(all, other, wait, rule);
    if (in && in->begin > latest) { /* of several the one that came there last */
      found = other;
      latest = in->begin;
      *when = in->end < wait->end ? in->end : wait->end;
      if (rule->told.sign == INK_SIGN_COMES && in->begin < *when)
        *when = in->begin;
    }
  }
  return found;
}

typedef struct wait_at { /* one wait: where it stands */
  const ink_stretch *stretch;
  const ink_lane *lane;
} wait_at;

typedef struct lane_time { /* what a lane spends in a section */
  ink_section_index section;
  size_t lane;
  double ns, count;
} lane_time;

typedef struct sign_count { /* of one section and sign: of how many waits it was seen at the end */
  uint64_t seen, last; /* last: the wait that was counted last, + 1 */
} sign_count;

/* All that rules are looked for in, arranged so that no look goes over the whole launch. */
typedef struct rule_search {
  const ink_lanes *all;
  INK_I_LIST(wait_at) waits;    /* by section */
  INK_I_LIST(lane_time) times;  /* by section, then lane */
  sign_count *counts;           /* [section * INK_SIGNS + sign] */
  INK_I_LIST(size_t) touched;   /* of the counts */
} rule_search;

static int by_waiting(const void *left, const void *right) {
  const wait_at *a = left, *b = right;
  if (a->stretch->section != b->stretch->section)
    return a->stretch->section < b->stretch->section ? -1 : 1;
  return a->stretch < b->stretch ? -1 : a->stretch > b->stretch;
}

static int by_time(const void *left, const void *right) {
  const lane_time *a = left, *b = right;
  if (a->section != b->section)
    return a->section < b->section ? -1 : 1;
  return a->lane < b->lane ? -1 : a->lane > b->lane;
}

/* What a lane spends in each section, of which `own` has room for all and is empty before and after. */
static bool add_lane(rule_search *r, size_t lane, lane_time *own) {
  const ink_lanes *all = r->all;
  const ink_lane *l = &all->lanes.items[lane];
  for (size_t i = l->first; i < l->first + l->count; i++) {
    const ink_stretch *s = &all->stretches.items[i];
    if (s->section >= all->section_count)
      continue;
    if ((!(own[s->section].count > 0) && !INK_I_ROOM(r->touched)) || (s->waits && !INK_I_ROOM(r->waits)))
      return false;
    if (!(own[s->section].count > 0))
      r->touched.items[r->touched.count++] = s->section;
    own[s->section].ns += (double)lasted(s);
    own[s->section].count++;
    if (s->waits)
      r->waits.items[r->waits.count++] = (wait_at){s, l};
  }
  for (size_t i = 0; i < r->touched.count; i++) {
    lane_time *its = &own[r->touched.items[i]];
    if (!INK_I_ROOM(r->times))
      return false;
    r->times.items[r->times.count++] = (lane_time){(ink_section_index)r->touched.items[i], lane, its->ns, its->count};
    *its = (lane_time){0};
  }
  r->touched.count = 0;
  return true;
}

static bool arrange(rule_search *r) {
  lane_time *own = calloc(r->all->section_count + 1, sizeof *own);
  bool fine = own != NULL;
  for (size_t l = 0; l < r->all->lanes.count && fine; l++)
    fine = add_lane(r, l, own);
  free(own);
  if (fine && r->waits.count)
    qsort(r->waits.items, r->waits.count, sizeof *r->waits.items, by_waiting);
  if (fine && r->times.count)
    qsort(r->times.items, r->times.count, sizeof *r->times.items, by_time);
  return fine;
}

static bool count_sign(rule_search *r, ink_section_index section, int sign, uint64_t wait) {
  const size_t at = (size_t)section * INK_SIGNS + (size_t)sign;
  sign_count *c = &r->counts[at];
  if (!c->last) {
    if (!INK_I_ROOM(r->touched))
      return false;
    r->touched.items[r->touched.count++] = at;
  }
  c->seen += c->last != wait;
  c->last = wait;
  return true;
}

/* Counts every sign that some other track shows at the end of the wait: what sign_in finds, of all sections at once. */
static bool count_signs(rule_search *r, const wait_at *w, int64_t near, uint64_t number) {
  const ink_lanes *all = r->all;
  const ink_stretch *wait = w->stretch;
  bool fine = true;
  for (size_t i = w->lane->peers; i < w->lane->peers + w->lane->peer_count; i++) {
    const ink_lane *other = &all->lanes.items[i];
    const ink_stretch *first = all->stretches.items + other->first;
    if (other == w->lane)
      continue;
    for (const ink_stretch *at = ink_lane_before(all, other, wait->end + near);
         fine && at && at >= first && at->end > wait->begin && at->end >= wait->end - near; at--) {
      if (at->section >= all->section_count || all->waits[at->section])
        continue;
      if (at->begin < wait->end)
        fine = count_sign(r, at->section, INK_SIGN_IN, number) &&
               (llabs(at->end - wait->end) > near || count_sign(r, at->section, INK_SIGN_LEAVES, number));
      if (fine && llabs(at->begin - wait->end) <= near && at->begin > wait->begin)
        fine = count_sign(r, at->section, INK_SIGN_COMES, number);
    }
    const ink_stretch *too = waited_too(all, other, wait, near);
    if (fine && too && too->begin > wait->begin && lasted(too) <= near)
      fine = count_sign(r, wait->section, INK_SIGN_LAST, number);
  }
  return fine;
}

/* How often some other track of a block would show the sign at any moment of its life. */
static double share_by_chance(const rule_search *r, const ink_path_rule *rule, int64_t near) {
  const lane_time *times = r->times.items;
  double sum = 0;
  size_t low = 0, high = r->times.count;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (times[middle].section < rule->ends)
      low = middle + 1;
    else
      high = middle;
  }
  while (low < r->times.count && times[low].section == rule->ends) {
    const ink_lane *first = &r->all->lanes.items[times[low].lane];
    double nobody = 1;
    for (; low < r->times.count && times[low].section == rule->ends && times[low].lane < first->peers + first->peer_count; low++) {
      const ink_lane *lane = &r->all->lanes.items[times[low].lane];
      const double each = rule->sign == INK_SIGN_IN ? 0 : (double)near * times[low].count;
      const double ns = (rule->sign == INK_SIGN_IN ? times[low].ns : each) + (double)near * times[low].count;
      nobody *= 1 - fmin(1, ns / fmax(1, (double)(lane->end - lane->begin)));
    }
    sum += (1 - nobody) * (double)first->peer_count;
  }
  return r->all->lanes.count ? sum / (double)r->all->lanes.count : 0;
}

/* The sections that are in the launch at all, and of those that wait how long a wait is that finds what it waits
 * for: the shortest one and a quarter, but no more than four times the shortest stretch of the launch, for all
 * waits of a section may be long. */
static bool look(const ink_lanes *all, ink_wait_rule *rules) {
  int64_t *least = malloc((all->section_count + 1) * sizeof *least), of_all = INT64_MAX;
  if (!least)
    return false;
  for (size_t s = 0; s < all->section_count; s++)
    least[s] = INT64_MAX;
  for (size_t i = 0; i < all->stretches.count; i++) {
    const ink_stretch *s = &all->stretches.items[i];
    if (s->section >= all->section_count)
      continue;
    rules[s->section].told.waits += s->waits;
    least[s->section] = lasted(s) < least[s->section] ? lasted(s) : least[s->section];
    of_all = lasted(s) < of_all ? lasted(s) : of_all;
  }
  const int64_t most = of_all < INT64_MAX / 8 ? 4 * of_all : INT64_MAX / 2;
  for (size_t s = 0; s < all->section_count; s++)
    if (least[s] < INT64_MAX) {
      const int64_t near = least[s] < INT64_MAX / 4 ? least[s] + least[s] / 4 : INT64_MAX / 2;
      rules[s].near = near < most ? near : most;
    }
  free(least);
  return true;
}

static int by_number(const void *left, const void *right) {
  const size_t a = *(const size_t *)left, b = *(const size_t *)right;
  return a < b ? -1 : a > b;
}

/* Of the waits [at, end), which are of one section, up to WAITS_LOOKED_AT that are long, spread over the launch. */
static bool find_rule(rule_search *r, size_t at, size_t end, ink_wait_rule *rule) {
  const ink_section_index wait = r->waits.items[at].stretch->section;
  const uint64_t every = rule->told.waits / WAITS_LOOKED_AT + 1;
  uint64_t longer = 0, looked = 0;
  double best = ABOVE_CHANCE;
  bool fine = true;
  for (size_t i = at; i < end && looked < WAITS_LOOKED_AT && fine; i++)
    if (lasted(r->waits.items[i].stretch) > rule->near && longer++ % every == 0)
      fine = count_signs(r, &r->waits.items[i], rule->near, ++looked);
  rule->told = (ink_path_rule){.wait = wait, .ends = INK_SECTION_UNKNOWN, .waits = looked};
  if (r->touched.count)
    qsort(r->touched.items, r->touched.count, sizeof *r->touched.items, by_number);
  for (size_t i = 0; i < r->touched.count; i++) {
    sign_count *c = &r->counts[r->touched.items[i]];
    ink_path_rule one = {.wait = wait, .ends = (ink_section_index)(r->touched.items[i] / INK_SIGNS),
                         .sign = (uint32_t)(r->touched.items[i] % INK_SIGNS), .waits = looked,
                         .seen = (double)c->seen / (double)looked};
    *c = (sign_count){0};
    if (one.seen < SEEN_LEAST || one.seen <= best)
      continue;
    one.chance = one.ends == wait ? 0 : share_by_chance(r, &one, rule->near);
    if (one.seen - one.chance <= best)
      continue;
    best = one.seen - one.chance;
    rule->told = one;
  }
  r->touched.count = 0;
  return fine;
}

/* Each wait looks at all tracks of its block. */
static bool is_too_much(const ink_lanes *all, const ink_wait_rule *rules) {
  const double most = 2e8;
  double waits = 0, peers = 0;
  for (size_t s = 0; s < all->section_count; s++)
    waits += rules[s].told.waits < WAITS_LOOKED_AT ? (double)rules[s].told.waits : WAITS_LOOKED_AT;
  for (size_t i = 0; i < all->lanes.count; i++)
    peers = fmax(peers, (double)all->lanes.items[i].peer_count);
  return waits * peers > most;
}

ink_status ink_wait_rules(const ink_lanes *all, ink_wait_rule *rules, ink_error *error) {
  rule_search r = {.all = all, .counts = calloc(all->section_count * INK_SIGNS + 1, sizeof *r.counts)};
  bool fine = r.counts && look(all, rules), too_much = fine && is_too_much(all, rules);
  fine = fine && !too_much && arrange(&r);
  for (size_t at = 0, end; fine && at < r.waits.count; at = end) {
    const ink_section_index wait = r.waits.items[at].stretch->section;
    for (end = at; end < r.waits.count && r.waits.items[end].stretch->section == wait;)
      end++;
    fine = find_rule(&r, at, end, &rules[wait]);
  }
  free(r.waits.items);
  free(r.times.items);
  free(r.counts);
  free(r.touched.items);
  if (too_much)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "a block of the launch has too many tracks that wait: no path is looked for in it");
  return fine ? INK_OK : ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the critical path");
}
