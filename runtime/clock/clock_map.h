/* SPDX-License-Identifier: MIT */
/* The inside of a clock map, and the line of one SM that the decoder converts a whole track with. */
#ifndef INKMARK_CLOCK_MAP_H
#define INKMARK_CLOCK_MAP_H

#include "clock_pairs.h"

#include <math.h>

typedef struct ink_sm_clock {
  ink_clock_fit fit;
  uint64_t low_cycles, high_cycles; /* the readings lie between */
  bool seen, guessed; /* seen: by a track */
} ink_sm_clock;

typedef struct ink_device_map {
  ink_clock_quality quality;
  ink_sm_clock *sms;
  uint32_t sm_count;
  bool slope_known;
  double ns_per_cycle;        /* the median SM's */
  uint64_t host_reference_ns; /* globaltimer */
  int64_t host_offset_ns;     /* REALTIME - globaltimer at the reference */
  double host_drift;          /* ns per ns */
  ink_sm_quality *sm_qualities;
  size_t sm_quality_count;
} ink_device_map;

struct ink_clock_map {
  ink_device_map *devices;
  size_t device_count;
  ink_clock_quality *qualities;
};

/* All that is needed to convert the cycles of one SM. `now` is the piece that stamps from
 * from_cycles up to until_cycles belong to. */
typedef struct ink_line {
  ink_clock_piece now;
  uint64_t from_cycles, until_cycles;
  const ink_clock_piece *pieces; /* of the map */
  size_t piece_count;
  double ns_per_cycle, drift;    /* the mean between the stamps that the line was asked for */
  int64_t host_offset_ns;
  uint64_t host_reference_ns;
  bool bound_known;
  double moved_ns;               /* a track that moved between SMs: how far any of its times may be off */
} ink_line;

size_t ink_clock_device_place(const ink_clock_map *map, int32_t device); /* device_count: none */

/* The line of an SM around stamps of one track. */
ink_line ink_clock_map_line(const ink_clock_map *map, int32_t device, uint32_t sm, uint64_t from,
                            uint64_t to);

/* The line of a whole track. One that closed on another SM than it opened on has a straight line from
 * its opening on the first to its closing on the other. */
ink_line ink_clock_map_track_line(const ink_clock_map *map, int32_t device, const ink_track *track);
/* What the ns between two stamps are good to; INFINITY: not known. */
double ink_line_span_bound(const ink_line *line, uint64_t from, uint64_t to);
/* The ns between two stamps, of which the host's drift is no part. */
double ink_line_span_ns(const ink_line *line, uint64_t from, uint64_t to);
/* Whether any SM of the map ran at more than one rate: then a track's mean rate says little. */
bool ink_clock_map_changes(const ink_clock_map *map);

/* clock_quality.c: once the lines are there. `period_ns`: the timer's step. */
void ink_clock_judge(const ink_device_pairs *pairs, ink_device_map *map, double period_ns);
/* clock_host.c */
void ink_clock_fit_host(const ink_host_clock *pairs, size_t n, ink_device_map *map);

/* As a clock that counts whole ns shows it. Differences are taken as integers, so that nothing of
 * Unix time is lost. A damaged capture may put anything here: what does not fit is cut to the range. */
static inline int64_t ink_line_ns(const ink_line *line, uint64_t cycles) {
  const ink_clock_piece *piece = &line->now;
  if (line->piece_count > 1 && (cycles < line->from_cycles || cycles >= line->until_cycles))
    piece = &line->pieces[ink_clock_piece_at(line->pieces, line->piece_count, cycles)];
  double ns = ink_clock_piece_ns(piece, cycles);
  double since = (double)(int64_t)(piece->base_ns - line->host_reference_ns) + ns;
  double moved = ns + since * line->drift;
  if (!(moved > -9e18 && moved < 9e18))
    moved = moved > 0 ? 9e18 : -9e18;
  return (int64_t)(piece->base_ns + (uint64_t)line->host_offset_ns +
                   (uint64_t)(int64_t)floor(moved));
}

#endif
