/* SPDX-License-Identifier: MIT */
/* Polygons of lines that the readings allow, cut at the places where no line is left. */
#include "clock_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POLYGON_MAX = 62, AHEAD = 4, LOOSE_STEPS = 8 };
#define TOLERANCE_NS 1e-6 /* of rounding in the corners */

typedef struct corner {
  double a, b; /* ns at the base, and ns per cycle above the polygon's slope */
} corner;

typedef struct polygon {
  uint64_t base_cycles, base_ns;
  double slope;
  int count;
  corner at[POLYGON_MAX + 2];
} polygon;

/* ---- polygons ------------------------------------------------------------------------------ */

static double triangle(const corner *a, const corner *b, const corner *c) {
  return fabs((b->a - a->a) * (c->b - a->b) - (c->a - a->a) * (b->b - a->b));
}

/* Leaves out the corner that adds least; the polygon loses a sliver that no reading told apart. */
static void drop_corner(polygon *p) {
  int least = 0;
  double area = INFINITY;
  for (int i = 0; i < p->count; i++) {
    double own = triangle(&p->at[(i + p->count - 1) % p->count], &p->at[i],
                          &p->at[(i + 1) % p->count]);
    if (own < area) {
      area = own;
      least = i;
    }
  }
  p->count--;
  memmove(&p->at[least], &p->at[least + 1], (size_t)(p->count - least) * sizeof *p->at);
}

static double signed_ns(uint64_t to, uint64_t from) { return (double)(int64_t)(to - from); }

/* Keeps the lines that are at `ns` or above it (side 1), or at it or below it (-1), at `cycles`.
 * False: none is. */
static bool clip(polygon *p, uint64_t cycles, uint64_t ns, double more_ns, double side) {
  double x = signed_ns(cycles, p->base_cycles);
  double y = (double)((long double)(int64_t)(ns - p->base_ns) - (long double)p->slope * x) + more_ns;
  corner kept[POLYGON_MAX + 2];
  int n = 0;
  bool cut = false;
  for (int i = 0; i < p->count; i++) {
    const corner *from = &p->at[i], *to = &p->at[(i + 1) % p->count];
    double before = side * (from->a + from->b * x - y), after = side * (to->a + to->b * x - y);
    if (before >= -TOLERANCE_NS)
      kept[n++] = *from;
    else
      cut = true;
    if ((before >= -TOLERANCE_NS) != (after >= -TOLERANCE_NS)) {
      double part = fmin(fmax(before / (before - after), 0), 1);
      kept[n++] = (corner){from->a + (to->a - from->a) * part, from->b + (to->b - from->b) * part};
    }
  }
  if (!n)
    return false;
  if (cut) {
    memcpy(p->at, kept, (size_t)n * sizeof *kept);
    p->count = n;
    while (p->count > POLYGON_MAX)
      drop_corner(p);
  }
  return true;
}

/* Adds what a reading says; where no line is left, the polygon stays as it was. A clock64 of c was
 * read before it became c + 1. */
static bool add(polygon *p, const ink_clock_pair *pair, const ink_clock_limits *limits) {
  polygon next = {.base_cycles = p->base_cycles, .base_ns = p->base_ns, .slope = p->slope,
                  .count = p->count};
  memcpy(next.at, p->at, (size_t)p->count * sizeof *p->at);
  double ahead = ink_clock_pair_ahead(pair, limits->period_ns) + limits->slack_ns;
  if (!clip(&next, pair->cycles0, pair->global_ns, ahead, -1) ||
      !clip(&next, pair->cycles1 + 1, pair->global_ns, -limits->slack_ns, 1))
    return false;
  p->count = next.count;
  memcpy(p->at, next.at, (size_t)next.count * sizeof *next.at);
  return true;
}

static bool fits(const polygon *p, const ink_clock_pair *pair, const ink_clock_limits *limits) {
  polygon copy = *p;
  return add(&copy, pair, limits);
}

static void begin(polygon *p, const ink_clock_pair *pair, const ink_clock_limits *limits) {
  double width = signed_ns(pair->cycles1, pair->cycles0) + 1;
  double top = limits->period_ns + limits->slack_ns + 1;
  double bottom = -(width * limits->slope_max + limits->slack_ns + 1);
  p->base_cycles = pair->cycles0;
  p->base_ns = pair->global_ns;
  p->slope = (limits->slope_min + limits->slope_max) / 2;
  double half = (limits->slope_max - limits->slope_min) / 2;
  p->count = 4;
  p->at[0] = (corner){bottom, -half};
  p->at[1] = (corner){top, -half};
  p->at[2] = (corner){top, half};
  p->at[3] = (corner){bottom, half};
  add(p, pair, limits);
}

/* Of a polygon without area, the mean of its corners. Around the first corner, for precision. */
static corner centroid(const polygon *p) {
  double area = 0, a = 0, b = 0, mean_a = 0, mean_b = 0;
  const corner *o = &p->at[0];
  for (int i = 0; i < p->count; i++) {
    double ua = p->at[i].a - o->a, ub = p->at[i].b - o->b;
    const corner *next = &p->at[(i + 1) % p->count];
    double va = next->a - o->a, vb = next->b - o->b, twice = ua * vb - va * ub;
    area += twice;
    a += twice * (ua + va);
    b += twice * (ub + vb);
    mean_a += p->at[i].a / p->count;
    mean_b += p->at[i].b / p->count;
  }
  corner middle = {o->a + a / (3 * area), o->b + b / (3 * area)};
  return isfinite(middle.a) && isfinite(middle.b) ? middle : (corner){mean_a, mean_b};
}

static void finish(polygon *p, ink_clock_piece *piece) {
  corner middle = centroid(p);
  while (p->count > INK_CORNERS_MAX)
    drop_corner(p);
  piece->base_cycles = p->base_cycles;
  piece->base_ns = p->base_ns;
  piece->offset_ns = middle.a;
  piece->ns_per_cycle = p->slope + middle.b;
  piece->slope_min = INFINITY;
  piece->slope_max = 0;
  piece->corner_count = (uint32_t)p->count;
  for (int i = 0; i < p->count; i++) {
    double slope = p->slope + p->at[i].b;
    piece->corners[i].offset_ns = p->at[i].a;
    piece->corners[i].ns_per_cycle = slope;
    piece->slope_min = fmin(piece->slope_min, slope);
    piece->slope_max = fmax(piece->slope_max, slope);
  }
}

/* ---- pieces -------------------------------------------------------------------------------- */

typedef struct stretch {
  size_t begin, end; /* of the readings */
  polygon lines;
} stretch;

/* Whether the reading at `j` alone is off: most of those that follow it fit the line so far. */
static bool is_outlier(const polygon *p, const ink_clock_pair *pairs, size_t n, size_t j,
                       const ink_clock_limits *limits) {
  size_t ahead = n - j - 1 < AHEAD ? n - j - 1 : AHEAD, good = 0;
  for (size_t k = 1; k <= ahead; k++)
    good += fits(p, &pairs[j + k], limits);
  return ahead >= 2 && good * 4 >= ahead * 3;
}

/* The longest stretch from `begin` on that lines are left for. */
static void reach(const ink_clock_pair *pairs, size_t n, size_t from,
                  const ink_clock_limits *limits, stretch *out, size_t *outliers) {
  begin(&out->lines, &pairs[from], limits);
  out->begin = from;
  size_t j = from + 1;
  for (; j < n; j++) {
    if (add(&out->lines, &pairs[j], limits))
      continue;
    if (!is_outlier(&out->lines, pairs, n, j, limits))
      break;
    ++*outliers;
  }
  out->end = j;
}

/* By how much lines differ at a stamp. */
static double range_at(const polygon *p, uint64_t cycles) {
  double x = signed_ns(cycles, p->base_cycles), low = INFINITY, high = -INFINITY;
  for (int i = 0; i < p->count; i++) {
    low = fmin(low, p->at[i].a + p->at[i].b * x);
    high = fmax(high, p->at[i].a + p->at[i].b * x);
  }
  return high - low;
}

/* The last readings of a stretch may lie behind the change already and fit by chance. Readings that the next
 * stretch's lines allow too are taken from the stretch. If the next stretch leaves the line almost unconstrained here, as
 * a few edges long after the last track do, its agreement is meaningless. */
static void give_back(const ink_clock_pair *pairs, const ink_clock_limits *limits, stretch *before,
                      const stretch *after) {
  polygon lines = after->lines;
  size_t end = before->end, outliers = 0;
  const double loose = LOOSE_STEPS * (limits->period_ns + limits->slack_ns);
  while (end > before->begin + 2 && range_at(&after->lines, pairs[end - 1].cycles0) < loose &&
         add(&lines, &pairs[end - 1], limits))
    end--;
  if (end < before->end)
    reach(pairs, end, before->begin, limits, before, &outliers);
}

static bool put(ink_clock_fit *fit, const ink_clock_pair *pairs, stretch *from) {
  if (fit->count == fit->capacity) {
    size_t capacity = fit->capacity ? fit->capacity * 2 : 1;
    ink_clock_piece *pieces = realloc(fit->pieces, capacity * sizeof *pieces);
    if (!pieces)
      return false;
    fit->pieces = pieces;
    fit->capacity = capacity;
  }
  ink_clock_piece *piece = &fit->pieces[fit->count++];
  *piece = (ink_clock_piece){.first_cycles = pairs[from->begin].cycles0,
                             .last_cycles = pairs[from->end - 1].cycles1};
  finish(&from->lines, piece);
  return true;
}

/* Where one line takes over from the one before: where they cross, between the readings of the two. */
static void join(const ink_clock_piece *before, ink_clock_piece *after) {
  uint64_t least = before->last_cycles, most = after->first_cycles;
  after->from_cycles = most;
  if (most <= least)
    return;
  double span = (double)(most - least);
  double start = signed_ns(after->base_ns, before->base_ns) + ink_clock_piece_ns(after, least) -
                 ink_clock_piece_ns(before, least);
  double closing = before->ns_per_cycle - after->ns_per_cycle;
  double cross = start / closing;
  if (!isfinite(cross))
    cross = span / 2;
  after->from_cycles = least + (uint64_t)fmin(fmax(cross, 0), span);
}

bool ink_clock_fit_pieces(const ink_clock_pair *pairs, size_t n, const ink_clock_limits *limits,
                          ink_clock_fit *fit) {
  stretch *both = malloc(2 * sizeof *both), *now = both, *next = both ? both + 1 : NULL;
  bool fine = both != NULL, have = false;
  for (size_t i = 0; i < n && fine;) {
    reach(pairs, n, i, limits, next, &fit->outliers);
    i = next->end;
    if (next->end == next->begin + 1 && i < n) { /* fits nothing around it */
      fit->outliers++;
      continue;
    }
    if (have) {
      uint64_t last = pairs[now->end - 1].global_ns, first = pairs[next->begin].global_ns;
      if (last > first && (double)(last - first) > limits->period_ns + limits->slack_ns &&
          last - first > fit->went_back_ns)
        fit->went_back_ns = last - first;
      if (next->end == next->begin + 1) /* alone: a chord from the last reading */
        add(&next->lines, &pairs[now->end - 1], limits);
      give_back(pairs, limits, now, next);
      fine = put(fit, pairs, now);
    }
    stretch *other = now;
    now = next;
    next = other;
    have = true;
  }
  if (fine && have)
    fine = put(fit, pairs, now);
  free(both);
  for (size_t i = 1; i < fit->count && fine; i++)
    join(&fit->pieces[i - 1], &fit->pieces[i]);
  return fine;
}

/* ---- asking -------------------------------------------------------------------------------- */

size_t ink_clock_piece_at(const ink_clock_piece *pieces, size_t count, uint64_t cycles) {
  size_t low = 0, high = count;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (pieces[middle].from_cycles <= cycles)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* Widens [*low, *high] to what a piece allows at a stamp, from base_ns on. */
static void allow(const ink_clock_piece *piece, uint64_t cycles, uint64_t base_ns, double *low,
                  double *high) {
  double x = signed_ns(cycles, piece->base_cycles), base = signed_ns(piece->base_ns, base_ns);
  for (uint32_t i = 0; i < piece->corner_count; i++) {
    double ns = base + piece->corners[i].offset_ns + x * piece->corners[i].ns_per_cycle;
    *low = fmin(*low, ns);
    *high = fmax(*high, ns);
  }
}

/* Between the readings of two pieces, where the rate changed at an unknown moment: the clock followed
 * the first line and then the second, which is the lower of the two where the second is the flatter
 * one, and the higher where it is the steeper one. */
static void allow_either(const ink_clock_piece *first, uint64_t cycles, uint64_t base_ns,
                         double *low, double *high) {
  const ink_clock_piece *second = first + 1;
  double lows[2] = {INFINITY, INFINITY}, highs[2] = {-INFINITY, -INFINITY};
  allow(first, cycles, base_ns, &lows[0], &highs[0]);
  allow(second, cycles, base_ns, &lows[1], &highs[1]);
  bool flatter = second->slope_max < first->slope_min, steeper = second->slope_min > first->slope_max;
  *low = fmin(*low, steeper ? fmax(lows[0], lows[1]) : fmin(lows[0], lows[1]));
  *high = fmax(*high, flatter ? fmin(highs[0], highs[1]) : fmax(highs[0], highs[1]));
}

double ink_clock_piece_bound(const ink_clock_piece *pieces, size_t count, uint64_t cycles) {
  size_t i = ink_clock_piece_at(pieces, count, cycles);
  const ink_clock_piece *piece = &pieces[i];
  double ns = ink_clock_piece_ns(piece, cycles), low = ns, high = ns;
  if (cycles > piece->last_cycles && i + 1 < count)
    allow_either(piece, cycles, piece->base_ns, &low, &high);
  else if (cycles < piece->first_cycles && i > 0)
    allow_either(piece - 1, cycles, piece->base_ns, &low, &high);
  else
    allow(piece, cycles, piece->base_ns, &low, &high);
  return fmax(high - ns, ns - low);
}

double ink_clock_span_bound(const ink_clock_piece *pieces, size_t count, uint64_t from,
                            uint64_t to) {
  size_t i = ink_clock_piece_at(pieces, count, from);
  const ink_clock_piece *piece = &pieces[i];
  bool one = ink_clock_piece_at(pieces, count, to) == i &&
             (i + 1 == count || to <= piece->last_cycles) && (i == 0 || from >= piece->first_cycles);
  if (!one)
    return ink_clock_piece_bound(pieces, count, from) + ink_clock_piece_bound(pieces, count, to);
  double cycles = fabs(signed_ns(to, from));
  return cycles * fmax(piece->slope_max - piece->ns_per_cycle,
                       piece->ns_per_cycle - piece->slope_min);
}
