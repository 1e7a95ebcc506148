/* SPDX-License-Identifier: MIT */
/* Where the launches of a capture belong in another profiler's trace, and which of their tracks are
 * shown: decided once, before anything is written, for every form of the merged trace. */
#ifndef INK_PLACEMENT_H
#define INK_PLACEMENT_H

#include "inkmark/merged.h"
#include "output/selection.h"

#include <stdarg.h>

typedef struct placed_launch {
  size_t kernel; /* of the other file; SIZE_MAX: none */
  enum ink_join_method method;
  double confidence;
  bool uncertain; /* as ink_joined has it */
  int64_t residual_ns;
  const ink_join_clock *clock; /* ours to theirs; NULL: the times stay as they are */
  bool placed;                 /* false: not chosen, without tracks, or no way to know the time */
  int64_t begin_ns, end_ns;    /* in the other file's time */
  int64_t early_ns, late_ns;   /* by how much it sticks out of its kernel; 0: not at all */
  uint64_t shown;              /* tracks */
} placed_launch;

typedef struct placement {
  ink_selection selection;
  ink_merged_options options;
  const char *with;
  const char *label;          /* the capture's file, where there are several; else NULL */
  char who[160];              /* what its tracks are called by then; else "" */
  const ink_foreign *foreign; /* borrowed; NULL: there is no other file */
  ink_join *join;
  const ink_foreign_kernel *kernels;
  size_t kernel_count;
  const ink_foreign_facts *facts;
  int64_t process;         /* of theirs, whose kernels were joined; 0: they are of one */
  placed_launch *launches; /* [launch_count] */
  uint32_t *order; /* [tracks of the capture]: place among the shown ones of its launch by SM,
                      block and thread; UINT32_MAX: not shown */
  int64_t gap_ns;  /* between all launches and all kernels in Unix time; 0: they overlap */
  size_t chosen, joined, uncertain, unplaced, outside, too_early;
  uint64_t tracks, shown;
  bool sections_of_sms; /* counters of the sections of each SM are wanted */
} placement;

/* Decides; label and who are the caller's to set before, `foreign` (NULL: none) is what was read of
 * the file `with`. Free also after a failure. No launch joined is an error; what the person should
 * know goes to options->remark. */
ink_status placement_make(placement *place, const ink_capture *capture, const ink_clock_map *map,
                          const char *with, const ink_foreign *foreign,
                          const ink_merged_options *options, ink_error *error);
/* A launch is not that kernel after all. */
void placement_unjoin(placement *place, size_t launch);
void placement_free(placement *place);

/* Some kernel on what is our device there; SIZE_MAX: none. */
size_t placement_any_kernel(const placement *place, int32_t device);
/* A moment of ours in the other file's time. */
int64_t placement_ns(const placement *place, size_t launch, int64_t ns);
/* The other file's first moment that viewers show. */
int64_t placement_zero_ns(const placement *place);
/* How far such a moment may be from the truth; INT64_MAX: not known. */
int64_t placement_bound_ns(const placement *place, size_t launch);
/* What the slice of an uncertain launch says. */
#define PLACEMENT_UNCERTAIN "another kernel there, or another launch here, fits as well"
/* What its slice is called: its kernel's name, and by how much it is outside of the kernel where nothing of it lies
 * inside, so that it does not look as if it belonged where it is drawn. */
enum { PLACEMENT_NAME_BYTES = 512 };
const char *placement_launch_name(const placement *place, size_t launch, char text[PLACEMENT_NAME_BYTES]);
/* "name", "dimensions", ...; "" for none. */
const char *placement_method(enum ink_join_method method);

__attribute__((format(printf, 2, 3))) void placement_say(const placement *place, const char *format,
                                                         ...);

/* placement_join.c: fills join and process. */
ink_status placement_join(placement *place, ink_error *error);
/* placement_tracks.c: fills order, shown. */
ink_status placement_choose_tracks(placement *place, ink_error *error);
/* placement_apart.c: clocks that are farther apart than those of one host: warns of another run, or
 * refuses. */
ink_status placement_check_apart(const placement *place, ink_error *error);
/* placement_say.c: why nothing could be joined, as an error; else what was joined, as remarks. */
ink_status placement_refuse(const placement *place, ink_error *error);
void placement_tell(const placement *place);

#endif
