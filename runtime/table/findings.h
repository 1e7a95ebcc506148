/* SPDX-License-Identifier: MIT */
/* What a table gathers beside its sums so that findings can be made of it in the same pass: of each section what
 * each warp spent in it, which tracks had the longest slices, and in which launch one track stood out. */
#ifndef INKMARK_FINDINGS_PRIVATE_H
#define INKMARK_FINDINGS_PRIVATE_H

#include "table_private.h"

/* docs/answers.md has these. */
#define INK_LATE_FACTOR 3.0          /* a track against the mean of the others of its launch */
#define INK_LATE_SHARE 0.1           /* and what it is longer by, of its own time */
#define INK_OUTLIER_FACTOR 4.0       /* a slice against its section's median */
#define INK_OUTLIER_SHARE 0.02       /* and what such are longer by, of a track's mean time */
#define INK_TAIL_USE 0.75            /* used part of the slots' time */
#define INK_WAIT_MUCH 0.3            /* a role that waits so much of its time waits for somebody */
#define INK_WAIT_LITTLE 0.35         /* who waits less than this, and less than half of that */
#define INK_FIRST_FACTOR 1.5         /* the first launch against the median of the others */
enum { INK_TRACKS_LEAST = 4, INK_LAUNCHES_LEAST = 4 };

enum { INK_WARPS = 32, INK_TOPS = 16 };

typedef struct ink_top { /* the longest slice of one track */
  uint64_t cycles, track;
  int64_t row;
} ink_top;

struct ink_cell_more {
  uint64_t by_warp[INK_WARPS]; /* the last has all beyond */
  ink_top tops[INK_TOPS];      /* of the tracks with the longest, in no order */
  uint32_t top_count, launch;
  uint64_t launch_total, launch_tracks, launch_largest, launch_track;
  uint64_t late_cycles, late_tracks, late_track; /* of the launch where one track was longer by the most */
  double late_others;                            /* mean of the others; late_cycles 0: none stood out */
};

ink_status ink_findings_begin(ink_table *table); /* finds the sections that wait */
void ink_findings_fold(ink_cell *cell);    /* a track's sums in it are known: now_* */
void ink_findings_end_launch(struct ink_cell_more *more);
ink_status ink_findings_make(ink_table *table);
/* launch_shape.c */
ink_status ink_findings_tails(ink_table *table);
/* findings_held.c: adds to the late ones where others wait for them; the findings are in their order. */
ink_status ink_findings_held(ink_table *table);

/* One more finding, whose text and numbers the caller fills; NULL: out of memory. */
ink_finding *ink_finding_add(ink_table *table, const char *id, uint32_t part, double cost_cycles);
void ink_finding_number(ink_finding *finding, const char *name, double value);
const char *ink_finding_section(const ink_table *table, uint32_t section);

#endif
