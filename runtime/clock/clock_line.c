/* SPDX-License-Identifier: MIT */
/* Asking a clock map: the line of a track, an ns, how far it may be off. */
#include "clock_map.h"

#include <math.h>

static const ink_sm_clock *find_sm(const ink_clock_map *map, int32_t device, uint32_t sm) {
  size_t place = ink_clock_device_place(map, device);
  if (place == map->device_count || sm >= map->devices[place].sm_count)
    return NULL;
  const ink_sm_clock *found = &map->devices[place].sms[sm];
  return found->fit.count ? found : NULL;
}

ink_line ink_clock_map_line(const ink_clock_map *map, int32_t device, uint32_t sm, uint64_t from,
                            uint64_t to) {
  size_t place = ink_clock_device_place(map, device);
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
  line.bound_known = found->quality.bound_ns != INT64_MAX;
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

/* From the opening on one SM to the closing on another. Where it went over is not known, so a moment in
 * between may be on either's line. */
static ink_line moved_line(const ink_clock_map *map, int32_t device, const ink_track *track) {
  const uint64_t from = track->open_clock1, to = track->close_clock0;
  ink_line first = ink_clock_map_line(map, device, track->sm_open, from, from);
  ink_line last = ink_clock_map_line(map, device, track->sm_close, to, to);
  if (to <= from) { /* nothing but the opening can be told */
    first.bound_known = false;
    return first;
  }
  const double ns = (double)(int64_t)(last.now.base_ns - first.now.base_ns) +
                    ink_clock_piece_ns(&last.now, to) - ink_clock_piece_ns(&first.now, from);
  ink_line line = first;
  line.pieces = NULL;
  line.piece_count = 0;
  line.from_cycles = 0;
  line.until_cycles = UINT64_MAX;
  line.ns_per_cycle = ns / (double)(to - from);
  line.now = (ink_clock_piece){.base_cycles = from, .base_ns = first.now.base_ns,
                               .offset_ns = ink_clock_piece_ns(&first.now, from),
                               .ns_per_cycle = line.ns_per_cycle,
                               .slope_min = line.ns_per_cycle, .slope_max = line.ns_per_cycle};
  const double at_end = fabs(ink_line_span_ns(&first, from, to) - ns);
  const double at_begin = fabs(ink_line_span_ns(&last, from, to) - ns);
  line.bound_known = first.bound_known && last.bound_known;
  line.moved_ns = fmax(at_begin, at_end) + ink_clock_map_bound_ns(map, device, track->sm_open, from) +
                  ink_clock_map_bound_ns(map, device, track->sm_close, to);
  return line;
}

ink_line ink_clock_map_track_line(const ink_clock_map *map, int32_t device,
                                  const ink_track *track) {
  if (track->state == INK_TRACK_CLOSED && track->sm_close != track->sm_open)
    return moved_line(map, device, track);
  return ink_clock_map_line(map, device, track->sm_open, track->open_clock1, track->close_clock0);
}

static const ink_clock_piece *line_piece(const ink_line *line, uint64_t cycles) {
  if (line->piece_count > 1 && (cycles < line->from_cycles || cycles >= line->until_cycles))
    return &line->pieces[ink_clock_piece_at(line->pieces, line->piece_count, cycles)];
  return &line->now;
}

double ink_line_span_ns(const ink_line *line, uint64_t from, uint64_t to) {
  const ink_clock_piece *first = line_piece(line, from), *last = line_piece(line, to);
  if (first == last)
    return (double)(int64_t)(to - from) * first->ns_per_cycle;
  return (double)(int64_t)(last->base_ns - first->base_ns) + ink_clock_piece_ns(last, to) -
         ink_clock_piece_ns(first, from);
}

double ink_line_span_bound(const ink_line *line, uint64_t from, uint64_t to) {
  if (!line->bound_known)
    return INFINITY;
  if (!line->piece_count)
    return 2 * line->moved_ns;
  return ink_clock_span_bound(line->pieces, line->piece_count, from, to);
}

bool ink_clock_map_changes(const ink_clock_map *map) {
  for (size_t i = 0; i < map->device_count; i++)
    if (map->devices[i].quality.sms_changed)
      return true;
  return false;
}

int64_t ink_clock_map_ns(const ink_clock_map *map, int32_t device, uint32_t sm, uint64_t cycles) {
  ink_line line = ink_clock_map_line(map, device, sm, cycles, cycles);
  return ink_line_ns(&line, cycles);
}

double ink_clock_map_bound_ns(const ink_clock_map *map, int32_t device, uint32_t sm,
                              uint64_t cycles) {
  size_t place = ink_clock_device_place(map, device);
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
  size_t place = ink_clock_device_place(map, device);
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

size_t ink_clock_map_sms(const ink_clock_map *map, int32_t device, const ink_sm_quality **out) {
  size_t place = ink_clock_device_place(map, device);
  if (place == map->device_count) {
    *out = NULL;
    return 0;
  }
  *out = map->devices[place].sm_qualities;
  return map->devices[place].sm_quality_count;
}

int64_t ink_clock_map_monotonic_ns(const ink_clock_map *map, int32_t device, int64_t realtime_ns) {
  size_t place = ink_clock_device_place(map, device);
  if (place == map->device_count || !map->devices[place].quality.has_monotonic)
    return INT64_MIN;
  return (int64_t)((uint64_t)realtime_ns +
                   (uint64_t)map->devices[place].quality.monotonic_offset_ns);
}
