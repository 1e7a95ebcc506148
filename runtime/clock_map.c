/* SPDX-License-Identifier: MIT */
/* From cycles of an SM to nanoseconds: a robust line per SM through the clock-globaltimer pairs of
 * its tracks' openings and closings, and one offset (with a drift) per device to the host's clock.
 * First version: one line per SM, so a clock rate that changed shows as a residual. */
#include "clock_map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  PAIRS_MAX = 4096,     /* kept for a line; beyond it every second one is dropped, again and again */
  SPAN_STEPS_MIN = 64,  /* a slope of its own needs pairs this many timer steps apart */
  STEP_MAX_NS = 2048,   /* no GPU's timer is coarser; few readings may make it seem so */
  READINGS_MAX = 65536  /* globaltimer readings looked at for the step */
};
#define DRIFT_SPAN_MIN_NS 1000000000.0 /* below a second the round trips hide any drift */

typedef struct clock_pair {
  uint64_t cycles, global_ns, width_cycles; /* the two clock reads around the timer's */
} clock_pair;

typedef struct sm_pairs {
  clock_pair *items;
  size_t count;
  uint64_t seen, stride;
} sm_pairs;

typedef struct device_pairs {
  sm_pairs *sms;
  uint32_t sm_count;
  uint64_t *readings;
  size_t reading_count, reading_room;
  double cycles_sum, ns_sum; /* over all tracks: the slope of last resort */
} device_pairs;

static ink_status no_memory(ink_error *error) {
  return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the clock map");
}

/* ---- gathering ----------------------------------------------------------------------------- */

static bool add_pair(device_pairs *device, uint32_t sm, clock_pair pair) {
  if (sm >= INK_SM_MAX)
    return true; /* no GPU has it: a damaged header */
  if (sm >= device->sm_count) {
    uint32_t count = sm + 1;
    sm_pairs *sms = realloc(device->sms, count * sizeof *sms);
    if (!sms)
      return false;
    memset(sms + device->sm_count, 0, (count - device->sm_count) * sizeof *sms);
    device->sms = sms;
    device->sm_count = count;
  }
  if (device->reading_count < READINGS_MAX) {
    if (device->reading_count == device->reading_room) {
      size_t room = device->reading_room ? device->reading_room * 2 : 256;
      uint64_t *readings = realloc(device->readings, room * sizeof *readings);
      if (!readings)
        return false;
      device->readings = readings;
      device->reading_room = room;
    }
    device->readings[device->reading_count++] = pair.global_ns;
  }
  sm_pairs *list = &device->sms[sm];
  if (!list->stride)
    list->stride = 1;
  if (list->seen++ % list->stride)
    return true;
  if (list->count == PAIRS_MAX) {
    for (size_t i = 0; i < PAIRS_MAX / 2; i++)
      list->items[i] = list->items[i * 2];
    list->count = PAIRS_MAX / 2;
    list->stride *= 2;
  }
  if (list->count % 64 == 0) {
    clock_pair *items = realloc(list->items, (list->count + 64) * sizeof *items);
    if (!items)
      return false;
    list->items = items;
  }
  list->items[list->count++] = pair;
  return true;
}

static bool add_track(device_pairs *device, const ink_track *track) {
  if (track->open_clock1 < track->open_clock0)
    return true;
  clock_pair open = {ink_clock_middle(track->open_clock0, track->open_clock1),
                     track->open_global_ns, track->open_clock1 - track->open_clock0};
  if (!add_pair(device, track->sm_open, open))
    return false;
  if (track->state != INK_TRACK_CLOSED || track->close_clock1 < track->close_clock0)
    return true;
  clock_pair close = {ink_clock_middle(track->close_clock0, track->close_clock1),
                      track->close_global_ns, track->close_clock1 - track->close_clock0};
  if (track->sm_close == track->sm_open && close.cycles > open.cycles &&
      close.global_ns > open.global_ns) {
    device->cycles_sum += (double)(close.cycles - open.cycles);
    device->ns_sum += (double)(close.global_ns - open.global_ns);
  }
  return add_pair(device, track->sm_close, close);
}

/* ---- fitting ------------------------------------------------------------------------------- */

static int compare_double(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return a < b ? -1 : a > b;
}

static int compare_u64(const void *left, const void *right) {
  uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return a < b ? -1 : a > b;
}

static int compare_pair(const void *left, const void *right) {
  const clock_pair *a = left, *b = right;
  if (a->cycles != b->cycles)
    return a->cycles < b->cycles ? -1 : 1;
  return a->global_ns < b->global_ns ? -1 : a->global_ns > b->global_ns;
}

static double median(double *values, size_t n) {
  qsort(values, n, sizeof *values, compare_double);
  return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static double signed_difference(uint64_t a, uint64_t b) {
  return a >= b ? (double)(a - b) : -(double)(b - a);
}

/* What all readings are apart by: the greatest common divisor of their differences, or, where the
 * timer does not step evenly and that is 1, the smallest difference. 0 when there are fewer than
 * three different readings. */
static uint32_t timer_step(uint64_t *readings, size_t n) {
  if (n)
    qsort(readings, n, sizeof *readings, compare_u64);
  uint64_t least = 0, common = 0, steps = 0;
  for (size_t i = 1; i < n; i++) {
    uint64_t step = readings[i] - readings[i - 1];
    steps += step != 0;
    if (step && (!least || step < least))
      least = step;
    for (uint64_t rest = step; rest;) { /* Euclid */
      uint64_t next = common % rest;
      common = rest;
      rest = next;
    }
  }
  uint64_t step = common > 1 ? common : least;
  return steps < 2 || step > UINT32_MAX ? 0 : (uint32_t)step;
}

/* Drops pairs whose two clock reads stand far apart: something came between them, so the timer's
 * reading belongs to no known cycle. */
static void drop_wide(sm_pairs *list, double *scratch) {
  if (list->count < 4)
    return;
  for (size_t i = 0; i < list->count; i++)
    scratch[i] = (double)list->items[i].width_cycles;
  double limit = median(scratch, list->count) * 4 + 64;
  size_t kept = 0;
  for (size_t i = 0; i < list->count; i++)
    if ((double)list->items[i].width_cycles <= limit)
      list->items[kept++] = list->items[i];
  list->count = kept;
}

/* The median of the slopes between each pair and the one half the list away (an incomplete
 * Theil-Sen estimate, Theil 1950): wild pairs, up to a quarter of all, do not move it. ns per
 * cycle, or 0 where the pairs are too few or too close. */
static double own_slope(const sm_pairs *list, double span_min_ns, double *scratch) {
  size_t half = list->count / 2, slopes = 0;
  if (list->count < 2)
    return 0;
  const clock_pair *first = &list->items[0], *last = &list->items[list->count - 1];
  if (signed_difference(last->global_ns, first->global_ns) < span_min_ns)
    return 0;
  for (size_t i = 0; i + half < list->count; i++) {
    const clock_pair *a = &list->items[i], *b = &list->items[i + half];
    if (b->cycles > a->cycles && signed_difference(b->global_ns, a->global_ns) >= span_min_ns / 2)
      scratch[slopes++] =
          (double)(b->global_ns - a->global_ns) / (double)(b->cycles - a->cycles);
  }
  if (!slopes && last->cycles > first->cycles)
    scratch[slopes++] =
        (double)(last->global_ns - first->global_ns) / (double)(last->cycles - first->cycles);
  return slopes ? median(scratch, slopes) : 0;
}

static double residual(const clock_pair *pair, const ink_sm_line *line) {
  return signed_difference(pair->global_ns, line->base_ns) -
         signed_difference(pair->cycles, line->base_cycles) * line->ns_per_cycle;
}

/* Sets the line's offset to the median of the pairs' and returns the largest distance from it. */
static double place_line(const sm_pairs *list, ink_sm_line *line, double *scratch) {
  const clock_pair *middle = &list->items[list->count / 2];
  line->base_cycles = middle->cycles;
  line->base_ns = middle->global_ns;
  for (size_t i = 0; i < list->count; i++)
    scratch[i] = residual(&list->items[i], line);
  line->offset_ns = median(scratch, list->count);
  double worst = 0;
  for (size_t i = 0; i < list->count; i++)
    worst = fmax(worst, fabs(residual(&list->items[i], line) - line->offset_ns));
  return worst;
}

/* Slopes of the SMs that have enough pairs for one, the device's from them, and their extremes. */
static void fit_slopes(device_pairs *pairs, ink_device_map *map, double *slopes, double *scratch) {
  ink_clock_quality *quality = &map->quality;
  bool plausible = quality->timer_step_ns && quality->timer_step_ns < STEP_MAX_NS;
  double span_min = SPAN_STEPS_MIN * (double)(plausible ? quality->timer_step_ns : STEP_MAX_NS);
  size_t known = 0;
  for (uint32_t i = 0; i < pairs->sm_count; i++) {
    sm_pairs *list = &pairs->sms[i];
    if (!list->count)
      continue;
    drop_wide(list, scratch);
    qsort(list->items, list->count, sizeof *list->items, compare_pair);
    map->sms[i].ns_per_cycle = own_slope(list, span_min, scratch);
    if (map->sms[i].ns_per_cycle > 0)
      slopes[known++] = map->sms[i].ns_per_cycle;
  }
  map->ns_per_cycle = known                    ? median(slopes, known)
                      : pairs->cycles_sum > 0 ? pairs->ns_sum / pairs->cycles_sum
                                              : 0;
  if (!known && map->ns_per_cycle > 0)
    slopes[known++] = map->ns_per_cycle;
  for (size_t i = 0; i < known; i++) {
    double hz = 1e9 / slopes[i];
    quality->slope_min_hz = i ? fmin(quality->slope_min_hz, hz) : hz;
    quality->slope_max_hz = fmax(quality->slope_max_hz, hz);
  }
  map->slope_known = map->ns_per_cycle > 0;
  if (!map->slope_known)
    map->ns_per_cycle = 1; /* the quality says so: no slope, no bound */
}

static ink_status fit_device(device_pairs *pairs, ink_device_map *map, ink_error *error) {
  double *scratch = malloc(PAIRS_MAX * sizeof *scratch);
  double *slopes = malloc((pairs->sm_count + 1) * sizeof *slopes);
  map->sms = calloc(pairs->sm_count + 1, sizeof *map->sms);
  map->sm_count = pairs->sm_count;
  ink_clock_quality *quality = &map->quality;
  ink_status status = scratch && slopes && map->sms ? INK_OK : no_memory(error);
  if (status == INK_OK) {
    quality->timer_step_ns = timer_step(pairs->readings, pairs->reading_count);
    fit_slopes(pairs, map, slopes, scratch);
  }
  for (uint32_t i = 0; i < pairs->sm_count && status == INK_OK; i++) {
    ink_sm_line *line = &map->sms[i];
    if (!pairs->sms[i].count)
      continue;
    quality->sms_seen++;
    line->seen = true;
    if (line->ns_per_cycle <= 0) {
      quality->sms_guessed++;
      line->ns_per_cycle = map->ns_per_cycle;
    }
    quality->residual_max_ns =
        fmax(quality->residual_max_ns, place_line(&pairs->sms[i], line, scratch));
  }
  free(scratch);
  free(slopes);
  return status;
}

/* ---- the host's clock ---------------------------------------------------------------------- */

static int64_t width_ns(const ink_host_clock *pair) {
  return (int64_t)((uint64_t)pair->realtime_after_ns - (uint64_t)pair->realtime_before_ns);
}

/* REALTIME - globaltimer, wrapping: the simulated device's epoch need not be the host's. */
static int64_t offset_of(const ink_host_clock *pair) {
  uint64_t middle = (uint64_t)pair->realtime_before_ns + (uint64_t)(width_ns(pair) / 2);
  return (int64_t)(middle - pair->global_ns);
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

/* The smallest round trip wins; of the first and of the last tenth of the time, where a real clock
 * was read over more than a second. */
static void fit_host(const ink_host_clock *pairs, size_t n, ink_device_map *map) {
  ink_clock_quality *quality = &map->quality;
  quality->host_drift_ppm = NAN;
  const ink_host_clock *only = best(pairs, n, quality->device, 0, UINT64_MAX);
  if (!only)
    return;
  quality->has_host = true;
  map->host_reference_ns = only->global_ns;
  map->host_offset_ns = quality->host_offset_ns = offset_of(only);
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
  map->host_reference_ns = a->global_ns;
  map->host_offset_ns = offset_of(a);
  map->host_drift = (double)(int64_t)((uint64_t)offset_of(b) - (uint64_t)offset_of(a)) /
                    (double)(b->global_ns - a->global_ns);
  quality->host_drift_ppm = map->host_drift * 1e6;
  quality->host_offset_ns = map->host_offset_ns;
  int64_t wider = width_ns(a) > width_ns(b) ? width_ns(a) : width_ns(b);
  quality->host_bound_ns = (wider + 1) / 2;
}

/* ---- making and asking --------------------------------------------------------------------- */

static void state_bound(ink_device_map *map) {
  ink_clock_quality *quality = &map->quality;
  double bound = quality->timer_step_ns / 2.0 + quality->residual_max_ns +
                 (quality->has_host ? (double)quality->host_bound_ns : 0);
  bool known = map->slope_known && quality->timer_step_ns && bound < 9e18;
  quality->bound_ns = known ? (int64_t)ceil(bound) : INT64_MAX;
}

static size_t device_place(const ink_clock_map *map, int32_t device) {
  for (size_t i = 0; i < map->device_count; i++)
    if (map->devices[i].quality.device == device)
      return i;
  return map->device_count;
}

static ink_status gather(const ink_capture *capture, ink_clock_map *map, device_pairs **pairs,
                         ink_error *error) {
  uint64_t n = ink_capture_track_count(capture);
  ink_walk walk = {0};
  for (uint64_t i = 0; i < n; i++) {
    ink_stored_track track;
    ink_capture_track(capture, i, &track);
    ink_walk_on(&walk, capture, track.ring_words + track.aux_words);
    size_t place = device_place(map, track.device);
    if (place == map->device_count) { /* a track of a device whose own chunk is lost */
      ink_device_map *devices = realloc(map->devices, (place + 1) * sizeof *devices);
      if (devices)
        map->devices = devices;
      device_pairs *more = realloc(*pairs, (place + 1) * sizeof *more);
      if (more)
        *pairs = more;
      if (!devices || !more)
        return no_memory(error);
      devices[place] = (ink_device_map){.quality = {.device = track.device}};
      more[place] = (device_pairs){0};
      map->device_count++;
    }
    if (!add_track(&(*pairs)[place], &track.header))
      return no_memory(error);
  }
  return INK_OK;
}

ink_status ink_clock_map_make(const ink_capture *capture, ink_clock_map **out, ink_error *error) {
  if (!capture || !out)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "no capture to map the clocks of");
  const ink_device_info *devices;
  const ink_host_clock *host;
  size_t n = ink_capture_devices(capture, &devices);
  size_t host_count = ink_capture_host_clocks(capture, &host);
  ink_status status = INK_OK;
  ink_clock_map *map = calloc(1, sizeof *map);
  device_pairs *pairs = calloc(n + 1, sizeof *pairs);
  if (map)
    map->devices = calloc(n + 1, sizeof *map->devices);
  if (!map || !pairs || !map->devices) {
    status = no_memory(error);
    goto cleanup;
  }
  map->device_count = n;
  for (size_t i = 0; i < n; i++)
    map->devices[i].quality =
        (ink_clock_quality){.device = devices[i].index, .simulated = devices[i].simulated};
  status = gather(capture, map, &pairs, error);
  for (size_t i = 0; i < map->device_count && status == INK_OK; i++) {
    status = fit_device(&pairs[i], &map->devices[i], error);
    fit_host(host, host_count, &map->devices[i]);
    state_bound(&map->devices[i]);
  }
  if (status == INK_OK) {
    map->qualities = calloc(map->device_count + 1, sizeof *map->qualities);
    if (!map->qualities)
      status = no_memory(error);
  }
  for (size_t i = 0; i < map->device_count && status == INK_OK; i++)
    map->qualities[i] = map->devices[i].quality;
cleanup:
  for (size_t i = 0; map && pairs && i < map->device_count; i++) {
    for (uint32_t sm = 0; sm < pairs[i].sm_count; sm++)
      free(pairs[i].sms[sm].items);
    free(pairs[i].sms);
    free(pairs[i].readings);
  }
  free(pairs);
  if (status == INK_OK)
    *out = map;
  else
    ink_clock_map_free(map);
  return status;
}

void ink_clock_map_free(ink_clock_map *map) {
  if (!map)
    return;
  for (size_t i = 0; map->devices && i < map->device_count; i++)
    free(map->devices[i].sms);
  free(map->devices);
  free(map->qualities);
  free(map);
}

ink_line ink_clock_map_line(const ink_clock_map *map, int32_t device, uint32_t sm) {
  size_t place = device_place(map, device);
  if (place == map->device_count)
    return (ink_line){.ns_per_cycle = 1};
  const ink_device_map *found = &map->devices[place];
  ink_line line = {.ns_per_cycle = found->ns_per_cycle, .drift = found->host_drift,
                   .host_offset_ns = found->host_offset_ns,
                   .host_reference_ns = found->host_reference_ns};
  if (sm < found->sm_count && found->sms[sm].seen)
    line.sm = found->sms[sm];
  else
    line.sm = (ink_sm_line){.ns_per_cycle = found->ns_per_cycle};
  line.ns_per_cycle = line.sm.ns_per_cycle;
  return line;
}

int64_t ink_clock_map_ns(const ink_clock_map *map, int32_t device, uint32_t sm, uint64_t cycles) {
  ink_line line = ink_clock_map_line(map, device, sm);
  return ink_line_ns(&line, cycles);
}

double ink_clock_map_duration_ns(const ink_clock_map *map, int32_t device, uint32_t sm,
                                 uint64_t cycles) {
  return (double)cycles * ink_clock_map_line(map, device, sm).ns_per_cycle;
}

size_t ink_clock_map_quality(const ink_clock_map *map, const ink_clock_quality **out) {
  *out = map->qualities;
  return map->device_count;
}

double ink_clock_map_sm_hz(const ink_clock_map *map, int32_t device, uint32_t sm) {
  return 1e9 / ink_clock_map_line(map, device, sm).ns_per_cycle;
}
