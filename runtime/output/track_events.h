/* SPDX-License-Identifier: MIT */
/* The events of one track, kept until it ends: the decoder gives a slice when it ends, a trace
 * wants it where it begins. Ranges that may overlap get lanes. */
#ifndef INK_TRACK_EVENTS_H
#define INK_TRACK_EVENTS_H

#include "inkmark/decode.h"

typedef struct ink_track_events {
  ink_slice *slices; /* outer before inner, by begin */
  ink_point *points; /* as they came; ITER and async ends are left out */
  ink_async *asyncs; /* by begin after ink_track_events_lanes */
  size_t *lanes;     /* [async_count], after ink_track_events_lanes */
  size_t slice_count, point_count, async_count;
  size_t slice_room, point_room, async_room, lane_room, lane_end_room;
  int64_t *lane_ends;
  size_t lane_count;
} ink_track_events;

void ink_track_events_clear(ink_track_events *events);
void ink_track_events_free(ink_track_events *events);
ink_status ink_track_events_slice(ink_track_events *events, const ink_slice *slice);
ink_status ink_track_events_point(ink_track_events *events, const ink_point *point);
ink_status ink_track_events_async(ink_track_events *events, const ink_async *async);

/* Moves what lies outside of the track, as a damaged one can say, to its ends. */
void ink_track_events_within(ink_track_events *events, int64_t begin_ns, int64_t end_ns);

/* Sorts the ranges by begin and gives each the first lane that is free. */
ink_status ink_track_events_lanes(ink_track_events *events);

/* Makes room for one more element in any growing array. */
ink_status ink_grow(void **items, size_t count, size_t *room, size_t element_bytes);
/* The first of the lanes that is free at begin_ns, taken until end_ns; a new one when none is. */
ink_status ink_lane_take(int64_t **ends, size_t *count, size_t *room, int64_t begin_ns,
                         int64_t end_ns, size_t *lane);

#endif
