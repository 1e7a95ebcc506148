/* SPDX-License-Identifier: MIT */
/* The one table of `inkmark time`: what a slice of each section took, over the repeats; and what makes it doubtful. */
#include "repeat.h"

#include "grid.h"
#include "json.h"
#include "load.h"
#include "message.h"
#include "text_out.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A spread above this is not one number measured often; a clock that moved by more has moved. */
#define SPREAD_DOUBTED 0.10
#define CLOCK_MOVED 0.02

typedef struct statistics {
  size_t n; /* repeats that had any */
  double min, median, mean, max, spread; /* spread: between the quartiles, of the median; of less than 4 all of it */
} statistics;

static int rising(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The value at a share of the way, between its neighbours. */
static double at(const double *sorted, size_t n, double share) {
  const double place = share * (double)(n - 1);
  const size_t below = (size_t)place, above = below + 1 < n ? below + 1 : below;
  return sorted[below] + (sorted[above] - sorted[below]) * (place - (double)below);
}

static bool summarize(const double *values, size_t repeats, statistics *out) {
  double *sorted = malloc((repeats + 1) * sizeof *sorted), sum = 0;
  *out = (statistics){0};
  for (size_t i = 0; sorted && i < repeats; i++)
    if (!isnan(values[i])) {
      sorted[out->n++] = values[i];
      sum += values[i];
    }
  if (sorted && out->n) {
    qsort(sorted, out->n, sizeof *sorted, rising);
    out->min = sorted[0];
    out->max = sorted[out->n - 1];
    out->mean = sum / (double)out->n;
    out->median = at(sorted, out->n, 0.5);
    const double wide = out->n < 4 ? out->max - out->min : at(sorted, out->n, 0.75) - at(sorted, out->n, 0.25);
    out->spread = out->median > 0 ? wide / out->median : 0;
  }
  free(sorted);
  return sorted != NULL;
}

static bool in_cycles(const repeat_result *r) { return r->settings->unit == REPEAT_AUTO ? r->simulated : r->settings->unit == REPEAT_CYCLES; }

static void columns(text_grid *grid, const char *unit) {
  static const char *const right[] = {"count", "min", "median", "mean", "max", "spread"};
  char title[64];
  snprintf(title, sizeof title, "section (%s a slice)", unit);
  grid_column(grid, GRID_LEFT, title);
  for (size_t i = 0; i < sizeof right / sizeof *right; i++)
    grid_column(grid, GRID_RIGHT, right[i]);
}

static bool row_cells(text_grid *grid, const repeat_result *r, const repeat_row *row, size_t *doubted) {
  statistics s;
  const bool cycles = in_cycles(r);
  const int decimals = cycles ? 1 : 3;
  const double scale = cycles ? 1 : 1e-3;
  if (!summarize(cycles ? row->cycles : row->ns, r->repeats, &s))
    return false;
  const bool wide = s.spread > SPREAD_DOUBTED;
  *doubted += wide;
  grid_cell(grid, row->section ? "  %s" : "%s", row->section ? row->section : row->kernel);
  grid_cell(grid, "%s%s", number_whole(row->count).text, row->uneven ? "~" : "");
  grid_cell(grid, "%s", number_fraction(s.min * scale, decimals).text);
  grid_cell(grid, "%s", number_fraction(s.median * scale, decimals).text);
  grid_cell(grid, "%s", number_fraction(s.mean * scale, decimals).text);
  grid_cell(grid, "%s", number_fraction(s.max * scale, decimals).text);
  grid_cell(grid, "%s%s %%", wide ? "!" : "", number_fraction(100 * s.spread, 1).text);
  return true;
}

/* The lowest and the highest rate that any SM had in any repeat; false: none is known. */
static bool clock_range(const repeat_result *r, double *low, double *high) {
  *low = *high = NAN;
  for (size_t i = 0; i < r->repeats; i++) {
    *low = fmin(*low, r->slowest_hz[i]);
    *high = fmax(*high, r->fastest_hz[i]);
  }
  return !isnan(*low) && *low > 0;
}

static void doubts(const repeat_result *r, size_t doubted, FILE *to) {
  double low, high;
  bool uneven = false;
  for (size_t i = 0; i < r->count; i++)
    uneven = uneven || r->rows[i].uneven;
  if (doubted)
    text_print(to, "! in %zu row%s the repeats are too far apart to give one number: over %.0f %% between the "
                   "quartiles\n",
               doubted, number_plural(doubted), 100 * SPREAD_DOUBTED);
  if (uneven)
    fputs("~ the count is the last repeat's: it was not the same in all\n", to);
  if (clock_range(r, &low, &high) && high / low - 1 > CLOCK_MOVED)
    text_print(to, "the clock moved: SMs ran at %s to %s MHz; lock it (nvidia-smi --lock-gpu-clocks) or compare cycles\n",
               number_fraction(low / 1e6, 0).text, number_fraction(high / 1e6, 0).text);
  if (r->one_block_of > 1)
    text_print(to, "of grids with more blocks than tracks one block of each %s in a row, or of fewer, was recorded: the table is of these\n",
               number_whole(r->one_block_of).text);
  if (r->lost)
    text_print(to, "a repeat lost up to %s tracks or marks: the table is of the others\n", number_whole(r->lost).text);
}

bool repeat_text(const repeat_result *r, FILE *to) {
  text_grid *grid = grid_new();
  size_t doubted = 0;
  bool fine = grid != NULL;
  if (r->simulated)
    text_print(to, "%s\n", LOAD_SIMULATED_LINE);
  if (fine)
    columns(grid, in_cycles(r) ? "cycles" : "us");
  for (size_t i = 0; i < r->count && fine; i++)
    if (!r->rows[i].section)
      for (size_t k = i; k < r->count && fine; k++) /* the kernel, then its sections */
        if (!strcmp(r->rows[k].kernel, r->rows[i].kernel))
          fine = row_cells(grid, r, &r->rows[k], &doubted);
  fine = fine && grid_print(grid, to, 0);
  grid_free(grid);
  if (!fine) {
    message_say("out of memory");
    return false;
  }
  text_print(to, "%zu repeat%s behind %s of warm-up\n", r->repeats, number_plural(r->repeats),
             number_whole(r->settings->warmup).text);
  doubts(r, doubted, to);
  return true;
}

static void values(json_writer *json, const char *key, const double *list, size_t n) {
  statistics s;
  json_open_flat(json, key);
  if (summarize(list, n, &s) && s.n) {
    json_double(json, "min", s.min);
    json_double(json, "median", s.median);
    json_double(json, "mean", s.mean);
    json_double(json, "max", s.max);
    json_double(json, "spread", s.spread);
  }
  json_close(json, '}');
}

static void every(json_writer *json, const char *key, const double *list, size_t n) {
  json_open(json, key, '[');
  for (size_t i = 0; i < n; i++)
    json_double(json, NULL, list[i]);
  json_close(json, ']');
}

void repeat_json(const repeat_result *r, FILE *to) {
  json_writer json = {.to = to};
  double low, high;
  json_open(&json, NULL, '{');
  json_unsigned(&json, "schema_version", INK_CLI_SCHEMA_VERSION);
  json_bool(&json, "simulated_clock", r->simulated);
  json_unsigned(&json, "repeats", r->repeats);
  json_unsigned(&json, "warmup", r->settings->warmup);
  json_unsigned(&json, "lost", r->lost);
  if (r->one_block_of > 1)
    json_unsigned(&json, "one_block_of", r->one_block_of);
  const bool known = clock_range(r, &low, &high);
  json_double(&json, "clock_min_hz", known ? low : NAN);
  json_double(&json, "clock_max_hz", known ? high : NAN);
  json_bool(&json, "clock_moved", known && high / low - 1 > CLOCK_MOVED);
  json_open(&json, "rows", '[');
  for (size_t i = 0; i < r->count; i++) {
    const repeat_row *row = &r->rows[i];
    json_open(&json, NULL, '{');
    json_string(&json, "kernel", row->kernel);
    json_string(&json, "section", row->section);
    json_unsigned(&json, "count", row->count);
    json_bool(&json, "uneven", row->uneven);
    values(&json, "cycles", row->cycles, r->repeats);
    values(&json, "ns", row->ns, r->repeats);
    every(&json, "repeat_cycles", row->cycles, r->repeats);
    every(&json, "repeat_ns", row->ns, r->repeats);
    json_close(&json, '}');
  }
  json_close(&json, ']');
  json_close(&json, '}');
}
