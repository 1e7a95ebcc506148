/* SPDX-License-Identifier: MIT */
/* One track of a capture as Perfetto packets, under any parent track. */
#ifndef INK_PERFETTO_TRACKS_H
#define INK_PERFETTO_TRACKS_H

#include "crossings.h"
#include "perfetto_packets.h"
#include "id_map.h"
#include "track_events.h"
#include "track_lanes.h"

typedef struct open_slice {
  uint32_t depth;
  int64_t end_ns;
} open_slice;

typedef struct perfetto_tracks {
  perfetto *out;
  const ink_selection *selection;
  track_lanes lanes, launches; /* the caller's to fill */
  track_lane *lane;            /* of the current track */
  bool places; /* every slice says where it ran: in a merged trace few look at the names of tracks */
  uint64_t track_uuid;
  track_body body;
  ink_crossings crossings;  /* of the current launch */
  ink_track_events events;  /* the current track's: filled between begin and end */
  uint32_t *name_iids;      /* [section_count + 1] on the current track; 0: not used yet */
  ink_section_index *named; /* the sections that have one, in the order of their iids */
  const char **names;       /* their names */
  size_t name_count;
  open_slice *stack;
  size_t stack_count, stack_room;
  uint64_t *below; /* tracks below lanes: counters of values, lanes of asynchronous ranges */
  size_t below_count, below_room;
  id_map values, asyncs; /* lane and section, or lane and number: an index of `below` */
} perfetto_tracks;

/* Free also after a failure; both pointers are borrowed. The lanes are freed with it. */
ink_status perfetto_tracks_init(perfetto_tracks *tracks, perfetto *out,
                                const ink_selection *selection);
void perfetto_tracks_free(perfetto_tracks *tracks);
/* Describes the lanes of launches, named `prefix` and what lanes are called, of each group below parents[group] with
 * that rank, and the lanes of tracks below the first of their group's. */
void perfetto_tracks_describe(perfetto_tracks *tracks, const uint64_t *parents, const char *prefix, int32_t rank);
/* The lane of a launch; 0: it has none. */
uint64_t perfetto_tracks_launch(const perfetto_tracks *tracks, uint32_t launch);
/* A new track, one of the lanes'. Its events go into tracks->events, what else is known of it into tracks->body. */
ink_status perfetto_tracks_begin(perfetto_tracks *tracks, const ink_decoded_track *track);
/* The launch's ranges across threads, when all of its tracks are written. */
ink_status perfetto_tracks_launch_end(perfetto_tracks *tracks, uint32_t launch);
/* Writes it. */
ink_status perfetto_tracks_end(perfetto_tracks *tracks);

#endif
