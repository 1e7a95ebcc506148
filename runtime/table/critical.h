/* SPDX-License-Identifier: MIT */
/* A launch as its critical path is looked for in it: every track as stretches of its innermost sections. */
#ifndef INK_TABLE_CRITICAL_PRIVATE_H
#define INK_TABLE_CRITICAL_PRIVATE_H

#include "capture/capture_private.h"

#include "inkmark/critical.h"

typedef struct ink_stretch {
  int64_t begin, end; /* ns; never empty */
  ink_section_index section;
  bool waits;
} ink_stretch;

typedef struct ink_lane { /* one track */
  uint64_t track, block;
  int64_t begin, end;
  int64_t block_begin;   /* the first of its block's */
  int32_t device;
  uint32_t sm;
  size_t first, count;   /* of the stretches; they fill [begin, end] */
  size_t peers, peer_count; /* the lanes of its block, itself among them */
} ink_lane;

typedef struct ink_arrival { /* a range across threads that ended */
  uint64_t from, to;         /* lanes */
  int64_t begin, end;
} ink_arrival;

typedef struct ink_lanes {
  INK_I_LIST(ink_lane) lanes; /* blocks stand together */
  INK_I_LIST(ink_stretch) stretches;
  INK_I_LIST(ink_arrival) arrivals; /* by `to`, then by end */
  const bool *waits;                /* [section] */
  size_t section_count;
  uint64_t marks_dropped;           /* by all of the tracks */
} ink_lanes;

/* critical_lanes.c: reads the closed tracks of the launch; ink_lanes_free frees what is there in any case. */
ink_status ink_lanes_read(const ink_capture *capture, const ink_clock_map *map, uint32_t launch, ink_lanes *out,
                          ink_error *error);
void ink_lanes_free(ink_lanes *lanes);
/* The last stretch of the lane that begins before `at`; NULL: there is none. */
const ink_stretch *ink_lane_before(const ink_lanes *all, const ink_lane *lane, int64_t at);

/* critical_rules.c: what ends the waits of each section that waits; rules[section_count]. `near` is how long a wait
 * lasts that finds what it waits for, and how far two moments may lie apart that are taken for one. */
typedef struct ink_wait_rule {
  ink_path_rule told;
  int64_t near;
} ink_wait_rule;
ink_status ink_wait_rules(const ink_lanes *all, ink_wait_rule *rules, ink_error *error);
/* The lane of `self`'s block that ended the wait, and when; NULL: the rule finds none. */
const ink_lane *ink_wait_ended_by(const ink_lanes *all, const ink_lane *self, const ink_stretch *wait,
                                  const ink_wait_rule *rule, int64_t *when);

typedef struct ink_graph {
  const ink_lanes *all;
  const ink_wait_rule *rules;
  const size_t *by_close; /* lanes by device, SM, end, then begin */
} ink_graph;

/* critical_path.c: the range across threads that ended last in the wait, of those that began on another track; NULL. */
const ink_arrival *ink_path_marked(const ink_lanes *all, const ink_lane *lane, const ink_stretch *wait);
/* What ended the wait, and when; NULL: it is not known, or the wait found what it waited for. */
const ink_lane *ink_path_ended_by(const ink_graph *graph, const ink_lane *lane, const ink_stretch *wait, int64_t *when,
                                  enum ink_path_edge *edge);
/* The lane that closed last on the SM before this one's block began; NULL: the block was one of the first. */
const ink_lane *ink_path_slot_before(const ink_graph *graph, const ink_lane *lane);
/* ink_critical_path_make; `brief`: the first path alone, without slack. */
ink_status ink_path_find(const ink_capture *capture, const ink_clock_map *map, uint32_t launch, const char *waits_regex,
                         bool brief, ink_critical_path **out, ink_error *error);
/* critical_slack.c: fills slack_ns of the path's shares. */
ink_status ink_path_slack(const ink_graph *graph, ink_critical_path *path, ink_error *error);

#endif
