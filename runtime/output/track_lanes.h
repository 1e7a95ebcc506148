/* SPDX-License-Identifier: MIT */
/* The rows of a trace: which lane each track of a capture lies on. A row is a slot of an SM, used by one block after
 * the other whatever launch it is of; blocks that run beside each other on an SM have a slot each, and roles and warps
 * that record beside each other in a block have a lane each in its slot. On a lane no two tracks overlap. */
#ifndef INK_TRACK_LANES_H
#define INK_TRACK_LANES_H

#include "selection.h"

#define LANE_OF_LAUNCHES UINT32_MAX /* in place of an SM */
#define LANE_WHOLE_BLOCK UINT32_MAX /* in place of a warp */

typedef struct lane_item {
  uint64_t index;           /* rising from one to the next: the order in which they are written */
  int64_t begin_ns, end_ns; /* end INT64_MAX: it never closed */
  uint64_t block;
  const char *role; /* NULL: none */
  uint32_t group;   /* what has rows of its own: a device, or a stream of one */
  uint32_t launch, sm, warp;
  uint32_t slot, lane; /* found by track_lanes_arrange */
} lane_item;

typedef struct track_lane {
  uint32_t group, sm, slot, warp, number; /* number: more than one only where tracks of one warp overlap */
  const char *role;
  bool begun;     /* the writer's: it is described */
  uint32_t below; /* the writer's: how many lanes of asynchronous ranges it has */
  uint64_t id;    /* the writer's: a track, a tid */
} track_lane;

typedef struct track_lanes {
  lane_item *items; /* by index, after track_lanes_arrange */
  track_lane *lanes; /* by group, SM, slot, role, warp, number */
  size_t count, room, lane_count, lane_room;
} track_lanes;

/* `warp` and `role` are the track's own; begin and end are those of its body. */
ink_status track_lanes_add(track_lanes *lanes, const ink_stored_track *track, uint64_t index, uint32_t group,
                           int64_t begin_ns, int64_t end_ns);
/* A launch, on lanes of launches. */
ink_status track_lanes_add_launch(track_lanes *lanes, uint32_t launch, uint32_t group, int64_t begin_ns,
                                  int64_t end_ns);
/* The slice around all others of a track, which shows its own begin and end, and what it is. */
typedef struct track_body {
  const char *name;
  char label[160]; /* "block 5 warp 2" */
  int64_t begin_ns, end_ns;
  uint64_t flow; /* the arrow that ends here; 0: none */
  uint32_t launch, sm, warp;
  uint64_t block;
  int64_t bound_ns; /* INT64_MAX: not known */
  uint64_t marks_dropped;
} track_body;
/* That of a track that has the item. One that never closed ends where it was last seen. */
track_body track_body_of(const ink_selection *selection, const ink_decoded_track *track, const lane_item *item);

/* Every track that the selection has; group[launch] is that of each launch. */
ink_status track_lanes_fill(track_lanes *tracks, track_lanes *launches, const ink_selection *selection,
                            const uint32_t *groups);
/* Times closer than apart_ns are the same to a reader: on one lane such tracks are in the order of the file. */
ink_status track_lanes_arrange(track_lanes *lanes, int64_t apart_ns);
/* NULL: it was not added. */
const lane_item *track_lanes_find(const track_lanes *lanes, uint64_t index);
void track_lanes_free(track_lanes *lanes);

/* "SM 3", "SM 3 slot 2", "SM 3 slot 2 Producer warp 4"; "launches", "launches 2". */
void track_lane_name(const track_lane *lane, char *text, size_t size);

#endif
