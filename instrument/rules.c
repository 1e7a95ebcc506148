/* SPDX-License-Identifier: MIT */
/* Decides which functions are marked, opens the kernels' tracks, and hands each loop, call and wait
 * to its rule. */
#include "unit.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool matches(const regex_t *regex, const char *text) {
  return !regexec(regex, text, 0, NULL, 0);
}

static const char by_macro[] = "its body comes from a macro";

/* Why nothing is marked in the function; NULL: it may be. */
const char *ink_why_function_left(ink_unit *unit, const ink_function *function) {
  if (function->outer) {
    const char *left = ink_why_function_left(unit, &unit->functions.items[function->outer - 1]);
    if (left)
      return left;
  }
  if (function->in_macro && !(function->kernel && function->is_forwarder)) /* else its track is opened in what it calls */
    return by_macro;
  if (function->is_off)
    return "'prof: off'";
  if (function->source->is_marked_already)
    return "the file is marked already";
  if (!function->source->is_main && !unit->options->headers)
    return "is in a header (inkmark nvcc and --out-dir mark these too)";
  if (function->guarded == INK_GUARD_NONE ||
      (function->guarded && !function->kernel && !function->outer && function->calls_deep && !function->gone_into))
    return "left by inkmark nvcc's --guard";
  if (function->source->is_forced)
    return "is in a header of -include, which nvcc reads by itself";
  if (function->repeats)
    return "is the text of a function before it, in a file that is included again";
  if (unit->has_exclude && matches(&unit->exclude, function->name))
    return "excluded by --exclude";
  if (function->has_rows)
    return "has a track of rows, which takes marks by hand only";
  if (function->kernel && unit->has_kernels && !matches(&unit->kernels, function->name))
    return "not chosen by --kernel";
  return NULL;
}

/* The section of the track that the function opens: of the one kernel that comes here, else its own. */
static const char *track_of(ink_unit *unit, ink_function *function) {
  ink_function *named = function;
  if (function->opens_for && function->opens_for != UINT32_MAX)
    named = &unit->functions.items[function->opens_for - 1];
  if (function->in_rows) { /* a table of its own */
    if (!function->track)
      function->track = ink_section_in_row(unit, function, named->name, named->named_at, named->source);
    return function->track;
  }
  if (!named->track)
    named->track = ink_section_at(unit, named->name, named->source, named->named_at);
  return function->track = named->track;
}

/* The function whose branches are the roles of the track: it opens the track, or what it goes into. NULL: there are none. */
static ink_function *with_roles(ink_unit *unit, ink_function *function) {
  ink_function *to, *found = ink_has_roles(unit, function) ? function : NULL;
  for (uint32_t i = 1; i < function->tree.nodes.count && !found; i++)
    for (unsigned k = 0; function->tree.nodes.items[i].kind == CXCursor_CallExpr && !found &&
                         (to = ink_called_function(unit, &function->tree, i, k));
         k++)
      if (ink_goes_by(unit, function, i, to))
        found = with_roles(unit, to);
  return found;
}

static void open_track(ink_unit *unit, ink_function *function) {
  const char *section = track_of(unit, function);
  ink_edits *edits = &function->source->edits;
  if (!section)
    return;
  const char *opening = function->guarded >= INK_GUARD_APART ? "INK_KERNEL_APART"
                        : function->in_rows                 ? "PROF_KERNEL_ROWS"
                                                            : "PROF_KERNEL";
  const ink_function *roles = with_roles(unit, function);
  if (roles)
    ink_edits_add(edits, function->body_start + 1, false, 0, 0, "%s_IF(INK_%s_LANE(), %s);", opening,
                  ink_elects(roles) ? "ELECTED" : "FIRST", section);
  else
    ink_edits_add(edits, function->body_start + 1, false, 0, 0, "%s(%s);", opening, section);
  function->is_opened = true;
}

static void open_kernel(ink_unit *unit, ink_function *function, ink_found *place) {
  if (function->is_opened || function->opened_by) {
    ink_found_marked(place, "", NULL);
    if (function->is_opened)
      place->reason = strdup("by hand");
    else if (asprintf(&place->reason, "by hand, in '%s'", unit->functions.items[function->opened_by - 1].name) < 0)
      place->reason = NULL;
    unit->failed |= !place->reason;
    return;
  }
  if (function->in_macro && !function->opened_in) {
    ink_found_left(place, "%s", by_macro);
    return;
  }
  ink_function *in = function->opened_in ? &unit->functions.items[function->opened_in - 1] : function;
  const char *section = track_of(unit, in);
  if (!section) {
    ink_found_left(place, "the section table is full");
    return;
  }
  if (in == function)
    open_track(unit, function);
  function->is_opened = true;
  ink_found_marked(place, section, NULL);
}

/* Marks and directives by hand are records. */
static bool is_marked_by_hand(const ink_function *function) {
  const ink_bytes *text = &function->source->text;
  return function->first_hand || function->is_opened || function->opened_by || function->body_end <= function->body_start ||
         function->body_end > text->count ||
         memmem(text->at + function->body_start, function->body_end - function->body_start, "prof:", 5);
}

static bool goes_on(ink_unit *unit, const ink_function *function) {
  for (uint32_t i = 1; i < function->tree.nodes.count; i++)
    if (ink_goes_into(unit, function, i))
      return true;
  return false;
}

/* A kernel that has no registers for a track of records often has them for one of rows (mark_rows.cuh), of the waits in
 * its loops. */
static void find_rows(ink_unit *unit) {
  for (size_t i = 0; i < unit->functions.count; i++) {
    ink_function *function = &unit->functions.items[i];
    function->in_rows = function->guarded == INK_GUARD_OUTSIDE && function->opens && !is_marked_by_hand(function) &&
                        (ink_waits_in_loops(unit, function) || goes_on(unit, function));
  }
  for (size_t i = 0; i < unit->functions.count; i++) { /* what they go into is of their rows, or is left */
    ink_function *function = &unit->functions.items[i];
    if (!function->gone_into || !function->guarded)
      continue;
    const ink_function *owner = function->owner != UINT32_MAX ? &unit->functions.items[function->owner - 1] : NULL;
    function->in_rows = function->gone_into = owner && owner->in_rows && owner->guarded == INK_GUARD_OUTSIDE;
    function->sums_with = 0;
  }
}

/* The waits, a row for each pass of the loops that they are in, and what is outside of loops: calls, and loops whose
 * passes are no rows. */
static void mark_rows(ink_unit *unit, ink_function *function) {
  const ink_tree *tree = &function->tree;
  char name[160];
  for (uint32_t i = 1, end; i < tree->nodes.count; i = end) {
    const ink_wait_kind wait = tree->nodes.items[i].in_lambda ? INK_WAIT_NONE : ink_wait_at(unit, tree, i, name, sizeof name);
    end = i + 1;
    if (!ink_takes_wait(unit, wait))
      continue;
    end = wait == INK_WAIT_LOOP ? ink_tree_end(tree, i) : end;
    ink_rule_wait(unit, function, i);
  }
  for (uint32_t i = 1; i < tree->nodes.count; i++) {
    const ink_node *node = &tree->nodes.items[i];
    if (ink_node_is_loop(node) && node->rows)
      ink_rule_row(unit, function, i);
    else if (!node->in_lambda && !ink_loops_at(function, i) &&
             !ink_takes_wait(unit, ink_wait_at(unit, tree, i, name, sizeof name))) {
      if (node->kind == CXCursor_CallExpr)
        ink_rule_call(unit, function, i);
      else if (ink_node_is_loop(node))
        ink_rule_loop(unit, function, i);
    }
  }
  ink_mark_roles(unit, function);
  ink_rule_setups(unit, function);
  ink_function_remarks(unit, function);
}

static void apply(ink_unit *unit, ink_function *function);

/* What the default goes into is marked where it is called, among the sums of the loop around the call. */
static void go_into(ink_unit *unit, const ink_function *from, uint32_t at) {
  ink_function *to;
  for (unsigned k = 0; (to = ink_called_function(unit, &from->tree, at, k)); k++)
    if (ink_goes_by(unit, from, at, to) && to->sums_with && !to->is_done)
      apply(unit, to);
}

static void mark_body(ink_unit *unit, ink_function *function) {
  const ink_tree *tree = &function->tree;
  char name[160];
  uint32_t behind_wait = 0; /* what a loop that spins holds is a part of its wait */
  if (unit->options->lines)
    ink_rule_lines(unit, function);
  for (uint32_t i = 1; i < tree->nodes.count && !unit->options->lines; i++) {
    const ink_node *node = &tree->nodes.items[i];
    if (node->in_lambda || i < behind_wait || (function->guarded && ink_loops_at(function, i)))
      continue; /* a function of its own; what the guard leaves */
    const bool loop = ink_node_is_loop(node);
    char *named = loop && !node->in_macro ? ink_directive_name(function->source, node->start) : NULL;
    if (!named && ink_takes_wait(unit, ink_wait_at(unit, tree, i, name, sizeof name))) {
      ink_rule_wait(unit, function, i);
      behind_wait = loop ? ink_tree_end(tree, i) : 0;
    } else if (loop) {
      ink_rule_loop(unit, function, i);
    } else if (node->kind == CXCursor_CallExpr) {
      ink_rule_call(unit, function, i);
      go_into(unit, function, i);
    }
    free(named);
  }
  ink_mark_roles(unit, function);
  if (!unit->options->lines)
    ink_rule_setups(unit, function);
  ink_function_directives(unit, function);
  ink_function_remarks(unit, function);
}

/* Line by line is for one kernel: what more would fill a track says nothing. */
static bool is_one_kernel(ink_unit *unit) {
  const ink_function *first = NULL;
  for (size_t i = 0; i < unit->functions.count; i++) {
    const ink_function *function = &unit->functions.items[i];
    if (!function->kernel || function->in_macro || ink_why_function_left(unit, function))
      continue;
    if (first && strcmp(first->name, function->name)) {
      ink_unit_say(unit, function->source, function->start,
                   "error: --kernel chooses '%s' and '%s' for --lines, which is for one kernel",
                   first->name, function->name);
      return false;
    }
    first = function;
  }
  return true;
}

/* What a guarded kernel calls is guarded with it. */
static bool guard_called(ink_unit *unit, const ink_function *from) {
  bool more = false;
  for (size_t n = 0; n < from->tree.nodes.count; n++) {
    if (from->tree.nodes.items[n].kind != CXCursor_CallExpr)
      continue;
    ink_function *to;
    for (unsigned k = 0; (to = ink_called_function(unit, &from->tree, (uint32_t)n, k)); k++)
      if (!to->kernel && to->guarded < from->guarded) {
        to->guarded = from->guarded;
        more = true;
      }
  }
  return more;
}

static void find_guarded(ink_unit *unit) {
  const ink_instrument_options *options = unit->options;
  for (size_t i = 0; i < unit->functions.count; i++)
    for (size_t g = 0; g < options->guarded_count; g++) {
      ink_function *function = &unit->functions.items[i];
      if (function->kernel && !strcmp(options->guarded[g].kernel, function->name)) {
        function->guarded = options->guarded[g].level;
        function->most_registers = options->guarded[g].registers;
        function->skipped = options->guarded[g].skipped;
      }
    }
  for (size_t i = 0; i < unit->functions.count; i++) { /* one text: all lose their marks, or none */
    const ink_function *function = &unit->functions.items[i];
    ink_function *before = function->repeats ? &unit->functions.items[function->repeats - 1] : NULL;
    if (before && before->guarded < function->guarded)
      before->guarded = function->guarded;
    if (before && before->most_registers < function->most_registers)
      before->most_registers = function->most_registers;
  }
  for (bool more = options->guarded_count != 0; more;) {
    more = false;
    for (size_t i = 0; i < unit->functions.count; i++)
      if (unit->functions.items[i].guarded)
        more |= guard_called(unit, &unit->functions.items[i]);
  }
}

/* In front of a kernel's name, where an attribute may stand. */
static void bound_registers(ink_function *function) {
  const char *text = function->source->text.at;
  uint32_t at = function->named_at;
  while (at && isspace((unsigned char)text[at - 1]))
    at--;
  if (at && at < function->named_at && (isalnum((unsigned char)text[at - 1]) || strchr("_>)", text[at - 1])))
    ink_edits_add(&function->source->edits, function->named_at, false, 0, 0, "INK_REGISTERS(%u) ", function->most_registers);
}

static void apply(ink_unit *unit, ink_function *function) {
  const int depth = unit->options->lines ? 1 : unit->options->depth ? (int)unit->options->depth : 1;
  const char *left = ink_why_function_left(unit, function);
  function->is_done = true;
  if (function->skipped && !function->in_macro && !function->odd_braces && !function->repeats && !function->source->is_forced)
    ink_edits_add(&function->source->edits, function->body_start + 1, false, 0, 0, "return;");
  if (function->kernel) {
    ink_found *place =
        ink_unit_place(unit, INK_PLACE_KERNEL, function, function->source, function->named_at, function->name);
    const ink_function *before = function->repeats ? &unit->functions.items[function->repeats - 1] : NULL;
    if (before && before->is_opened && before->track)
      ink_found_marked(place, before->track, NULL);
    else if (!left)
      open_kernel(unit, function, place);
    else if (strstr(left, "--") || strstr(left, "off"))
      place->state = INK_PLACE_NOT_ASKED, place->reason = strdup(left);
    else
      ink_found_left(place, "%s", left);
    if (function->most_registers && !left && !function->in_macro && !function->repeats)
      bound_registers(function);
  }
  if (left || function->in_macro)
    return;
  if (function->opens && !function->kernel && !function->is_opened)
    open_track(unit, function);
  ink_function_pairs(unit, function);
  const size_t edits = function->source->edits.count;
  if (function->guarded == INK_GUARD_TRACK)
    return;
  const bool is_wait = !function->kernel && ink_takes_wait(unit, INK_WAIT_FUNCTION) &&
                       ink_only_waits(unit, function->cursor); /* is marked where it is called */
  const bool deep = function->calls_deep >= 0 && (function->calls_deep < depth || function->gone_into);
  if (function->in_rows)
    mark_rows(unit, function);
  else if (!function->is_constexpr && !is_wait && !function->opened_by && deep)
    mark_body(unit, function);
  else if (!function->is_constexpr)
    ink_function_directives(unit, function);
  ink_hold_remarks(unit, function);
  if ((function->outer || function->in_host) && !function->is_opened && function->source->edits.count > edits)
    ink_edits_add(&function->source->edits, function->body_start + 1, false, 0, 0, "PROF_LAMBDA();");
}

void ink_unit_apply_rules(ink_unit *unit) {
  if (unit->options->lines && !is_one_kernel(unit))
    return;
  find_guarded(unit);
  ink_unit_find_openings(unit);
  ink_unit_find_gone_into(unit);
  find_rows(unit);
  for (size_t i = 0; i < unit->functions.count && !unit->failed; i++)
    if (!unit->functions.items[i].sums_with) /* else where it is called */
      apply(unit, &unit->functions.items[i]);
  for (size_t i = 0; i < unit->functions.count && !unit->failed; i++)
    if (!unit->functions.items[i].is_done)
      apply(unit, &unit->functions.items[i]);
}
