/* SPDX-License-Identifier: MIT */
/* Matches the sections of both sides by name, guesses which were renamed, and tests each pair. */
#include "diff.h"

#include "message.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS_AS_SAMPLES = 6 };
enum { GUESSES_MOST = 64 }; /* of one part: of more new sections none is taken for a renamed one */

typedef struct new_one { /* a series that only the new side has */
  const diff_series *series;
  uint64_t part; /* its hash */
  bool taken;
} new_one;

static int by_part(const void *left, const void *right) {
  const new_one *a = left, *b = right;
  if (a->part != b->part)
    return a->part < b->part ? -1 : 1;
  return a->series < b->series ? -1 : a->series > b->series;
}

static bool is_near(const char *base, const char *now) {
  const size_t shorter = strlen(base) < strlen(now) ? strlen(base) : strlen(now);
  const size_t apart = cli_edit_distance(base, now);
  return (shorter >= 4 && !strncmp(base, now, shorter)) || (apart != SIZE_MAX && apart * 3 <= shorter);
}

/* A section of the same part with a name that is near; NULL: none, or several. */
static new_one *renamed(new_one *items, size_t n, const diff_series *base) {
  const uint64_t part = diff_hash_of_part(base);
  size_t low = 0, high = n;
  new_one *found = NULL;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (items[middle].part < part)
      low = middle + 1;
    else
      high = middle;
  }
  if (low + GUESSES_MOST < n && items[low + GUESSES_MOST].part == part)
    return NULL;
  for (size_t i = low; base->section && i < n && items[i].part == part; i++) {
    const diff_series *now = items[i].series;
    if (items[i].taken || !now->section || !diff_same_part(base, now) || !is_near(base->section, now->section))
      continue;
    if (found)
      return NULL;
    found = &items[i];
  }
  return found;
}

static bool match(diff_result *result) {
  const size_t n = result->now.count;
  new_one *items = calloc(n + 1, sizeof *items);
  bool *taken = calloc(n + 1, sizeof *taken);
  size_t count = 0;
  result->rows = calloc(result->base.count + n + 1, sizeof *result->rows);
  const bool fine = result->rows && items && taken;
  for (size_t i = 0; i < n && fine; i++)
    if (!diff_side_find(&result->base, &result->now.series[i]))
      items[count++] = (new_one){&result->now.series[i], diff_hash_of_part(&result->now.series[i]), false};
  if (count)
    qsort(items, count, sizeof *items, by_part);
  for (size_t i = 0; i < result->base.count && fine; i++) {
    const diff_series *base = &result->base.series[i];
    diff_row *row = &result->rows[result->row_count++];
    *row = (diff_row){.base = base, .now = diff_side_find(&result->now, base)};
    new_one *other = row->now ? NULL : renamed(items, count, base);
    if (other) {
      other->taken = row->guessed = true;
      row->now = other->series;
    }
    if (row->now)
      taken[row->now - result->now.series] = true;
  }
  for (size_t i = 0; i < n && fine; i++)
    if (!taken[i])
      result->rows[result->row_count++] = (diff_row){.now = &result->now.series[i]};
  free(items);
  free(taken);
  return fine;
}

static bool have_other_blocks(const diff_row *row) {
  const diff_series *a = row->base, *b = row->now;
  return a && b && (a->least_of != b->least_of || a->most_of != b->most_of);
}

static void describe(diff_row *row, double level, bool force) {
  const diff_series *a = row->base, *b = row->now;
  row->base_cycles = a ? diff_geometric_mean(a->values, a->count) : 0;
  row->now_cycles = b ? diff_geometric_mean(b->values, b->count) : 0;
  row->p = row->p_corrected = 1;
  if (!a || !b) {
    row->verdict = a ? DIFF_ONLY_BASE : DIFF_ONLY_NEW;
    return;
  }
  row->ratio = row->now_cycles / row->base_cycles;
  diff_interval(a->values, a->count, b->values, b->count, level, &row->low, &row->high);
  if (a->too_short && b->too_short)
    row->verdict = DIFF_TOO_SHORT;
  else if (!force && have_other_blocks(row)) {
    /* Each launch of a grid records the same blocks: what these are is in all samples of a side, and no noise. */
    row->verdict = DIFF_OTHER_BLOCKS;
    row->low = row->high = NAN;
  }
}

static bool is_pair(const diff_row *row) {
  return row->base && row->now && row->verdict != DIFF_TOO_SHORT && row->verdict != DIFF_OTHER_BLOCKS;
}

static bool compare_rows(diff_result *result) {
  const double level = result->settings->level;
  size_t pairs = 0, at = 0;
  if (!match(result))
    return false;
  for (size_t i = 0; i < result->row_count; i++) {
    describe(&result->rows[i], level, result->settings->force);
    result->forced |= result->settings->force && have_other_blocks(&result->rows[i]);
    result->other_blocks += result->rows[i].verdict == DIFF_OTHER_BLOCKS;
    pairs += is_pair(&result->rows[i]);
  }
  result->pairs = pairs;
  double *p = calloc(pairs + 1, sizeof *p);
  if (!p)
    return false;
  for (size_t i = 0; i < result->row_count; i++) {
    diff_row *row = &result->rows[i];
    if (!is_pair(row))
      continue;
    if (diff_least_p(row->base->count, row->now->count) * (double)pairs > level) {
      row->verdict = DIFF_TOO_FEW;
      row->low = row->high = NAN;
      continue;
    }
    row->p = p[at++] = diff_permutation(row->base->values, row->base->count, row->now->values, row->now->count,
                                        level / (double)pairs);
  }
  result->tested = at;
  const bool fine = diff_holm(p, at);
  at = 0;
  for (size_t i = 0; i < result->row_count && fine; i++) {
    diff_row *row = &result->rows[i];
    if (!is_pair(row) || row->verdict == DIFF_TOO_FEW)
      continue;
    row->p_corrected = p[at++];
    if (row->p_corrected > level)
      continue;
    row->verdict = row->ratio > 1 ? DIFF_SLOWER : DIFF_FASTER;
    result->slower += row->ratio > 1;
    result->faster += row->ratio < 1;
    result->failed |= row->ratio > 1 + result->settings->fail_over;
  }
  free(p);
  return fine;
}

/* Every capture against the first. */
static bool check_alike(diff_result *result) {
  const char *first = result->base_paths[0];
  bool fine = true;
  for (size_t i = 1; i < result->base.runs && fine; i++)
    fine = diff_comparable(first, result->base_paths[i]);
  for (size_t i = 0; i < result->now.runs && fine; i++)
    fine = diff_comparable(first, result->now_paths[i]);
  if (!fine && result->settings->force)
    result->forced = fine = true;
  return fine;
}

bool diff_make(diff_result *result) {
  result->by_run = result->base.runs >= RUNS_AS_SAMPLES && result->now.runs >= RUNS_AS_SAMPLES;
  return check_alike(result) && diff_side_load(result->settings, result->base_paths, result->by_run, &result->base) &&
         diff_side_load(result->settings, result->now_paths, result->by_run, &result->now) &&
         diff_align(&result->base, &result->now) && compare_rows(result);
}

void diff_free(diff_result *result) {
  free(result->rows);
  diff_side_free(&result->base);
  diff_side_free(&result->now);
}
