/* SPDX-License-Identifier: MIT */
/* Loops: outermost ones become a range whose passes are summed, or, where there are few or it is asked for, have a
 * row each; those inside of them are sums. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Leaves the function, or might: then a range must end by itself. */
static bool leaves_function(const ink_tree *tree, uint32_t at) {
  const ink_node *nodes = tree->nodes.items;
  for (uint32_t i = at + 1; i < tree->nodes.count && nodes[i].depth > nodes[at].depth; i++)
    if (!nodes[i].in_lambda &&
        (nodes[i].kind == CXCursor_ReturnStmt || nodes[i].kind == CXCursor_GotoStmt ||
         nodes[i].kind == CXCursor_IndirectGotoStmt))
      return true;
  return false;
}

static bool is_integer(CXType type) {
  type = clang_getCanonicalType(type);
  return type.kind >= CXType_Char_U && type.kind <= CXType_LongLong &&
         type.kind != CXType_UInt128 && !clang_isVolatileQualifiedType(type);
}

/* `i` of `for (int i = 0; ...)`: an integer that starts at a literal. NULL: none such. */
static char *row_variable(ink_unit *unit, const ink_tree *tree, const ink_node *loop) {
  const ink_node *nodes = tree->nodes.items;
  if (loop->kind != CXCursor_ForStmt || loop->first == INK_NO_NODE)
    return NULL;
  const ink_node *init = &nodes[loop->first];
  if (init->kind != CXCursor_DeclStmt || init->in_macro || init->first == INK_NO_NODE ||
      init->first != init->last)
    return NULL;
  const ink_node *variable = &nodes[init->first];
  uint32_t value = variable->last;
  while (value != INK_NO_NODE && nodes[value].kind == CXCursor_UnexposedExpr) /* converted to the variable's type */
    value = nodes[value].first;
  if (variable->kind != CXCursor_VarDecl || value == INK_NO_NODE || nodes[value].kind != CXCursor_IntegerLiteral ||
      !is_integer(clang_getCursorType(variable->cursor)))
    return NULL;
  CXString spelling = clang_getCursorSpelling(variable->cursor);
  char *name = strdup(clang_getCString(spelling));
  clang_disposeString(spelling);
  unit->failed |= !name;
  return name;
}

static bool body_spot(const ink_function *function, uint32_t at, ink_spot *spot) {
  const ink_tree *tree = &function->tree;
  const ink_source *source = tree->source;
  const uint32_t body = ink_node_body(tree, at);
  if (body == INK_NO_NODE)
    return false;
  const ink_node *node = &tree->nodes.items[body];
  *spot = (ink_spot){.start = node->start, .depth = node->depth, .alone = true};
  if (node->kind == CXCursor_CompoundStmt) {
    const uint32_t start = ink_node_behind_brace(tree, body);
    if (!start)
      return false;
    *spot = (ink_spot){.start = start, .end = node->end, .depth = node->depth};
  } else {
    spot->end = ink_node_statement_end(tree, body);
  }
  return spot->end && ink_source_free_at(source, spot->start) &&
         ink_source_same_branch(source, spot->start, spot->end);
}

/* Whether a loop inside of a kernel's may be summed: what the last iteration sums is recorded while its row
 * is still known. */
static bool has_sums(ink_unit *unit, const ink_function *function, uint32_t at) {
  const ink_node *nodes = function->tree.nodes.items;
  if (!ink_keeps_sums(function) || function->guarded)
    return false;
  for (uint32_t i = at + 1, end = ink_tree_end(&function->tree, at); i < end; i++)
    if (!nodes[i].in_lambda && (ink_node_is_loop(&nodes[i]) || ink_goes_into(unit, function, i)))
      return true;
  return false;
}

typedef enum passes { /* of an outermost loop */
  PASSES_ALONE,       /* nothing of them */
  PASSES_SUMMED,
  PASSES_IN_ROWS
} passes;

enum { MOST_ROWS = 128 }; /* of a loop whose count is known: with what is in them they fit into a track by default */

static passes passes_of(const ink_unit *unit, const ink_function *function, uint32_t at) {
  const long long trips = ink_trips_of(&function->tree, at, MOST_ROWS + 1);
  if (function->tree.nodes.items[at].rows_by_hand)
    return PASSES_ALONE;
  if (unit->options->rows || (trips > 0 && trips <= MOST_ROWS && function->opens))
    return PASSES_IN_ROWS;
  return ink_keeps_sums(function) ? PASSES_SUMMED : PASSES_ALONE;
}

/* At the start of the body: its row, or the sum that ends with it. */
static void mark_passes(ink_unit *unit, ink_function *function, uint32_t at, const ink_spot *body, passes kind,
                        const char *name, const char *row) {
  ink_edits *edits = &function->source->edits;
  char pass[320];
  char *held = ink_hold_list(unit, function, body->start);
  const char *brace = body->alone ? "{" : "";
  snprintf(pass, sizeof pass, "%s: pass", name);
  if (kind == PASSES_IN_ROWS) {
    ink_edits_add(edits, body->start, false, body->depth, 0, "%sPROF_ITER(%s%s);", brace, row, held);
  } else {
    const char *section = ink_section_summed(unit, function, pass, function->tree.nodes.items[at].start);
    if (section) {
      ink_edits_add(edits, body->start, false, body->depth, 0, "%sINK_SUM_SCOPE(%s%s);", brace, section, held);
      function->tree.nodes.items[at].summed = ink_sums_of(unit, function)->sums;
    }
    brace = section ? brace : "";
  }
  if (*brace)
    ink_edits_add(edits, body->end, true, body->depth, 0, "}");
  free(held);
}

/* `found` NULL: a range by hand is there, and the loop's passes and sums are all that is put in. */
static void mark_range(ink_unit *unit, ink_function *function, uint32_t at, const ink_spot *spot, passes kind,
                       const char *name, ink_found *found) {
  const ink_tree *tree = &function->tree;
  ink_edits *edits = &function->source->edits;
  ink_spot body = {0};
  char row[64], counter[96] = "";
  if (kind && !body_spot(function, at, &body))
    kind = PASSES_ALONE;
  const char *section =
      found ? ink_section_in_row(unit, function, name, tree->nodes.items[at].start, function->source) : NULL;
  if (found && !section) {
    ink_found_left(found, "the section table is full");
    return;
  }
  char *variable = kind == PASSES_IN_ROWS ? row_variable(unit, tree, &tree->nodes.items[at]) : NULL;
  uint32_t line, column;
  ink_source_position(function->source, tree->nodes.items[at].start, &line, &column);
  snprintf(row, sizeof row, "ink_row_%u_%u", line, column);
  if (kind == PASSES_IN_ROWS && !variable) {
    snprintf(counter, sizeof counter, "long long %s = 0; ", row);
    strcat(row, "++");
  }
  function->tree.nodes.items[at].rows = kind == PASSES_IN_ROWS || tree->nodes.items[at].rows_by_hand;
  const bool guarded = leaves_function(tree, at), sums = kind == PASSES_SUMMED || has_sums(unit, function, at);
  char *held = ink_hold_list(unit, function, spot->start);
  char *held_end = ink_hold_list(unit, function, spot->end);
  const char *flush = sums ? guarded ? "INK_FLUSH_AT_END();" : "PROF_SUM_FLUSH();" : "";
  function->sums_at = spot->start;
  function->sums_end = sums ? spot->end : 0;
  function->sums_depth = spot->depth;
  function->sums_line = spot->line;
  if (section) {
    ink_edits_add(edits, spot->start, false, spot->depth, spot->line, "{%s%s(%s%s);%s", counter,
                  guarded ? "PROF_SCOPE" : ink_hold_macro(unit, "PROF_BEGIN", held), section, held, guarded ? flush : "");
    if (guarded)
      ink_edits_add(edits, spot->end, true, spot->depth, 0, "}");
    else
      ink_edits_add(edits, spot->end, true, spot->depth, 0, "%s%s(%s%s);}", flush,
                    ink_hold_macro(unit, "PROF_END", held_end), section, held_end);
  } else if (*counter || sums) {
    ink_edits_add(edits, spot->start, false, spot->depth, spot->line, "{%s%s", counter, guarded ? flush : "");
    ink_edits_add(edits, spot->end, true, spot->depth, 0, "%s}", guarded ? "" : flush);
  }
  if (kind)
    mark_passes(unit, function, at, &body, kind, name, variable ? variable : row);
  if (found)
    ink_found_marked(found, section, held_end);
  free(held);
  free(held_end);
  free(variable);
}

/* A range by hand holds the loop alone: not ranged again, but its passes are. */
static bool is_held_by_hand(const ink_unit *unit, const ink_function *function, uint32_t at, const ink_spot *spot,
                            ink_found *found) {
  uint32_t line;
  const uint32_t start = function->tree.nodes.items[at].start;
  if (!ink_hand_holds(unit, function, spot->line ? start : spot->start, spot->end, &line))
    return false;
  free(found->reason);
  if (asprintf(&found->reason, "is all that the mark by hand in line %u measures", line) < 0)
    found->reason = NULL;
  return true;
}

static void mark_sum(ink_unit *unit, ink_function *function, uint32_t at, const ink_spot *spot,
                     const char *name, ink_found *found) {
  ink_edits *edits = &function->source->edits;
  if (!ink_sum_fits(unit, function, at)) {
    ink_found_left(found, "its sum would share a slot with one around it");
    return;
  }
  const char *section = ink_section_summed(unit, function, name, function->tree.nodes.items[at].start);
  if (!section) {
    ink_found_left(found, "the section table is full");
    return;
  }
  function->tree.nodes.items[at].summed = ink_sums_of(unit, function)->sums;
  char *held = ink_hold_list(unit, function, spot->start);
  char *held_end = ink_hold_list(unit, function, spot->end);
  ink_edits_add(edits, spot->start, false, spot->depth, spot->line, "{PROF_SUM_BEGIN(%s%s);",
                section, held);
  ink_edits_add(edits, spot->end, true, spot->depth, 0, "PROF_SUM_END(%s%s);}", section, held_end);
  ink_found_marked(found, section, held_end);
  free(held);
  free(held_end);
}

/* Of a function that is gone into. */
static uint32_t slots_for_waits(ink_unit *unit, const ink_function *function) {
  const ink_tree *tree = &function->tree;
  uint32_t taken = 0;
  char name[160];
  for (uint32_t i = 1; i < tree->nodes.count && taken < INK_SUM_SLOTS; i++) {
    const ink_wait_kind wait = ink_wait_at(unit, tree, i, name, sizeof name);
    taken += wait && !ink_why_no_wait(unit, function, i, name);
    i = wait == INK_WAIT_LOOP ? ink_tree_end(tree, i) - 1 : i;
  }
  return taken;
}

/* Of the slots for sums of an outermost loop: those that its passes, its waits and the loops in it leave. */
static uint32_t slots_for_calls(ink_unit *unit, const ink_function *function, uint32_t at) {
  const ink_tree *tree = &function->tree;
  uint32_t taken = 1;
  char name[160];
  for (uint32_t i = at + 1, end = ink_tree_end(tree, at); i < end && taken < INK_SUM_SLOTS; i++) {
    const uint32_t loops = ink_loops_at(function, i);
    const ink_wait_kind wait = ink_wait_at(unit, tree, i, name, sizeof name);
    if (wait) {
      taken += !ink_why_no_wait(unit, function, i, name);
      i = wait == INK_WAIT_LOOP ? ink_tree_end(tree, i) - 1 : i;
    } else if (ink_node_is_loop(&tree->nodes.items[i]) && loops == 1) {
      const ink_loop_cost cost = ink_loop_judge(unit, function, i);
      taken += cost != INK_LOOP_LEFT && !ink_is_unrolled(unit, tree, i);
    } else if (ink_goes_into(unit, function, i)) {
      const ink_function *to = ink_called_function(unit, tree, i, 0);
      taken += 1 + slots_for_waits(unit, to);
    }
  }
  return taken < INK_SUM_SLOTS ? INK_SUM_SLOTS - taken : 0;
}

/* Whether some loop around is already a sum: then only --loops marks this one too. */
static const char *not_asked(const ink_unit *unit, const ink_function *function, uint32_t loops) {
  const ink_instrument_options *options = unit->options;
  if (options->loops)
    return NULL;
  if (ink_rules_are_asked(unit) || options->kernels_only)
    return "loops are marked with --loops";
  if (loops >= 2)
    return "inside of a loop that is summed (--loops marks it)";
  if (loops && !ink_keeps_sums(function))
    return "sums are kept in kernels only";
  if (loops && loops == function->loops_outside)
    return "the loop around the call of its function is summed (--loops marks it)";
  return loops && ink_sums_of(unit, function)->loop_sums >= INK_SUM_SLOTS
             ? "the outermost loop around has 8 sums already (--loops marks it)"
             : NULL;
}

void ink_rule_row(ink_unit *unit, ink_function *function, uint32_t at) {
  const ink_node *node = &function->tree.nodes.items[at];
  ink_spot body = {0};
  char name[300], pass[310], scope[400] = "";
  ink_loop_name(&function->tree, at, name, sizeof name);
  ink_found *found = ink_unit_place(unit, INK_PLACE_LOOP, function, function->source, node->start, name);
  if (!body_spot(function, at, &body)) {
    ink_found_left(found, "its body begins or ends in a macro");
    return;
  }
  snprintf(pass, sizeof pass, "%s: pass", name);
  const char *section = ink_section_in_row(unit, function, pass, node->start, function->source);
  if (section) {
    snprintf(scope, sizeof scope, "PROF_SCOPE(%s);", section);
    ink_found_marked(found, section, NULL);
  } else {
    ink_found_left(found, "the section table is full");
  }
  char *variable = row_variable(unit, &function->tree, node);
  ink_edits_add(&function->source->edits, body.start, false, body.depth, 0, "%sPROF_ITER(%s);%s", body.alone ? "{" : "",
                variable ? variable : "0", scope);
  if (body.alone)
    ink_edits_add(&function->source->edits, body.end, true, body.depth, 0, "}");
  free(variable);
}

void ink_rule_loop(ink_unit *unit, ink_function *function, uint32_t at) {
  const ink_node *node = &function->tree.nodes.items[at];
  const uint32_t loops = ink_loops_at(function, at);
  char *named = node->in_macro ? NULL : ink_directive_name(function->source, node->start);
  char name[300];
  ink_loop_name(&function->tree, at, name, sizeof name);
  if (!loops) {
    function->loop_sums = function->sums_end = 0;
    function->calls_left = ink_rules_are_asked(unit) ? INK_SUM_SLOTS : slots_for_calls(unit, function, at);
  }
  ink_found *found = ink_unit_place(unit, INK_PLACE_LOOP, function, function->source, node->start, name);
  const char *why = not_asked(unit, function, loops);
  const bool asked = unit->options->loops || named;
  const ink_loop_cost cost = asked || why ? INK_LOOP_LONG : ink_loop_judge(unit, function, at);
  if (!why && !asked && ink_is_unrolled(unit, &function->tree, at))
    why = "inside of a loop that is unrolled (--loops marks it)";
  else if (!why && cost == INK_LOOP_LEFT)
    why = "is unrolled, and nothing in it takes long (--loops marks it)";
  else if (!why && !asked)
    why = ink_why_no_registers(unit, function, at);
  ink_spot spot;
  if (why && !named) {
    found->reason = strdup(why);
  } else if (!ink_keeps_sums(function) && loops) {
    found->reason = strdup("sums are kept in kernels only");
  } else if (!ink_spot_find(function, at, &spot, &why)) {
    ink_found_left(found, "%s", why);
  } else if (is_held_by_hand(unit, function, at, &spot, found)) {
    if (!loops && !function->guarded)
      mark_range(unit, function, at, &spot, cost == INK_LOOP_LONG ? passes_of(unit, function, at) : PASSES_ALONE, name, NULL);
  } else if (ink_function_may_mark(unit, function, found)) {
    if (named)
      snprintf(name, sizeof name, "%.200s", named);
    if (loops)
      mark_sum(unit, function, at, &spot, name, found);
    else
      mark_range(unit, function, at, &spot,
                 cost == INK_LOOP_LONG && !function->guarded ? passes_of(unit, function, at) : PASSES_ALONE, name, found);
  }
  free(named);
}
