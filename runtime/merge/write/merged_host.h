/* SPDX-License-Identifier: MIT */
/* The host's ranges of a capture in another trace's time. */
#ifndef INK_MERGED_HOST_H
#define INK_MERGED_HOST_H

#include "merge/plan/placement.h"
#include "output/host_lanes.h"

/* Processes of ours are none of theirs: Linux has pids below 2^22. */
enum { MERGED_HOST_PIDS_APART = 10000000 };

/* The placement is made. Free also after a failure. */
ink_status merged_host_make(host_lanes *lanes, const placement *place, ink_error *error);
/* What is in front of the process's name: "inkmark: ", "rank 3, node7: ". */
void merged_host_who(const placement *place, const char *who, char *text, size_t size);

#endif
