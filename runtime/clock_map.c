/* SPDX-License-Identifier: MIT */
/* From cycles of an SM to nanoseconds: lines per SM through the clock-globaltimer readings of its
 * tracks (clock_fit.c), and one offset (with a drift) per device to the host's clock. */
#include "clock_map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  PAIRS_MAX = 4096,     /* kept for a line; beyond it every second one is dropped, again and again */
  STEP_MAX_NS = 2048,   /* what is taken where there are too few readings to see the step */
  LONG_TRACK_NS = 200000, /* in shorter ones no one looks for clock triples */
  READINGS_MAX = 65536  /* globaltimer readings looked at for the step */
};
#define DRIFT_SPAN_MIN_NS 1000000000.0 /* below a second the round trips hide any drift */
/* No clock is slower or faster: ns per cycle. */
#define SLOPE_MIN 0.01
#define SLOPE_MAX 1000.0
#define SLOPE_KNOWN 0.02 /* a slope that is known to this part is an SM's own */

typedef ink_clock_pair clock_pair;

typedef struct sm_pairs {
  clock_pair *items;
  size_t count;
  uint64_t seen, stride, low_cycles, high_cycles;
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
  if (!list->stride) {
    list->stride = 1;
    list->low_cycles = UINT64_MAX;
  }
  if (pair.cycles0 < list->low_cycles)
    list->low_cycles = pair.cycles0;
  if (pair.cycles1 > list->high_cycles)
    list->high_cycles = pair.cycles1;
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

/* The clock triples of a ring: found by their last word, whose lower 48 bits are 0, and believed
 * where every word of theirs agrees. */
static bool add_triples(device_pairs *device, const ink_track *track, const uint64_t *words,
                        uint64_t n) {
  for (uint64_t i = 4; i < n; i++) {
    if (words[i] & INK_CLOCK_MASK)
      continue;
    uint64_t before = words[i - 4], after = words[i - 3];
    if (words[i] != INK_ESCAPE_WORD(INK_ESCAPE_CLOCKS, 0, after) ||
        words[i - 1] != INK_HEAD(INK_KIND_INSTANT, 0, after) || before > after ||
        before < track->open_clock0 || after > track->close_clock1)
      continue;
    if (!add_pair(device, track->sm_open,
                  (clock_pair){.cycles0 = before, .cycles1 = after, .global_ns = words[i - 2]}))
      return false;
  }
  return true;
}

static bool add_track(device_pairs *device, const ink_stored_track *stored) {
  const ink_track *track = &stored->header;
  if (track->open_clock1 < track->open_clock0)
    return true;
  clock_pair open = {.cycles0 = track->open_clock0, .cycles1 = track->open_clock1,
                     .global_ns = track->open_global_ns, .opens = 1};
  if (!add_pair(device, track->sm_open, open))
    return false;
  if (track->state != INK_TRACK_CLOSED || track->close_clock1 < track->close_clock0)
    return true;
  clock_pair close = {.cycles0 = track->close_clock0, .cycles1 = track->close_clock1,
                      .global_ns = track->close_global_ns,
                      .opens = track->sm_close == track->sm_open ? -1 : 0};
  if (track->sm_close == track->sm_open && close.cycles0 > open.cycles0 &&
      close.global_ns > open.global_ns) {
    device->cycles_sum += (double)(close.cycles0 - open.cycles0);
    device->ns_sum += (double)(close.global_ns - open.global_ns);
    if (close.global_ns - open.global_ns >= LONG_TRACK_NS &&
        (!add_triples(device, track, stored->ring, stored->ring_words) ||
         !add_triples(device, track, stored->aux, stored->aux_words)))
      return false;
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
  if (a->cycles0 != b->cycles0)
    return a->cycles0 < b->cycles0 ? -1 : 1;
  return a->global_ns < b->global_ns ? -1 : a->global_ns > b->global_ns;
}

static double median(double *values, size_t n) {
  qsort(values, n, sizeof *values, compare_double);
  return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* What all readings are apart by: the greatest common divisor of their differences. `least`: the
 * smallest difference, which is how a timer that does not step evenly looks. Both 0 when there are
 * fewer than three different readings. */
static uint32_t timer_step(uint64_t *readings, size_t n, uint32_t *smallest) {
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
  *smallest = steps < 2 || least > UINT32_MAX ? 0 : (uint32_t)least;
  return steps < 2 || common > UINT32_MAX ? 0 : (uint32_t)common;
}

static void forget_fit(ink_device_map *map) {
  for (uint32_t i = 0; i < map->sm_count; i++) {
    free(map->sms[i].fit.pieces);
    map->sms[i].fit = (ink_clock_fit){0};
  }
}

/* How wrong the limits look: pieces and outliers beyond one piece an SM. */
static bool fit_sms(const device_pairs *pairs, ink_device_map *map, const ink_clock_limits *limits,
                    size_t *extra, size_t *readings) {
  forget_fit(map);
  *extra = *readings = 0;
  for (uint32_t i = 0; i < pairs->sm_count; i++) {
    const sm_pairs *list = &pairs->sms[i];
    ink_sm_clock *sm = &map->sms[i];
    if (!list->count)
      continue;
    if (!ink_clock_fit_pieces(list->items, list->count, limits, &sm->fit))
      return false;
    sm->seen = true;
    sm->low_cycles = list->low_cycles;
    sm->high_cycles = list->high_cycles;
    *extra += sm->fit.count - 1 + sm->fit.outliers;
    *readings += list->count;
  }
  return true;
}

/* The narrowest limits under which few readings contradict the rest: an even timer first, then one
 * whose steps differ, then clocks that were not read in the order of the program. */
static bool fit_best(const device_pairs *pairs, ink_device_map *map, uint32_t step, uint32_t least,
                     ink_clock_limits *limits) {
  static const uint16_t slacks_ns[] = {0, 0, 32, 128, 512, 2048};
  for (size_t i = 0; i < sizeof slacks_ns / sizeof *slacks_ns; i++) {
    size_t extra, readings;
    if (i == 1 && least == step)
      continue;
    *limits = (ink_clock_limits){.period_ns = i ? least : step, .slack_ns = slacks_ns[i],
                                 .slope_min = SLOPE_MIN, .slope_max = SLOPE_MAX};
    if (!fit_sms(pairs, map, limits, &extra, &readings))
      return false;
    if (extra <= 8 + readings / 16)
      return true;
  }
  return true;
}

static bool slope_is_own(const ink_clock_piece *piece) {
  return piece->slope_max - piece->slope_min < 2 * SLOPE_KNOWN * piece->ns_per_cycle;
}

static bool sm_has_slope(const ink_sm_clock *sm) {
  for (size_t i = 0; i < sm->fit.count; i++)
    if (slope_is_own(&sm->fit.pieces[i]))
      return true;
  return false;
}

/* The device's slope, and between which slopes SMs without one of their own may lie. */
static void take_slopes(const device_pairs *pairs, ink_device_map *map, double *slopes,
                        ink_clock_limits *limits) {
  ink_clock_quality *quality = &map->quality;
  size_t known = 0;
  double low = INFINITY, high = 0;
  for (uint32_t i = 0; i < map->sm_count; i++) {
    const ink_clock_fit *fit = &map->sms[i].fit;
    double longest = 0;
    for (size_t k = 0; k < fit->count; k++) {
      const ink_clock_piece *piece = &fit->pieces[k];
      if (!slope_is_own(piece))
        continue;
      double hz = 1e9 / piece->ns_per_cycle;
      double half = (piece->slope_max - piece->slope_min) / 2 / piece->ns_per_cycle * 1e6;
      quality->slope_min_hz = quality->slope_max_hz > 0 ? fmin(quality->slope_min_hz, hz) : hz;
      quality->slope_max_hz = fmax(quality->slope_max_hz, hz);
      quality->slope_bound_ppm = fmax(quality->slope_bound_ppm, half);
      low = fmin(low, piece->ns_per_cycle);
      high = fmax(high, piece->ns_per_cycle);
      double span = (double)(piece->last_cycles - piece->first_cycles);
      if (span > longest) {
        known += longest <= 0;
        slopes[known - 1] = piece->ns_per_cycle;
        longest = span;
      }
    }
  }
  if (known) {
    map->ns_per_cycle = median(slopes, known);
    limits->slope_min = low * 0.999; /* SMs of one device run alike, as a rule */
    limits->slope_max = high * 1.001;
  } else if (pairs->cycles_sum > 0) {
    map->ns_per_cycle = pairs->ns_sum / pairs->cycles_sum;
    quality->slope_min_hz = quality->slope_max_hz = 1e9 / map->ns_per_cycle;
  }
  map->slope_known = map->ns_per_cycle > 0;
  if (!map->slope_known)
    map->ns_per_cycle = 1; /* the quality says so: no slope, no bound */
}

/* Gives an SM that saw too little the slopes of the others. */
static bool guess_slope(const sm_pairs *list, ink_device_map *map, ink_sm_clock *sm,
                        const ink_clock_limits *limits) {
  ink_clock_fit again = {0};
  if (limits->slope_min > SLOPE_MIN) {
    bool fine = ink_clock_fit_pieces(list->items, list->count, limits, &again);
    free(sm->fit.pieces);
    sm->fit = again;
    return fine;
  }
  for (size_t i = 0; i < sm->fit.count; i++)
    sm->fit.pieces[i].ns_per_cycle = map->ns_per_cycle;
  return true;
}

/* How far the readings lie outside of the line: nothing, where it is inside of all. */
static double residual(const clock_pair *pair, const ink_sm_clock *sm, double period_ns) {
  const ink_clock_fit *fit = &sm->fit;
  const ink_clock_piece *piece =
      &fit->pieces[ink_clock_piece_at(fit->pieces, fit->count, pair->cycles0)];
  double read = (double)(int64_t)(pair->global_ns - piece->base_ns);
  double before = ink_clock_piece_ns(piece, pair->cycles0) - read - (pair->edge ? 0 : period_ns);
  double after = read - ink_clock_piece_ns(piece, pair->cycles1 + 1);
  return fmax(0, fmax(before, after));
}

/* Whether a track was open at a moment between readings, so that there may be stamps. */
static bool is_recorded(const sm_pairs *list, uint64_t cycles) {
  int64_t open = 0;
  for (size_t i = 0; i < list->count && list->items[i].cycles0 <= cycles; i++)
    open += list->items[i].opens;
  return open > 0 || list->stride > 1; /* some readings were left out: who knows */
}

/* The bound of an SM: where its lines begin, end and take over from one another. */
static double sm_bound(const sm_pairs *list, const ink_sm_clock *sm) {
  const ink_clock_fit *fit = &sm->fit;
  double bound = fmax(ink_clock_piece_bound(fit->pieces, fit->count, sm->low_cycles),
                      ink_clock_piece_bound(fit->pieces, fit->count, sm->high_cycles));
  for (size_t i = 1; i < fit->count; i++) {
    uint64_t from = fit->pieces[i].from_cycles;
    const uint64_t at[] = {fit->pieces[i - 1].last_cycles, fit->pieces[i].first_cycles, from,
                           from - 1};
    for (size_t k = 0; k < (is_recorded(list, from) ? 4u : 2u); k++)
      bound = fmax(bound, ink_clock_piece_bound(fit->pieces, fit->count, at[k]));
  }
  return bound;
}

static void judge_sm(const sm_pairs *list, ink_device_map *map, uint32_t index, double period_ns) {
  ink_clock_quality *quality = &map->quality;
  const ink_sm_clock *sm = &map->sms[index];
  quality->sms_changed += sm->fit.count > 1;
  quality->outliers += (uint32_t)sm->fit.outliers;
  quality->readings += (uint32_t)list->count;
  quality->sm_bound_ns = fmax(quality->sm_bound_ns, sm_bound(list, sm));
  for (size_t i = 0; i < list->count; i++)
    quality->residual_max_ns =
        fmax(quality->residual_max_ns, residual(&list->items[i], sm, period_ns));
  if (sm->fit.went_back_ns) {
    if (!quality->sms_refused++)
      quality->refused_sm = index;
    if (sm->fit.went_back_ns > quality->went_back_ns)
      quality->went_back_ns = sm->fit.went_back_ns;
  }
}

static ink_status fit_device(device_pairs *pairs, ink_device_map *map, ink_error *error) {
  double *slopes = malloc((pairs->sm_count + 1) * sizeof *slopes);
  map->sms = calloc(pairs->sm_count + 1, sizeof *map->sms);
  map->sm_count = map->sms ? pairs->sm_count : 0;
  ink_clock_quality *quality = &map->quality;
  bool fine = slopes && map->sms;
  ink_clock_limits limits = {0};
  for (uint32_t i = 0; i < pairs->sm_count; i++)
    if (pairs->sms[i].count)
      qsort(pairs->sms[i].items, pairs->sms[i].count, sizeof(clock_pair), compare_pair);
  uint32_t least, step = timer_step(pairs->readings, pairs->reading_count, &least);
  if (fine)
    fine = fit_best(pairs, map, step ? step : STEP_MAX_NS, least ? least : STEP_MAX_NS, &limits);
  if (fine)
    take_slopes(pairs, map, slopes, &limits);
  quality->timer_step_ns = step ? (uint32_t)limits.period_ns : 0;
  quality->slack_ns = (uint32_t)limits.slack_ns;
  for (uint32_t i = 0; i < map->sm_count && fine; i++) {
    if (!pairs->sms[i].count)
      continue;
    quality->sms_seen++;
    if (!sm_has_slope(&map->sms[i])) {
      quality->sms_guessed++;
      fine = guess_slope(&pairs->sms[i], map, &map->sms[i], &limits);
    }
    if (fine)
      judge_sm(&pairs->sms[i], map, i, limits.period_ns);
  }
  free(slopes);
  return fine ? INK_OK : no_memory(error);
}

/* ---- the host's clock ---------------------------------------------------------------------- */

static int64_t width_ns(const ink_host_clock *pair) {
  return (int64_t)((uint64_t)pair->realtime_after_ns - (uint64_t)pair->realtime_before_ns);
}

/* REALTIME - globaltimer, wrapping: the simulated device's epoch need not be the host's. The timer
 * stood half a step above its reading, on average. */
static int64_t offset_of(const ink_host_clock *pair, uint32_t step_ns) {
  uint64_t middle = (uint64_t)pair->realtime_before_ns + (uint64_t)(width_ns(pair) / 2);
  return (int64_t)(middle - pair->global_ns - step_ns / 2);
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
  map->host_offset_ns = quality->host_offset_ns = offset_of(only, quality->timer_step_ns);
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
  map->host_offset_ns = offset_of(a, quality->timer_step_ns);
  map->host_drift = (double)(int64_t)((uint64_t)offset_of(b, quality->timer_step_ns) - (uint64_t)offset_of(a, quality->timer_step_ns)) /
                    (double)(b->global_ns - a->global_ns);
  quality->host_drift_ppm = map->host_drift * 1e6;
  quality->host_offset_ns = map->host_offset_ns;
  int64_t wider = width_ns(a) > width_ns(b) ? width_ns(a) : width_ns(b);
  quality->host_bound_ns = (wider + 1) / 2;
}

/* ---- making and asking --------------------------------------------------------------------- */

static void state_bound(ink_device_map *map) {
  ink_clock_quality *quality = &map->quality;
  double host = quality->has_host
                    ? (double)quality->host_bound_ns + quality->timer_step_ns / 2.0
                    : 0;
  double bound = quality->sm_bound_ns + host + 1; /* 1: an ns is a whole number */
  bool known = map->slope_known && quality->timer_step_ns && quality->slope_bound_ppm > 0 &&
               !quality->sms_refused && bound < 9e18;
  quality->bound_ns = known ? (int64_t)ceil(bound) : INT64_MAX;
  if (!known)
    quality->sm_bound_ns = INFINITY;
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
    if (!add_track(&(*pairs)[place], &track))
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
  for (size_t i = 0; map->devices && i < map->device_count; i++) {
    forget_fit(&map->devices[i]);
    free(map->devices[i].sms);
  }
  free(map->devices);
  free(map->qualities);
  free(map);
}

static const ink_sm_clock *find_sm(const ink_clock_map *map, int32_t device, uint32_t sm) {
  size_t place = device_place(map, device);
  if (place == map->device_count || sm >= map->devices[place].sm_count)
    return NULL;
  const ink_sm_clock *found = &map->devices[place].sms[sm];
  return found->fit.count ? found : NULL;
}

ink_line ink_clock_map_line(const ink_clock_map *map, int32_t device, uint32_t sm, uint64_t from,
                            uint64_t to) {
  size_t place = device_place(map, device);
  if (place == map->device_count)
    return (ink_line){.now = {.ns_per_cycle = 1}, .ns_per_cycle = 1};
  const ink_device_map *found = &map->devices[place];
  const ink_sm_clock *clock = find_sm(map, device, sm);
  ink_line line = {.now = {.ns_per_cycle = found->ns_per_cycle},
                   .ns_per_cycle = found->ns_per_cycle, .drift = found->host_drift,
                   .host_offset_ns = found->host_offset_ns,
                   .host_reference_ns = found->host_reference_ns, .until_cycles = UINT64_MAX};
  if (!clock)
    return line;
  line.pieces = clock->fit.pieces;
  line.piece_count = clock->fit.count;
  size_t i = ink_clock_piece_at(line.pieces, line.piece_count, from);
  line.now = line.pieces[i];
  line.from_cycles = i ? line.now.from_cycles : 0;
  if (i + 1 < line.piece_count)
    line.until_cycles = line.pieces[i + 1].from_cycles;
  line.ns_per_cycle = line.now.ns_per_cycle;
  if (to > from && to >= line.until_cycles) { /* the rate changed on the way */
    const ink_clock_piece *last =
        &line.pieces[ink_clock_piece_at(line.pieces, line.piece_count, to)];
    double ns = (double)(int64_t)(last->base_ns - line.now.base_ns) +
                ink_clock_piece_ns(last, to) - ink_clock_piece_ns(&line.now, from);
    line.ns_per_cycle = ns / (double)(to - from);
  }
  return line;
}

int64_t ink_clock_map_ns(const ink_clock_map *map, int32_t device, uint32_t sm, uint64_t cycles) {
  ink_line line = ink_clock_map_line(map, device, sm, cycles, cycles);
  return ink_line_ns(&line, cycles);
}

double ink_clock_map_bound_ns(const ink_clock_map *map, int32_t device, uint32_t sm,
                              uint64_t cycles) {
  size_t place = device_place(map, device);
  const ink_sm_clock *clock = find_sm(map, device, sm);
  if (!clock || map->devices[place].quality.bound_ns == INT64_MAX)
    return INFINITY;
  return ink_clock_piece_bound(clock->fit.pieces, clock->fit.count, cycles) + 1;
}

double ink_clock_map_duration_ns(const ink_clock_map *map, int32_t device, uint32_t sm,
                                 uint64_t cycles) {
  const ink_sm_clock *clock = find_sm(map, device, sm);
  uint64_t at = clock ? clock->low_cycles : 0;
  return (double)cycles * ink_clock_map_line(map, device, sm, at, at).ns_per_cycle;
}

double ink_clock_map_duration_bound_ns(const ink_clock_map *map, int32_t device, uint32_t sm,
                                       uint64_t from_cycles, uint64_t to_cycles) {
  size_t place = device_place(map, device);
  const ink_sm_clock *clock = find_sm(map, device, sm);
  if (!clock || map->devices[place].quality.bound_ns == INT64_MAX)
    return INFINITY;
  return ink_clock_span_bound(clock->fit.pieces, clock->fit.count, from_cycles, to_cycles);
}

size_t ink_clock_map_quality(const ink_clock_map *map, const ink_clock_quality **out) {
  *out = map->qualities;
  return map->device_count;
}

double ink_clock_map_sm_hz(const ink_clock_map *map, int32_t device, uint32_t sm) {
  const ink_sm_clock *clock = find_sm(map, device, sm);
  double slope = ink_clock_map_line(map, device, sm, 0, 0).ns_per_cycle, longest = -1;
  for (size_t i = 0; clock && i < clock->fit.count; i++) {
    const ink_clock_piece *piece = &clock->fit.pieces[i];
    double span = (double)(int64_t)(piece->last_cycles - piece->first_cycles);
    if (span > longest) {
      longest = span;
      slope = piece->ns_per_cycle;
    }
  }
  return 1e9 / slope;
}
