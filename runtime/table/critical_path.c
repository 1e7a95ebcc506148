/* SPDX-License-Identifier: MIT */
/* Walks back from the end of a launch: through the track that ended last, from each wait to the track that ended it,
 * from a block's begin to the block whose place on the SM it took. */
#include "critical.h"

#include "inkmark/table.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

typedef struct walk {
  const ink_lanes *all;
  const ink_wait_rule *rules;
  const size_t *by_close; /* lanes by device, SM, then end */
  ink_critical_path *out;
  size_t capacity;
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

/* The range across threads that ended last in the wait, of those that began on another track. */
static const ink_arrival *marked_arrival(const ink_lanes *all, const ink_lane *lane, const ink_stretch *wait) {
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

/* The lane that closed last on the SM before this one's block began; NULL: the block was one of the first. */
static const ink_lane *slot_before(const walk *w, const ink_lane *lane) {
  const ink_lane *lanes = w->all->lanes.items;
  int64_t begin = lane->begin;
  for (size_t i = lane->peers; i < lane->peers + lane->peer_count; i++)
    begin = lanes[i].begin < begin ? lanes[i].begin : begin;
  size_t low = 0, high = w->all->lanes.count;
  while (low < high) { /* the first on this SM that ends behind the block's begin */
    const size_t middle = (low + high) / 2;
    const ink_lane *l = &lanes[w->by_close[middle]];
    const bool before = l->device != lane->device ? l->device < lane->device
                        : l->sm != lane->sm       ? l->sm < lane->sm
                                                  : l->end <= begin;
    if (before)
      low = middle + 1;
    else
      high = middle;
  }
  for (; low; low--) { /* one that began earlier, so that the walk comes to an end: tracks may last no time at all */
    const ink_lane *l = &lanes[w->by_close[low - 1]];
    if (l->device != lane->device || l->sm != lane->sm)
      return NULL;
    if (l->begin < begin)
      return l;
  }
  return NULL;
}

/* What ended the wait, and when that was; NULL: it is not known, or the wait found what it waited for. */
static const ink_lane *ended_by(const walk *w, const ink_lane *lane, const ink_stretch *wait, int64_t *when,
                                enum ink_path_edge *edge) {
  const ink_wait_rule *rule = &w->rules[wait->section];
  if (wait->end - wait->begin <= rule->near)
    return NULL;
  const ink_arrival *marked = marked_arrival(w->all, lane, wait);
  if (marked) {
    *edge = INK_PATH_MARKED;
    *when = marked->begin;
    return &w->all->lanes.items[marked->from];
  }
  if (rule->told.ends == INK_SECTION_UNKNOWN)
    return NULL;
  *edge = rule->told.ends == wait->section ? INK_PATH_TOGETHER : INK_PATH_HAND_OVER;
  return ink_wait_ended_by(w->all, lane, wait, rule, when);
}

static ink_status walk_back(walk *w, const ink_lane *lane, int64_t at) {
  ink_status status = INK_OK;
  while (status == INK_OK) {
    const ink_stretch *s = at > lane->begin ? ink_lane_before(w->all, lane, at) : NULL;
    if (!s) {
      const ink_lane *before = slot_before(w, lane);
      if (!before)
        return INK_OK;
      status = step(w, lane, before->end, at, INK_PATH_BETWEEN, INK_PATH_SLOT);
      lane = before;
      at = before->end;
      continue;
    }
    enum ink_path_edge edge = INK_PATH_ON;
    int64_t when = s->begin;
    const ink_lane *from = s->waits && at == s->end ? ended_by(w, lane, s, &when, &edge) : NULL;
    const ink_stretch *there = from ? ink_lane_before(w->all, from, when) : NULL;
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
  return a->end < b->end ? -1 : a->end > b->end;
}

static ink_status find(const ink_lanes *all, ink_critical_path *out, ink_error *error) {
  const size_t n = all->lanes.count;
  size_t *order = malloc((n + 1) * sizeof *order), last = 0;
  ink_wait_rule *rules = calloc(all->section_count + 1, sizeof *rules);
  ink_status status = order && rules ? ink_wait_rules(all, rules, error) : no_memory(error);
  out->begin_ns = all->lanes.items[0].begin;
  for (size_t i = 0; i < n && status == INK_OK; i++) {
    const ink_lane *lane = &all->lanes.items[i];
    order[i] = i;
    out->begin_ns = lane->begin < out->begin_ns ? lane->begin : out->begin_ns;
    last = lane->end > all->lanes.items[last].end ? i : last;
  }
  out->end_ns = all->lanes.items[last].end;
  if (status == INK_OK) {
    qsort_r(order, n, sizeof *order, by_close, (void *)all->lanes.items);
    walk w = {.all = all, .rules = rules, .by_close = order, .out = out, .error = error};
    status = walk_back(&w, &all->lanes.items[last], out->end_ns);
  }
  for (size_t i = 0; i < out->step_count / 2; i++) {
    const ink_path_step kept = out->steps[i];
    out->steps[i] = out->steps[out->step_count - 1 - i];
    out->steps[out->step_count - 1 - i] = kept;
  }
  if (status == INK_OK && !(out->rules = calloc(all->section_count + 1, sizeof *out->rules)))
    status = no_memory(error);
  for (size_t s = 0; s < all->section_count && status == INK_OK; s++)
    if (rules[s].told.waits && all->waits[s])
      out->rules[out->rule_count++] = rules[s].told;
  free(order);
  free(rules);
  return status == INK_OK ? sum_up(all, out, error) : status;
}

static ink_status find_waits(const ink_capture *capture, const char *pattern, bool **out, ink_error *error) {
  regex_t compiled;
  const int code = regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB | REG_ICASE);
  if (code) {
    char words[128];
    regerror(code, &compiled, words, sizeof words);
    return ink_error_set(error, INK_ERROR_ARGUMENT, "bad pattern of waits '%s': %s", pattern, words);
  }
  *out = calloc(capture->sections.count + 1, sizeof **out);
  for (size_t i = 0; *out && i < capture->sections.count; i++)
    (*out)[i] = !regexec(&compiled, capture->sections.items[i].name, 0, NULL, 0);
  regfree(&compiled);
  return *out ? INK_OK : no_memory(error);
}

ink_status ink_critical_path_make(const ink_capture *capture, const ink_clock_map *map, uint32_t launch,
                                  const char *waits_regex, ink_critical_path **out, ink_error *error) {
  if (!capture || !map || !out || launch >= capture->launches.count)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "there is no launch %u", launch);
  bool *waits = NULL;
  ink_lanes all = {.section_count = capture->sections.count};
  ink_critical_path *path = calloc(1, sizeof *path);
  ink_status status = path ? find_waits(capture, waits_regex ? waits_regex : INK_WAITS_USUAL, &waits, error) : no_memory(error);
  all.waits = waits;
  if (status == INK_OK)
    status = ink_lanes_read(capture, map, launch, &all, error);
  if (status == INK_OK) {
    path->launch = launch;
    path->marks_dropped = all.marks_dropped;
    status = find(&all, path, error);
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
  free(path->steps);
  free(path->shares);
  free(path->rules);
  free(path);
}
