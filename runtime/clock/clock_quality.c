/* SPDX-License-Identifier: MIT */
/* How good the lines of a device are: residuals, bounds, what SMs differ by. */
#include "clock_map.h"

#include <math.h>
#include <stdlib.h>

/* How far a reading lies outside of the line: nothing, where the line is inside of it. */
static double residual(const ink_clock_pair *pair, const ink_clock_piece *piece, double period_ns) {
  double read = (double)(int64_t)(pair->global_ns - piece->base_ns);
  double before =
      ink_clock_piece_ns(piece, pair->cycles0) - read - ink_clock_pair_ahead(pair, period_ns);
  double after = read - ink_clock_piece_ns(piece, pair->cycles1 + 1);
  return fmax(0, fmax(before, after));
}

static const ink_clock_piece *piece_of(const ink_clock_fit *fit, uint64_t cycles) {
  return &fit->pieces[ink_clock_piece_at(fit->pieces, fit->count, cycles)];
}

static void judge_residuals(const ink_sm_pairs *list, const ink_clock_fit *fit, double period_ns,
                            ink_sm_quality *q) {
  double sum = 0, squares = 0;
  size_t n = 0;
  for (size_t i = 0; i < list->count; i++) {
    const ink_clock_pair *pair = &list->items[i];
    const ink_clock_piece *piece = piece_of(fit, pair->cycles0);
    q->residual_max_ns = fmax(q->residual_max_ns, residual(pair, piece, period_ns));
    q->edges += pair->jump_ns != 0;
    if (pair->jump_ns || pair->cycles0 < piece->first_cycles || pair->cycles1 > piece->last_cycles)
      continue;
    double middle = (ink_clock_piece_ns(piece, pair->cycles0) +
                     ink_clock_piece_ns(piece, pair->cycles1)) / 2;
    double off = (double)(int64_t)(pair->global_ns - piece->base_ns) + period_ns / 2 - middle;
    sum += off;
    squares += off * off;
    n++;
  }
  if (n > 1)
    q->residual_spread_ns = sqrt(fmax(0, squares - sum * sum / (double)n) / (double)(n - 1));
}

/* The bound of an SM: where its tracks begin and end, and where a line takes over from another. */
static double sm_bound(const ink_sm_pairs *list, const ink_sm_clock *sm) {
  const ink_clock_fit *fit = &sm->fit;
  double bound = fmax(ink_clock_piece_bound(fit->pieces, fit->count, sm->low_cycles),
                      ink_clock_piece_bound(fit->pieces, fit->count, sm->high_cycles));
  for (size_t i = 1; i < fit->count; i++) {
    uint64_t from = fit->pieces[i].from_cycles;
    const uint64_t at[] = {fit->pieces[i - 1].last_cycles, fit->pieces[i].first_cycles, from,
                           from - 1};
    for (size_t k = 0; k < (ink_pairs_recorded(list, from) ? 4u : 2u); k++)
      if (at[k] >= sm->low_cycles && at[k] <= sm->high_cycles)
        bound = fmax(bound, ink_clock_piece_bound(fit->pieces, fit->count, at[k]));
  }
  return bound;
}

/* What the line is good to at the edges, and how often edges were caught. */
static double edge_bound(const ink_sm_pairs *list, const ink_clock_fit *fit) {
  double bound = 0;
  for (size_t i = 0; i < list->count; i++)
    if (list->items[i].jump_ns)
      bound = fmax(bound, ink_clock_piece_bound(fit->pieces, fit->count, list->items[i].cycles1));
  return bound;
}

static void judge_rate(const ink_clock_fit *fit, ink_sm_quality *q) {
  double longest = -1;
  for (size_t i = 0; i < fit->count; i++) {
    const ink_clock_piece *piece = &fit->pieces[i];
    double span = (double)(int64_t)(piece->last_cycles - piece->first_cycles);
    if (span <= longest)
      continue;
    longest = span;
    q->hz = 1e9 / piece->ns_per_cycle;
    q->hz_bound_ppm = fmax(piece->slope_max - piece->ns_per_cycle,
                           piece->ns_per_cycle - piece->slope_min) / piece->ns_per_cycle * 1e6;
  }
}

static void judge_sm(const ink_sm_pairs *list, ink_device_map *map, uint32_t index,
                     double period_ns) {
  ink_clock_quality *quality = &map->quality;
  const ink_sm_clock *sm = &map->sms[index];
  ink_sm_quality q = {.sm = index, .recorded = sm->seen, .guessed = sm->guessed,
                      .pieces = (uint32_t)sm->fit.count, .readings = (uint32_t)list->count,
                      .outliers = (uint32_t)sm->fit.outliers, .bound_ns = INFINITY};
  judge_residuals(list, &sm->fit, period_ns, &q);
  judge_rate(&sm->fit, &q);
  if (q.edges)
    quality->edge_bound_ns = fmax(quality->edge_bound_ns, edge_bound(list, &sm->fit));
  if (sm->fit.went_back_ns) {
    if (!quality->sms_refused++)
      quality->refused_sm = index;
    if (sm->fit.went_back_ns > quality->went_back_ns)
      quality->went_back_ns = sm->fit.went_back_ns;
  }
  if (sm->seen) {
    q.bound_ns = sm_bound(list, sm);
    quality->sms_changed += sm->fit.count > 1;
    quality->sms_calibrated += q.edges != 0;
    quality->outliers += q.outliers;
    quality->readings += q.readings;
    quality->sm_bound_ns = fmax(quality->sm_bound_ns, q.bound_ns);
    quality->residual_max_ns = fmax(quality->residual_max_ns, q.residual_max_ns);
    quality->residual_spread_ns = fmax(quality->residual_spread_ns, q.residual_spread_ns);
  }
  map->sm_qualities[map->sm_quality_count++] = q;
}

/* clock64 of every SM at the moment in the middle of what all SMs with a rate have readings of. */
static void judge_skew(ink_device_map *map) {
  uint64_t moment = 0, least = UINT64_MAX, most = 0;
  bool found = false;
  for (size_t i = 0; i < map->sm_quality_count; i++) { /* the latest of the first readings */
    const ink_clock_piece *piece = &map->sms[map->sm_qualities[i].sm].fit.pieces[0];
    uint64_t begin = piece->base_ns;
    if (!map->sm_qualities[i].guessed && begin > moment)
      moment = begin;
  }
  for (size_t i = 0; i < map->sm_quality_count; i++) {
    ink_sm_quality *q = &map->sm_qualities[i];
    const ink_clock_fit *fit = &map->sms[q->sm].fit;
    const ink_clock_piece *piece = &fit->pieces[0];
    for (size_t k = 1; k < fit->count && fit->pieces[k].base_ns <= moment; k++)
      piece = &fit->pieces[k];
    double ns = (double)(int64_t)(moment - piece->base_ns) - piece->offset_ns;
    double cycles = ns / piece->ns_per_cycle;
    if (!(fabs(cycles) < 9e18))
      cycles = 0;
    q->skew_cycles = piece->base_cycles + (uint64_t)(int64_t)cycles;
    if (q->guessed)
      continue;
    found = true;
    least = q->skew_cycles < least ? q->skew_cycles : least;
    most = q->skew_cycles > most ? q->skew_cycles : most;
  }
  for (size_t i = 0; i < map->sm_quality_count; i++) {
    ink_sm_quality *q = &map->sm_qualities[i];
    q->skew_cycles = found && q->skew_cycles > least ? q->skew_cycles - least : 0;
  }
  map->quality.skew_cycles = found ? most - least : 0;
}

void ink_clock_judge(const ink_device_pairs *pairs, ink_device_map *map, double period_ns) {
  ink_clock_quality *quality = &map->quality;
  quality->calibrations = pairs->calibrations;
  for (uint32_t i = 0; i < map->sm_count; i++) {
    if (!pairs->sms[i].count || !map->sms[i].fit.count)
      continue;
    quality->sms_seen += map->sms[i].seen;
    quality->sms_guessed += map->sms[i].seen && map->sms[i].guessed;
    judge_sm(&pairs->sms[i], map, i, period_ns);
  }
  judge_skew(map);
}
