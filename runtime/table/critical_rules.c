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

typedef struct wait_list {
  const ink_stretch **items;
  const ink_lane **lanes;
  size_t count;
} wait_list;

/* Up to WAITS_LOOKED_AT waits of the section that lasted longer than `near`, spread over the launch. */
static void choose_waits(const ink_lanes *all, ink_section_index section, int64_t near, uint64_t there, wait_list *out) {
  const uint64_t every = there / WAITS_LOOKED_AT + 1;
  uint64_t n = 0;
  out->count = 0;
  for (size_t l = 0; l < all->lanes.count; l++) {
    const ink_lane *lane = &all->lanes.items[l];
    const ink_stretch *s = all->stretches.items + lane->first;
    for (size_t i = 0; i < lane->count; i++)
      if (s[i].section == section && lasted(&s[i]) > near && n++ % every == 0 && out->count < WAITS_LOOKED_AT) {
        out->items[out->count] = &s[i];
        out->lanes[out->count++] = lane;
      }
  }
}

static double share_seen(const ink_lanes *all, const wait_list *waits, const ink_wait_rule *rule) {
  size_t seen = 0;
  int64_t when;
  for (size_t i = 0; i < waits->count; i++)
    seen += ink_wait_ended_by(all, waits->lanes[i], waits->items[i], rule, &when) != NULL;
  return waits->count ? (double)seen / (double)waits->count : 0;
}

/* How often some other track of a block would show the sign at any moment of its life. */
static double share_by_chance(const ink_lanes *all, const ink_wait_rule *rule) {
  double sum = 0, lanes = 0;
  for (size_t at = 0; at < all->lanes.count; at += all->lanes.items[at].peer_count) {
    const size_t n = all->lanes.items[at].peer_count;
    double nobody = 1;
    for (size_t l = at; l < at + n; l++) {
      const ink_lane *lane = &all->lanes.items[l];
      double time = 0;
      for (size_t i = 0; i < lane->count; i++) {
        const ink_stretch *s = &all->stretches.items[lane->first + i];
        if (s->section == rule->told.ends)
          time += (double)(rule->told.sign == INK_SIGN_IN ? lasted(s) : rule->near) + (double)rule->near;
      }
      nobody *= 1 - fmin(1, time / fmax(1, (double)(lane->end - lane->begin)));
    }
    sum += (1 - nobody) * (double)n;
    lanes += (double)n;
  }
  return lanes > 0 ? sum / lanes : 0;
}

/* The sections that are in the launch at all, and of those that wait how long a wait is that finds what it waits
 * for: the shortest one and a quarter, but no more than four times the shortest stretch of the launch, for all
 * waits of a section may be long. */
static bool look(const ink_lanes *all, ink_wait_rule *rules, bool *there) {
  int64_t *least = malloc((all->section_count + 1) * sizeof *least), of_all = INT64_MAX;
  if (!least)
    return false;
  for (size_t s = 0; s < all->section_count; s++)
    least[s] = INT64_MAX;
  for (size_t i = 0; i < all->stretches.count; i++) {
    const ink_stretch *s = &all->stretches.items[i];
    if (s->section >= all->section_count)
      continue;
    there[s->section] = true;
    rules[s->section].told.waits += s->waits;
    least[s->section] = lasted(s) < least[s->section] ? lasted(s) : least[s->section];
    of_all = lasted(s) < of_all ? lasted(s) : of_all;
  }
  const int64_t most = of_all < INT64_MAX / 8 ? 4 * of_all : INT64_MAX / 2;
  for (size_t s = 0; s < all->section_count; s++)
    if (there[s]) {
      const int64_t near = least[s] < INT64_MAX / 4 ? least[s] + least[s] / 4 : INT64_MAX / 2;
      rules[s].near = near < most ? near : most;
    }
  free(least);
  return true;
}

static void find_rule(const ink_lanes *all, ink_section_index wait, const bool *there, wait_list *waits,
                      ink_wait_rule *rule) {
  double best = ABOVE_CHANCE;
  choose_waits(all, wait, rule->near, rule->told.waits, waits);
  rule->told = (ink_path_rule){.wait = wait, .ends = INK_SECTION_UNKNOWN, .waits = waits->count};
  for (ink_section_index s = 0; s < all->section_count; s++) {
    for (int sign = s == wait ? INK_SIGN_LAST : INK_SIGN_IN; there[s] && sign < INK_SIGNS; sign++) {
      if (s == wait ? sign != INK_SIGN_LAST : all->waits[s] || sign == INK_SIGN_LAST)
        continue;
      const ink_wait_rule one = {.told = {.wait = wait, .ends = s, .sign = (uint32_t)sign}, .near = rule->near};
      const double seen = share_seen(all, waits, &one), chance = s == wait ? 0 : share_by_chance(all, &one);
      if (seen < SEEN_LEAST || seen - chance <= best)
        continue;
      best = seen - chance;
      rule->told.sign = one.told.sign;
      rule->told.ends = s;
      rule->told.seen = seen;
      rule->told.chance = chance;
    }
  }
}

ink_status ink_wait_rules(const ink_lanes *all, ink_wait_rule *rules, ink_error *error) {
  bool *there = calloc(all->section_count + 1, sizeof *there);
  wait_list waits = {malloc(WAITS_LOOKED_AT * sizeof *waits.items), malloc(WAITS_LOOKED_AT * sizeof *waits.lanes), 0};
  const bool fine = there && waits.items && waits.lanes && look(all, rules, there);
  for (ink_section_index s = 0; fine && s < all->section_count; s++)
    if (there[s] && all->waits[s])
      find_rule(all, s, there, &waits, &rules[s]);
  free(there);
  free(waits.items);
  free(waits.lanes);
  return fine ? INK_OK : ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the critical path");
}
