/* SPDX-License-Identifier: MIT */
/* Marks that record nothing, which no compiler says: before their kernel's PROF_KERNEL, or where the kernel
 * has none. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

bool ink_macro_opens(const char *macro) {
  return !strncmp(macro, "PROF_KERNEL", 11) || !strncmp(macro, "PROF_OPEN", 9);
}

void ink_function_note_hand(ink_function *function, const char *macro, uint32_t offset) {
  if (ink_macro_opens(macro)) {
    if (!function->opened_at || offset < function->opened_at)
      function->opened_at = offset;
  } else if (strcmp(macro, "PROF_LAMBDA") != 0 && strcmp(macro, "PROF_SECTIONS") != 0) {
    if (!function->first_hand || offset < function->first_hand)
      function->first_hand = offset;
  }
}

static unsigned line_of(const ink_function *function, uint32_t offset) {
  uint32_t line, column;
  ink_source_position(function->source, offset, &line, &column);
  return line;
}

/* The marks by hand and what the rules put in. */
static void say_before(ink_unit *unit, const ink_function *kernel) {
  uint32_t first = kernel->first_hand ? kernel->first_hand : UINT32_MAX;
  for (size_t i = 0; i < unit->found.count; i++) {
    const ink_found *place = &unit->found.items[i];
    if (place->function == kernel && place->state == INK_PLACE_MARKED &&
        place->kind != INK_PLACE_KERNEL && place->kind != INK_PLACE_HAND && place->offset < first)
      first = place->offset;
  }
  if (kernel->opened_at && first < kernel->opened_at)
    ink_unit_say(unit, kernel->source, first,
                 "warning: marks of '%s' from here to its PROF_KERNEL, line %u, record nothing",
                 kernel->name, line_of(kernel, kernel->opened_at));
}

/* The nearest function with marks by hand that `from` calls, or NULL. */
static const ink_function *marked_callee(ink_unit *unit, const ink_function *from, bool *seen) {
  const ink_function *found = NULL;
  for (uint32_t i = 0; i < from->tree.nodes.count && !found; i++) {
    if (from->tree.nodes.items[i].kind != CXCursor_CallExpr)
      continue;
    const ink_function *to = ink_called_function(unit, &from->tree, i, 0);
    const size_t at = to ? (size_t)(to - unit->functions.items) : 0;
    if (!to || to->kernel || to->opened_at || seen[at])
      continue;
    seen[at] = true;
    found = to->first_hand ? to : marked_callee(unit, to, seen);
  }
  return found;
}

/* Its own, and those of lambdas in it. */
static const ink_function *marked_itself(const ink_unit *unit, const ink_function *kernel) {
  if (kernel->first_hand)
    return kernel;
  for (size_t i = 0; i < unit->functions.count; i++) {
    const ink_function *inner = &unit->functions.items[i];
    if (inner->first_hand && inner->outer && &unit->functions.items[inner->outer - 1] == kernel)
      return inner;
  }
  return NULL;
}

static void say_unopened(ink_unit *unit, const ink_function *kernel) {
  bool *seen = calloc(unit->functions.count, sizeof *seen);
  const ink_function *marked = marked_itself(unit, kernel);
  const bool itself = marked != NULL;
  if (!marked && seen)
    marked = marked_callee(unit, kernel, seen);
  unit->failed |= !seen;
  free(seen);
  if (!marked)
    return;
  const unsigned line = line_of(marked, marked->first_hand);
  const char *what = kernel->is_opened ? "only its marked form records them" : "they record nothing";
  if (itself)
    ink_unit_say(unit, kernel->source, kernel->start,
                 "%s'%s' has marks by hand, the first in line %u, but no PROF_KERNEL: %s",
                 kernel->is_opened ? "" : "warning: ", kernel->name, line, what);
  else
    ink_unit_say(unit, kernel->source, kernel->start,
                 "'%s' calls '%s', which has marks by hand, the first in %s:%u, but has no PROF_KERNEL: %s",
                 kernel->name, marked->name, marked->source->shown, line, what);
}

void ink_unit_unopened_remarks(ink_unit *unit) {
  for (size_t i = 0; i < unit->functions.count && !unit->failed; i++) {
    const ink_function *kernel = &unit->functions.items[i];
    if (!kernel->kernel || kernel->source->is_marked_already)
      continue;
    if (kernel->opened_at)
      say_before(unit, kernel);
    else if (!kernel->opened_by)
      say_unopened(unit, kernel);
  }
}
