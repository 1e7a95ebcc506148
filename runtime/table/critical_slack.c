/* SPDX-License-Identifier: MIT */
/* Slack: how much later a stretch of work could have ended before the launch ended later. The latest moments are found
 * backwards in time, from the launch's end over the same edges that the critical path takes. What a short wait found there
 * already is known by ranges across threads only: without these, slack is an upper bound. */
#include "critical.h"

#include <stdlib.h>

typedef struct latest {
  const ink_graph *graph;
  int64_t *end, *begin; /* [stretch] the latest moments that delay nothing */
  size_t *order;        /* stretches, the last to end first */
} latest;

static int by_end_down(const void *left, const void *right, void *stretches) {
  const size_t a = *(const size_t *)left, b = *(const size_t *)right;
  const ink_stretch *s = stretches;
  if (s[a].end != s[b].end)
    return s[a].end > s[b].end ? -1 : 1;
  return a > b ? -1 : a < b; /* of a lane the later stretch */
}

static void no_later(int64_t *moment, int64_t than) { *moment = than < *moment ? than : *moment; }

/* Whoever ends what `to` waits for may be late until then. */
static void release(latest *l, const ink_lane *from, int64_t when, int64_t until) {
  const ink_lanes *all = l->graph->all;
  const ink_stretch *s = ink_lane_before(all, from, when);
  if (!s)
    return;
  const size_t i = (size_t)(s - all->stretches.items);
  if (s->end <= when)
    no_later(&l->end[i], until - (when - s->end));
  else /* inside of it: what comes before moves the whole of it */
    no_later(&l->begin[i], until - (when - s->begin));
}

/* At a barrier everybody waits for everybody: for who came early too. */
static void release_all(latest *l, const ink_lane *lane, const ink_stretch *wait, int64_t until) {
  const ink_lanes *all = l->graph->all;
  for (size_t i = lane->peers; i < lane->peers + lane->peer_count; i++) {
    const ink_lane *peer = &all->lanes.items[i];
    const ink_stretch *s = peer == lane ? NULL : ink_lane_before(all, peer, wait->end);
    if (s && s->section == wait->section && s->end > wait->begin && s > all->stretches.items + peer->first)
      no_later(&l->end[s - 1 - all->stretches.items], until);
  }
}

static void go_back(latest *l, const ink_lane *lane, size_t i) {
  const ink_lanes *all = l->graph->all;
  const ink_stretch *s = &all->stretches.items[i];
  enum ink_path_edge edge = INK_PATH_ON;
  int64_t when = s->begin;
  const size_t next = i + 1;
  if (next < lane->first + lane->count)
    no_later(&l->end[i], l->begin[next]);
  const ink_lane *from = s->waits ? ink_path_ended_by(l->graph, lane, s, &when, &edge) : NULL;
  const ink_arrival *found = s->waits && !from ? ink_path_marked(all, lane, s) : NULL; /* it did not wait for that */
  const ink_path_rule *rule = s->waits ? &l->graph->rules[s->section].told : NULL;
  if (rule && rule->ends == s->section && edge != INK_PATH_MARKED)
    release_all(l, lane, s, l->end[i] - (s->end - (from ? when : s->begin)));
  else if (from)
    release(l, from, when, l->end[i] - (s->end - when));
  else if (found)
    release(l, &all->lanes.items[found->from], found->begin, l->end[i]);
  /* A wait that another track ends gets shorter where this one is late. */
  no_later(&l->begin[i], from ? l->end[i] : l->end[i] - (s->end - s->begin));
  if (i == lane->first) {
    const ink_lane *before = ink_path_slot_before(l->graph, lane);
    if (before && before->count)
      no_later(&l->end[before->first + before->count - 1], l->begin[i] - (s->begin - before->end));
  }
}

static int by_value(const void *left, const void *right) {
  const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
  return a < b ? -1 : a > b;
}

static bool take_medians(const latest *l, ink_critical_path *path) {
  const ink_lanes *all = l->graph->all;
  int64_t *slacks = malloc((all->stretches.count + 1) * sizeof *slacks);
  if (!slacks)
    return false;
  for (size_t i = 0; i < path->share_count; i++) {
    ink_path_share *share = &path->shares[i];
    size_t n = 0;
    share->slack_ns = INT64_MAX;
    for (size_t s = 0; s < all->stretches.count && !share->waits && share->section != INK_PATH_BETWEEN; s++) {
      const ink_stretch *stretch = &all->stretches.items[s];
      if (stretch->section != share->section)
        continue;
      const int64_t moved = l->begin[s] - stretch->begin, late = l->end[s] - stretch->end;
      const int64_t least = moved < late ? moved : late;
      slacks[n++] = least > 0 ? least : 0;
    }
    if (n)
      qsort(slacks, n, sizeof *slacks, by_value);
    if (n)
      share->slack_ns = slacks[n / 2];
  }
  free(slacks);
  return true;
}

/* Each wait may look at all tracks of its block, and each section at all stretches. */
static bool is_too_much(const ink_lanes *all, size_t shares) {
  const double most = 1e9;
  double looks = (double)shares * (double)all->stretches.count;
  for (size_t i = 0; i < all->lanes.count; i++)
    looks += (double)all->lanes.items[i].count * (double)all->lanes.items[i].peer_count;
  return looks > most;
}

ink_status ink_path_slack(const ink_graph *graph, ink_critical_path *path, ink_error *error) {
  const ink_lanes *all = graph->all;
  const size_t n = all->stretches.count;
  if (is_too_much(all, path->share_count))
    return INK_OK;
  latest l = {graph, malloc((n + 1) * sizeof *l.end), malloc((n + 1) * sizeof *l.begin), malloc((n + 1) * sizeof *l.order)};
  size_t *lanes = malloc((n + 1) * sizeof *lanes);
  bool fine = l.end && l.begin && l.order && lanes;
  for (size_t i = 0; fine && i < n; i++) {
    l.order[i] = i;
    l.end[i] = l.begin[i] = path->end_ns;
  }
  for (size_t i = 0; fine && i < all->lanes.count; i++)
    for (size_t s = 0; s < all->lanes.items[i].count; s++)
      lanes[all->lanes.items[i].first + s] = i;
  if (fine && n)
    qsort_r(l.order, n, sizeof *l.order, by_end_down, all->stretches.items);
  for (size_t i = 0; fine && i < n; i++)
    go_back(&l, &all->lanes.items[lanes[l.order[i]]], l.order[i]);
  fine = fine && take_medians(&l, path);
  free(l.end);
  free(l.begin);
  free(l.order);
  free(lanes);
  return fine ? INK_OK : ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the critical path");
}
