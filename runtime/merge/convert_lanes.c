/* SPDX-License-Identifier: MIT */
/* Gives each noted slice a lane on which slices nest, each end of an arrow its slice, and finds the
 * slices that must wait in the file for the one around them. */
#include "convert.h"

#include "track_events.h"

#include <stdlib.h>

enum { LANES_MAX = UINT16_MAX };

typedef struct lane {
  uint32_t *stack; /* slices, innermost last */
  size_t depth, room;
  uint32_t last; /* the slice before; UINT32_MAX: none */
  uint32_t
      written; /* the slice at whose turn that one is written: itself, or one that it waits for */
} lane;

typedef struct arranger {
  convert *c;
  uint32_t *order;
  lane *lanes;
  size_t lane_count, lane_room;
} arranger;

static int by_place(const void *left, const void *right, void *user) {
  const conv_slice *slices = user;
  uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;
  const conv_slice *a = &slices[i], *b = &slices[j];
  if (a->track != b->track)
    return a->track < b->track ? -1 : 1;
  if (a->begin_ns != b->begin_ns)
    return a->begin_ns < b->begin_ns ? -1 : 1;
  if (a->end_ns != b->end_ns)
    return a->end_ns > b->end_ns ? -1 : 1;
  return (i > j) - (i < j);
}

static int by_moment(const void *left, const void *right) {
  const conv_point *a = left, *b = right;
  if (a->track != b->track)
    return a->track < b->track ? -1 : 1;
  return (a->ns > b->ns) - (a->ns < b->ns);
}

static int by_id(const void *left, const void *right) {
  const conv_point *a = left, *b = right;
  if (a->id != b->id)
    return a->id < b->id ? -1 : 1;
  return (b->starts > a->starts) - (b->starts < a->starts);
}

static int by_slice(const void *left, const void *right) {
  const conv_point *a = left, *b = right;
  if (a->slice != b->slice)
    return a->slice < b->slice ? -1 : 1;
  return (a->id > b->id) - (a->id < b->id);
}

static int by_outer(const void *left, const void *right) {
  const conv_wait *a = left, *b = right;
  return (a->outer > b->outer) - (a->outer < b->outer);
}

static int by_inner(const void *left, const void *right, void *user) {
  const conv_wait *waits = user;
  uint32_t a = waits[*(const uint32_t *)left].inner, b = waits[*(const uint32_t *)right].inner;
  return (a > b) - (a < b);
}

static ink_status push(lane *l, uint32_t slice) {
  void *stack = l->stack;
  ink_status status = ink_grow(&stack, l->depth, &l->room, sizeof *l->stack);
  l->stack = stack;
  if (status == INK_OK)
    l->stack[l->depth++] = slice;
  return status;
}

static ink_status new_lane(arranger *a) {
  void *lanes = a->lanes;
  size_t before = a->lane_room;
  ink_status status = ink_grow(&lanes, a->lane_count, &a->lane_room, sizeof *a->lanes);
  a->lanes = lanes;
  if (status != INK_OK)
    return status;
  for (size_t i = before; i < a->lane_room; i++)
    a->lanes[i] = (lane){0};
  a->lanes[a->lane_count].depth = 0;
  a->lanes[a->lane_count++].last = UINT32_MAX;
  return INK_OK;
}

/* Of two slices of a lane that begin together the outer comes first in the sorted order. */
static ink_status must_wait(convert *c, uint32_t outer, uint32_t inner) {
  void *waits = c->waits;
  ink_status status = ink_grow(&waits, c->wait_count, &c->wait_room, sizeof *c->waits);
  c->waits = waits;
  if (status == INK_OK)
    c->waits[c->wait_count++] = (conv_wait){outer, inner, NULL, 0};
  return status;
}

static ink_status place(arranger *a, uint32_t index) {
  convert *c = a->c;
  conv_slice *s = &c->slices[index];
  size_t i = 0;
  for (;; i++) {
    if (i == a->lane_count) {
      ink_status status = i == LANES_MAX ? INK_ERROR_LIMIT : new_lane(a);
      if (status != INK_OK)
        return status;
    }
    lane *l = &a->lanes[i];
    while (l->depth && c->slices[l->stack[l->depth - 1]].end_ns <= s->begin_ns)
      l->depth--;
    if (!l->depth || c->slices[l->stack[l->depth - 1]].end_ns >= s->end_ns)
      break;
  }
  s->lane = (uint16_t)i;
  c->slices_on_lanes += i > 0;
  lane *l = &a->lanes[i];
  ink_status status = push(l, index);
  if (status == INK_OK && l->last != UINT32_MAX && l->written > index &&
      c->slices[l->last].begin_ns == s->begin_ns)
    status = must_wait(c, l->last, index);
  else
    l->written = index;
  l->last = index;
  return status;
}

/* The innermost slice that is open at a moment; begins and ends count as open. */
static uint32_t open_at(const arranger *a, int64_t ns) {
  uint32_t best = UINT32_MAX;
  for (size_t i = 0; i < a->lane_count; i++) {
    const lane *l = &a->lanes[i];
    size_t depth = l->depth;
    while (depth && a->c->slices[l->stack[depth - 1]].end_ns < ns)
      depth--;
    if (depth && (best == UINT32_MAX ||
                  a->c->slices[l->stack[depth - 1]].begin_ns > a->c->slices[best].begin_ns))
      best = l->stack[depth - 1];
  }
  return best;
}

static ink_status arrange_track(arranger *a, size_t from, size_t to, size_t *point) {
  convert *c = a->c;
  uint32_t track = c->slices[a->order[from]].track;
  for (size_t i = 0; i < a->lane_count; i++)
    a->lanes[i].depth = 0;
  a->lane_count = 0;
  while (*point < c->point_count && c->points[*point].track < track)
    ++*point;
  for (size_t i = from; i < to; i++) {
    int64_t begin = c->slices[a->order[i]].begin_ns;
    for (; *point < c->point_count && c->points[*point].track == track &&
           c->points[*point].ns < begin;
         ++*point)
      if (c->points[*point].slice == UINT32_MAX)
        c->points[*point].slice = open_at(a, c->points[*point].ns);
    ink_status status = place(a, a->order[i]);
    if (status != INK_OK)
      return status;
  }
  for (; *point < c->point_count && c->points[*point].track == track; ++*point)
    if (c->points[*point].slice == UINT32_MAX)
      c->points[*point].slice = open_at(a, c->points[*point].ns);
  c->tracks[track].lane_count = (uint32_t)a->lane_count;
  c->lanes_added += a->lane_count - 1;
  return INK_OK;
}

/* Arrows with both ends stay, in the order of their slices. */
static void keep_whole_flows(convert *c) {
  size_t kept = 0;
  if (!c->point_count)
    return;
  qsort(c->points, c->point_count, sizeof *c->points, by_id);
  for (size_t i = 0; i < c->point_count;) {
    size_t end = i, starts = 0, ends = 0;
    for (; end < c->point_count && c->points[end].id == c->points[i].id; end++) {
      bool there = c->points[end].slice != UINT32_MAX;
      starts += there && c->points[end].starts;
      ends += there && !c->points[end].starts;
    }
    for (; i < end; i++) {
      bool there = c->points[i].slice != UINT32_MAX;
      if (there && ((starts && ends) || c->points[i].outward))
        c->points[kept++] = c->points[i];
      else
        c->flows_alone += !c->points[i].outward;
    }
    c->flows += starts && ends;
  }
  c->point_count = kept;
  qsort(c->points, c->point_count, sizeof *c->points, by_slice);
}

static ink_status sort_waits(convert *c) {
  if (!c->wait_count)
    return INK_OK;
  qsort(c->waits, c->wait_count, sizeof *c->waits, by_outer);
  c->waits_by_inner = malloc(c->wait_count * sizeof *c->waits_by_inner);
  if (!c->waits_by_inner)
    return INK_ERROR_MEMORY;
  for (size_t i = 0; i < c->wait_count; i++) {
    c->waits_by_inner[i] = (uint32_t)i;
    c->slices[c->waits[i].outer].flags |= CONV_LEADS;
    c->slices[c->waits[i].inner].flags |= CONV_WAITS;
  }
  qsort_r(c->waits_by_inner, c->wait_count, sizeof *c->waits_by_inner, by_inner, c->waits);
  return INK_OK;
}

ink_status convert_arrange(convert *c) {
  arranger a = {.c = c, .order = malloc((c->slice_count + 1) * sizeof *a.order)};
  ink_status status = a.order ? INK_OK : INK_ERROR_MEMORY;
  if (status != INK_OK)
    goto cleanup;
  for (size_t i = 0; i < c->slice_count; i++)
    a.order[i] = (uint32_t)i;
  qsort_r(a.order, c->slice_count, sizeof *a.order, by_place, c->slices);
  if (c->point_count)
    qsort(c->points, c->point_count, sizeof *c->points, by_moment);
  size_t point = 0;
  for (size_t from = 0; from < c->slice_count && status == INK_OK;) {
    size_t to = from;
    while (to < c->slice_count && c->slices[a.order[to]].track == c->slices[a.order[from]].track)
      to++;
    status = arrange_track(&a, from, to, &point);
    from = to;
  }
  if (status == INK_OK)
    status = sort_waits(c);
  if (status == INK_OK)
    keep_whole_flows(c);
cleanup:
  for (size_t i = 0; i < a.lane_room; i++)
    free(a.lanes[i].stack);
  free(a.lanes);
  free(a.order);
  return status;
}
