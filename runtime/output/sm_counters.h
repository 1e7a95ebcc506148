/* SPDX-License-Identifier: MIT */
/* How many blocks are active on each SM and on each GPU, and how many tracks are in each section on
 * each SM, as they change over time: collected while tracks are decoded, sorted at the end. */
#ifndef INK_SM_COUNTERS_H
#define INK_SM_COUNTERS_H

#include "inkmark/decode.h"

#define COUNTER_WHOLE_GPU UINT32_MAX /* in place of an SM */
#define COUNTER_BLOCKS UINT32_MAX    /* in place of a section */

typedef struct counter_edge {
  int64_t ns;
  int32_t device;
  uint32_t sm, section;
  int32_t step;
} counter_edge;

typedef struct sm_counters {
  counter_edge *edges;
  size_t count, room;
  bool sections, full; /* full: sections were dropped, they were too many to hold */
  bool some;           /* a block is being collected */
  uint32_t launch, sm;
  int32_t device;
  uint64_t block;
  int64_t begin_ns, end_ns;
} sm_counters;

/* Tracks of one block follow one another; a block is active from its first track to its last. */
ink_status sm_counters_track(sm_counters *counters, uint32_t launch, int32_t device,
                             const ink_track *header, int64_t begin_ns, int64_t end_ns);
ink_status sm_counters_section(sm_counters *counters, ink_section_index section, int64_t begin_ns,
                               int64_t end_ns);

typedef struct counter_user {
  /* A counter follows: device, SM (or COUNTER_WHOLE_GPU), section (or COUNTER_BLOCKS). */
  void (*begin)(void *user, const counter_edge *of);
  void (*value)(void *user, int64_t ns, int64_t value);
  void *user;
} counter_user;
ink_status sm_counters_end(sm_counters *counters, const counter_user *user);
void sm_counters_free(sm_counters *counters);
/* "inkmark active blocks", "SM 3 LineSearch"; `section` is the counter's name of it. */
void sm_counters_name(const counter_edge *of, const char *section, char *text, size_t size);

#endif
