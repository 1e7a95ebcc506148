/* SPDX-License-Identifier: MIT */
/* Loops: outermost ones become a range with a row for each iteration, those inside of them sums. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *loop_word(const ink_node *node) {
  switch (node->kind) {
  case CXCursor_WhileStmt:
    return "while";
  case CXCursor_DoStmt:
    return "do";
  default:
    return "for";
  }
}

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
static char *row_variable(const ink_tree *tree, const ink_node *loop) {
  const ink_node *nodes = tree->nodes.items;
  if (loop->kind != CXCursor_ForStmt || loop->first == INK_NO_NODE)
    return NULL;
  const ink_node *init = &nodes[loop->first];
  if (init->kind != CXCursor_DeclStmt || init->in_macro || init->first == INK_NO_NODE ||
      init->first != init->last)
    return NULL;
  const ink_node *variable = &nodes[init->first];
  if (variable->kind != CXCursor_VarDecl || variable->first == INK_NO_NODE ||
      nodes[variable->last].kind != CXCursor_IntegerLiteral ||
      !is_integer(clang_getCursorType(variable->cursor)))
    return NULL;
  CXString spelling = clang_getCursorSpelling(variable->cursor);
  char *name = strdup(clang_getCString(spelling));
  clang_disposeString(spelling);
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
    if (source->text.at[node->start] != '{')
      return false;
    *spot = (ink_spot){.start = node->start + 1, .end = node->end, .depth = node->depth};
  } else {
    spot->end = ink_node_statement_end(tree, body);
  }
  return spot->end && ink_source_free_at(source, spot->start) &&
         ink_source_same_branch(source, spot->start, spot->end);
}

/* Whether a loop inside of a kernel's may be summed: what the last iteration sums is recorded while its row
 * is still known. */
static bool has_sums(const ink_function *function, uint32_t at) {
  const ink_node *nodes = function->tree.nodes.items;
  if (!function->kernel)
    return false;
  for (uint32_t i = at + 1, end = ink_tree_end(&function->tree, at); i < end; i++)
    if (ink_node_is_loop(&nodes[i]) && !nodes[i].in_lambda)
      return true;
  return false;
}

/* `rows`: one for each iteration. */
static void mark_range(ink_unit *unit, ink_function *function, uint32_t at, const ink_spot *spot, bool rows,
                       const char *name, ink_found *found) {
  const ink_tree *tree = &function->tree;
  ink_spot body = {0};
  char open[512], row[64], *variable = rows ? row_variable(tree, &tree->nodes.items[at]) : NULL;
  if (rows && !body_spot(function, at, &body)) {
    rows = false;
    free(variable);
    variable = NULL;
  }
  const char *section = ink_section_at(unit, name, function->source, tree->nodes.items[at].start);
  if (!section) {
    ink_found_left(found, "the section table is full");
    free(variable);
    return;
  }
  uint32_t line, column;
  ink_source_position(function->source, tree->nodes.items[at].start, &line, &column);
  snprintf(row, sizeof row, "ink_row_%u_%u", line, column);
  const bool guarded = leaves_function(tree, at), sums = has_sums(function, at);
  char *held = ink_hold_list(unit, function, spot->start);
  char *held_end = ink_hold_list(unit, function, spot->end);
  snprintf(open, sizeof open, "{%s%s%s", !rows || variable ? "" : "long long ", !rows || variable ? "" : row,
           !rows || variable ? "" : " = 0; ");
  ink_edits_add(&function->source->edits, spot->start, false, spot->depth, spot->line,
                "%s%s(%s%s);%s", open,
                guarded ? "PROF_SCOPE" : ink_hold_macro(unit, "PROF_BEGIN", held), section, held,
                guarded && sums ? "INK_FLUSH_AT_END();" : "");
  if (guarded)
    ink_edits_add(&function->source->edits, spot->end, true, spot->depth, 0, "}");
  else
    ink_edits_add(&function->source->edits, spot->end, true, spot->depth, 0, "%s%s(%s%s);}",
                  sums ? "PROF_SUM_FLUSH();" : "", ink_hold_macro(unit, "PROF_END", held_end), section,
                  held_end);
  if (rows) {
    char *held_row = ink_hold_list(unit, function, body.start);
    ink_edits_add(&function->source->edits, body.start, false, body.depth, 0, "%sPROF_ITER(%s%s%s);",
                  body.alone ? "{" : "", variable ? variable : row, variable ? "" : "++", held_row);
    if (body.alone)
      ink_edits_add(&function->source->edits, body.end, true, body.depth, 0, "}");
    free(held_row);
  }
  ink_found_marked(found, section, held_end);
  free(held);
  free(held_end);
  free(variable);
}

static void mark_sum(ink_unit *unit, ink_function *function, uint32_t at, const ink_spot *spot,
                     const char *name, ink_found *found) {
  ink_edits *edits = &function->source->edits;
  if (!ink_sum_fits(unit, &function->tree, at)) {
    ink_found_left(found, "its sum would share a slot with one around it");
    return;
  }
  const char *section =
      ink_section_at(unit, name, function->source, function->tree.nodes.items[at].start);
  if (!section) {
    ink_found_left(found, "the section table is full");
    return;
  }
  function->tree.nodes.items[at].summed = (uint32_t)unit->sections.count;
  char *held = ink_hold_list(unit, function, spot->start);
  char *held_end = ink_hold_list(unit, function, spot->end);
  ink_edits_add(edits, spot->start, false, spot->depth, spot->line, "{PROF_SUM_BEGIN(%s%s);",
                section, held);
  ink_edits_add(edits, spot->end, true, spot->depth, 0, "PROF_SUM_END(%s%s);}", section, held_end);
  ink_found_marked(found, section, held_end);
  free(held);
  free(held_end);
}

/* Whether some loop around is already a sum: then only --loops marks this one too. */
static const char *not_asked(const ink_unit *unit, const ink_function *function, uint32_t loops) {
  const ink_instrument_options *options = unit->options;
  if (options->loops)
    return NULL;
  if (options->calls || options->calls_like || options->waits || options->kernels_only)
    return "loops are marked with --loops";
  if (loops >= 2)
    return "inside of a loop that is summed (--loops marks it)";
  if (loops && !function->kernel)
    return "sums are kept in kernels only";
  return NULL;
}

void ink_rule_loop(ink_unit *unit, ink_function *function, uint32_t at) {
  const ink_node *node = &function->tree.nodes.items[at];
  const uint32_t loops = ink_loops_around(&function->tree, at);
  char *named = node->in_macro ? NULL : ink_directive_name(function->source, node->start);
  char name[300];
  ink_found *found = ink_unit_place(unit, INK_PLACE_LOOP, function, function->source, node->start,
                                    loop_word(node));
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
  if (why && !named)
    found->reason = strdup(why);
  else if (!function->kernel && loops) {
    found->reason = strdup("sums are kept in kernels only");
  } else if (!ink_spot_find(function, at, &spot, &why))
    ink_found_left(found, "%s", why);
  else if (ink_function_may_mark(unit, function, found)) {
    snprintf(name, sizeof name, "%.200s", named ? named : function->name);
    if (!named)
      strcat(name, " loop");
    if (loops)
      mark_sum(unit, function, at, &spot, name, found);
    else
      mark_range(unit, function, at, &spot, cost == INK_LOOP_LONG && !function->guarded, name, found);
  }
  free(named);
}
