/* SPDX-License-Identifier: MIT */
/* The host's ranges as Perfetto packets: a process for the program, in it tracks of its threads, flows from calls to the
 * launches that they made. */
#ifndef INK_PERFETTO_HOST_H
#define INK_PERFETTO_HOST_H

#include "host_lanes.h"
#include "perfetto_packets.h"

ink_status perfetto_host_write(perfetto *out, host_lanes *lanes, ink_error *error);
/* What the slice of a launch says of its call: the flow that leads to it. */
char *perfetto_host_arguments(char *p, const perfetto *out, const host_lanes *lanes, uint32_t launch);

#endif
