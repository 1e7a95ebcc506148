/* SPDX-License-Identifier: MIT */
/* Which parts of both sides are one though their names differ: the only device of each side, and the only instance of
 * a kernel on each side, whose parameters were changed. */
#include "diff.h"

#include <stdlib.h>
#include <string.h>

static int by_text(const char *a, const char *b) {
  return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

static int by_kernel(const diff_series *a, const diff_series *b) {
  const int kernels = by_text(a->kernel, b->kernel);
  return kernels ? kernels : (a->device > b->device) - (a->device < b->device);
}

static int by_part(const void *left, const void *right) {
  const diff_series *a = *(diff_series *const *)left, *b = *(diff_series *const *)right;
  const int kernels = by_kernel(a, b);
  return kernels ? kernels : by_text(a->instance, b->instance);
}

static bool is_on_one_device(const diff_side *side) {
  for (size_t i = 1; i < side->count; i++)
    if (side->series[i].device != side->series[0].device)
      return false;
  return side->count > 0;
}

static diff_series **sorted(diff_side *side) {
  diff_series **list = calloc(side->count + 1, sizeof *list);
  for (size_t i = 0; list && i < side->count; i++)
    list[i] = &side->series[i];
  if (list && side->count)
    qsort(list, side->count, sizeof *list, by_part);
  return list;
}

/* The end of the kernel that begins there; `one`: it has one instance. */
static size_t end_of(diff_series *const *list, size_t n, size_t at, bool *one) {
  size_t end = at + 1;
  *one = true;
  for (; end < n && !by_kernel(list[at], list[end]); end++)
    *one = *one && !by_text(list[at]->instance, list[end]->instance);
  return end;
}

/* False: out of memory. */
static bool rename_instances(diff_series *const *list, size_t n, const char *name) {
  for (size_t i = 0; i < n; i++) {
    char *copy = name ? strdup(name) : NULL;
    if (name && !copy)
      return false;
    list[i]->own_instance = list[i]->instance;
    list[i]->instance = copy;
    list[i]->moved = true;
  }
  return true;
}

bool diff_align(const diff_side *base, diff_side *now) {
  if (is_on_one_device(base) && is_on_one_device(now))
    for (size_t i = 0; i < now->count; i++)
      now->series[i].device = base->series[0].device;
  diff_side read = *base; /* its order changes nothing */
  diff_series **left = sorted(&read), **right = sorted(now);
  bool fine = left && right;
  for (size_t a = 0, b = 0; fine && a < base->count && b < now->count;) {
    bool one[2];
    const size_t a_end = end_of(left, base->count, a, &one[0]), b_end = end_of(right, now->count, b, &one[1]);
    const int order = by_kernel(left[a], right[b]);
    if (!order && one[0] && one[1] && by_text(left[a]->instance, right[b]->instance))
      fine = rename_instances(right + b, b_end - b, left[a]->instance);
    a = order <= 0 ? a_end : a;
    b = order >= 0 ? b_end : b;
  }
  free(left);
  free(right);
  diff_side_index(now);
  return fine;
}
