/* SPDX-License-Identifier: MIT */
/* Calls of device functions, and what waits: a range around the statement, or, inside of an expression,
 * around the call itself. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- how ----------------------------------------------------------------------------------------
 */

/* The statement that a node is part of; INK_NO_NODE when another function begins in between. */
static uint32_t statement_around(const ink_tree *tree, uint32_t at) {
  bool alone;
  while (at != INK_NO_NODE && !ink_node_is_statement(tree, at, &alone))
    at = tree->nodes.items[at].parent;
  return at;
}

/* Of what a macro makes: the whole that the use of the macro is, where it can be marked and holds no loop around. */
static uint32_t marked_statement(const ink_tree *tree, uint32_t at) {
  const ink_node *nodes = tree->nodes.items;
  const uint32_t statement = statement_around(tree, at);
  uint32_t up = statement;
  while (up != INK_NO_NODE && nodes[up].in_macro && (up == statement || !ink_node_is_loop(&nodes[up]))) {
    if (ink_macro_statement_end(tree, up))
      return up;
    up = nodes[up].parent;
  }
  return statement;
}

static bool is_operand_only(const ink_source *source, size_t token) {
  static const char *const words[] = {"decltype", "sizeof",     "noexcept", "alignof", "_Alignof",
                                      "typeid",   "__typeof__", "typeof",   "__alignof__"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (ink_source_token_is(source, token, words[i]))
      return true;
  return false;
}

/* In a type or a size that only the compiler looks at: `sizeof f(x)`, `decltype(f(x))`. */
bool ink_is_unevaluated(const ink_tree *tree, uint32_t at) {
  const ink_node *nodes = tree->nodes.items;
  const ink_source *source = tree->source;
  for (uint32_t up = nodes[at].parent; up != INK_NO_NODE; up = nodes[up].parent) {
    const enum CXCursorKind kind = nodes[up].kind;
    if (kind == CXCursor_UnaryExpr || kind == CXCursor_StaticAssert || /* UnaryExpr: sizeof */
        (clang_isDeclaration(kind) && kind != CXCursor_VarDecl &&
         kind != CXCursor_UnexposedDecl)) /* structured bindings */
      return true;
  }
  unsigned closed = 0; /* parentheses that end before the call */
  for (size_t i = ink_source_token_at(source, nodes[at].start); i-- > 0;) {
    if (ink_source_token_is(source, i, ";") || ink_source_token_is(source, i, "{"))
      return false;
    closed += ink_source_token_is(source, i, ")");
    if (!ink_source_token_is(source, i, "("))
      continue;
    if (closed)
      closed--;
    else if (i && is_operand_only(source, i - 1))
      return true;
  }
  return false;
}

/* Why the default leaves out a call that the rules would choose; NULL: it does not. */
static const char *why_no_call(ink_unit *unit, const ink_function *function, uint32_t at, const ink_callee *called) {
  if (unit->options->calls || unit->has_calls_like || called->why_left)
    return NULL;
  const bool summed = ink_is_summed(unit, function, at);
  const char *why = ink_why_no_registers(unit, function, at);
  why = why ? why : ink_why_not_in_loops(unit, function, at);
  if (!why && summed && called->body && ink_is_light(unit, called->body))
    why = "a few operations, in a loop that is summed (--calls marks it)";
  if (!why && summed && !ink_sums_of(unit, function)->calls_left && !ink_goes_into(unit, function, at))
    why = "the 8 sums of the outermost loop around are taken by its waits and loops (--calls marks it)";
  return why;
}

/* How many calls and waits in the statement the rules choose; *first is the first of them. */
static uint32_t chosen_in(ink_unit *unit, const ink_function *function, uint32_t statement, uint32_t *first) {
  const ink_tree *tree = &function->tree;
  const ink_node *nodes = tree->nodes.items;
  uint32_t count = 0;
  for (uint32_t i = statement; i < tree->nodes.count; i++) {
    if (i > statement && nodes[i].depth <= nodes[statement].depth)
      break;
    ink_callee found;
    char name[160];
    bool chosen = false;
    if (nodes[i].in_lambda || (nodes[i].kind == CXCursor_CallExpr && ink_is_unevaluated(tree, i)))
      continue;
    if (ink_takes_wait(unit, ink_wait_at(unit, tree, i, name, sizeof name))) {
      chosen = !ink_why_no_wait(unit, function, i, name);
    } else if (nodes[i].kind == CXCursor_CallExpr && ink_find_callee(unit, function, i, &found)) {
      chosen = !found.why_not && !found.why_left && !why_no_call(unit, function, i, &found);
      free(found.name);
    }
    if (chosen && !count++)
      *first = i;
  }
  return count;
}

/* ---- calls inside of expressions ------------------------------------------------------------------
 */

typedef enum inside_form { /* macros of rewritten.cuh */
  INSIDE_VOID,             /* INK_BEHIND */
  INSIDE_VALUE,            /* INK_AFTER: takes the value and gives it back */
  INSIDE_UNTIL,            /* INK_UNTIL: objects, references, what depends on a template */
  INSIDE_UNTIL_END         /* INK_UNTIL_END: may be an rvalue reference */
} inside_form;

/* The declared type of what a call gives may turn out to be an rvalue reference. `auto` and a parameter
 * of the template's own never do. */
static bool may_be_rvalue_reference(CXCursor target) {
  const CXType result = clang_getCanonicalType(clang_getCursorResultType(target));
  CXString spelling = clang_getTypeSpelling(result);
  const char *text = clang_getCString(spelling);
  const bool may = result.kind == CXType_Invalid || !text || strstr(text, "&&") ||
                   strstr(text, "decltype") || strstr(text, "typename ");
  clang_disposeString(spelling);
  return may;
}

static inside_form form_inside(const ink_node *node) {
  const CXType type = clang_getCanonicalType(clang_getCursorType(node->cursor));
  const CXCursor target = ink_call_target(node->cursor);
  if (clang_Cursor_isNull(target)) /* another instance may give anything */
    return INSIDE_UNTIL_END;
  const CXType result = clang_getCanonicalType(clang_getCursorResultType(target));
  const bool depends = type.kind == CXType_Dependent || type.kind == CXType_Unexposed ||
                       type.kind == CXType_Invalid || type.kind == CXType_Auto;
  const CXCursor overloads = ink_call_overloads(node->cursor);
  const unsigned count = clang_Cursor_isNull(overloads) ? 0 : clang_getNumOverloadedDecls(overloads);
  for (unsigned i = 0; i < count && depends; i++)
    if (may_be_rvalue_reference(clang_getOverloadedDecl(overloads, i)))
      return INSIDE_UNTIL_END;
  if (may_be_rvalue_reference(target))
    return INSIDE_UNTIL_END;
  if (depends || result.kind == CXType_LValueReference)
    return INSIDE_UNTIL;
  if (type.kind == CXType_Void)
    return INSIDE_VOID;
  if ((type.kind >= CXType_Bool && type.kind <= CXType_NullPtr) || type.kind == CXType_Float16 ||
      type.kind == CXType_Half || type.kind == CXType_Pointer || type.kind == CXType_Enum ||
      clang_isPODType(type))
    return INSIDE_VALUE;
  return INSIDE_UNTIL;
}

static void insert_inside(ink_edits *edits, ink_span text, uint32_t depth, inside_form form,
                          const char *section, const char *held, ink_hold hold) {
  static const char *const suffixes[] = {"", "_HELD", "_STRICT"};
  const char *holds = suffixes[hold];
  const char *before = hold == INK_HOLD_STRICT && held && *held ? "INK_BEFORE_STRICT" : "INK_BEFORE";
  const uint32_t start = text.start, end = text.end;
  switch (form) {
  case INSIDE_VOID:
    ink_edits_add(edits, start, false, depth, 0, "(%s(%s%s), ", before, section, held);
    ink_edits_add(edits, end, true, depth, 0, ", INK_BEHIND(%s))", section);
    break;
  case INSIDE_VALUE:
    ink_edits_add(edits, start, false, depth, 0, "(%s(%s%s), INK_AFTER%s(%s) ", before, section,
                  held, holds, section);
    ink_edits_add(edits, end, true, depth, 0, "))");
    break;
  case INSIDE_UNTIL:
  case INSIDE_UNTIL_END:
    ink_edits_add(edits, start, false, depth, 0, "(%s(%s%s), INK_UNTIL%s(%s), ", before, section,
                  held, form == INSIDE_UNTIL ? holds : "_END", section);
    ink_edits_add(edits, end, true, depth, 0, ")");
    break;
  }
}

static void mark_inside(ink_unit *unit, ink_function *function, uint32_t at, const char *name,
                        ink_found *found) {
  const ink_node *node = &function->tree.nodes.items[at];
  ink_source *source = function->source;
  ink_span text = {node->start, node->end};
  const bool argument = ink_macro_argument(unit, function, at, &text);
  const char *why = NULL;
  if (node->in_macro && !argument)
    why = ink_node_why_left(node);
  else if (!argument &&
           (!ink_source_free_at(source, text.start) || !ink_source_free_at(source, text.end)))
    why = "is inside of the use of a macro";
  else if (!ink_source_same_branch(source, text.start, text.end))
    why = "a preprocessor conditional begins or ends in it";
  if (why) {
    ink_found_left(found, "%s", why);
    return;
  }
  if (!ink_function_may_mark(unit, function, found))
    return;
  const char *section = ink_section_in_row(unit, function, name, node->start, source);
  if (!section) {
    ink_found_left(found, "the section table is full");
    return;
  }
  char *held = ink_hold_list(unit, function, node->start);
  inside_form form = form_inside(node);
  if (argument && form == INSIDE_VALUE) /* INK_AFTER's parenthesis would end the macro's use */
    form = INSIDE_UNTIL;
  if (form == INSIDE_UNTIL && ink_unit_avoids_comma(unit))
    form = INSIDE_UNTIL_END;
  insert_inside(&source->edits, text, node->depth, form, section, held,
                unit->options->hold);
  ink_found_marked(found, section, held);
  free(held);
}

/* It holds expressions alone: calls in the head of a loop or an if are no such statement. */
static bool is_simple(const ink_node *node) {
  return node->kind == CXCursor_DeclStmt || node->kind == CXCursor_ReturnStmt || ink_node_is_expression(node) ||
         node->kind == CXCursor_GCCAsmStmt || (node->kind == CXCursor_CompoundStmt && node->in_macro);
}

/* The statement holds this call alone. A return ends its range by leaving the scope. */
static bool mark_around(ink_unit *unit, ink_function *function, uint32_t statement, uint32_t at,
                        const char *name, ink_found *found) {
  const ink_tree *tree = &function->tree;
  const ink_node *node = &tree->nodes.items[statement];
  ink_edits *edits = &function->source->edits;
  const bool declares = node->kind == CXCursor_DeclStmt;
  const bool returns = node->kind == CXCursor_ReturnStmt;
  const char *why;
  ink_spot spot;
  if ((!is_simple(node) && statement != at) || /* a loop that spins */
      !ink_spot_find(function, statement, &spot, &why) || spot.line || (declares && spot.alone))
    return false;
  const bool sum = !returns && ink_is_summed(unit, function, at) && ink_sum_fits(unit, function, at);
  if (!ink_function_may_mark(unit, function, found))
    return true;
  const char *section = sum ? ink_section_summed(unit, function, name, tree->nodes.items[at].start)
                            : ink_section_in_row(unit, function, name, tree->nodes.items[at].start, function->source);
  if (!section) {
    ink_found_left(found, "the section table is full");
    return true;
  }
  char *held = ink_hold_list(unit, function, spot.start);
  char *held_end = ink_hold_list(unit, function, spot.end);
  const char *open = returns ? "PROF_SCOPE" : sum ? "PROF_SUM_BEGIN" : ink_hold_macro(unit, "PROF_BEGIN", held);
  ink_edits_add(edits, spot.start, false, spot.depth, 0, "%s%s(%s%s);", declares ? "" : "{", open,
                section, held);
  if (returns)
    ink_edits_add(edits, spot.end, true, spot.depth, 0, "}");
  else
    ink_edits_add(edits, spot.end, true, spot.depth, 0, "%s(%s%s);%s",
                  sum ? "PROF_SUM_END" : ink_hold_macro(unit, "PROF_END", held_end), section, held_end, declares ? "" : "}");
  ink_found_marked(found, section, returns ? held : held_end);
  free(held);
  free(held_end);
  return true;
}

/* The statement, with the chosen call alone, is the whole of a range by hand: it is not ranged again. */
static bool is_held_by_hand(ink_unit *unit, const ink_function *function, uint32_t statement, ink_found *found) {
  const ink_tree *tree = &function->tree;
  const uint32_t start = tree->nodes.items[statement].start, end = ink_node_statement_end(tree, statement);
  uint32_t line;
  if (!end || !ink_hand_holds(unit, function, start, end, &line))
    return false;
  free(found->reason);
  if (asprintf(&found->reason, "is all that the mark by hand in line %u measures", line) < 0)
    found->reason = NULL;
  return true;
}

void ink_mark_call(ink_unit *unit, ink_function *function, uint32_t at, const char *name,
                   ink_found *found) {
  const ink_tree *tree = &function->tree;
  const uint32_t statement = marked_statement(tree, at);
  if (ink_is_unevaluated(tree, at)) {
    found->reason = strdup("is not evaluated");
    return;
  }
  uint32_t first = at;
  const uint32_t chosen = statement == INK_NO_NODE ? 0 : chosen_in(unit, function, statement, &first);
  if (chosen == 1 && is_held_by_hand(unit, function, statement, found))
    return;
  const bool summed = !ink_rules_are_asked(unit) && ink_is_summed(unit, function, at);
  const bool simple = chosen && is_simple(&tree->nodes.items[statement]);
  const bool block = simple && tree->nodes.items[statement].kind == CXCursor_CompoundStmt; /* of a macro */
  if ((summed || block) && simple && chosen > 1 && first != at) {
    found->reason = strdup("is in the range of another call of its statement (--calls and --waits mark it)");
    return;
  }
  if ((chosen == 1 || ((summed || block) && simple) || statement == at) && mark_around(unit, function, statement, at, name, found))
    return;
  if (summed) /* a range each time would fill the track */
    found->reason = strdup("stands in an expression of a loop that is summed (--calls and --waits mark it)");
  else if (!ink_node_is_expression(&tree->nodes.items[at]))
    ink_found_left(found, "%s", ink_node_why_left(&tree->nodes.items[at]));
  else
    mark_inside(unit, function, at, name, found);
}

void ink_rule_call(ink_unit *unit, ink_function *function, uint32_t at) {
  const ink_node *node = &function->tree.nodes.items[at];
  ink_callee called;
  if (!ink_find_callee(unit, function, at, &called))
    return;
  ink_found *found =
      ink_unit_place(unit, INK_PLACE_CALL, function, function->source, node->start, called.name);
  const bool summed = !ink_rules_are_asked(unit) && ink_is_summed(unit, function, at);
  const char *why = called.why_not ? called.why_not : why_no_call(unit, function, at, &called);
  if (why)
    found->reason = strdup(why);
  else if (called.why_left)
    ink_found_left(found, "%s", called.why_left);
  else
    ink_mark_call(unit, function, at, called.name, found);
  ink_function *in = ink_sums_of(unit, function);
  in->calls_left -= summed && in->calls_left && found->state == INK_PLACE_MARKED;
  free(called.name);
}
