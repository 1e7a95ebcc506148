/* SPDX-License-Identifier: MIT */
/* Activities as Perfetto packets: streams below their device's process, threads below the
 * program's, flows from a call to what it launched. */
#ifndef INK_PERFETTO_ACTIVITY_H
#define INK_PERFETTO_ACTIVITY_H

#include "activity_lanes.h"
#include "perfetto_packets.h"

/* Where they are put. */
typedef struct perfetto_activity_place {
  const uint64_t *device_parents; /* [device_count]: the tracks that streams go under; a device that
                                   * the selection does not have gets a process */
  const char *who;                /* in front of the names of further processes; NULL: nothing */
  int64_t pids_from;              /* added to their ids */
} perfetto_activity_place;

/* Writes them, and fills in the lanes' ids, which are the uuids of their tracks. */
ink_status perfetto_activity_write(perfetto *out, activity_lanes *lanes,
                                   const perfetto_activity_place *place, ink_error *error);

/* The track of the kernel that a launch is, to put its tracks under; 0: none. */
uint64_t perfetto_activity_track(const activity_lanes *lanes, uint32_t launch);

/* What the slice of a launch says of its kernel: the flow that leads to it, and by how much our
 * times stick out of CUPTI's. */
char *perfetto_activity_arguments(char *p, const perfetto *out, const activity_lanes *lanes,
                                  uint32_t launch, int64_t begin_ns, int64_t end_ns);

/* What connects a call with its work; unique in the file. */
uint64_t perfetto_activity_flow(const perfetto *out, uint32_t correlation);

#endif
