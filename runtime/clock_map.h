/* SPDX-License-Identifier: MIT */
/* The inside of a clock map, and the line of one SM that the decoder converts a whole track with. */
#ifndef INKMARK_CLOCK_MAP_H
#define INKMARK_CLOCK_MAP_H

#include "capture_private.h"

#include <math.h>

enum { INK_SM_MAX = 4096 }; /* an SM index beyond it is damage; the largest GPUs have under 256 */

/* ns = base_ns + offset_ns + (cycles - base_cycles) * ns_per_cycle, in globaltimer's ns. */
typedef struct ink_sm_line {
  uint64_t base_cycles, base_ns;
  double offset_ns, ns_per_cycle;
  bool seen;
} ink_sm_line;

typedef struct ink_device_map {
  ink_clock_quality quality;
  ink_sm_line *sms;
  uint32_t sm_count;
  bool slope_known;
  double ns_per_cycle;        /* the median SM's */
  uint64_t host_reference_ns; /* globaltimer */
  int64_t host_offset_ns;     /* REALTIME - globaltimer at the reference */
  double host_drift;          /* ns per ns */
} ink_device_map;

struct ink_clock_map {
  ink_device_map *devices;
  size_t device_count;
  ink_clock_quality *qualities;
};

/* All that is needed to convert the cycles of one SM. */
typedef struct ink_line {
  ink_sm_line sm;
  double ns_per_cycle, drift;
  int64_t host_offset_ns;
  uint64_t host_reference_ns;
} ink_line;

ink_line ink_clock_map_line(const ink_clock_map *map, int32_t device, uint32_t sm);

static inline uint64_t ink_clock_middle(uint64_t before, uint64_t after) {
  return before + (after - before) / 2;
}

/* Rounds to the nearest; differences are taken as integers, so that nothing of Unix time is lost.
 * A damaged capture may put anything here: what does not fit is cut to the range. */
static inline int64_t ink_line_ns(const ink_line *line, uint64_t cycles) {
  double ns = (double)(int64_t)(cycles - line->sm.base_cycles) * line->ns_per_cycle +
              line->sm.offset_ns;
  double since = (double)(int64_t)(line->sm.base_ns - line->host_reference_ns) + ns;
  double moved = ns + since * line->drift;
  if (!(moved > -9e18 && moved < 9e18))
    moved = moved > 0 ? 9e18 : -9e18;
  return (int64_t)(line->sm.base_ns + (uint64_t)line->host_offset_ns +
                   (uint64_t)(int64_t)floor(moved + 0.5));
}

#endif
