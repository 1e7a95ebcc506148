/* SPDX-License-Identifier: MIT */
/* One track of a capture as Perfetto packets, under any parent track. */
#ifndef INK_PERFETTO_TRACKS_H
#define INK_PERFETTO_TRACKS_H

#include "crossings.h"
#include "perfetto.h"
#include "track_events.h"

typedef struct open_slice {
  uint32_t depth;
  int64_t end_ns;
} open_slice;

typedef struct value_track { /* the counter of a section on the current track */
  ink_section_index section;
  uint64_t uuid;
} value_track;

/* What a track in another profiler's kernel carries: a slice around all others that shows the
 * track's own begin and end, and on every slice where it ran. */
typedef struct perfetto_body {
  const char *name; /* NULL: the track has no such slice, and its slices no such arguments */
  int64_t begin_ns, end_ns;
  uint64_t flow; /* ends here; 0: none */
  uint32_t sm, warp;
  uint64_t block;
  int64_t bound_ns; /* INT64_MAX: not known */
  uint64_t marks_dropped;
} perfetto_body;

typedef struct sm_track {
  uint32_t sm;
  uint64_t uuid;
} sm_track;

typedef struct perfetto_tracks {
  perfetto *out;
  const ink_selection *selection;
  uint64_t track_uuid, parent_uuid;
  int32_t track_rank;
  char label[160];
  perfetto_body body;
  ink_crossings crossings;  /* of the current launch */
  ink_track_events events;  /* the current track's: filled between begin and end */
  uint32_t *name_iids;      /* [section_count + 1] on the current track; 0: not used yet */
  ink_section_index *named; /* the sections that have one, in the order of their iids */
  const char **names;       /* their names */
  size_t name_count;
  open_slice *stack;
  size_t stack_count, stack_room;
  value_track *values;
  size_t value_count, value_room;
  uint64_t *lane_uuids; /* async lanes of the current track */
  size_t lane_count, lane_room;
  uint64_t launch_uuid;
  sm_track *sms; /* of the current launch */
  size_t sm_count, sm_room;
} perfetto_tracks;

/* Free also after a failure; both pointers are borrowed. */
ink_status perfetto_tracks_init(perfetto_tracks *tracks, perfetto *out,
                                const ink_selection *selection);
void perfetto_tracks_free(perfetto_tracks *tracks);
/* What follows is below that launch's track. */
void perfetto_tracks_launch(perfetto_tracks *tracks, uint64_t launch_uuid);
/* The launch's track for an SM, described when it is first asked for. */
ink_status perfetto_tracks_sm(perfetto_tracks *tracks, uint32_t sm, uint64_t *uuid);
/* A new track, labelled by its block and warp; its events go into tracks->events. */
ink_status perfetto_tracks_begin(perfetto_tracks *tracks, uint64_t parent, int32_t rank,
                                 const ink_stored_track *track, uint64_t index);
/* The launch's ranges across threads, when all of its tracks are written. */
ink_status perfetto_tracks_launch_end(perfetto_tracks *tracks);
/* Writes it. */
ink_status perfetto_tracks_end(perfetto_tracks *tracks);

#endif
