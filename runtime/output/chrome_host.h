/* SPDX-License-Identifier: MIT */
/* The host's ranges in Chrome's JSON: a process for the program, lanes for its threads. */
#ifndef INK_CHROME_HOST_H
#define INK_CHROME_HOST_H

#include "chrome_events.h"
#include "host_lanes.h"

typedef struct chrome_host_place { /* where theirs are beside ours; all zero: there are none */
  const char *who;   /* in front of the process's name */
  uint32_t pids_from, arrows_from; /* ours are none of theirs */
} chrome_host_place;

ink_status chrome_host_write(chrome_events *w, host_lanes *lanes, const chrome_host_place *place, ink_error *error);
/* The arrow's other end, on the slice of a launch in lane `tid`. */
void chrome_host_arrow(chrome_events *w, const host_lanes *lanes, const chrome_host_place *place, uint32_t launch, uint32_t tid,
                       int64_t begin_ns, int64_t end_ns);

#endif
