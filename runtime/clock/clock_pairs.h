/* SPDX-License-Identifier: MIT */
/* The readings of every SM of a device, as a capture has them: those of its tracks, clock triples in
 * their rings, and edges that a kernel of the session caught. */
#ifndef INKMARK_CLOCK_PAIRS_H
#define INKMARK_CLOCK_PAIRS_H

#include "capture/capture_private.h"
#include "clock_fit.h"

enum { INK_SM_MAX = 4096 }; /* an SM index beyond it is damage; the largest GPUs have under 256 */

/* At most so many are kept; beyond it every second one is dropped, again and again. */
enum { INK_PAIRS_MAX = 4096 };
typedef struct ink_thinned {
  ink_clock_pair *items;
  size_t count;
  uint64_t seen, stride;
} ink_thinned;

typedef struct ink_sm_pairs {
  ink_thinned tracks, edges;
  ink_clock_pair *items; /* of both, by cycles0; once they are sorted */
  size_t count;
  uint64_t low_cycles, high_cycles; /* the tracks' readings lie between */
} ink_sm_pairs;

typedef struct ink_device_pairs {
  ink_sm_pairs *sms;
  uint32_t sm_count;
  uint64_t *readings;        /* of globaltimer, some of them, to see its step in */
  size_t reading_count, reading_room;
  double cycles_sum, ns_sum; /* over all tracks: the slope of last resort */
  uint32_t calibrations;     /* times that edges were caught */
} ink_device_pairs;

/* False: out of memory. */
bool ink_pairs_add_track(ink_device_pairs *device, const ink_stored_track *track);
bool ink_pairs_add_edges(ink_device_pairs *device, const ink_clock_edges *edges);
bool ink_pairs_sort(ink_device_pairs *device);
void ink_pairs_free(ink_device_pairs *device);

/* What all readings are apart by: the greatest common divisor of their differences. `least`: the
 * smallest difference, which is how a timer that does not step evenly looks. Both 0 when there are
 * fewer than three different readings. */
uint32_t ink_pairs_step(ink_device_pairs *device, uint32_t *least);

/* Whether a track was open at a moment between readings, so that there may be stamps. */
bool ink_pairs_recorded(const ink_sm_pairs *list, uint64_t cycles);
/* Whether any reading in a range is a track's. */
bool ink_pairs_tracks_in(const ink_sm_pairs *list, uint64_t from_cycles, uint64_t to_cycles);

#endif
