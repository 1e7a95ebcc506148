/* SPDX-License-Identifier: MIT */
/* Ties globaltimer to the host's clocks: an offset to CLOCK_REALTIME, over more than a second a drift,
 * and what CLOCK_MONOTONIC showed beside it. */
#include "clock_map.h"

#include <math.h>

#define DRIFT_SPAN_MIN_NS 1000000000.0 /* below a second the round trips hide any drift */

/* What CLOCK_REALTIME ran ahead of MONOTONIC by, at a pair; good to half of its width. */
static int64_t ahead_of(const ink_host_clock *pair) {
  return (int64_t)((uint64_t)pair->realtime_before_ns - (uint64_t)pair->monotonic_before_ns -
                   pair->monotonic_width_ns / 2);
}

/* The first pair of the device whose two host clocks are tied, or NULL. */
static const ink_host_clock *first_tied(const ink_host_clock *pairs, size_t n, int32_t device) {
  for (size_t i = 0; i < n; i++)
    if (pairs[i].device == device && pairs[i].monotonic_width_ns)
      return &pairs[i];
  return NULL;
}

/* By how much CLOCK_REALTIME was set between two tied pairs; 0 where it was not, as far as they say. */
static int64_t set_between(const ink_host_clock *from, const ink_host_clock *to) {
  if (!from || !to->monotonic_width_ns)
    return 0;
  int64_t change = (int64_t)((uint64_t)ahead_of(to) - (uint64_t)ahead_of(from));
  int64_t known = (int64_t)from->monotonic_width_ns / 2 + (int64_t)to->monotonic_width_ns / 2 + 2;
  return change > known || change < -known ? change : 0;
}

/* A pair as it would be had CLOCK_REALTIME not been set since the first one. */
static ink_host_clock as_at_start(const ink_host_clock *pair, const ink_host_clock *first) {
  ink_host_clock same = *pair;
  uint64_t set = (uint64_t)set_between(first, pair);
  same.realtime_before_ns = (int64_t)((uint64_t)same.realtime_before_ns - set);
  same.realtime_after_ns = (int64_t)((uint64_t)same.realtime_after_ns - set);
  return same;
}

static int64_t width_ns(const ink_host_clock *pair) {
  return (int64_t)((uint64_t)pair->realtime_after_ns - (uint64_t)pair->realtime_before_ns);
}

/* REALTIME - globaltimer, wrapping: the simulated device's epoch need not be the host's. The timer
 * stood half a step above its reading, on average. */
static int64_t offset_of(const ink_host_clock *pair, const ink_host_clock *first,
                         uint32_t step_ns) {
  ink_host_clock same = as_at_start(pair, first);
  uint64_t middle = (uint64_t)same.realtime_before_ns + (uint64_t)(width_ns(&same) / 2);
  return (int64_t)(middle - same.global_ns - step_ns / 2);
}

static const ink_host_clock *best(const ink_host_clock *pairs, size_t n, int32_t device,
                                  uint64_t from_ns, uint64_t to_ns) {
  const ink_host_clock *found = NULL;
  for (size_t i = 0; i < n; i++)
    if (pairs[i].device == device && pairs[i].global_ns >= from_ns &&
        pairs[i].global_ns <= to_ns && width_ns(&pairs[i]) >= 0 &&
        (!found || width_ns(&pairs[i]) < width_ns(found)))
      found = &pairs[i];
  return found;
}

static void fit_monotonic(const ink_host_clock *pairs, size_t n, const ink_host_clock *first,
                          ink_clock_quality *quality) {
  if (!first)
    return;
  quality->has_monotonic = true;
  quality->monotonic_offset_ns = (int64_t)(0 - (uint64_t)ahead_of(first));
  quality->monotonic_bound_ns = ((int64_t)first->monotonic_width_ns + 1) / 2;
  for (size_t i = 0; i < n; i++) { /* the newest change is what it came to in the end */
    if (pairs[i].device != quality->device || !pairs[i].monotonic_width_ns)
      continue;
    int64_t set = set_between(first, &pairs[i]);
    quality->realtime_set_ns = set;
  }
}

/* The smallest round trip wins; of the first and of the last tenth of the time, where a real clock
 * was read over more than a second. */
void ink_clock_fit_host(const ink_host_clock *pairs, size_t n, ink_device_map *map) {
  ink_clock_quality *quality = &map->quality;
  const uint32_t step_ns = quality->timer_step_ns;
  quality->host_drift_ppm = NAN;
  const ink_host_clock *only = best(pairs, n, quality->device, 0, UINT64_MAX);
  if (!only)
    return;
  const ink_host_clock *tied = first_tied(pairs, n, quality->device);
  fit_monotonic(pairs, n, tied, quality);
  quality->has_host = true;
  map->host_reference_ns = only->global_ns;
  map->host_offset_ns = quality->host_offset_ns = offset_of(only, tied, step_ns);
  quality->host_bound_ns = (width_ns(only) + 1) / 2;
  if (quality->simulated)
    return; /* simulated nanoseconds do not follow the host's */
  uint64_t first = UINT64_MAX, last = 0;
  for (size_t i = 0; i < n; i++)
    if (pairs[i].device == quality->device) {
      first = pairs[i].global_ns < first ? pairs[i].global_ns : first;
      last = pairs[i].global_ns > last ? pairs[i].global_ns : last;
    }
  uint64_t tenth = (last - first) / 10;
  const ink_host_clock *a = best(pairs, n, quality->device, first, first + tenth);
  const ink_host_clock *b = best(pairs, n, quality->device, last - tenth, last);
  if (!a || !b || (double)(b->global_ns - a->global_ns) < DRIFT_SPAN_MIN_NS)
    return;
  const int64_t offset_a = offset_of(a, tied, step_ns), offset_b = offset_of(b, tied, step_ns);
  map->host_reference_ns = a->global_ns;
  map->host_offset_ns = offset_a;
  map->host_drift = (double)(int64_t)((uint64_t)offset_b - (uint64_t)offset_a) /
                    (double)(b->global_ns - a->global_ns);
  quality->host_drift_ppm = map->host_drift * 1e6;
  quality->host_offset_ns = map->host_offset_ns;
  int64_t wider = width_ns(a) > width_ns(b) ? width_ns(a) : width_ns(b);
  quality->host_bound_ns = (wider + 1) / 2;
}
