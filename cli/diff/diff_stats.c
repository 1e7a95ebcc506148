/* SPDX-License-Identifier: MIT */
/* The statistics of `inkmark diff`: a permutation test on logarithms, a bootstrap interval, Holm's correction.
 * Random numbers have a fixed seed: the same captures give the same answer. */
#include "diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BOOTSTRAPS = 2000, LOOK_EVERY = 500, ENOUGH = 50, PERMUTATIONS_MAX = 400000 };

static uint64_t draw(uint64_t *state) { /* splitmix64 */
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static size_t below(uint64_t *state, size_t n) { return (size_t)(((draw(state) >> 32) * (uint64_t)n) >> 32); }

static double logarithm(double value) { return log(value < 0.5 ? 0.5 : value); }

static double mean_log(const double *values, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += logarithm(values[i]);
  return n ? sum / (double)n : 0;
}

double diff_geometric_mean(const double *values, size_t n) {
  size_t zeros = 0;
  while (zeros < n && values[zeros] <= 0)
    zeros++;
  return zeros == n ? 0 : exp(mean_log(values, n));
}

static int compare(const void *left, const void *right) {
  const double a = *(const double *)left, b = *(const double *)right;
  return a < b ? -1 : a > b;
}

double diff_median(double *values, size_t n) {
  qsort(values, n, sizeof *values, compare);
  return !n ? 0 : n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

double diff_least_p(size_t n, size_t m) {
  double ways = 1;
  for (size_t i = 1; i <= n && ways < 1e18; i++)
    ways = ways * (double)(m + i) / (double)i;
  const double least = (n == m ? 2 : 1) / ways;
  return least < 1 ? least : 1;
}

double diff_permutation(const double *a, size_t n, const double *b, size_t m, double needed) {
  const size_t all = n + m;
  double *logs = malloc((all + 1) * sizeof *logs);
  if (!logs || !n || !m) {
    free(logs);
    return 1;
  }
  double sum = 0;
  for (size_t i = 0; i < all; i++)
    sum += logs[i] = logarithm(i < n ? a[i] : b[i - n]);
  const double seen = fabs(mean_log(a, n) - mean_log(b, m));
  const double slack = seen * 1e-9 + 1e-12; /* the same sum in another order */
  const size_t most = 20 / needed < PERMUTATIONS_MAX ? (size_t)(20 / needed) + LOOK_EVERY : PERMUTATIONS_MAX;
  uint64_t state = 1, as_large = 0, done = 0;
  while (done < most && (done % LOOK_EVERY || as_large < ENOUGH)) {
    double part = 0;
    for (size_t i = 0; i < n; i++) { /* the first n of a random order */
      const size_t j = i + below(&state, all - i);
      const double value = logs[j];
      logs[j] = logs[i];
      logs[i] = value;
      part += value;
    }
    as_large += fabs(part / (double)n - (sum - part) / (double)m) >= seen - slack;
    done++;
  }
  free(logs);
  return ((double)as_large + 1) / ((double)done + 1);
}

void diff_interval(const double *a, size_t n, const double *b, size_t m, double level, double *low, double *high) {
  *low = *high = NAN;
  if (n == 1 && m == 1) { /* nothing to draw from */
    *low = *high = exp(logarithm(b[0]) - logarithm(a[0]));
    return;
  }
  double *ratios = malloc(BOOTSTRAPS * sizeof *ratios);
  if (!ratios || !n || !m) {
    free(ratios);
    return;
  }
  uint64_t state = 2;
  for (size_t k = 0; k < BOOTSTRAPS; k++) {
    double of_a = 0, of_b = 0;
    for (size_t i = 0; i < n; i++)
      of_a += logarithm(a[below(&state, n)]);
    for (size_t i = 0; i < m; i++)
      of_b += logarithm(b[below(&state, m)]);
    ratios[k] = exp(of_b / (double)m - of_a / (double)n);
  }
  qsort(ratios, BOOTSTRAPS, sizeof *ratios, compare);
  const size_t out = (size_t)(level / 2 * BOOTSTRAPS);
  *low = ratios[out];
  *high = ratios[BOOTSTRAPS - 1 - out];
  free(ratios);
}

typedef struct ranked {
  double p;
  size_t at;
} ranked;

static int by_p(const void *left, const void *right) {
  const ranked *a = left, *b = right;
  return a->p < b->p ? -1 : a->p > b->p;
}

bool diff_holm(double *p, size_t n) {
  ranked *order = malloc((n + 1) * sizeof *order);
  if (!order)
    return false;
  for (size_t i = 0; i < n; i++)
    order[i] = (ranked){p[i], i};
  qsort(order, n, sizeof *order, by_p);
  double least = 0;
  for (size_t i = 0; i < n; i++) {
    least = fmax(least, fmin(1, order[i].p * (double)(n - i)));
    p[order[i].at] = least;
  }
  free(order);
  return true;
}
