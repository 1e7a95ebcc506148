/* SPDX-License-Identifier: MIT */
/* Gives each noted slice a lane on which slices nest, each end of an arrow its slice, and finds the
 * slices that must wait in the file for the one around them. */
#include "convert.h"

#include "output/track_events.h"

#include <stdlib.h>

enum { LANES_MAX = CONV_LANE };

typedef struct lane {
  slice_time *stack; /* slices, innermost last */
  size_t depth, room;
  slice_time last; /* the slice before; its index UINT32_MAX: none */
  uint32_t
      written; /* the slice at whose turn that one is written: itself, or one that it waits for */
} lane;

typedef struct arranger {
  convert *c;
  slice_reader reader;
  lane *lanes;
  size_t lane_count, lane_room;
} arranger;

/* Sorting takes as much memory again, which can be saved where there is nothing to sort. */
static void sort_points(convert *c, int (*compare)(const void *, const void *)) {
  size_t i = 1;
  while (i < c->point_count && compare(&c->points[i - 1], &c->points[i]) <= 0)
    i++;
  if (i < c->point_count)
    qsort(c->points, c->point_count, sizeof *c->points, compare);
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

static ink_status push(lane *l, const slice_time *slice) {
  void *stack = l->stack;
  ink_status status = ink_grow(&stack, l->depth, &l->room, sizeof *l->stack);
  l->stack = stack;
  if (status == INK_OK)
    l->stack[l->depth++] = *slice;
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
  a->lanes[a->lane_count++].last.index = UINT32_MAX;
  return INK_OK;
}

/* Of two slices of a lane that begin together the outer comes first in the sorted order. */
static ink_status must_wait(convert *c, uint32_t outer, uint32_t inner) {
  void *waits = c->waits;
  ink_status status = ink_grow(&waits, c->wait_count, &c->wait_room, sizeof *c->waits);
  c->waits = waits;
  if (status == INK_OK)
    c->waits[c->wait_count++] = (conv_wait){.outer = outer, .inner = inner};
  return status;
}

static ink_status place(arranger *a, uint32_t track, const slice_time *s) {
  convert *c = a->c;
  size_t i = 0;
  for (;; i++) {
    if (i == a->lane_count) {
      ink_status status = i == LANES_MAX ? INK_ERROR_LIMIT : new_lane(a);
      if (status == INK_OK && i)
        status = convert_new_lane(c, track);
      if (status != INK_OK)
        return status;
    }
    lane *l = &a->lanes[i];
    while (l->depth && l->stack[l->depth - 1].end_ns <= s->begin_ns)
      l->depth--;
    if (!l->depth || l->stack[l->depth - 1].end_ns >= s->end_ns)
      break;
  }
  c->placed[s->index] = (uint16_t)i;
  c->slices_on_lanes += i > 0;
  if (s->end_ns > s->begin_ns)
    convert_end(c, convert_uuid(c, track, (uint32_t)i), s->end_ns + c->base_ns);
  lane *l = &a->lanes[i];
  ink_status status = push(l, s);
  if (status == INK_OK && l->last.index != UINT32_MAX && l->written > s->index &&
      l->last.begin_ns == s->begin_ns)
    status = must_wait(c, l->last.index, s->index);
  else
    l->written = s->index;
  l->last = *s;
  return status;
}

/* The innermost slice that is open at a moment; begins and ends count as open. */
static uint32_t open_at(const arranger *a, int64_t ns) {
  const slice_time *best = NULL;
  for (size_t i = 0; i < a->lane_count; i++) {
    const lane *l = &a->lanes[i];
    size_t depth = l->depth;
    while (depth && l->stack[depth - 1].end_ns < ns)
      depth--;
    if (depth && (!best || l->stack[depth - 1].begin_ns > best->begin_ns))
      best = &l->stack[depth - 1];
  }
  return best ? best->index : UINT32_MAX;
}

static ink_status arrange_track(arranger *a, uint32_t track, size_t *point) {
  convert *c = a->c;
  slice_time slice;
  a->lane_count = 0;
  while (*point < c->point_count && c->points[*point].track < track)
    ++*point;
  ink_status status = slice_reader_start(&a->reader, &c->slices, &c->tracks[track].slices);
  while (status == INK_OK && slice_reader_next(&a->reader, &slice)) {
    for (; *point < c->point_count && c->points[*point].track == track &&
           c->points[*point].ns < slice.begin_ns;
         ++*point)
      if (c->points[*point].slice == UINT32_MAX)
        c->points[*point].slice = open_at(a, c->points[*point].ns);
    status = place(a, track, &slice);
  }
  for (; *point < c->point_count && c->points[*point].track == track; ++*point)
    if (c->points[*point].slice == UINT32_MAX)
      c->points[*point].slice = open_at(a, c->points[*point].ns);
  return status;
}

/* Arrows with both ends stay, in the order of their slices. */
static void keep_whole_flows(convert *c) {
  size_t kept = 0;
  c->flows += flow_set_count(&c->flow_ids);
  if (!c->point_count)
    return;
  sort_points(c, by_id);
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
  sort_points(c, by_slice);
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
    c->placed[c->waits[i].outer] |= CONV_LEADS;
    c->placed[c->waits[i].inner] |= CONV_WAITS;
  }
  qsort_r(c->waits_by_inner, c->wait_count, sizeof *c->waits_by_inner, by_inner, c->waits);
  return INK_OK;
}

ink_status convert_arrange(convert *c) {
  arranger a = {.c = c};
  ink_status status = INK_OK;
  size_t point = 0;
  c->placed = malloc((c->slice_count + 1) * sizeof *c->placed);
  if (!c->placed)
    return INK_ERROR_MEMORY;
  sort_points(c, by_moment);
  for (uint32_t track = 0; status == INK_OK && track < c->track_count; track++)
    status = arrange_track(&a, track, &point);
  if (status == INK_OK)
    status = sort_waits(c);
  if (status == INK_OK)
    keep_whole_flows(c);
  slice_log_free(&c->slices);
  slice_reader_free(&a.reader);
  for (size_t i = 0; i < a.lane_room; i++)
    free(a.lanes[i].stack);
  free(a.lanes);
  return status;
}
