/* SPDX-License-Identifier: MIT */
/* The ranges across threads of one launch, kept until all of its tracks are written: which lane each gets, one after
 * the other launch the same, and where the tracks are that it goes from and to. */
#ifndef INK_CROSSINGS_H
#define INK_CROSSINGS_H

#include "track_events.h"

typedef struct crossing_track {
  uint64_t track, place; /* of ink_capture_track; the writer's number of it */
} crossing_track;

typedef struct crossing_lane {
  uint32_t group, number; /* number: 0, 1, ... of that group */
  int64_t end_ns;
  bool begun;  /* the writer's: it is described */
  uint64_t id; /* the writer's */
} crossing_lane;

typedef struct ink_crossings {
  ink_crossing *items;    /* those with both ends; by begin after ink_crossings_lanes */
  size_t *lanes;          /* [count], after that: of `table` */
  crossing_lane *table;   /* of all launches so far */
  crossing_track *tracks; /* in rising order */
  size_t count, room, lane_room, table_count, table_room, track_count, track_room;
} ink_crossings;

void ink_crossings_clear(ink_crossings *c); /* keeps the lanes */
void ink_crossings_free(ink_crossings *c);
ink_status ink_crossings_track(ink_crossings *c, uint64_t track, uint64_t place);
ink_status ink_crossings_add(ink_crossings *c, const ink_crossing *crossing);
/* `group` as in track_lanes.h. */
ink_status ink_crossings_lanes(ink_crossings *c, uint32_t group);
/* False: that track is not written. */
bool ink_crossings_find(const ink_crossings *c, uint64_t track, uint64_t *place);
/* "block", "cluster", "grid". */
const char *ink_scope_name(uint8_t scope);

#endif
