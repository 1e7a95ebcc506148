/* SPDX-License-Identifier: MIT */
/* Gives tracks their lanes: slots to the blocks of each SM in the order in which they began, then lanes of a slot to
 * roles and warps. Both by one rule: the lane that has been free for longest, or a new one when none is free. */
#include "track_lanes.h"

#include "track_events.h"

#include <stdlib.h>
#include <string.h>

/* What takes a lane: a block among those of its SM, a track among those of its slot, role and warp. */
typedef struct lane_span {
  int64_t begin_ns, end_ns;
  uint64_t first, last; /* the indices of its tracks */
  size_t item, count;   /* where they are */
  uint32_t number;      /* of the lane */
} lane_span;

typedef struct busy_lane {
  int64_t end_ns;
  uint64_t last;
  uint32_t number;
} busy_lane;

static int order_of(uint64_t a, uint64_t b) {
  return (a > b) - (a < b);
}

static int by_role(const char *a, const char *b) {
  return !a || !b ? (a != NULL) - (b != NULL) : strcmp(a, b);
}

static int by_block(const void *left, const void *right) {
  const lane_item *a = left, *b = right;
  int order = order_of(a->group, b->group);
  order = order ? order : order_of(a->sm, b->sm);
  order = order ? order : order_of(a->launch, b->launch);
  order = order ? order : order_of(a->block, b->block);
  return order ? order : order_of(a->index, b->index);
}

static int by_lane(const lane_item *a, const lane_item *b) {
  int order = order_of(a->group, b->group);
  order = order ? order : order_of(a->sm, b->sm);
  order = order ? order : order_of(a->slot, b->slot);
  order = order ? order : by_role(a->role, b->role);
  return order ? order : order_of(a->warp, b->warp);
}

static int by_lane_and_begin(const void *left, const void *right) {
  const lane_item *a = left, *b = right;
  int order = by_lane(a, b);
  if (!order)
    order = (a->begin_ns > b->begin_ns) - (a->begin_ns < b->begin_ns);
  return order ? order : order_of(a->index, b->index);
}

static int by_index(const void *left, const void *right) {
  return order_of(((const lane_item *)left)->index, ((const lane_item *)right)->index);
}

static int by_begin(const void *left, const void *right) {
  const lane_span *a = left, *b = right;
  const int order = (a->begin_ns > b->begin_ns) - (a->begin_ns < b->begin_ns);
  return order ? order : order_of(a->first, b->first);
}

/* ---- lanes for spans in the order of their begins ------------------------------------------------ */

static bool sooner(const busy_lane *a, const busy_lane *b) {
  return a->end_ns != b->end_ns ? a->end_ns < b->end_ns : a->number < b->number;
}

/* The heap's first has changed. */
static void sift_down(busy_lane *heap, size_t count) {
  for (size_t at = 0;;) {
    size_t least = at;
    for (size_t child = 2 * at + 1; child < 2 * at + 3 && child < count; child++)
      if (sooner(&heap[child], &heap[least]))
        least = child;
    if (least == at)
      return;
    const busy_lane moved = heap[at];
    heap[at] = heap[least];
    heap[least] = moved;
    at = least;
  }
}

static void sift_up(busy_lane *heap, size_t at) {
  for (; at && sooner(&heap[at], &heap[(at - 1) / 2]); at = (at - 1) / 2) {
    const busy_lane moved = heap[at];
    heap[at] = heap[(at - 1) / 2];
    heap[(at - 1) / 2] = moved;
  }
}

/* One that ends where the next begins is before it for every reader if it is before it in the file. */
static bool is_free(const busy_lane *lane, const lane_span *span, int64_t apart_ns) {
  if (lane->end_ns > span->begin_ns)
    return false;
  return lane->last < span->first || ink_ns_between(lane->end_ns, span->begin_ns) > apart_ns;
}

/* heap has room for count. */
static void spread(lane_span *spans, size_t count, int64_t apart_ns, busy_lane *heap) {
  size_t lanes = 0;
  for (size_t i = 0; i < count; i++) {
    lane_span *span = &spans[i];
    if (lanes && is_free(&heap[0], span, apart_ns)) {
      span->number = heap[0].number;
      heap[0].end_ns = span->end_ns;
      heap[0].last = span->last;
      sift_down(heap, lanes);
      continue;
    }
    span->number = (uint32_t)lanes;
    heap[lanes] = (busy_lane){span->end_ns, span->last, span->number};
    sift_up(heap, lanes++);
  }
}

/* ---- slots, then lanes --------------------------------------------------------------------------- */

typedef struct lane_work {
  lane_span *spans; /* [count], as the next */
  busy_lane *heap;
  int64_t apart_ns;
} lane_work;

static void widen(lane_span *span, const lane_item *item) {
  if (item->begin_ns < span->begin_ns)
    span->begin_ns = item->begin_ns;
  if (item->end_ns > span->end_ns)
    span->end_ns = item->end_ns;
  span->last = item->index;
  span->count++;
}

static lane_span span_of(const track_lanes *l, size_t item) {
  const lane_item *of = &l->items[item];
  return (lane_span){of->begin_ns, of->end_ns, of->index, of->index, item, 1, 0};
}

static void give_slots(track_lanes *l, lane_work *work) {
  qsort(l->items, l->count, sizeof *l->items, by_block);
  for (size_t at = 0; at < l->count;) {
    const lane_item *first = &l->items[at];
    size_t spans = 0;
    for (; at < l->count && l->items[at].group == first->group && l->items[at].sm == first->sm; at++) {
      const lane_item *item = &l->items[at], *before = at ? item - 1 : item;
      if (spans && before->launch == item->launch && before->block == item->block)
        widen(&work->spans[spans - 1], item);
      else
        work->spans[spans++] = span_of(l, at);
    }
    qsort(work->spans, spans, sizeof *work->spans, by_begin);
    spread(work->spans, spans, work->apart_ns, work->heap);
    for (size_t i = 0; i < spans; i++)
      for (size_t k = 0; k < work->spans[i].count; k++)
        l->items[work->spans[i].item + k].slot = work->spans[i].number;
  }
}

static ink_status new_lane(track_lanes *l, const lane_item *of, uint32_t number) {
  void *lanes = l->lanes;
  const ink_status status = ink_grow(&lanes, l->lane_count, &l->lane_room, sizeof *l->lanes);
  l->lanes = lanes;
  if (status == INK_OK)
    l->lanes[l->lane_count++] = (track_lane){.group = of->group,
                                             .sm = of->sm,
                                             .slot = of->slot,
                                             .warp = of->warp,
                                             .role = of->role,
                                             .number = number};
  return status;
}

static ink_status give_lanes(track_lanes *l, lane_work *work) {
  qsort(l->items, l->count, sizeof *l->items, by_lane_and_begin);
  for (size_t at = 0; at < l->count;) {
    const size_t first = at, first_lane = l->lane_count;
    size_t spans = 0;
    for (; at < l->count && !by_lane(&l->items[at], &l->items[first]); at++)
      work->spans[spans++] = span_of(l, at);
    spread(work->spans, spans, work->apart_ns, work->heap);
    for (size_t i = 0; i < spans; i++) {
      const size_t lane = first_lane + work->spans[i].number;
      if (lane == l->lane_count && new_lane(l, &l->items[first], work->spans[i].number) != INK_OK)
        return INK_ERROR_MEMORY;
      l->items[first + i].lane = (uint32_t)lane;
    }
  }
  return INK_OK;
}

ink_status track_lanes_arrange(track_lanes *l, int64_t apart_ns) {
  if (!l->count)
    return INK_OK;
  lane_work work = {calloc(l->count, sizeof *work.spans), calloc(l->count, sizeof *work.heap), apart_ns};
  ink_status status = work.spans && work.heap ? INK_OK : INK_ERROR_MEMORY;
  if (status == INK_OK) {
    give_slots(l, &work);
    status = give_lanes(l, &work);
    qsort(l->items, l->count, sizeof *l->items, by_index);
  }
  free(work.spans);
  free(work.heap);
  return status;
}

/* ---- what has lanes ------------------------------------------------------------------------------ */

static ink_status add(track_lanes *l, const lane_item *item) {
  void *items = l->items;
  const ink_status status = ink_grow(&items, l->count, &l->room, sizeof *l->items);
  l->items = items;
  if (status == INK_OK)
    l->items[l->count++] = *item;
  return status;
}

ink_status track_lanes_add(track_lanes *l, const ink_stored_track *track, uint64_t index, uint32_t group,
                           int64_t begin_ns, int64_t end_ns) {
  const ink_track *h = &track->header;
  const bool warps = track->role_name ? track->role_shared : h->thread || track->flags & INK_BUFFER_PER_WARP;
  return add(l, &(lane_item){.index = index,
                             .begin_ns = begin_ns,
                             .end_ns = h->state == INK_TRACK_CLOSED ? end_ns : INT64_MAX,
                             .block = ink_block_linear(h),
                             .role = track->role_name,
                             .group = group,
                             .launch = track->launch,
                             .sm = h->sm_open == LANE_OF_LAUNCHES ? LANE_OF_LAUNCHES - 1 : h->sm_open,
                             .warp = warps ? h->thread / 32 : LANE_WHOLE_BLOCK});
}

ink_status track_lanes_add_launch(track_lanes *l, uint32_t launch, uint32_t group, int64_t begin_ns, int64_t end_ns) {
  return add(l, &(lane_item){.index = launch,
                             .begin_ns = begin_ns,
                             .end_ns = end_ns,
                             .group = group,
                             .launch = launch,
                             .sm = LANE_OF_LAUNCHES,
                             .warp = LANE_WHOLE_BLOCK});
}

ink_status track_lanes_fill(track_lanes *tracks, track_lanes *launches, const ink_selection *s,
                            const uint32_t *groups) {
  const uint64_t count = ink_capture_track_count(s->capture);
  ink_status status = INK_OK;
  for (uint64_t i = 0; i < count && status == INK_OK; i++) {
    ink_stored_track track;
    int64_t open, close;
    ink_capture_track(s->capture, i, &track);
    if (ink_selection_track(s, &track, &open, &close))
      status = track_lanes_add(tracks, &track, i, groups[track.launch], open, close);
  }
  for (uint32_t i = 0; i < s->launch_count && status == INK_OK; i++)
    if (s->spans[i].track_count)
      status = track_lanes_add_launch(launches, i, groups[i], s->spans[i].begin_ns, s->spans[i].end_ns);
  if (status == INK_OK)
    status = track_lanes_arrange(tracks, 0);
  return status == INK_OK ? track_lanes_arrange(launches, 0) : status;
}

const lane_item *track_lanes_find(const track_lanes *l, uint64_t index) {
  const lane_item wanted = {.index = index};
  return l->count ? bsearch(&wanted, l->items, l->count, sizeof *l->items, by_index) : NULL;
}

void track_lanes_free(track_lanes *l) {
  free(l->items);
  free(l->lanes);
  *l = (track_lanes){0};
}

void track_lane_name(const track_lane *lane, char *text, size_t size) {
  const bool launches = lane->sm == LANE_OF_LAUNCHES;
  size_t n = launches ? (size_t)snprintf(text, size, "launches") : (size_t)snprintf(text, size, "SM %u", lane->sm);
  if (lane->slot && n < size)
    n += (size_t)snprintf(text + n, size - n, launches ? " %u" : " slot %u", lane->slot + 1);
  if (lane->role && n < size)
    n += (size_t)snprintf(text + n, size - n, " %.80s", lane->role);
  if (lane->warp != LANE_WHOLE_BLOCK && n < size)
    n += (size_t)snprintf(text + n, size - n, " warp %u", lane->warp);
  if (lane->number && n < size)
    snprintf(text + n, size - n, ", %u", lane->number + 1);
}

track_body track_body_of(const ink_selection *selection, const ink_decoded_track *track, const lane_item *item) {
  const ink_track *h = &track->stored->header;
  track_body body = {.name = ink_selection_kernel_name(selection, track->stored->kernel),
                     .begin_ns = item->begin_ns,
                     .end_ns = item->end_ns,
                     .launch = track->stored->launch,
                     .sm = h->sm_open,
                     .warp = h->thread / 32,
                     .block = ink_block_linear(h),
                     .bound_ns = INT64_MAX};
  if (item->end_ns == INT64_MAX) /* it never closed */
    body.end_ns = track->close_ns > item->begin_ns ? track->close_ns : item->begin_ns;
  ink_track_label(track->stored, body.label, sizeof body.label);
  return body;
}
