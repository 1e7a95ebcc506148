/* SPDX-License-Identifier: MIT */
/* Walks back from the end of a launch: through the track that ended last, from each wait to the track that ended it,
 * from a block's begin to the block whose place on the SM it took. */
#include "critical.h"

#include "capture/capture_match.h"

#include <stdlib.h>
#include <string.h>

enum { LOOKS_MAX = 1 << 30 };

typedef struct walk {
  const ink_graph *graph;
  ink_critical_path *out;
  size_t capacity;
  uint64_t looks; /* at tracks of a block, for who ended a wait */
  ink_error *error;
} walk;

static ink_status no_memory(ink_error *error) {
  return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the critical path");
}

/* Backwards: ink_critical_path_make turns them around. */
static ink_status step(walk *w, const ink_lane *lane, int64_t begin, int64_t end, ink_section_index section,
                       enum ink_path_edge edge) {
  ink_critical_path *p = w->out;
  if (!ink_list_room((void **)&p->steps, &w->capacity, p->step_count, sizeof *p->steps))
    return no_memory(w->error);
  p->edges[edge]++;
  p->steps[p->step_count++] =
      (ink_path_step){.track = lane->track, .section = section, .edge = (uint8_t)edge, .begin_ns = begin, .end_ns = end};
  return INK_OK;
}

const ink_arrival *ink_path_marked(const ink_lanes *all, const ink_lane *lane, const ink_stretch *wait) {
  const uint64_t self = (uint64_t)(lane - all->lanes.items);
  const ink_arrival *items = all->arrivals.items;
  size_t low = 0, high = all->arrivals.count;
  while (low < high) { /* the first behind the end of the wait */
    const size_t middle = (low + high) / 2;
    if (items[middle].to < self || (items[middle].to == self && items[middle].end <= wait->end))
      low = middle + 1;
    else
      high = middle;
  }
  if (!low)
    return NULL;
  const ink_arrival *a = &items[low - 1];
  return a->to == self && a->end > wait->begin && a->begin < wait->end ? a : NULL;
}

/* One that began earlier, so that the walk comes to an end: tracks may last no time at all. */
const ink_lane *ink_path_slot_before(const ink_graph *g, const ink_lane *lane) {
  const ink_lane *lanes = g->all->lanes.items;
  const int64_t begin = lane->block_begin;
  size_t low = 0, high = g->all->lanes.count;
  while (low < high) { /* the first on this SM that ends behind the block's begin, or begins there and lasts no time */
    const size_t middle = (low + high) / 2;
    const ink_lane *l = &lanes[g->by_close[middle]];
    const bool before = l->device != lane->device ? l->device < lane->device
                        : l->sm != lane->sm       ? l->sm < lane->sm
                        : l->end != begin         ? l->end < begin
                                                  : l->begin < begin;
    if (before)
      low = middle + 1;
    else
      high = middle;
  }
  const ink_lane *l = low ? &lanes[g->by_close[low - 1]] : NULL;
  return l && l->device == lane->device && l->sm == lane->sm ? l : NULL;
}

const ink_lane *ink_path_ended_by(const ink_graph *g, const ink_lane *lane, const ink_stretch *wait, int64_t *when,
                                  enum ink_path_edge *edge) {
  const ink_wait_rule *rule = &g->rules[wait->section];
  if (wait->end - wait->begin <= rule->near)
    return NULL;
  const ink_arrival *marked = ink_path_marked(g->all, lane, wait);
  if (marked) {
    *edge = INK_PATH_MARKED;
    *when = marked->begin;
    return &g->all->lanes.items[marked->from];
  }
  if (rule->told.ends == INK_SECTION_UNKNOWN)
    return NULL;
  *edge = rule->told.ends == wait->section ? INK_PATH_TOGETHER : INK_PATH_HAND_OVER;
  return ink_wait_ended_by(g->all, lane, wait, rule, when);
}

static ink_status walk_back(walk *w, const ink_lane *lane, int64_t at) {
  ink_status status = INK_OK;
  while (status == INK_OK) {
    const ink_stretch *s = at > lane->begin ? ink_lane_before(w->graph->all, lane, at) : NULL;
    if (!s) {
      const ink_lane *before = ink_path_slot_before(w->graph, lane);
      if (!before)
        return INK_OK;
      status = step(w, lane, before->end, at, INK_PATH_BETWEEN, INK_PATH_SLOT);
      lane = before;
      at = before->end;
      continue;
    }
    enum ink_path_edge edge = INK_PATH_ON;
    int64_t when = s->begin;
    w->looks += s->waits ? lane->peer_count : 0;
    if (w->looks > LOOKS_MAX)
      return ink_error_set(w->error, INK_ERROR_ARGUMENT, "a block of the launch has too many tracks that wait: no path is looked for in it");
    const ink_lane *from = s->waits && at == s->end ? ink_path_ended_by(w->graph, lane, s, &when, &edge) : NULL;
    const ink_stretch *there = from ? ink_lane_before(w->graph->all, from, when) : NULL;
    if (from && (when < at || (there && !there->waits))) { /* two waits may end at one moment, each by the other */
      status = step(w, lane, when, at, s->section, edge);
      lane = from;
      at = when;
    } else {
      status = step(w, lane, s->begin, at, s->section, INK_PATH_ON);
      at = s->begin;
    }
  }
  return status;
}

static int by_path(const void *left, const void *right) {
  const ink_path_share *a = left, *b = right;
  if (a->path_ns != b->path_ns)
    return a->path_ns > b->path_ns ? -1 : 1;
  return a->section < b->section ? -1 : a->section > b->section;
}

static size_t place_of(const ink_lanes *all, ink_section_index section) {
  return section < all->section_count ? section : all->section_count + (section == INK_PATH_BETWEEN);
}

static ink_status sum_up(const ink_lanes *all, ink_critical_path *out, ink_error *error) {
  const size_t n = all->section_count + 2;
  ink_path_share *shares = calloc(n, sizeof *shares);
  if (!shares)
    return no_memory(error);
  for (size_t i = 0; i < n; i++) {
    shares[i].section = i < all->section_count ? (ink_section_index)i
                        : i == n - 1           ? INK_PATH_BETWEEN
                                               : INK_SECTION_UNKNOWN;
    shares[i].waits = i < all->section_count && all->waits[i];
  }
  for (size_t i = 0; i < all->stretches.count; i++) {
    const ink_stretch *s = &all->stretches.items[i];
    shares[place_of(all, s->section)].all_ns += s->end - s->begin;
  }
  for (size_t i = 0; i < out->step_count; i++) {
    const ink_path_step *s = &out->steps[i];
    ink_path_share *share = &shares[place_of(all, s->section)];
    share->path_ns += s->end_ns - s->begin_ns;
    share->steps += s->end_ns > s->begin_ns;
  }
  shares[n - 1].all_ns = shares[n - 1].path_ns;
  for (size_t i = 0; i < n; i++)
    shares[i].slack_ns = INT64_MAX;
  for (size_t i = 0; i < n; i++)
    if (shares[i].all_ns)
      shares[out->share_count++] = shares[i];
  qsort(shares, out->share_count, sizeof *shares, by_path);
  out->shares = shares;
  return INK_OK;
}

static int by_close(const void *left, const void *right, void *lanes) {
  const ink_lane *a = (const ink_lane *)lanes + *(const size_t *)left, *b = (const ink_lane *)lanes + *(const size_t *)right;
  if (a->device != b->device)
    return a->device < b->device ? -1 : 1;
  if (a->sm != b->sm)
    return a->sm < b->sm ? -1 : 1;
  if (a->end != b->end)
    return a->end < b->end ? -1 : 1;
  return a->begin < b->begin ? -1 : a->begin > b->begin;
}

static void turn_around(ink_critical_path *out) {
  for (size_t i = 0; i < out->step_count / 2; i++) {
    const ink_path_step kept = out->steps[i];
    out->steps[i] = out->steps[out->step_count - 1 - i];
    out->steps[out->step_count - 1 - i] = kept;
  }
}

static ink_status walk_from(const ink_graph *g, size_t last, ink_critical_path *out, ink_error *error) {
  const ink_lane *lane = &g->all->lanes.items[last];
  walk w = {.graph = g, .out = out, .error = error};
  out->end_ns = lane->end;
  const ink_status status = walk_back(&w, lane, lane->end);
  turn_around(out);
  return status == INK_OK ? sum_up(g->all, out, error) : status;
}

/* From the begin on both paths take the same steps. */
static int64_t parts_at(const ink_critical_path *first, const ink_critical_path *other) {
  size_t i = 0;
  while (i < first->step_count && i < other->step_count && first->steps[i].track == other->steps[i].track &&
         first->steps[i].begin_ns == other->steps[i].begin_ns)
    i++;
  return i < other->step_count ? other->steps[i].begin_ns : other->end_ns;
}

/* Of the lanes whose block (with one block: who itself) has no path yet, the one that ended last; SIZE_MAX: none. */
static size_t next_end(const ink_lanes *all, const size_t *taken, size_t count) {
  const ink_lane *lanes = all->lanes.items;
  const bool one_block = lanes[0].peer_count == all->lanes.count;
  size_t best = SIZE_MAX;
  for (size_t i = 0; i < all->lanes.count; i++) {
    bool has_path = false;
    for (size_t t = 0; t < count; t++)
      has_path = has_path || (one_block ? taken[t] == i : lanes[taken[t]].block == lanes[i].block);
    if (!has_path && (best == SIZE_MAX || lanes[i].end > lanes[best].end))
      best = i;
  }
  return best;
}

static ink_status find_paths(const ink_graph *g, size_t most, ink_critical_path *first, ink_error *error) {
  size_t taken[INK_PATHS] = {next_end(g->all, NULL, 0)};
  ink_status status = walk_from(g, taken[0], first, error);
  for (size_t n = 1; n < most && status == INK_OK; n++) {
    if ((taken[n] = next_end(g->all, taken, n)) == SIZE_MAX)
      break;
    ink_critical_path *other = calloc(1, sizeof *other);
    if (!other)
      return no_memory(error);
    first->others[first->other_count++] = other;
    other->launch = first->launch;
    other->begin_ns = first->begin_ns;
    status = walk_from(g, taken[n], other, error);
    other->parts_ns = parts_at(first, other);
  }
  return status;
}

static ink_status find(const ink_lanes *all, bool brief, ink_critical_path *out, ink_error *error) {
  const size_t n = all->lanes.count;
  size_t *order = malloc((n + 1) * sizeof *order);
  ink_wait_rule *rules = calloc(all->section_count + 1, sizeof *rules);
  ink_status status = order && rules ? ink_wait_rules(all, rules, error) : no_memory(error);
  out->begin_ns = all->lanes.items[0].begin;
  for (size_t i = 0; i < n && status == INK_OK; i++) {
    order[i] = i;
    out->begin_ns = all->lanes.items[i].begin < out->begin_ns ? all->lanes.items[i].begin : out->begin_ns;
  }
  if (status == INK_OK) {
    qsort_r(order, n, sizeof *order, by_close, (void *)all->lanes.items);
    const ink_graph graph = {.all = all, .rules = rules, .by_close = order};
    status = find_paths(&graph, brief ? 1 : INK_PATHS, out, error);
    if (status == INK_OK && !brief)
      status = ink_path_slack(&graph, out, error);
  }
  if (status == INK_OK && !(out->rules = calloc(all->section_count + 1, sizeof *out->rules)))
    status = no_memory(error);
  for (size_t s = 0; s < all->section_count && status == INK_OK; s++)
    if (rules[s].told.waits && all->waits[s])
      out->rules[out->rule_count++] = rules[s].told;
  free(order);
  free(rules);
  return status;
}

static void count_blocks(const ink_lanes *all, const ink_launch *launch, ink_critical_path *path) {
  path->blocks = ink_launch_blocks(launch);
  for (size_t i = 0; i < all->lanes.count; i += all->lanes.items[i].peer_count)
    path->blocks_seen++;
}

ink_status ink_critical_path_make(const ink_capture *capture, const ink_clock_map *map, uint32_t launch,
                                  const char *waits_regex, ink_critical_path **out, ink_error *error) {
  return ink_path_find(capture, map, launch, waits_regex, false, out, error);
}

ink_status ink_path_find(const ink_capture *capture, const ink_clock_map *map, uint32_t launch, const char *waits_regex,
                         bool brief, ink_critical_path **out, ink_error *error) {
  if (!capture || !map || !out || launch >= capture->launches.count)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "there is no launch %u", launch);
  bool *waits = NULL;
  ink_lanes all = {.section_count = capture->sections.count};
  ink_critical_path *path = calloc(1, sizeof *path);
  ink_status status = path ? ink_match_waits(capture, waits_regex, &waits, error) : no_memory(error);
  all.waits = waits;
  if (status == INK_OK)
    status = ink_lanes_read(capture, map, launch, &all, error);
  if (status == INK_OK) {
    path->launch = launch;
    path->marks_dropped = all.marks_dropped;
    count_blocks(&all, &capture->launches.items[launch], path);
    status = find(&all, brief, path, error);
  }
  ink_lanes_free(&all);
  free(waits);
  if (status == INK_OK)
    *out = path;
  else
    ink_critical_path_free(path);
  return status;
}

void ink_critical_path_free(ink_critical_path *path) {
  if (!path)
    return;
  for (size_t i = 0; i < path->other_count; i++)
    ink_critical_path_free(path->others[i]);
  free(path->steps);
  free(path->shares);
  free(path->rules);
  free(path);
}
