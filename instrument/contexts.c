/* SPDX-License-Identifier: MIT */
/* Called functions with marks get the context of the kernels that call them, so that these marks cost what they cost in
 * the kernel's body: a copy of the function takes it as a parameter, and the calls that can give it call the copy. That
 * runs behind the rules, when it is known which functions have marks. Before the rules the same search tells into which
 * functions the default goes. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct call { /* by each function that it may call */
  uint32_t from, node, to;
  bool same_node;  /* as the call before */
  const char *why; /* it cannot give a context, NULL: it can */
} call;

typedef struct candidate { /* what is known of a function */
  ink_copy copy;
  const char *why; /* no copy of it can be made, NULL: it can */
  bool has_marks;  /* in its body, of the rules */
  bool is_asked, is_useful; /* a context would serve marks in it or in what it calls */
  bool is_passed;  /* by the search for a way back to a function */
  size_t first;    /* of the calls in it */
} candidate;

typedef struct contexts {
  ink_unit *unit;
  struct {
    call *items;
    size_t count, room;
  } calls;          /* in the order of `from` and `node` */
  candidate *items; /* [functions.count + 1] */
  bool is_final;    /* what is gone into is known: only the likes of it can call it with its context */
} contexts;

static ink_function *function_at(const contexts *state, uint32_t index) {
  return &state->unit->functions.items[index];
}

/* ---- the calls ---------------------------------------------------------------------------------- */

/* `object.operator()(x)`, `object.template operator()<N>(x)` */
static bool names_operator(const ink_source *source, uint32_t start, size_t open) {
  for (size_t i = ink_source_token_at(source, start); i < open; i++)
    if (ink_source_token_is(source, i, "operator"))
      return true;
  return false;
}

/* Why the call cannot be one of a copy; NULL: it can. `object`: it is of an operator(), `object(x)`. */
static const char *why_no_call(ink_unit *unit, const ink_function *from, uint32_t at, bool object) {
  static const char form[] = "a call of it has another form than f(x)";
  const ink_source *source = from->source;
  size_t name, open;
  if (from->tree.nodes.items[at].in_macro)
    return "a call of it stands in a macro";
  const bool words = ink_call_words(&from->tree, at, &name, &open);
  if (object ? open == source->tokens.count || names_operator(source, from->tree.nodes.items[at].start, open) : !words)
    return form;
  if (!ink_call_is_told(unit, &from->tree, at))
    return "a call of it depends on a template of which no instance in the file comes here";
  for (unsigned k = 0;; k++) {
    const CXCursor target = ink_unit_resolved(unit, source, &from->tree.nodes.items[at], k);
    if (clang_Cursor_isNull(target))
      break;
    if (!ink_unit_function(unit, target))
      return "another instance calls a function outside of the project there";
  }
  const ink_token *word = &source->tokens.items[object ? open : name];
  if (!ink_source_free_at(source, word->start) || !ink_source_free_at(source, word->end) ||
      !ink_source_free_at(source, source->tokens.items[open].end))
    return "a call of it stands in a macro";
  for (size_t i = 0; i < source->macros.count; i++)
    if (source->macros.items[i].start == word->start)
      return "a call of it stands in a macro";
  return ink_source_same_branch(source, word->start, source->tokens.items[open].end)
             ? NULL
             : "a preprocessor conditional stands in a call of it";
}

static bool add_calls(contexts *state, uint32_t from) {
  ink_unit *unit = state->unit;
  const ink_function *function = function_at(state, from);
  for (uint32_t n = 0; n < function->tree.nodes.count; n++) {
    const ink_node *node = &function->tree.nodes.items[n];
    const char *why = NULL;
    ink_function *to;
    if (node->kind != CXCursor_CallExpr || node->in_lambda || ink_is_unevaluated(&function->tree, n))
      continue;
    bool object = false;
    for (unsigned k = 0; (to = ink_called_function(unit, &function->tree, n, k)); k++) {
      if (!k) {
        object = ink_is_call_operator(to);
        why = why_no_call(unit, function, n, object);
      } else if (object != ink_is_call_operator(to)) {
        why = "a call of it may be of an object or not";
      }
      if (!INK_I_GROW(state->calls))
        return false;
      state->calls.items[state->calls.count++] = (call){from, n, (uint32_t)(to - unit->functions.items), k != 0, why};
    }
  }
  return true;
}

static bool find_calls(contexts *state) {
  const uint32_t count = (uint32_t)state->unit->functions.count;
  for (uint32_t i = 0; i < count; i++) {
    state->items[i].first = state->calls.count;
    if (function_at(state, i)->calls_deep >= 0 && !add_calls(state, i))
      return false;
  }
  state->items[count].first = state->calls.count;
  return true;
}

/* Behind the last of the calls that stand at one node. */
static size_t behind_node(const contexts *state, size_t at) {
  do
    at++;
  while (at < state->calls.count && state->calls.items[at].same_node);
  return at;
}

/* ---- which functions can have one --------------------------------------------------------------- */

static void leave(contexts *state, const ink_source *source, const ink_token *name, const char *why) {
  size_t from, to;
  ink_functions_named(state->unit, source->text.at + name->start, name->end - name->start, &from, &to);
  for (; from < to; from++)
    state->items[ink_named_function(state->unit, from) - state->unit->functions.items].why = why;
}

static void leave_operators(contexts *state, bool friendly) {
  for (uint32_t i = 0; i < state->unit->functions.count; i++)
    if (ink_is_call_operator(function_at(state, i)))
      state->items[i].why = friendly ? "it is a friend of a class" : "a using-declaration names it";
}

/* What `friend ... f(...)` and `using ns::f;` give to f they would not give to its copy. */
static void leave_named(contexts *state) {
  for (size_t s = 0; s < state->unit->sources.count; s++) {
    const ink_source *source = state->unit->sources.items[s];
    for (size_t i = 0; i < source->tokens.count; i++) {
      const bool friendly = ink_source_token_is(source, i, "friend");
      if (!friendly && !ink_source_token_is(source, i, "using"))
        continue;
      for (i++; i < source->tokens.count && !strchr(";{=", source->text.at[source->tokens.items[i].start]); i++)
        if (ink_source_token_is(source, i, "operator"))
          leave_operators(state, friendly);
        else if (source->tokens.items[i].kind == CXToken_Identifier && !ink_source_token_is(source, i - 1, "namespace"))
          leave(state, source, &source->tokens.items[i],
                friendly ? "it is a friend of a class" : "a using-declaration names it");
    }
  }
}

static bool has_marks(const contexts *state, const ink_function *function) {
  const ink_edits *edits = &function->source->edits;
  for (size_t i = 0; i < edits->count; i++)
    if (edits->items[i].offset > function->body_start && edits->items[i].offset < function->body_end &&
        !ink_is_in_inner(state->unit, function, edits->items[i].offset))
      return true;
  return false;
}

static bool leads_to(contexts *state, uint32_t from, uint32_t to) {
  for (size_t i = state->items[from].first; i < state->items[from + 1].first; i++) {
    const uint32_t next = state->calls.items[i].to;
    if (next == to)
      return true;
    if (state->items[next].is_passed)
      continue;
    state->items[next].is_passed = true;
    if (leads_to(state, next, to))
      return true;
  }
  return false;
}

static bool is_recursive(contexts *state, uint32_t index) {
  for (size_t i = 0; i < state->unit->functions.count; i++)
    state->items[i].is_passed = false;
  return leads_to(state, index, index);
}

static bool is_useful(contexts *state, uint32_t index);

/* All that the calls at one node may call would have the context of use. */
static bool is_useful_at(contexts *state, size_t at) {
  const size_t end = behind_node(state, at);
  const ink_function *from = function_at(state, state->calls.items[at].from);
  for (size_t i = at; i < end; i++) {
    const ink_function *to = function_at(state, state->calls.items[i].to);
    if (state->calls.items[i].why || !is_useful(state, state->calls.items[i].to) ||
        (state->is_final && to->gone_into && !ink_goes_by(state->unit, from, state->calls.items[i].node, to)))
      return false;
  }
  return true;
}

static bool is_useful(contexts *state, uint32_t index) {
  candidate *of = &state->items[index];
  const ink_function *function = function_at(state, index);
  if (of->is_asked)
    return of->is_useful;
  of->is_asked = true; /* and not useful, for what comes back here */
  if (function->kernel || function->opens || function->in_macro)
    return false;
  bool any = of->has_marks;
  for (size_t i = of->first; i < state->items[index + 1].first && !any; i = behind_node(state, i))
    any = is_useful_at(state, i);
  if (!any)
    return false;
  of->why = of->why ? of->why : ink_why_no_copy(state->unit, function, &of->copy);
  if (!of->why && is_recursive(state, index))
    of->why = "it calls itself";
  return of->is_useful = !of->why;
}

/* ---- who gets one ------------------------------------------------------------------------------- */

/* Has a context of its own: the rules opened the track in it. */
static bool is_owner(const ink_function *function) {
  return function->opens && function->is_opened && !function->opened_at;
}

static void give_from(contexts *state, uint32_t from) {
  for (size_t i = state->items[from].first; i < state->items[from + 1].first; i = behind_node(state, i)) {
    if (!is_useful_at(state, i))
      continue;
    for (size_t k = i; k < behind_node(state, i); k++) {
      ink_function *to = function_at(state, state->calls.items[k].to);
      if (!to->has_context) {
        to->has_context = true;
        give_from(state, state->calls.items[k].to);
      }
    }
  }
}

/* The call is of a copy: in a function that has a context itself. */
static bool is_given(contexts *state, size_t at) {
  const ink_function *from = function_at(state, state->calls.items[at].from);
  while (state->calls.items[at].same_node)
    at--;
  return (is_owner(from) || from->has_context) && is_useful_at(state, at);
}

/* The node names what is called; of `object(x)` it stands behind the object. */
static bool is_callee(const ink_tree *tree, uint32_t at) {
  const ink_node *nodes = tree->nodes.items;
  const CXCursor named = clang_getCursorReferenced(nodes[at].cursor);
  for (uint32_t up = nodes[at].parent; up != INK_NO_NODE; at = up, up = nodes[at].parent) {
    if (nodes[up].kind == CXCursor_CallExpr)
      return nodes[up].first == at || (nodes[up].first != INK_NO_NODE && nodes[nodes[up].first].next == at &&
                                       clang_equalCursors(clang_getCursorReferenced(nodes[up].cursor), named));
    if (nodes[up].kind != CXCursor_UnexposedExpr)
      return false;
  }
  return false;
}

/* Something takes the address of functions: what is called so keeps its marks. */
static void keep_taken(contexts *state, const ink_function *from) {
  for (uint32_t n = 0; n < from->tree.nodes.count; n++) {
    const ink_node *node = &from->tree.nodes.items[n];
    if ((node->kind != CXCursor_DeclRefExpr && node->kind != CXCursor_MemberRefExpr) || is_callee(&from->tree, n) ||
        ink_is_unevaluated(&from->tree, n))
      continue;
    ink_function *to = ink_unit_function(state->unit, clang_getCursorReferenced(node->cursor));
    if (to && !to->gone_into)
      to->keeps_marks = true;
  }
}

/* The original of a function keeps its marks where a call is left that has no context. */
static void find_keepers(contexts *state) {
  for (uint32_t i = 0; i < state->unit->functions.count; i++)
    if (function_at(state, i)->calls_deep >= 0)
      keep_taken(state, function_at(state, i));
  for (bool more = true; more;) {
    more = false;
    for (size_t i = 0; i < state->calls.count; i++) {
      const ink_function *from = function_at(state, state->calls.items[i].from);
      ink_function *to = function_at(state, state->calls.items[i].to);
      if (!to->has_context || to->keeps_marks || to->gone_into || (from->kernel && !from->is_opened))
        continue; /* without a context what is gone into has no marks */
      if (!is_given(state, i) || (from->has_context && from->keeps_marks))
        to->keeps_marks = more = true;
    }
  }
}

/* ---- what is put in ----------------------------------------------------------------------------- */

static void put_call(contexts *state, size_t at) {
  const ink_function *from = function_at(state, state->calls.items[at].from);
  const ink_source *source = from->source;
  ink_edits *edits = &function_at(state, state->calls.items[at].from)->source->edits;
  size_t name, open;
  const bool object = ink_is_call_operator(function_at(state, state->calls.items[at].to));
  ink_call_words(&from->tree, state->calls.items[at].node, &name, &open);
  if (object)
    name = open;
  const bool empty = ink_source_token_is(source, ink_source_skip(source, open + 1), ")");
  const struct {
    uint32_t offset, depth;
    bool closes;
    const char *text;
  } parts[] = {{source->tokens.items[name].start, UINT32_MAX, false, "INK_WITH("},
               {source->tokens.items[name].end, UINT32_MAX, true, ")"},
               {source->tokens.items[open].start, 0, true, " INK_OBJECT()"}, /* behind all that its object has */
               {source->tokens.items[open].end, 0, false, empty ? "INK_CONTEXT()" : "INK_CONTEXT(,)"}};
  for (size_t i = object ? 2 : 0; i < sizeof parts / sizeof *parts; i++) {
    if (i == 2 && !object)
      continue;
    ink_edits_add(edits, parts[i].offset, parts[i].closes, parts[i].depth, 0, "%s", parts[i].text);
    if (from->has_context)
      ink_edits_for_copy(edits);
  }
}

/* Of a function with marks that is called and has no context: why. */
static const char *why_none(const contexts *state, uint32_t index) {
  const char *why = state->items[index].why;
  for (size_t i = 0; i < state->calls.count && !why; i++)
    if (state->calls.items[i].to == index)
      why = state->calls.items[i].why;
  return why ? why : "what calls it has no context";
}

static void list(contexts *state, uint32_t index) {
  ink_function *function = function_at(state, index);
  if (function->kernel || function->opens || function->outer || function->in_host || function->calls_deep < 0 ||
      (!state->items[index].has_marks && !function->has_context))
    return;
  ink_found *place = ink_unit_place(state->unit, INK_PLACE_CONTEXT, NULL, function->source, function->named_at, function->name);
  if (!function->has_context) {
    ink_found_left(place, "%s", why_none(state, index));
    return;
  }
  ink_found_marked(place, "", NULL);
  if (function->keeps_marks)
    place->reason = strdup("and without one, for other calls");
}

/* What is gone into gets the kernel's own context: it has the kernel's sums, or its rows. */
static void copy(contexts *state, uint32_t index) {
  ink_function *function = function_at(state, index);
  const ink_function *owner = NULL; /* of several any one: their sections are of one table */
  char context[320] = "PROF_PARAMS()";
  for (uint32_t i = 0; i < state->unit->functions.count && function->gone_into && !owner; i++)
    if (function->owner == UINT32_MAX ? is_owner(function_at(state, i)) && !function_at(state, i)->in_rows : function->owner == i + 1)
      owner = function_at(state, i);
  if (owner && owner->track)
    snprintf(context, sizeof context, "%s(%s)", function->in_rows ? "PROF_PARAMS_ROWS" : "INK_PARAMS", owner->track);
  ink_copy_add(function, &state->items[index].copy, context);
}

/* Its marks need a context, and it has come to none. */
static void take_out(contexts *state, uint32_t index) {
  ink_function *function = function_at(state, index);
  ink_unit *unit = state->unit;
  ink_edits_drop_inside(&function->source->edits, function->body_start, function->body_end, true);
  for (size_t i = 0; i < unit->found.count; i++)
    if (unit->found.items[i].function == function && unit->found.items[i].state == INK_PLACE_MARKED)
      ink_found_left(&unit->found.items[i], "%s", why_none(state, index));
}

static void give_contexts(contexts *state) {
  const uint32_t count = (uint32_t)state->unit->functions.count;
  leave_named(state);
  for (uint32_t i = 0; i < count; i++)
    state->items[i].has_marks = function_at(state, i)->calls_deep >= 0 && has_marks(state, function_at(state, i));
  for (uint32_t i = 0; i < count; i++)
    if (is_owner(function_at(state, i)))
      give_from(state, i);
  find_keepers(state);
  for (uint32_t i = 0; i < count; i++)
    if (state->items[i].has_marks)
      is_useful(state, i); /* for the reason */
  for (uint32_t i = 0; i < count; i++)
    list(state, i);
  for (size_t i = 0; i < state->calls.count; i = behind_node(state, i))
    if (is_given(state, i))
      put_call(state, i);
  for (uint32_t i = 0; i < count; i++)
    if (function_at(state, i)->has_context)
      copy(state, i);
  for (uint32_t i = 0; i < count; i++)
    if (function_at(state, i)->gone_into && !function_at(state, i)->has_context)
      take_out(state, i);
}

/* ---- what the default goes into ----------------------------------------------------------------- */

enum { MOST_DEEP = 4 };

/* In its loops it waits for others: what a pipeline's kernel is about. */
static bool is_full(ink_unit *unit, ink_function *function) {
  if (function->kernel || function->opens || function->calls_deep < 0 || function->is_constexpr || function->in_macro ||
      function->outer || function->in_host || ink_only_waits(unit, function->cursor))
    return false;
  function->gone_into = true; /* as if it were */
  const bool full = !ink_why_function_left(unit, function) && ink_waits_in_loops(unit, function);
  function->gone_into = false;
  return full;
}

typedef struct way { /* down from who opens the track */
  uint32_t owner, from;
  uint32_t loops; /* around the calls */
  unsigned depth;
} way;

/* Of the ways into a function the first in a loop counts, or the first, if none is: sums that are kept in two loops would
 * have slots that others use in one of them. False: there is one in a loop, and another one was found before. */
static bool note_way(ink_function *to, const way *at, ink_sums_place sums) {
  if (to->gone_into && (to->sums_with != sums.with || to->sums_loop != sums.loop))
    return to->sums_with || !sums.with;
  to->owner = to->gone_into && to->owner != at->owner + 1 ? UINT32_MAX : at->owner + 1;
  to->loops_outside = to->loops_outside > at->loops ? to->loops_outside : at->loops;
  to->sums_with = sums.with;
  to->sums_loop = sums.loop;
  return to->gone_into = true;
}

/* False: `in_loops` has one more function, and the search begins anew. */
static bool go_from(contexts *state, const way *in, bool *in_loops) {
  const ink_unit *unit = state->unit;
  const ink_function *from = function_at(state, in->from);
  for (size_t i = state->items[in->from].first; i < state->items[in->from + 1].first; i = behind_node(state, i)) {
    const uint32_t node = state->calls.items[i].node;
    if (in->depth >= MOST_DEEP || !is_useful_at(state, i) || ink_is_unrolled(unit, &from->tree, node) ||
        ink_why_no_registers(state->unit, from, node))
      continue;
    const ink_sums_place sums = ink_sums_at(unit, from, node);
    for (size_t k = i; k < behind_node(state, i); k++) {
      const way on = {in->owner, state->calls.items[k].to, in->loops + ink_loops_around(&from->tree, node), in->depth + 1};
      ink_function *to = function_at(state, on.from);
      if (in_loops[on.from] && !sums.with)
        continue;
      if (!note_way(to, &on, sums)) {
        in_loops[on.from] = true;
        return false;
      }
      if (ink_goes_by(unit, from, node, to) && !go_from(state, &on, in_loops))
        return false;
    }
  }
  return true;
}

static bool go_into(contexts *state, bool *in_loops) {
  const uint32_t count = (uint32_t)state->unit->functions.count;
  for (uint32_t i = 0; i < count; i++) {
    ink_function *function = function_at(state, i);
    function->gone_into = false;
    function->owner = function->sums_with = function->sums_loop = function->loops_outside = 0;
  }
  for (uint32_t i = 0; i < count; i++) {
    const ink_function *owner = function_at(state, i);
    if (owner->opens && !owner->is_opened && !owner->opened_by && !owner->opened_at && !owner->has_rows &&
        owner->guarded <= INK_GUARD_OUTSIDE && !ink_why_function_left(state->unit, owner) &&
        !go_from(state, &(way){.owner = i, .from = i}, in_loops))
      return false;
  }
  return true;
}

void ink_unit_find_gone_into(ink_unit *unit) {
  const ink_instrument_options *options = unit->options;
  if (unit->header_less || ink_rules_are_asked(unit) || options->lines || options->kernels_only || options->depth > 1 ||
      options->rows)
    return;
  const size_t count = unit->functions.count;
  contexts state = {.unit = unit, .items = calloc(count + 1, sizeof(candidate))};
  bool *in_loops = calloc(count + 1, sizeof *in_loops);
  bool any = false;
  if (!state.items || !in_loops) {
    unit->failed = true;
    goto done;
  }
  for (uint32_t i = 0; i < count; i++)
    any |= state.items[i].has_marks = is_full(unit, function_at(&state, i));
  if (!any)
    goto done;
  if (!find_calls(&state)) {
    unit->failed = true;
    goto done;
  }
  leave_named(&state);
  while (!go_into(&state, in_loops))
    ;
done:
  free(state.calls.items);
  free(state.items);
  free(in_loops);
}

void ink_unit_give_contexts(ink_unit *unit) {
  contexts state = {.unit = unit, .items = calloc(unit->functions.count + 1, sizeof(candidate)), .is_final = true};
  if (unit->header_less) { /* what is called is not known well enough */
    free(state.items);
    return;
  }
  if (state.items && find_calls(&state))
    give_contexts(&state);
  else
    unit->failed = true;
  free(state.calls.items);
  free(state.items);
}
