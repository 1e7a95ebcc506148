/* SPDX-License-Identifier: MIT */
/* What every form of a merged trace does with decoded tracks: moves them into the other file's
 * time, keeps those that are shown, counts all of them. */
#ifndef INK_MERGED_SINK_H
#define INK_MERGED_SINK_H

#include "output/output_file.h"
#include "merge/plan/placement.h"
#include "output/crossings.h"
#include "output/sm_counters.h"
#include "output/track_lanes.h"

enum { FLOWS_MAX = 64 }; /* arrows from a launch to its tracks */

typedef struct merged_track {
  const ink_track *header;
  const ink_decoded_track *decoded; /* in begin_track */
  uint32_t rank; /* among the shown ones of its launch */
  int64_t begin_ns, end_ns, bound_ns;
  uint64_t marks_dropped;
} merged_track;

typedef struct merged_sink {
  placement place;
  sm_counters counters;
  ink_file *file;
  ink_error *error;
  size_t launch;
  bool shown; /* the current track is */
  merged_track track;
  /* The writer's. `events` is where the current track's events go. */
  ink_track_events *events;
  ink_crossings *crossings;
  ink_status (*begin_launch)(void *user, size_t launch);
  ink_status (*begin_track)(void *user);
  ink_status (*end_track)(void *user);
  ink_status (*end_launch)(void *user);
} merged_sink;

/* The lanes of all shown tracks and placed launches, in the other file's time; groups[launch] as in track_lanes.h.
 * Times are apart_ns apart to be different to its readers. */
ink_status merged_sink_lanes(const merged_sink *sink, const uint32_t *groups, int64_t apart_ns, track_lanes *tracks,
                             track_lanes *launches);

/* Decodes all placed launches; `sink` is the first member of the writer, which the callbacks get.
 */
ink_status merged_sink_run(merged_sink *sink);

#endif
