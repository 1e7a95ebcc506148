/* SPDX-License-Identifier: MIT */
/* The host's ranges in Chrome's JSON: a process for the program, lanes for its threads. */
#ifndef INK_CHROME_HOST_H
#define INK_CHROME_HOST_H

#include "chrome_events.h"
#include "host_lanes.h"

ink_status chrome_host_write(chrome_events *w, host_lanes *lanes, ink_error *error);
/* The arrow's other end, on the slice of a launch in lane `tid`. */
void chrome_host_arrow(chrome_events *w, const host_lanes *lanes, uint32_t launch, uint32_t tid, const ink_launch_span *span);

#endif
