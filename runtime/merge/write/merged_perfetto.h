/* SPDX-License-Identifier: MIT */
/* A capture's launches as Perfetto tracks below tracks that somebody else described. */
#ifndef INK_MERGED_PERFETTO_H
#define INK_MERGED_PERFETTO_H

#include "merged_sink.h"
#include "output/perfetto_host.h"
#include "output/perfetto_tracks.h"

typedef struct merged_perfetto {
  merged_sink sink; /* first: the callbacks get it */
  perfetto out;
  perfetto_tracks tracks;
  uint64_t *parents;   /* [launch_count]: the track that each launch hangs under; 0: its device's */
  uint64_t *flows;     /* [launch_count]: the arrow from its kernel; 0: none */
  uint64_t *devices;   /* [device_count]: a track for what has no other parent; 0: not made yet */
  uint64_t *processes; /* [device_count]: the process of each device; 0: not made yet */
  char **process_names;  /* [device_count] of those not made yet; NULL: "GPU n" */
  int64_t *process_pids; /* [device_count] */
  host_lanes host;
  perfetto_host_place host_place;
  char host_who[160];
  uint64_t first_flow;
  uint64_t counters_uuid, counter_uuid; /* of the current device, of the current counter */
  int32_t counters_device;
} merged_perfetto;

typedef struct merged_home { /* a Perfetto trace of theirs that ours are written behind */
  unsigned sequence, clock;
  int64_t ns, clock_ns; /* a moment in the placement's time, and what that clock shows then */
} merged_home;

/* The index-th capture of the file. The sink's placement is made; it is moved here, and moved back by free. home
 * NULL: a file of our own. */
ink_status merged_perfetto_init(merged_perfetto *w, merged_sink *sink, ink_file *file, unsigned index,
                                const merged_home *home);
/* Describes a track for a stream in the process of that device. */
uint64_t merged_perfetto_stream(merged_perfetto *w, int32_t device, int64_t stream);
/* Writes launches, tracks and counters. */
ink_status merged_perfetto_put(merged_perfetto *w);
/* several_captures.c: the processes of the index-th of several captures that nobody else made. */
ink_status merged_name_processes(merged_perfetto *w, size_t index, const char *who);
void merged_perfetto_free(merged_perfetto *w, merged_sink *sink);

#endif
