/* SPDX-License-Identifier: MIT */
/* From readings of an SM's clock and of globaltimer to lines between them, with hard bounds.
 *
 * A reading says two things only: at its first clock64 globaltimer had not yet passed the step that
 * was read, and at its second it had reached it. Each is a half-plane in the plane of (offset, slope);
 * what all readings of a stretch leave is a polygon of the lines that the SM may have followed. Its
 * centroid is the line that is used, its corners bound every time that is read off the line. Where
 * nothing is left, the rate has changed, and another piece begins. */
#ifndef INKMARK_CLOCK_FIT_H
#define INKMARK_CLOCK_FIT_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { INK_CORNERS_MAX = 16 };

/* A reading of globaltimer between two of clock64. Of an edge, global_ns is the second of two readings
 * that differ by jump_ns, and the first clock64 is from before the first one. */
typedef struct ink_clock_pair {
  uint64_t cycles0, cycles1, global_ns;
  uint32_t jump_ns; /* 0: no edge */
  int8_t opens; /* 1: a track opened here, -1: it closed; 0: something else */
} ink_clock_pair;

/* ns = base_ns + offset_ns + (cycles - base_cycles) * ns_per_cycle, in globaltimer's ns, for stamps
 * from from_cycles on; corners are other lines that the readings allow. */
typedef struct ink_clock_piece {
  uint64_t from_cycles;
  uint64_t first_cycles, last_cycles; /* of its readings */
  uint64_t base_cycles, base_ns;
  double offset_ns, ns_per_cycle;
  double slope_min, slope_max;
  uint32_t corner_count;
  struct {
    double offset_ns, ns_per_cycle;
  } corners[INK_CORNERS_MAX];
} ink_clock_piece;

typedef struct ink_clock_fit {
  ink_clock_piece *pieces; /* in rising order of from_cycles; free() */
  size_t count, capacity;
  size_t outliers;         /* readings that fit neither their neighbours' line nor another */
  uint64_t went_back_ns;   /* globaltimer ran backwards while clock64 rose; 0: never */
} ink_clock_fit;

typedef struct ink_clock_limits {
  double period_ns;              /* globaltimer is at most this much ahead of its reading */
  double slack_ns;               /* and this much more, to either side */
  double slope_min, slope_max;   /* ns per cycle */
} ink_clock_limits;

/* Lines through `n` readings, sorted by cycles0. False: out of memory. */
bool ink_clock_fit_pieces(const ink_clock_pair *pairs, size_t n, const ink_clock_limits *limits,
                          ink_clock_fit *fit);

/* The piece that a stamp belongs to: the last whose from_cycles is not above it, or the first. */
size_t ink_clock_piece_at(const ink_clock_piece *pieces, size_t count, uint64_t cycles);
/* How far the truth may be from the line at a stamp, ns. Between two pieces both may be right. */
double ink_clock_piece_bound(const ink_clock_piece *pieces, size_t count, uint64_t cycles);
/* How far the truth may be from the ns between two stamps of one SM. */
double ink_clock_span_bound(const ink_clock_piece *pieces, size_t count, uint64_t from,
                            uint64_t to);

/* How far above global_ns the time at the first clock64 was at most. */
static inline double ink_clock_pair_ahead(const ink_clock_pair *pair, double period_ns) {
  return pair->jump_ns ? fmin(0, period_ns - pair->jump_ns) : period_ns;
}

static inline double ink_clock_piece_ns(const ink_clock_piece *piece, uint64_t cycles) {
  return (double)(int64_t)(cycles - piece->base_cycles) * piece->ns_per_cycle + piece->offset_ns;
}

#endif
