/* SPDX-License-Identifier: MIT */
/* The host's ranges and its calls that launched something, as the traces and the page show them: on lanes of threads and
 * of the process, so that those of a lane nest. */
#ifndef INK_HOST_LANES_H
#define INK_HOST_LANES_H

#include "selection.h"

#include "inkmark/host_ranges.h"

enum { HOST_LANES_MOST = 256 }; /* of a thread, or of the process */

typedef struct host_lane {
  uint32_t thread;     /* 0: ranges of the process, which any thread may end */
  uint32_t number;     /* 0, 1, ... of that thread: more than one where ranges cross */
  uint32_t next;       /* of the same thread, or UINT32_MAX */
  int64_t *ends;       /* of what is open */
  size_t depth, room;
  uint64_t id;         /* the output's own */
} host_lane;

typedef struct host_item {
  const ink_host_range *range; /* or NULL */
  const ink_host_launch *call; /* or NULL */
  int64_t begin_ns, end_ns;
  uint32_t lane, depth;
} host_item;

typedef struct host_lanes {
  const ink_selection *selection;
  host_item *items; /* by begin, outer ones first */
  size_t count;
  host_lane *lanes;
  size_t lane_count, lane_room;
  uint64_t left_out; /* crossing ranges for which there was no lane */
  int64_t shift_ns;  /* that the items' times have more than the capture's */
  int64_t zero_ns;   /* what begins before it, so shifted, is not among the items */
} host_lanes;

/* Where kernels or a launch are chosen: the calls that launched them, and ranges that were open meanwhile. Free also after
 * a failure. */
ink_status host_lanes_make(host_lanes *lanes, const ink_selection *selection, ink_error *error);
void host_lanes_free(host_lanes *lanes);
/* The earliest of that moment and the items; `any`: that moment counts. */
int64_t host_lanes_begin(const host_lanes *lanes, int64_t begin_ns, bool any);

/* Moves all into another trace's time, whose first moment is zero_ns; how many items are before it, and left out. */
size_t host_lanes_shift(host_lanes *lanes, int64_t ns, int64_t zero_ns);
/* "thread 4711 (main), 2", "ranges of the process". */
void host_lane_name(const host_lanes *lanes, const host_lane *lane, char *text, size_t size);
/* "solve", "launch k<...>", "(no name)". */
void host_item_name(const host_item *item, char *text, size_t size);
/* "host_range", "host_mark", "host_call". */
const char *host_item_category(const host_item *item);
/* "app" of the command "./app -n 3". */
void host_process_name(const ink_capture *capture, char *text, size_t size);
/* The process id of the capture, or 0. */
uint32_t host_process_id(const ink_capture *capture);
/* Whether a launch is joined with a call that is shown: an arrow leads from that to it. */
bool host_has_call(const host_lanes *lanes, uint32_t launch);

#endif
