/* SPDX-License-Identifier: MIT */
/* Where the track of a kernel is opened that is one call of a function: there, so that its marks are those of a
 * kernel's body, in registers, and sums are kept. Only where nobody else calls that function. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

typedef struct openings {
  ink_unit *unit;
  bool *shared; /* [functions.count]: something else than a kernel's one call comes here */
} openings;

static uint32_t index_of(const ink_unit *unit, const ink_function *function) {
  return (uint32_t)(function - unit->functions.items);
}

/* The kernel, or a function on its way, whose one call leads on. */
static bool leads_on(const ink_function *function) {
  return function->is_forwarder && function->calls_deep == 0;
}

static void note_callers(openings *state) {
  ink_unit *unit = state->unit;
  for (size_t i = 0; i < unit->functions.count; i++) {
    const ink_function *from = &unit->functions.items[i];
    for (uint32_t n = 0; n < from->tree.nodes.count; n++) {
      ink_function *to;
      if (from->tree.nodes.items[n].kind != CXCursor_CallExpr)
        continue;
      for (unsigned k = 0; (to = ink_called_function(unit, &from->tree, n, k)); k++)
        if (!leads_on(from))
          state->shared[index_of(unit, to)] = true;
    }
  }
}

static bool may_open(const openings *state, const ink_function *to) {
  return !to->kernel && !to->outer && !to->in_host && !to->host && !to->is_constexpr && !to->in_macro && !to->is_off &&
         !to->is_opened && to->calls_deep == 0 && !state->shared[index_of(state->unit, to)] &&
         !ink_why_function_left(state->unit, to);
}

/* Each function that `from` calls and that could open the track; `call` and `way` are 0 at first, and NULL ends it. */
static ink_function *next_callee(const openings *state, const ink_function *from, uint32_t *call, unsigned *way) {
  for (; *call < from->tree.nodes.count; (*call)++, *way = 0) {
    ink_function *to;
    if (from->tree.nodes.items[*call].kind != CXCursor_CallExpr)
      continue;
    while ((to = ink_called_function(state->unit, &from->tree, *call, (*way)++)))
      if (to != from && to->calls_deep == 0 && !to->kernel && !ink_is_tiny(state->unit, to))
        return to;
  }
  return NULL;
}

/* Whether all that the one call of the function may call can have the track. */
static bool can_move(const openings *state, const ink_function *from, unsigned depth) {
  ink_function *to;
  uint32_t call = 0;
  unsigned calls = 0, way = 0;
  if (depth > 8 || (from->kernel && (from->is_opened || ink_why_function_left(state->unit, from))))
    return false;
  for (; (to = next_callee(state, from, &call, &way)); calls++)
    if (!may_open(state, to) || (leads_on(to) && !can_move(state, to, depth + 1)))
      return false;
  return calls > 0;
}

typedef void visit_fn(const openings *state, ink_function *to, uint32_t kernel);

/* Each function that the kernel's calls end in, and with `ways` those on the way. */
static void visit(const openings *state, const ink_function *from, uint32_t kernel, bool ways, unsigned depth, visit_fn *fn) {
  ink_function *to;
  uint32_t call = 0;
  unsigned way = 0;
  while (depth < 10 && (to = next_callee(state, from, &call, &way))) {
    if (leads_on(to))
      visit(state, to, kernel, ways, depth + 1, fn);
    if (ways || !leads_on(to))
      fn(state, to, kernel);
  }
}

static void spoil(const openings *state, ink_function *to, uint32_t kernel) {
  (void)kernel;
  state->shared[index_of(state->unit, to)] = true;
}

static void give(const openings *state, ink_function *to, uint32_t kernel) {
  to->opens = true;
  to->opens_for = to->opens_for && to->opens_for != kernel + 1 ? UINT32_MAX : kernel + 1;
  state->unit->functions.items[kernel].opened_in = index_of(state->unit, to) + 1;
}

void ink_unit_find_openings(ink_unit *unit) {
  const bool never = unit->options->lines || unit->options->kernels_only;
  openings state = {unit, calloc(unit->functions.count + 1, sizeof(bool))};
  if (!state.shared) {
    unit->failed = true;
    return;
  }
  note_callers(&state);
  for (size_t i = 0; i < unit->functions.count; i++) {
    ink_function *function = &unit->functions.items[i];
    function->opened_by = function->kernel ? ink_hand_opener(unit, function) : 0;
    function->opens = function->kernel ? !function->opened_by && (never || !leads_on(function)) : function->opened_at != 0;
  }
  for (bool more = true; more;) { /* what one kernel must open itself nobody else opens further down */
    more = false;
    for (size_t i = 0; i < unit->functions.count; i++) {
      ink_function *kernel = &unit->functions.items[i];
      if (!kernel->kernel || kernel->opens || kernel->opened_by || can_move(&state, kernel, 0))
        continue;
      kernel->opens = more = true;
      visit(&state, kernel, (uint32_t)i, true, 0, spoil);
    }
  }
  for (size_t i = 0; i < unit->functions.count; i++)
    if (unit->functions.items[i].kernel && !unit->functions.items[i].opens && !unit->functions.items[i].opened_by)
      visit(&state, &unit->functions.items[i], (uint32_t)i, false, 0, give);
  free(state.shared);
}
