/* SPDX-License-Identifier: MIT */
/* What the checks share: one track as model and log have it, beside the capture that must match. */
#ifndef INKMARK_TRUTH_PRIVATE_H
#define INKMARK_TRUTH_PRIVATE_H

#include "truth.h"

#include "inkmark/table.h"

typedef struct truth_track {
  const truth_launch *launch;
  const truth_grid *grid;
  uint32_t block[3], linear_block, thread;
  truth_read opening[3], closing[3]; /* clock64, globaltimer, clock64 */
  truth_steps steps;
  bool captured, closed;
} truth_track;

typedef struct truth_ring {
  uint64_t *words;
  size_t count, capacity;
  uint64_t extra;
} truth_ring;

typedef struct truth_context {
  const truth_kind *kind;
  const truth_run *run;
  const truth_log *log;
  ink_capture *capture; /* NULL: nothing was recorded */
  truth_track *tracks;  /* those that the log shows to have been opened */
  size_t track_count, track_capacity;
  truth_track **by_index; /* [tracks of the capture] */
  uint64_t missed;        /* entries that should have opened a track and did not */
} truth_context;

uint64_t truth_records(const truth_run *run); /* a ring's words */
uint64_t truth_tracks(const truth_run *run);

/* The table and id of "Table::Section"; fails the test where there is none. */
bool truth_section(const truth_context *c, const char *name, const ink_section_table **table,
                   uint32_t *id);

/* Gives every step of the track its cycle from the log. False after a failure. */
bool truth_assign(truth_track *track, const truth_read *reads, size_t count, bool opened);

/* The words that both rings of a closed track received, and which steps are still kept. */
void truth_words(const truth_context *c, truth_track *track, truth_ring rings[2]);

/* Whether the track's counts count this step: of a track of rows its rows. */
bool truth_counts(const truth_track *t, const truth_step *step);

/* Decodes the capture and holds every event, and the tables, against the tracks. */
void truth_check_decoded(truth_context *c);

#define CHECK(condition, ...)                                                                      \
  do {                                                                                             \
    truth_count();                                                                                 \
    if (!(condition))                                                                              \
      truth_fail(__VA_ARGS__);                                                                     \
  } while (0)

#endif
