/* SPDX-License-Identifier: MIT */
/* What the scatter of a section goes with: variance between groups against all of it, and medians over the launches. */
#include "variance.h"

#include "quantile.h"

#include <math.h>
#include <stdlib.h>

#define EXPLAINS_LEAST 0.2 /* of the variance; less is not told */
#define NEARLY_AS_MUCH 0.05
#define EVEN_SHARE 0.02    /* of the median from p1 to p99: nothing to explain */
#define EVEN_CYCLES 4.0
#define WARM_UP_FACTOR 1.1
#define GOES_WITH 0.7      /* Spearman's, of a drift */
enum { LAUNCHES_LEAST = 8, VALUE_BINS = 32 };

typedef struct keyed {
  int64_t key;
  double cycles, log_cycles, value;
} keyed;

typedef struct explanation {
  double share;
  uint64_t groups;
  int64_t group;
  double ratio;
  double correlation, slope;
} explanation;

static int by_key(const void *left, const void *right) {
  const keyed *a = left, *b = right;
  return a->key < b->key ? -1 : a->key > b->key;
}

static int by_value(const void *left, const void *right) {
  const keyed *a = left, *b = right;
  return a->value < b->value ? -1 : a->value > b->value;
}

static int by_number(const void *left, const void *right) {
  const double a = *(const double *)left, b = *(const double *)right;
  return a < b ? -1 : a > b;
}

/* Sorted by key. */
static explanation explain(const keyed *items, size_t n) {
  double sum = 0, squares = 0, within = 0, farthest = -1;
  explanation out = {0};
  for (size_t i = 0; i < n; i++)
    sum += items[i].log_cycles;
  const double mean = n ? sum / (double)n : 0;
  for (size_t i = 0; i < n; i++)
    squares += (items[i].log_cycles - mean) * (items[i].log_cycles - mean);
  for (size_t at = 0, end; at < n; at = end) {
    double part = 0;
    for (end = at; end < n && items[end].key == items[at].key; end++)
      part += items[end].log_cycles;
    const double size = (double)(end - at), own = part / size;
    for (size_t i = at; i < end; i++)
      within += (items[i].log_cycles - own) * (items[i].log_cycles - own);
    out.groups++;
    const double others = (double)n > size ? (sum - part) / ((double)n - size) : own;
    if (fabs(own - others) > farthest) {
      farthest = fabs(own - others);
      out.group = items[at].key;
      out.ratio = exp(own - others);
    }
  }
  /* Half as many groups as slices at most, else they explain all of it by being alone. */
  if (out.groups >= 2 && 2 * out.groups <= n && squares > 0) {
    out.share = 1 - within / (double)(n - out.groups) / (squares / (double)(n - 1));
    out.share = out.share > 0 ? out.share : 0;
  }
  return out;
}

/* Numbers are put into bins of equal size where they are many. */
static size_t take_values(const ink_spread_slice *slices, size_t n, size_t which, keyed *items) {
  size_t count = 0, distinct = 0;
  for (size_t i = 0; i < n; i++)
    if (isfinite(slices[i].values[which]))
      items[count++] = (keyed){0, (double)slices[i].cycles, log((double)slices[i].cycles + 1), slices[i].values[which]};
  qsort(items, count, sizeof *items, by_value);
  for (size_t i = 0; i < count; i++)
    distinct += !i || items[i].value > items[i - 1].value;
  int64_t key = 0;
  for (size_t i = 0; i < count; i++) {
    if (i && items[i].value > items[i - 1].value)
      key = distinct <= VALUE_BINS ? key + 1 : (int64_t)(i * VALUE_BINS / count);
    items[i].key = key;
  }
  return count;
}

static void line(const keyed *items, size_t n, explanation *out) {
  double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
  for (size_t i = 0; i < n; i++) {
    x += items[i].value / (double)n;
    y += items[i].cycles / (double)n;
  }
  for (size_t i = 0; i < n; i++) {
    const double dx = items[i].value - x, dy = items[i].cycles - y;
    xx += dx * dx;
    yy += dy * dy;
    xy += dx * dy;
  }
  out->correlation = xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
  out->slope = xx > 0 ? xy / xx : 0;
}

static int64_t key_of(const ink_spread_slice *s, enum ink_variance_key key) {
  switch (key) {
  case INK_VARIES_BY_LAUNCH: return s->launch;
  case INK_VARIES_BY_SM: return s->sm;
  case INK_VARIES_BY_WARP: return s->warp;
  case INK_VARIES_BY_ITERATION: return s->row;
  default: return (int64_t)(s->block & INT64_MAX);
  }
}

static size_t take_keys(const ink_spread_slice *slices, size_t n, enum ink_variance_key key, keyed *items) {
  size_t count = 0;
  for (size_t i = 0; i < n; i++)
    if (key != INK_VARIES_BY_ITERATION || (slices[i].row != INK_ROW_NONE && slices[i].row != INK_ROW_UNKNOWN))
      items[count++] = (keyed){key_of(&slices[i], key), (double)slices[i].cycles, log((double)slices[i].cycles + 1), 0};
  qsort(items, count, sizeof *items, by_key);
  return count;
}

static void take(ink_variance_row *row, enum ink_variance_key key, const explanation *e, ink_section_index value) {
  row->key = key;
  row->explained = e->share;
  row->groups = e->groups;
  row->group = e->group;
  row->group_ratio = e->ratio;
  row->value = value;
  row->value_correlation = e->correlation;
  row->cycles_per_value = e->slope;
}

static void explain_keys(const ink_spread_slice *slices, size_t n, const ink_section_index *values, size_t value_count,
                         keyed *items, ink_variance_row *row) {
  explanation all[INK_VARIES_BY_NOTHING + INK_SPREAD_VALUES] = {0};
  double best = EXPLAINS_LEAST;
  for (int key = 0; key < INK_VARIES_BY_NOTHING; key++)
    if (key != INK_VARIES_BY_VALUE) {
      const size_t count = take_keys(slices, n, (enum ink_variance_key)key, items);
      if (2 * count > n) /* of half of them nothing is known */
        all[key] = explain(items, count);
      best = all[key].share > best ? all[key].share : best;
    }
  for (size_t v = 0; v < value_count; v++) {
    const size_t count = take_values(slices, n, v, items);
    explanation *e = &all[INK_VARIES_BY_NOTHING + v];
    if (2 * count > n)
      *e = explain(items, count);
    line(items, count, e);
    best = e->share > best ? e->share : best;
  }
  for (int key = INK_VARIES_BY_BLOCK; key >= 0; key--) { /* the coarsest last */
    const double enough = fmax(EXPLAINS_LEAST, best - NEARLY_AS_MUCH);
    for (size_t v = value_count; key == INK_VARIES_BY_VALUE && v > 0; v--)
      if (all[INK_VARIES_BY_NOTHING + v - 1].share >= enough)
        take(row, INK_VARIES_BY_VALUE, &all[INK_VARIES_BY_NOTHING + v - 1], values[v - 1]);
    if (key != INK_VARIES_BY_VALUE && all[key].share >= enough)
      take(row, (enum ink_variance_key)key, &all[key], INK_SECTION_UNKNOWN);
  }
}

/* ---- over the launches ---- */

typedef struct placed {
  double median;
  size_t at;
} placed;

static int by_median(const void *left, const void *right) {
  const placed *a = left, *b = right;
  return a->median < b->median ? -1 : a->median > b->median;
}

/* Of the medians with their order; equal ones have the mean of their ranks. */
static double spearman(const double *medians, placed *sorted, size_t n) {
  double squares = 0;
  for (size_t i = 0; i < n; i++)
    sorted[i] = (placed){medians[i], i};
  qsort(sorted, n, sizeof *sorted, by_median);
  for (size_t at = 0, end; at < n; at = end) {
    for (end = at + 1; end < n && !(sorted[end].median > sorted[at].median);)
      end++;
    const double rank = (double)at + (double)(end - at - 1) / 2;
    for (size_t i = at; i < end; i++)
      squares += (rank - (double)sorted[i].at) * (rank - (double)sorted[i].at);
  }
  return n > 1 ? 1 - 6 * squares / ((double)n * ((double)n * (double)n - 1)) : 0;
}

static void look_at_order(const double *medians, double *scratch, placed *sorted, size_t n, ink_variance_row *row) {
  const size_t rest = n / 3 < n ? n / 3 : 0; /* a warm-up is no longer than a third */
  for (size_t i = rest; i < n; i++)
    scratch[i - rest] = medians[i];
  const double usual = ink_median(scratch, n - rest);
  while (row->warm_up < rest && medians[row->warm_up] > WARM_UP_FACTOR * usual)
    row->warm_up++;
  row->warm_up_ratio = row->warm_up && usual > 0 ? medians[0] / usual : 0;
  const double *warm = medians + row->warm_up;
  const size_t left = n - row->warm_up, fourth = left / 4;
  if (left < LAUNCHES_LEAST || fabs(spearman(warm, sorted, left)) < GOES_WITH)
    return;
  for (size_t i = 0; i < fourth; i++)
    scratch[i] = warm[i];
  const double first = ink_median(scratch, fourth);
  for (size_t i = 0; i < fourth; i++)
    scratch[i] = warm[left - fourth + i];
  row->drift = first > 0 ? ink_median(scratch, fourth) / first - 1 : NAN;
}

static bool over_launches(const ink_spread_slice *slices, size_t n, keyed *items, ink_variance_row *row) {
  double *numbers = malloc((n + 1) * sizeof *numbers), *medians = malloc((n + 1) * sizeof *medians);
  placed *sorted = malloc((n + 1) * sizeof *sorted);
  const bool fine = numbers && medians && sorted;
  size_t launches = 0;
  take_keys(slices, n, INK_VARIES_BY_LAUNCH, items);
  row->drift = NAN;
  for (size_t at = 0, end; fine && at < n; at = end) {
    for (end = at; end < n && items[end].key == items[at].key; end++)
      numbers[end - at] = items[end].cycles;
    medians[launches++] = ink_median(numbers, end - at);
  }
  row->launches = launches;
  if (fine && launches >= 3)
    look_at_order(medians, numbers, sorted, launches, row);
  free(numbers);
  free(medians);
  free(sorted);
  return fine;
}

static double quantile(const double *sorted, size_t n, double share) {
  const double at = share * (double)(n - 1);
  const size_t low = (size_t)at;
  return low + 1 < n ? sorted[low] + (at - (double)low) * (sorted[low + 1] - sorted[low]) : sorted[n - 1];
}

ink_status ink_spread_explain(const ink_spread_slice *slices, size_t n, const ink_section_index *values,
                              size_t value_count, ink_variance_row *row, ink_error *error) {
  keyed *items = malloc((n + 1) * sizeof *items);
  double *cycles = malloc((n + 1) * sizeof *cycles);
  bool fine = items && cycles;
  for (size_t i = 0; fine && i < n; i++)
    cycles[i] = (double)slices[i].cycles;
  if (fine) {
    qsort(cycles, n, sizeof *cycles, by_number);
    row->looked_at = n;
    row->p1_cycles = quantile(cycles, n, 0.01);
    row->median_cycles = quantile(cycles, n, 0.5);
    row->p99_cycles = quantile(cycles, n, 0.99);
    row->key = INK_VARIES_BY_NOTHING;
    if (row->p99_cycles - row->p1_cycles > fmax(EVEN_CYCLES, EVEN_SHARE * row->median_cycles))
      explain_keys(slices, n, values, value_count, items, row);
    fine = over_launches(slices, n, items, row);
  }
  free(items);
  free(cycles);
  return fine ? INK_OK : ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the variance");
}
