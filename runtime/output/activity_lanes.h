/* SPDX-License-Identifier: MIT */
/* The activities of a capture as both traces show them: on lanes, of streams below their device and
 * of threads, so that no two of a lane overlap and none is lost. */
#ifndef INK_ACTIVITY_LANES_H
#define INK_ACTIVITY_LANES_H

#include "selection.h"

#include "inkmark/activity.h"

#define ACTIVITY_NO_LANE UINT32_MAX

typedef struct activity_lane {
  int32_t device;   /* -1: a thread of `process` */
  uint32_t process; /* calls */
  uint32_t stream;  /* or thread */
  uint32_t number;  /* 0, 1, ... of that stream: more than one where activities overlap */
  uint32_t next;    /* of the same stream, or ACTIVITY_NO_LANE */
  int64_t end_ns;
  uint64_t id; /* the output's own: a track, a tid */
} activity_lane;

typedef struct activity_shown {
  const ink_activity *a;
  int64_t begin_ns, end_ns;
  uint32_t lane, launch; /* launch UINT32_MAX: none of ours */
  bool flows;            /* its correlation has a call and work on a device */
} activity_shown;

typedef struct activity_lanes {
  const ink_selection *selection;
  activity_shown *shown; /* by begin */
  size_t count;
  activity_lane *lanes; /* a stream's lanes need not stand side by side */
  size_t lane_count, lane_room;
  uint32_t
      *launch_items; /* [launches]: in `shown`, the kernel that a launch is; UINT32_MAX: none */
} activity_lanes;

/* Where kernels or a launch are chosen: only their kernels, and the calls that launched them. Free
 * also after a failure. Without activity there is nothing in it. */
ink_status activity_lanes_make(activity_lanes *lanes, const ink_selection *selection,
                               ink_error *error);
/* The kernel that a launch is; NULL: none. */
const activity_shown *activity_of_launch(const activity_lanes *lanes, uint32_t launch);
/* The earliest of that moment and the activities: where the trace begins. */
int64_t activity_lanes_begin(const activity_lanes *lanes, int64_t begin_ns);
void activity_lanes_free(activity_lanes *lanes);

/* "stream 7", "stream 7, 2", "thread 4711". */
void activity_lane_name(const activity_lane *lane, char *text, size_t size);
/* For qsort of `activity_lane *`: devices before processes, then stream or thread, then number. */
int activity_lane_by_place(const void *left, const void *right);
/* "gemm::run<...>", "host to device", "memset", "cudaLaunchKernel". */
void activity_shown_name(const activity_lanes *lanes, const ink_activity *a, char *text,
                         size_t size);
/* "cuda_kernel", "cuda_copy", "cuda_set", "cuda_call". */
const char *activity_category(const ink_activity *a);

#endif
