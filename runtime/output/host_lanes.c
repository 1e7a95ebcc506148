/* SPDX-License-Identifier: MIT */
/* Chooses ranges and calls of the host, and gives each a lane in which it nests. */
#include "host_lanes.h"

#include "id_map.h"
#include "track_events.h"

#include "inkmark/activity.h"

#include <stdlib.h>
#include <string.h>

/* Of what is chosen; from > to: nothing. */
typedef struct chosen {
  bool all;
  int64_t from_ns, to_ns;
  uint8_t *calls; /* [calls]: launched something that is chosen */
} chosen;

static bool choose(const ink_selection *s, chosen *c) {
  const ink_host_launch *calls;
  const size_t n = ink_capture_host_launches(s->capture, &calls);
  *c = (chosen){.all = !s->options.kernel_regex && s->options.launch == UINT32_MAX, .from_ns = INT64_MAX, .to_ns = INT64_MIN};
  c->calls = calloc(n + 1, 1);
  for (uint32_t i = 0; c->calls && i < s->launch_count; i++) {
    const uint32_t call = ink_launch_call(s->capture, i);
    if (call == UINT32_MAX || !ink_selection_has(s, i))
      continue;
    c->calls[call] = 1;
    c->from_ns = calls[call].begin_ns < c->from_ns ? calls[call].begin_ns : c->from_ns;
    c->to_ns = calls[call].end_ns > c->to_ns ? calls[call].end_ns : c->to_ns;
  }
  return c->calls != NULL;
}

static bool grow_lanes(host_lanes *l) {
  void *lanes = l->lanes;
  const ink_status status = ink_grow(&lanes, l->lane_count, &l->lane_room, sizeof *l->lanes);
  l->lanes = lanes;
  return status == INK_OK;
}

/* Ends of a lane that are over by then are taken out. */
static bool fits(host_lane *lane, const host_item *item) {
  while (lane->depth && lane->ends[lane->depth - 1] <= item->begin_ns)
    lane->depth--;
  return !lane->depth || item->end_ns <= lane->ends[lane->depth - 1];
}

static bool put_on(host_lane *lane, host_item *item) {
  void *ends = lane->ends;
  const ink_status status = ink_grow(&ends, lane->depth, &lane->room, sizeof *lane->ends);
  lane->ends = ends;
  if (status != INK_OK)
    return false;
  item->depth = (uint32_t)lane->depth;
  lane->ends[lane->depth++] = item->end_ns;
  return true;
}

/* False: out of memory. An item that found no lane has UINT32_MAX. */
static bool take_lane(host_lanes *l, id_map *threads, host_item *item) {
  const bool shared = item->range && item->range->kind == INK_HOST_START;
  const uint32_t thread = shared ? 0 : item->range ? item->range->thread : item->call->thread;
  uint32_t at = id_map_get(threads, thread), last = UINT32_MAX, number = 0;
  for (; at != UINT32_MAX && !fits(&l->lanes[at], item); at = l->lanes[at].next, number++)
    last = at;
  item->lane = at;
  if (at == UINT32_MAX && number == HOST_LANES_MOST) {
    l->left_out++;
    return true;
  }
  if (at == UINT32_MAX) {
    if (!grow_lanes(l))
      return false;
    item->lane = at = (uint32_t)l->lane_count;
    if (last == UINT32_MAX && !id_map_put(threads, thread, at))
      return false;
    if (last != UINT32_MAX)
      l->lanes[last].next = at;
    l->lanes[l->lane_count++] = (host_lane){.thread = thread, .number = number, .next = UINT32_MAX};
  }
  return put_on(&l->lanes[at], item);
}

static bool fill(host_lanes *l, const chosen *c, id_map *threads) {
  const ink_host_range *ranges;
  const ink_host_launch *calls;
  const size_t range_count = ink_capture_host_ranges(l->selection->capture, &ranges);
  const size_t call_count = ink_capture_host_launches(l->selection->capture, &calls);
  l->items = malloc((range_count + call_count + 1) * sizeof *l->items);
  if (!l->items)
    return false;
  for (size_t r = 0, k = 0; r < range_count || k < call_count;) {
    const bool is_range = k == call_count || (r < range_count && ranges[r].begin_ns <= calls[k].begin_ns);
    host_item item = {.range = is_range ? &ranges[r] : NULL, .call = is_range ? NULL : &calls[k]};
    item.begin_ns = is_range ? ranges[r].begin_ns : calls[k].begin_ns;
    item.end_ns = is_range ? ranges[r].end_ns : calls[k].end_ns;
    const bool wanted = c->all || (is_range ? item.begin_ns <= c->to_ns && item.end_ns >= c->from_ns : c->calls[k]);
    r += is_range;
    k += !is_range;
    if (!wanted)
      continue;
    if (!take_lane(l, threads, &item))
      return false;
    if (item.lane != UINT32_MAX)
      l->items[l->count++] = item;
  }
  return true;
}

ink_status host_lanes_make(host_lanes *l, const ink_selection *selection, ink_error *error) {
  id_map threads = {0};
  chosen c;
  *l = (host_lanes){.selection = selection, .zero_ns = INT64_MIN};
  if (!ink_capture_host_facts(selection->capture)->events)
    return INK_OK;
  const bool fine = choose(selection, &c) && fill(l, &c, &threads);
  id_map_free(&threads);
  free(c.calls);
  return fine ? INK_OK : ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
}

void host_lanes_free(host_lanes *l) {
  for (size_t i = 0; i < l->lane_count; i++)
    free(l->lanes[i].ends);
  free(l->lanes);
  free(l->items);
}

int64_t host_lanes_begin(const host_lanes *l, int64_t begin_ns, bool any) {
  return l->count && (!any || l->items[0].begin_ns < begin_ns) ? l->items[0].begin_ns : begin_ns;
}

size_t host_lanes_shift(host_lanes *l, int64_t ns, int64_t zero_ns) {
  const size_t before = l->count;
  size_t kept = 0;
  l->shift_ns = ns;
  l->zero_ns = zero_ns;
  for (size_t i = 0; i < l->count; i++) {
    host_item item = l->items[i];
    item.begin_ns += ns;
    item.end_ns += ns;
    if (item.begin_ns >= zero_ns)
      l->items[kept++] = item;
  }
  l->count = kept;
  return before - kept;
}

void host_lane_name(const host_lanes *l, const host_lane *lane, char *text, size_t size) {
  const char *name = ink_capture_host_thread(l->selection->capture, lane->thread);
  int n = lane->thread ? snprintf(text, size, "thread %u", lane->thread) : snprintf(text, size, "ranges of the process");
  if (lane->thread && *name && n > 0 && (size_t)n < size)
    n += snprintf(text + n, size - (size_t)n, " (%.80s)", name);
  if (lane->number && n > 0 && (size_t)n < size)
    snprintf(text + n, size - (size_t)n, ", %u", lane->number + 1);
}

void host_item_name(const host_item *item, char *text, size_t size) {
  char function[300];
  if (item->range) {
    snprintf(text, size, "%s", *item->range->name ? item->range->name : "(no name)");
    return;
  }
  ink_activity_short_name(item->call->function, function, sizeof function);
  snprintf(text, size, "launch %s", item->call->flags & INK_HOST_GRAPH ? "of a graph" : *function ? function : "?");
}

const char *host_item_category(const host_item *item) {
  return item->call ? "host_call" : item->range->kind == INK_HOST_MARK ? "host_mark" : "host_range";
}

void host_process_name(const ink_capture *capture, char *text, size_t size) {
  const char *command = ink_capture_fact(capture, "command");
  command = command && *command ? command : "program";
  snprintf(text, size, "%.*s", (int)strcspn(command, " "), command);
}

uint32_t host_process_id(const ink_capture *capture) {
  const char *pid = ink_capture_fact(capture, "pid");
  return pid ? (uint32_t)strtoul(pid, NULL, 10) : 0;
}

bool host_has_call(const host_lanes *l, uint32_t launch) {
  const ink_host_launch *calls;
  const uint32_t call = l->count ? ink_launch_call(l->selection->capture, launch) : UINT32_MAX;
  if (call == UINT32_MAX)
    return false;
  ink_capture_host_launches(l->selection->capture, &calls);
  return calls[call].begin_ns + l->shift_ns >= l->zero_ns;
}
