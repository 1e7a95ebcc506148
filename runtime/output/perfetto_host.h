/* SPDX-License-Identifier: MIT */
/* The host's ranges as Perfetto packets: a process for the program, in it tracks of its threads, flows from calls to the
 * launches that they made. */
#ifndef INK_PERFETTO_HOST_H
#define INK_PERFETTO_HOST_H

#include "host_lanes.h"
#include "perfetto_packets.h"

typedef struct perfetto_host_place { /* where there are others' processes; all zero: there are none */
  const char *who; /* in front of the process's name */
  int64_t pids_from;
  bool no_process; /* it may be one of theirs: ours is a track without a number */
} perfetto_host_place;

ink_status perfetto_host_write(perfetto *out, host_lanes *lanes, const perfetto_host_place *place, ink_error *error);
/* What the slice of a launch says of its call: the flow that leads to it. */
char *perfetto_host_arguments(char *p, const perfetto *out, const host_lanes *lanes, uint32_t launch);

#endif
