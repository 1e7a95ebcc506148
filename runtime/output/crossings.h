/* SPDX-License-Identifier: MIT */
/* The ranges across threads of one launch, kept until all of its tracks are written: which lane each gets, and where
 * the tracks are that it goes from and to. */
#ifndef INK_CROSSINGS_H
#define INK_CROSSINGS_H

#include "track_events.h"

typedef struct crossing_track {
  uint64_t track, place; /* of ink_capture_track; the writer's number of it */
} crossing_track;

typedef struct ink_crossings {
  ink_crossing *items;    /* those with both ends; by begin after ink_crossings_lanes */
  size_t *lanes;          /* [count], after that */
  crossing_track *tracks; /* in rising order */
  int64_t *lane_ends;
  size_t count, room, lane_room, lane_count, lane_end_room, track_count, track_room;
} ink_crossings;

void ink_crossings_clear(ink_crossings *c);
void ink_crossings_free(ink_crossings *c);
ink_status ink_crossings_track(ink_crossings *c, uint64_t track, uint64_t place);
ink_status ink_crossings_add(ink_crossings *c, const ink_crossing *crossing);
ink_status ink_crossings_lanes(ink_crossings *c);
/* False: that track is not written. */
bool ink_crossings_find(const ink_crossings *c, uint64_t track, uint64_t *place);
/* "block", "cluster", "grid". */
const char *ink_scope_name(uint8_t scope);

#endif
