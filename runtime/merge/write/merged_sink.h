/* SPDX-License-Identifier: MIT */
/* What every form of a merged trace does with decoded tracks: moves them into the other file's
 * time, keeps those that are shown, counts all of them. */
#ifndef INK_MERGED_SINK_H
#define INK_MERGED_SINK_H

#include "output/output_file.h"
#include "merge/join/placement.h"
#include "output/crossings.h"
#include "output/sm_counters.h"

enum { FLOWS_MAX = 64 }; /* arrows from a launch to its tracks */

typedef struct merged_track {
  const ink_track *header;
  const ink_stored_track *stored; /* in begin_track */
  uint64_t index;
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

/* Decodes all placed launches; `sink` is the first member of the writer, which the callbacks get.
 */
ink_status merged_sink_run(merged_sink *sink);

#endif
