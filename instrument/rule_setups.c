/* SPDX-License-Identifier: MIT */
/* Statements that prepare a loop or a copy: calls that are constexpr or tiny, so that none has a section of its own, and
 * that are much text together (the layouts and partitions of a CuTe kernel). They get one range, from the first such call
 * to the last, which shows what the time in front of, between and behind the marked loops is. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  SETUP_NODES = 100, /* of the tree of what the calls of a range call: fewer are a few instructions */
  SETUP_DEPTH = 8    /* calls within calls that are counted */
};

/* Of what is called, with what that calls; no more than SETUP_NODES are counted. */
static unsigned nodes_of(ink_unit *unit, const ink_function *function, unsigned depth) {
  const ink_tree *tree = &function->tree;
  unsigned nodes = (unsigned)tree->nodes.count;
  for (uint32_t i = 1; i < tree->nodes.count && nodes < SETUP_NODES && depth < SETUP_DEPTH; i++) {
    const ink_function *called =
        tree->nodes.items[i].kind == CXCursor_CallExpr ? ink_called_function(unit, tree, i, 0) : NULL;
    if (called && called != function)
      nodes += nodes_of(unit, called, depth + 1);
  }
  return nodes;
}

typedef struct setup_range { /* a range that grows statement by statement */
  uint32_t first, last;           /* statements with calls, INK_NO_NODE: none yet */
  uint32_t first_call, last_call;
  unsigned nodes;
} setup_range;

static const setup_range no_setup = {INK_NO_NODE, INK_NO_NODE, INK_NO_NODE, INK_NO_NODE, 0};

/* Adds what the statement calls. */
static void add_calls(ink_unit *unit, const ink_function *function, uint32_t statement, setup_range *setup) {
  const ink_tree *tree = &function->tree;
  for (uint32_t i = statement, end = ink_tree_end(tree, statement); i < end; i++) {
    const ink_node *node = &tree->nodes.items[i];
    if (node->kind != CXCursor_CallExpr || node->in_lambda || node->in_macro || ink_is_unevaluated(tree, i))
      continue;
    const ink_function *called = ink_called_function(unit, tree, i, 0);
    if (!called || called->kernel || called == function)
      continue;
    setup->nodes += nodes_of(unit, called, 0);
    if (setup->first == INK_NO_NODE) {
      setup->first = statement;
      setup->first_call = i;
    }
    setup->last = statement;
    setup->last_call = i;
  }
}

/* Something in the statement is marked, or goes another way than to its end. */
static bool ends_setup(ink_unit *unit, const ink_function *function, uint32_t statement) {
  const ink_tree *tree = &function->tree;
  const ink_node *nodes = tree->nodes.items;
  const uint32_t from = nodes[statement].start, to = nodes[statement].end;
  for (size_t f = 0; f < unit->found.count; f++) {
    const ink_found *found = &unit->found.items[f];
    if (found->function == function && found->state == INK_PLACE_MARKED && found->offset >= from && found->offset < to)
      return true;
  }
  for (uint32_t i = statement, end = ink_tree_end(tree, statement); i < end; i++)
    if (!nodes[i].in_lambda &&
        (nodes[i].kind == CXCursor_ReturnStmt || nodes[i].kind == CXCursor_GotoStmt ||
         nodes[i].kind == CXCursor_IndirectGotoStmt || nodes[i].kind == CXCursor_LabelStmt ||
         nodes[i].kind == CXCursor_CaseStmt || nodes[i].kind == CXCursor_DefaultStmt || ink_goes_into(unit, function, i)))
      return true;
  return false;
}

static bool find_spot(const ink_function *function, uint32_t statement, ink_spot *spot) {
  const char *why;
  return ink_spot_find(function, statement, spot, &why) && !spot->line && !spot->alone;
}

static void mark_setup(ink_unit *unit, ink_function *function, const setup_range *setup) {
  const ink_tree *tree = &function->tree;
  ink_source *source = function->source;
  ink_edits *edits = &source->edits;
  ink_spot first, last;
  uint32_t line;
  if (setup->nodes < SETUP_NODES || setup->first == setup->last || !find_spot(function, setup->first, &first) || !find_spot(function, setup->last, &last) ||
      !ink_source_same_branch(source, first.start, last.end) || ink_hand_holds(unit, function, first.start, last.end, &line))
    return;
  char *from = ink_called_name(tree, setup->first_call), *to = ink_called_name(tree, setup->last_call), *name;
  const bool same = from && to && !strcmp(from, to);
  if (!from || !to || asprintf(&name, same ? "%s" : "%s to %s", from, to) < 0)
    name = NULL;
  free(from);
  free(to);
  unit->failed |= !name;
  if (!name)
    return;
  ink_found *found = ink_unit_place(unit, INK_PLACE_SETUP, function, source, first.start, name);
  found->end = last.end;
  const char *section = ink_function_may_mark(unit, function, found)
                            ? ink_section_in_row(unit, function, name, first.start, source)
                            : NULL;
  free(name);
  if (section) {
    char *held = ink_hold_list(unit, function, first.start), *held_end = ink_hold_list(unit, function, last.end);
    ink_edits_add(edits, first.start, false, first.depth, 0, "%s(%s%s);", ink_hold_macro(unit, "PROF_BEGIN", held), section, held);
    ink_edits_add(edits, last.end, true, last.depth, 0, "%s(%s%s);", ink_hold_macro(unit, "PROF_END", held_end), section, held_end);
    ink_found_marked(found, section, held_end);
    free(held);
    free(held_end);
  } else if (found->state != INK_PLACE_LEFT) {
    ink_found_left(found, "the section table is full");
  }
}

/* The statements of one block. */
static void mark_block(ink_unit *unit, ink_function *function, uint32_t block) {
  const ink_tree *tree = &function->tree;
  const ink_node *nodes = tree->nodes.items;
  setup_range setup = no_setup;
  for (uint32_t at = nodes[block].first; at != INK_NO_NODE; at = nodes[at].next) {
    ink_spot spot;
    const bool ends = ends_setup(unit, function, at);
    const bool parted = setup.first != INK_NO_NODE && !ends &&
                        !ink_source_same_branch(tree->source, nodes[setup.first].start, nodes[at].end);
    if (ends || parted) {
      mark_setup(unit, function, &setup);
      setup = no_setup;
    }
    if (!ends && find_spot(function, at, &spot))
      add_calls(unit, function, at, &setup);
  }
  mark_setup(unit, function, &setup);
}

/* The block lies in a range that is there already. */
static bool is_in_setup(const ink_unit *unit, const ink_function *function, uint32_t offset) {
  for (size_t f = 0; f < unit->found.count; f++) {
    const ink_found *found = &unit->found.items[f];
    if (found->kind == INK_PLACE_SETUP && found->function == function && found->offset <= offset && offset < found->end)
      return true;
  }
  return false;
}

/* Nothing is marked in it: a range would be one around the kernel. */
static bool has_marks(const ink_unit *unit, const ink_function *function) {
  for (size_t f = 0; f < unit->found.count; f++) {
    const ink_found *found = &unit->found.items[f];
    if (found->function == function && found->state == INK_PLACE_MARKED &&
        (found->kind == INK_PLACE_CALL || found->kind == INK_PLACE_LOOP || found->kind == INK_PLACE_WAIT))
      return true;
  }
  return false;
}

void ink_rule_setups(ink_unit *unit, ink_function *function) {
  const ink_tree *tree = &function->tree;
  if (ink_rules_are_asked(unit) || unit->options->kernels_only || !ink_keeps_sums(function) || !has_marks(unit, function))
    return;
  for (uint32_t i = 0; i < tree->nodes.count; i++) {
    const ink_node *node = &tree->nodes.items[i];
    const bool is_switch = node->parent != INK_NO_NODE && tree->nodes.items[node->parent].kind == CXCursor_SwitchStmt;
    if (node->kind == CXCursor_CompoundStmt && !node->in_macro && !node->in_lambda && !is_switch && !ink_loops_at(function, i) &&
        !is_in_setup(unit, function, node->start))
      mark_block(unit, function, i);
  }
}
