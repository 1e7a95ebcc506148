/* SPDX-License-Identifier: MIT */
/* Activities as events of Chrome's JSON: streams in their device's process, threads in the
 * program's. */
#ifndef INK_CHROME_ACTIVITY_H
#define INK_CHROME_ACTIVITY_H

#include "activity_lanes.h"
#include "chrome_events.h"

/* Leaves `events->pid` at the last process that it wrote to. */
ink_status chrome_activity_write(chrome_events *events, activity_lanes *lanes, ink_error *error);

#endif
