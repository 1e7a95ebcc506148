/* SPDX-License-Identifier: MIT */
/* Growing lists of one track's events, turned from the order of ends to the order of begins. */
#include "track_events.h"

#include <stdlib.h>
#include <string.h>

ink_status ink_grow(void **items, size_t count, size_t *room, size_t element_bytes) {
  if (count < *room)
    return INK_OK;
  size_t wanted = *room ? *room * 2 : 64;
  void *grown = wanted > SIZE_MAX / element_bytes ? NULL : realloc(*items, wanted * element_bytes);
  if (!grown)
    return INK_ERROR_MEMORY;
  *items = grown;
  *room = wanted;
  return INK_OK;
}

void ink_track_events_clear(ink_track_events *e) {
  e->slice_count = e->point_count = e->async_count = e->lane_count = 0;
}

void ink_track_events_free(ink_track_events *e) {
  free(e->slices);
  free(e->points);
  free(e->asyncs);
  free(e->lanes);
  free(e->lane_ends);
  *e = (ink_track_events){0};
}

/* A slice that ends now encloses the deeper ones at the end of the list that began after it. */
ink_status ink_track_events_slice(ink_track_events *e, const ink_slice *slice) {
  void *slices = e->slices;
  ink_status status = ink_grow(&slices, e->slice_count, &e->slice_room, sizeof *e->slices);
  e->slices = slices;
  if (status != INK_OK)
    return status;
  size_t at = e->slice_count;
  while (at && e->slices[at - 1].depth > slice->depth &&
         e->slices[at - 1].begin_cycles >= slice->begin_cycles)
    at--;
  memmove(e->slices + at + 1, e->slices + at, (e->slice_count - at) * sizeof *e->slices);
  e->slices[at] = *slice;
  e->slice_count++;
  return INK_OK;
}

ink_status ink_track_events_point(ink_track_events *e, const ink_point *point) {
  if (point->kind != INK_KIND_INSTANT && point->kind != INK_KIND_ESCAPE)
    return INK_OK;
  void *points = e->points;
  ink_status status = ink_grow(&points, e->point_count, &e->point_room, sizeof *e->points);
  e->points = points;
  if (status == INK_OK)
    e->points[e->point_count++] = *point;
  return status;
}

ink_status ink_track_events_async(ink_track_events *e, const ink_async *async) {
  void *asyncs = e->asyncs;
  ink_status status = ink_grow(&asyncs, e->async_count, &e->async_room, sizeof *e->asyncs);
  e->asyncs = asyncs;
  if (status == INK_OK)
    e->asyncs[e->async_count++] = *async;
  return status;
}

static int64_t inside(int64_t ns, int64_t begin_ns, int64_t end_ns) {
  return ns < begin_ns ? begin_ns : ns > end_ns ? end_ns : ns;
}

void ink_track_events_within(ink_track_events *e, int64_t begin_ns, int64_t end_ns) {
  for (size_t i = 0; i < e->slice_count; i++) {
    ink_slice *s = &e->slices[i];
    s->begin_ns = inside(s->begin_ns, begin_ns, end_ns);
    s->end_ns = inside(s->end_ns, s->begin_ns, end_ns);
    const uint64_t lasts = (uint64_t)s->end_ns - (uint64_t)s->begin_ns; /* garbage may last longer than INT64_MAX */
    if (s->marking_ns > 0 && (uint64_t)s->marking_ns > lasts)
      s->marking_ns = (int64_t)lasts;
  }
  for (size_t i = 0; i < e->point_count; i++)
    e->points[i].ns = inside(e->points[i].ns, begin_ns, end_ns);
  for (size_t i = 0; i < e->async_count; i++) {
    ink_async *a = &e->asyncs[i];
    a->begin_ns = inside(a->begin_ns, begin_ns, end_ns);
    a->end_ns = inside(a->end_ns, a->begin_ns, end_ns);
  }
}

static int by_begin(const void *left, const void *right) {
  const ink_async *a = left, *b = right;
  if (a->begin_cycles != b->begin_cycles)
    return a->begin_cycles < b->begin_cycles ? -1 : 1;
  return (a->end_cycles > b->end_cycles) - (a->end_cycles < b->end_cycles);
}

ink_status ink_lane_take(int64_t **ends, size_t *count, size_t *room, int64_t begin_ns,
                         int64_t end_ns, size_t *lane) {
  size_t i = 0;
  while (i < *count && (*ends)[i] > begin_ns)
    i++;
  if (i == *count) {
    void *grown = *ends;
    ink_status status = ink_grow(&grown, *count, room, sizeof **ends);
    *ends = grown;
    if (status != INK_OK)
      return status;
    ++*count;
  }
  (*ends)[i] = end_ns;
  *lane = i;
  return INK_OK;
}

ink_status ink_track_events_lanes(ink_track_events *e) {
  e->lane_count = 0;
  if (e->async_count)
    qsort(e->asyncs, e->async_count, sizeof *e->asyncs, by_begin);
  for (size_t i = 0; i < e->async_count; i++) {
    void *lanes = e->lanes;
    ink_status status = ink_grow(&lanes, i, &e->lane_room, sizeof *e->lanes);
    e->lanes = lanes;
    if (status == INK_OK)
      status = ink_lane_take(&e->lane_ends, &e->lane_count, &e->lane_end_room,
                             e->asyncs[i].begin_ns, e->asyncs[i].end_ns, &e->lanes[i]);
    if (status != INK_OK)
      return status;
  }
  return INK_OK;
}
