/* SPDX-License-Identifier: MIT */
/* What all outputs share in reading: the launches that the caller chose, when each began and ended,
 * and one decoder run over them. */
#ifndef INK_SELECTION_H
#define INK_SELECTION_H

#include "inkmark/output.h"
#include "inkmark/table.h"

#include <stdio.h>

typedef struct ink_launch_span {
  uint64_t first_track, track_count;
  int64_t begin_ns, end_ns; /* earliest open, latest close; both 0 without a track */
} ink_launch_span;

typedef struct ink_selection {
  const ink_capture *capture;
  const ink_clock_map *map;
  ink_output_options options;
  const ink_kernel *kernels;
  const ink_launch *launches;
  const ink_device_info *devices;
  const ink_section *sections;
  size_t kernel_count, launch_count, device_count, section_count;
  bool *kernel_chosen;    /* [kernel_count] */
  bool *launch_chosen;    /* [launch_count]: some track of it is of such a kernel */
  char **launch_names;    /* [launch_count]: of launches with tracks of several kernels, else NULL */
  uint32_t (*graph_places)[3]; /* [launch_count]: ink_capture_graph_places */
  ink_launch_span *spans; /* [launch_count]; filled for the chosen ones */
  uint64_t chosen_tracks;
  size_t chosen_launches;
  uint32_t passes, passes_done; /* progress: how often the whole is decoded */
  int64_t begin_ns, end_ns;     /* over the chosen launches */
  size_t open_most;             /* of tracks that never closed, so many are told of; 0: all */
  int64_t zero_ns;              /* begin of the first chosen track, before the filter */
  int64_t unfiltered_end_ns;    /* end of the last one, and */
  uint64_t unfiltered_block;    /* the largest block of them */
  bool unfiltered_some;         /* there is a track; */
  bool some_passed;             /* of the records that were decoded */
  ink_sink sink;                /* behind the filter; of the track that is decoded: */
  bool passed_over, record_passes;
  int32_t device;
  uint32_t sm;
  bool without_marking;         /* what tables take out and slices tell of; by the options */
} ink_selection;

/* Reads the options (NULL: everything) and the spans. Free also after a failure. */
ink_status ink_selection_make(ink_selection *selection, const ink_capture *capture,
                              const ink_clock_map *map, const ink_output_options *options,
                              ink_error *error);
void ink_selection_free(ink_selection *selection);
bool ink_selection_has(const ink_selection *selection, size_t launch);
/* Whether that track is of it, and from when to when its body is: not before its begin, whatever a damaged one says. */
bool ink_selection_track(const ink_selection *selection, const ink_stored_track *track, int64_t *begin_ns,
                         int64_t *end_ns);

/* Decodes the chosen launches. The selection is the first member of the output's own state: it is
 * what the sink's callbacks get as `user`. The sink's progress is ours. */
ink_status ink_selection_decode(ink_selection *selection, const ink_sink *sink, ink_error *error);

/* A table for the selection's options. */
ink_status ink_selection_table(const ink_selection *selection, enum ink_group_by by, ink_table **out,
                               ink_error *error);

/* The device of that ordinal, or NULL. */
const ink_device_info *ink_selection_device(const ink_selection *selection, int32_t device);
const ink_clock_quality *ink_selection_quality(const ink_selection *selection, int32_t device);

/* "out" where the marks' own cost is asked to be taken out and some device has a measure of it, else "in". */
const char *ink_selection_marking(const ink_selection *selection);

bool ink_selection_simulated(const ink_selection *selection, int32_t device);

/* The name of a launch: its kernel's, or those of all whose tracks it has: "Producer + Consumer". */
const char *ink_selection_kernel(const ink_selection *selection, size_t launch);
const char *ink_selection_kernel_name(const ink_selection *selection, uint32_t kernel);
/* The section's name; "(unmarked)" for INK_SECTION_UNKNOWN. */
const char *ink_selection_section(const ink_selection *selection, ink_section_index section);

/* ---- the filter (selection_filter.c): what of the tracks and events is let through ---- */

/* Whether a track is let through at all, by its block and, where its time is known, by that. */
bool ink_filter_has_track(const ink_selection *selection, const ink_track *header, int64_t open_ns, int64_t close_ns);
/* An error that says what there is, where no track passes, or, once all is `decoded`, nothing of the iterations. */
ink_status ink_filter_check(const ink_selection *selection, bool decoded, ink_error *error);
/* Puts the filter between the decoder and `sink`, whose callbacks stay those of the selection; the result is the
 * sink for the decoder. */
ink_sink ink_filter_before(ink_selection *selection, const ink_sink *sink);

/* Damaged tracks have times anywhere; the difference wraps instead of being undefined. */
static inline int64_t ink_ns_between(int64_t from, int64_t to) {
  return (int64_t)((uint64_t)to - (uint64_t)from);
}

uint64_t ink_block_linear(const ink_track *header);

#endif
