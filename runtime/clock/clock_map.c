/* SPDX-License-Identifier: MIT */
/* From cycles of an SM to nanoseconds: lines per SM (clock_fit.c) through the clock-globaltimer readings
 * of its tracks and its edges (clock_pairs.c), and one offset per device to the host's clock. */
#include "clock_map.h"
#include "quantile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEP_MAX_NS = 2048 }; /* what is taken where there are too few readings to see the step */
/* No clock is slower or faster: ns per cycle. */
#define SLOPE_MIN 0.01
#define SLOPE_MAX 1000.0
#define SLOPE_KNOWN 0.02 /* a slope that is known to this part is an SM's own */

static ink_status no_memory(ink_error *error) {
  return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the clock map");
}

/* ---- fitting ------------------------------------------------------------------------------- */

static void forget_fit(ink_device_map *map) {
  for (uint32_t i = 0; i < map->sm_count; i++) {
    free(map->sms[i].fit.pieces);
    map->sms[i].fit = (ink_clock_fit){0};
  }
}

/* How wrong the limits look: pieces and outliers beyond one piece an SM. */
static bool fit_sms(const ink_device_pairs *pairs, ink_device_map *map, const ink_clock_limits *limits,
                    size_t *extra, size_t *readings) {
  forget_fit(map);
  *extra = *readings = 0;
  for (uint32_t i = 0; i < pairs->sm_count; i++) {
    const ink_sm_pairs *list = &pairs->sms[i];
    ink_sm_clock *sm = &map->sms[i];
    if (!list->count)
      continue;
    if (!ink_clock_fit_pieces(list->items, list->count, limits, &sm->fit))
      return false;
    sm->seen = list->tracks.count != 0;
    sm->low_cycles = list->low_cycles;
    sm->high_cycles = list->high_cycles;
    *extra += sm->fit.count - 1 + sm->fit.outliers;
    *readings += list->count;
  }
  return true;
}

/* The narrowest limits under which few readings contradict the rest: an even timer first, then one
 * whose steps differ, then clocks that were not read in the order of the program. */
static bool fit_best(const ink_device_pairs *pairs, ink_device_map *map, uint32_t step, uint32_t least,
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

static bool is_used(const ink_sm_pairs *list, const ink_clock_piece *piece) {
  return ink_pairs_tracks_in(list, piece->first_cycles, piece->last_cycles);
}

/* Of an SM without tracks, any slope will do. */
static bool sm_has_slope(const ink_sm_pairs *list, const ink_sm_clock *sm) {
  for (size_t i = 0; i < sm->fit.count; i++)
    if (slope_is_own(&sm->fit.pieces[i]) && (!sm->seen || is_used(list, &sm->fit.pieces[i])))
      return true;
  return false;
}

/* The device's slope, and between which slopes SMs without one of their own may lie. Where the clock ran
 * at another rate while edges were caught, before the first track or after the last one, no time is
 * converted at it. */
static void take_slopes(const ink_device_pairs *pairs, ink_device_map *map, double *slopes,
                        ink_clock_limits *limits) {
  ink_clock_quality *quality = &map->quality;
  size_t known = 0;
  double low = INFINITY, high = 0;
  for (uint32_t i = 0; i < map->sm_count; i++) {
    const ink_clock_fit *fit = &map->sms[i].fit;
    double longest = 0;
    for (size_t k = 0; k < fit->count; k++) {
      const ink_clock_piece *piece = &fit->pieces[k];
      if (!slope_is_own(piece) || !is_used(&pairs->sms[i], piece))
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
    map->ns_per_cycle = ink_median(slopes, known);
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

/* The lines of an SM's tracks alone, under narrower limits. */
static bool fit_tracks(const ink_sm_pairs *list, const ink_clock_limits *limits,
                       ink_clock_fit *fit) {
  ink_clock_pair *items = malloc((list->count + 1) * sizeof *items);
  size_t n = 0;
  for (size_t i = 0; i < list->count && items; i++)
    if (!list->items[i].jump_ns)
      items[n++] = list->items[i];
  bool fine = items && ink_clock_fit_pieces(items, n, limits, fit);
  free(items);
  return fine;
}

/* Gives an SM that saw too little the slopes of the others. Its edges may have been caught at another
 * rate than its tracks ran at: then they say nothing here. */
static bool guess_slope(const ink_sm_pairs *list, ink_device_map *map, ink_sm_clock *sm,
                        const ink_clock_limits *limits) {
  if (limits->slope_min > SLOPE_MIN) {
    ink_clock_fit again = {0};
    bool fine = ink_clock_fit_pieces(list->items, list->count, limits, &again);
    if (fine && list->tracks.count && again.count + again.outliers > 1) {
      free(again.pieces);
      again = (ink_clock_fit){0};
      fine = fit_tracks(list, limits, &again);
    }
    free(sm->fit.pieces);
    sm->fit = again;
    return fine;
  }
  for (size_t i = 0; i < sm->fit.count; i++)
    sm->fit.pieces[i].ns_per_cycle = map->ns_per_cycle;
  return true;
}

static ink_status fit_device(ink_device_pairs *pairs, ink_device_map *map, ink_error *error) {
  double *slopes = malloc((pairs->sm_count + 1) * sizeof *slopes);
  map->sms = calloc(pairs->sm_count + 1, sizeof *map->sms);
  map->sm_qualities = calloc(pairs->sm_count + 1, sizeof *map->sm_qualities);
  map->sm_count = map->sms ? pairs->sm_count : 0;
  ink_clock_quality *quality = &map->quality;
  bool fine = slopes && map->sms && map->sm_qualities && ink_pairs_sort(pairs);
  ink_clock_limits limits = {0};
  uint32_t least, step = ink_pairs_step(pairs, &least);
  if (fine)
    fine = fit_best(pairs, map, step ? step : STEP_MAX_NS, least ? least : STEP_MAX_NS, &limits);
  if (fine)
    take_slopes(pairs, map, slopes, &limits);
  quality->timer_step_ns = step ? (uint32_t)limits.period_ns : 0;
  quality->slack_ns = (uint32_t)limits.slack_ns;
  for (uint32_t i = 0; i < map->sm_count && fine; i++)
    if (pairs->sms[i].count && !sm_has_slope(&pairs->sms[i], &map->sms[i])) {
      map->sms[i].guessed = true;
      fine = guess_slope(&pairs->sms[i], map, &map->sms[i], &limits);
    }
  if (fine)
    ink_clock_judge(pairs, map, limits.period_ns);
  free(slopes);
  return fine ? INK_OK : no_memory(error);
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

size_t ink_clock_device_place(const ink_clock_map *map, int32_t device) {
  for (size_t i = 0; i < map->device_count; i++)
    if (map->devices[i].quality.device == device)
      return i;
  return map->device_count;
}

/* The place of a device, made where its own chunk is lost; SIZE_MAX: out of memory. */
static size_t make_place(ink_clock_map *map, ink_device_pairs **pairs, int32_t device) {
  size_t place = ink_clock_device_place(map, device);
  if (place < map->device_count)
    return place;
  ink_device_map *devices = realloc(map->devices, (place + 1) * sizeof *devices);
  if (devices)
    map->devices = devices;
  ink_device_pairs *more = realloc(*pairs, (place + 1) * sizeof *more);
  if (more)
    *pairs = more;
  if (!devices || !more)
    return SIZE_MAX;
  devices[place] = (ink_device_map){.quality = {.device = device}};
  more[place] = (ink_device_pairs){0};
  map->device_count++;
  return place;
}

static ink_status gather(const ink_capture *capture, ink_clock_map *map, ink_device_pairs **pairs,
                         ink_error *error) {
  uint64_t n = ink_capture_track_count(capture);
  for (uint64_t i = 0; i < n; i++) {
    ink_stored_track track;
    ink_capture_track(capture, i, &track);
    size_t place = make_place(map, pairs, track.device);
    if (place == SIZE_MAX || !ink_pairs_add_track(&(*pairs)[place], &track))
      return no_memory(error);
  }
  const ink_clock_edges *edges;
  n = ink_capture_clock_edges(capture, &edges);
  for (uint64_t i = 0; i < n; i++) {
    size_t place = make_place(map, pairs, edges[i].device);
    if (place == SIZE_MAX || !ink_pairs_add_edges(&(*pairs)[place], &edges[i]))
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
  ink_device_pairs *pairs = calloc(n + 1, sizeof *pairs);
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
    ink_clock_fit_host(host, host_count, &map->devices[i]);
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
  for (size_t i = 0; map && pairs && i < map->device_count; i++)
    ink_pairs_free(&pairs[i]);
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
    free(map->devices[i].sm_qualities);
  }
  free(map->devices);
  free(map->qualities);
  free(map);
}
