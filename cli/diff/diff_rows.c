/* SPDX-License-Identifier: MIT */
/* Matches the sections of both sides by name, guesses which were renamed, and tests each pair. */
#include "diff.h"

#include "message.h"

#include <stdlib.h>
#include <string.h>

static bool same_text(const char *a, const char *b) { return a && b ? !strcmp(a, b) : a == b; }

static bool same_part(const diff_series *a, const diff_series *b) {
  return a->device == b->device && same_text(a->kernel, b->kernel) && same_text(a->instance, b->instance);
}

/* The table's name holds the file's in what the rewriter marks: it need not agree. */
static bool same_series(const diff_series *a, const diff_series *b) {
  return same_part(a, b) && same_text(a->section, b->section);
}

static const diff_series *find(const diff_side *side, const diff_series *wanted) {
  for (size_t i = 0; i < side->count; i++)
    if (same_series(&side->series[i], wanted))
      return &side->series[i];
  return NULL;
}

static bool is_taken(const diff_result *result, const diff_series *now) {
  for (size_t i = 0; i < result->row_count; i++)
    if (result->rows[i].now == now)
      return true;
  return false;
}

/* A section that only the new side has, of the same part, with a name that is near; NULL: none, or several. */
static const diff_series *renamed(const diff_result *result, const diff_series *base) {
  const diff_series *found = NULL;
  for (size_t i = 0; base->section && i < result->now.count; i++) {
    const diff_series *now = &result->now.series[i];
    if (!now->section || !same_part(base, now) || find(&result->base, now) || is_taken(result, now))
      continue;
    const size_t shorter = strlen(base->section) < strlen(now->section) ? strlen(base->section) : strlen(now->section);
    const size_t apart = cli_edit_distance(base->section, now->section);
    const bool begins = shorter >= 4 && !strncmp(base->section, now->section, shorter);
    if (!begins && (apart == SIZE_MAX || apart * 3 > shorter))
      continue;
    if (found)
      return NULL;
    found = now;
  }
  return found;
}

static bool match(diff_result *result) {
  result->rows = calloc(result->base.count + result->now.count + 1, sizeof *result->rows);
  if (!result->rows)
    return false;
  for (size_t i = 0; i < result->base.count; i++)
    result->rows[result->row_count++] =
        (diff_row){.base = &result->base.series[i], .now = find(&result->now, &result->base.series[i])};
  for (size_t i = 0; i < result->row_count; i++)
    if (!result->rows[i].now && (result->rows[i].now = renamed(result, result->rows[i].base)))
      result->rows[i].guessed = true;
  for (size_t i = 0; i < result->now.count; i++)
    if (!is_taken(result, &result->now.series[i]))
      result->rows[result->row_count++] = (diff_row){.now = &result->now.series[i]};
  return true;
}

static void describe(diff_row *row, double level) {
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
}

static bool is_pair(const diff_row *row) { return row->base && row->now && row->verdict != DIFF_TOO_SHORT; }

bool diff_compare(diff_result *result) {
  const double level = result->settings->level;
  size_t pairs = 0, at = 0;
  if (!match(result))
    return false;
  for (size_t i = 0; i < result->row_count; i++) {
    describe(&result->rows[i], level);
    pairs += is_pair(&result->rows[i]);
  }
  double *p = calloc(pairs + 1, sizeof *p);
  if (!p)
    return false;
  for (size_t i = 0; i < result->row_count; i++) {
    diff_row *row = &result->rows[i];
    if (!is_pair(row))
      continue;
    if (diff_least_p(row->base->count, row->now->count) * (double)pairs > level) {
      row->verdict = DIFF_TOO_FEW;
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
