/* SPDX-License-Identifier: MIT */
/* Functions by their name, their body's place and their cursor. A template library has thousands, hundreds of one name, and
 * far more calls that may be any of them. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static int by_name(const void *left, const void *right, void *data) {
  const ink_unit *unit = data;
  const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
  const int order = strcmp(unit->functions.items[a].name, unit->functions.items[b].name);
  return order ? order : a < b ? -1 : a > b;
}

static int compare_bodies(const ink_function *a, const ink_function *b) {
  if (a->source != b->source)
    return (uintptr_t)a->source < (uintptr_t)b->source ? -1 : 1;
  return a->body_start < b->body_start ? -1 : a->body_start > b->body_start;
}

static int by_body(const void *left, const void *right, void *data) {
  const ink_unit *unit = data;
  const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
  const int order = compare_bodies(&unit->functions.items[a], &unit->functions.items[b]);
  return order ? order : a < b ? -1 : a > b;
}

static bool make(ink_unit *unit) {
  const uint32_t count = (uint32_t)unit->functions.count;
  if (unit->found_by.of == count)
    return true;
  ink_index_free(unit);
  unit->found_by.names = malloc((count + 1) * sizeof *unit->found_by.names);
  unit->found_by.bodies = malloc((count + 1) * sizeof *unit->found_by.bodies);
  bool fine = unit->found_by.names && unit->found_by.bodies;
  for (uint32_t i = 0; i < count && fine; i++) {
    const ink_function *function = &unit->functions.items[i];
    if (!function->kernel && !function->outer && !function->in_host)
      unit->found_by.names[unit->found_by.name_count++] = i;
    unit->found_by.bodies[i] = i;
    fine = clang_Cursor_isNull(function->cursor) || ink_cursor_map_at(&unit->found_by.cursors, function->cursor, i + 1, NULL);
  }
  unit->failed |= !fine;
  if (!fine)
    return false;
  qsort_r(unit->found_by.names, unit->found_by.name_count, sizeof *unit->found_by.names, by_name, unit);
  qsort_r(unit->found_by.bodies, count, sizeof *unit->found_by.bodies, by_body, unit);
  unit->found_by.of = count;
  return true;
}

static int compare_name(const ink_unit *unit, size_t at, const char *name, size_t length) {
  const char *other = unit->functions.items[unit->found_by.names[at]].name;
  const int order = strncmp(other, name, length);
  return order ? order : other[length] != 0;
}

void ink_functions_named(ink_unit *unit, const char *name, size_t length, size_t *from, size_t *to) {
  *from = *to = 0;
  if (!make(unit))
    return;
  size_t low = 0, high = unit->found_by.name_count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (compare_name(unit, middle, name, length) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  *from = *to = low;
  while (*to < unit->found_by.name_count && !compare_name(unit, *to, name, length))
    ++*to;
}

ink_function *ink_named_function(const ink_unit *unit, size_t at) {
  return &unit->functions.items[unit->found_by.names[at]];
}

uint32_t ink_function_by_body(ink_unit *unit, const ink_source *source, uint32_t start, bool opens_by_macro) {
  const ink_function wanted = {.source = (ink_source *)source, .body_start = start};
  if (!make(unit))
    return 0;
  size_t low = 0, high = unit->functions.count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (compare_bodies(&unit->functions.items[unit->found_by.bodies[middle]], &wanted) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  for (; low < unit->functions.count; low++) {
    const ink_function *function = &unit->functions.items[unit->found_by.bodies[low]];
    if (compare_bodies(function, &wanted))
      break;
    if (function->opens_by_macro == opens_by_macro)
      return unit->found_by.bodies[low] + 1;
  }
  return 0;
}

uint32_t ink_function_by_cursor(ink_unit *unit, CXCursor cursor) {
  bool known = false;
  const uint32_t *found = NULL;
  if (!clang_Cursor_isNull(cursor) && make(unit))
    found = ink_cursor_map_at(&unit->found_by.cursors, cursor, 0, &known);
  return found ? *found : 0;
}

void ink_index_free(ink_unit *unit) {
  free(unit->found_by.names);
  free(unit->found_by.bodies);
  ink_cursor_map_free(&unit->found_by.cursors);
  memset(&unit->found_by, 0, sizeof unit->found_by);
}
