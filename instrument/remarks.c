/* SPDX-License-Identifier: MIT */
/* What a reader should know of a marked function: marks that the recording thread may not pass,
 * loops that wait for other blocks, clocks that the function reads itself. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static bool is_named(const ink_node *node, const char *name) {
  CXString spelling = clang_getCursorSpelling(node->cursor);
  const char *text = clang_getCString(spelling);
  const bool same = text && !strcmp(text, name);
  clang_disposeString(spelling);
  return same;
}

static uint32_t subtree_end(const ink_tree *tree, uint32_t at) {
  uint32_t i = at + 1;
  while (i < tree->nodes.count && tree->nodes.items[i].depth > tree->nodes.items[at].depth)
    i++;
  return i;
}

/* `at`'s subtree names threadIdx, or one of the locals that were computed from it. */
static bool is_thread_dependent(const ink_tree *tree, uint32_t at, const CXCursor *locals,
                                size_t count) {
  for (uint32_t i = at, end = subtree_end(tree, at); i < end; i++) {
    const ink_node *node = &tree->nodes.items[i];
    if (node->kind != CXCursor_DeclRefExpr)
      continue;
    if (is_named(node, "threadIdx"))
      return true;
    const CXCursor target = clang_getCursorReferenced(node->cursor);
    for (size_t l = 0; l < count; l++)
      if (clang_equalCursors(locals[l], target))
        return true;
  }
  return false;
}

static void warn_conditions(ink_unit *unit, const ink_function *function) {
  const ink_tree *tree = &function->tree;
  CXCursor locals[64];
  size_t count = 0;
  for (uint32_t i = 0; i < tree->nodes.count; i++) {
    const ink_node *node = &tree->nodes.items[i];
    if (node->kind == CXCursor_VarDecl && count < 64 && is_thread_dependent(tree, i, locals, count))
      locals[count++] = node->cursor;
    if (node->kind != CXCursor_IfStmt || node->in_macro || node->first == INK_NO_NODE ||
        !is_thread_dependent(tree, node->first, locals, count))
      continue;
    for (size_t f = 0; f < unit->found.count; f++) {
      const ink_found *found = &unit->found.items[f];
      if (found->function != function || found->state != INK_PLACE_MARKED ||
          found->kind == INK_PLACE_KERNEL || found->offset <= tree->nodes.items[node->first].end ||
          found->offset >= node->end)
        continue;
      ink_unit_say(unit, function->source, node->start,
                   "the condition depends on the thread: the thread that records may not pass the "
                   "marks in it, '%s' first",
                   found->section ? found->section : found->name);
      break;
    }
  }
}

/* A loop whose condition reads what another block writes. */
static bool spins(const ink_tree *tree, uint32_t loop) {
  const ink_node *nodes = tree->nodes.items;
  const uint32_t body = ink_node_body(tree, loop);
  if (nodes[loop].kind == CXCursor_ForStmt || nodes[loop].kind == CXCursor_CXXForRangeStmt)
    return false;
  for (uint32_t i = loop + 1, end = subtree_end(tree, loop); i < end; i++) {
    if (body != INK_NO_NODE && i >= body && i < subtree_end(tree, body))
      continue;
    CXString spelling = clang_getCursorSpelling(nodes[i].cursor);
    const char *name = clang_getCString(spelling);
    const bool atomic = nodes[i].kind == CXCursor_CallExpr && name && !strncmp(name, "atomic", 6);
    clang_disposeString(spelling);
    const CXType type = clang_getCursorType(nodes[i].cursor);
    if (atomic || (clang_isExpression(nodes[i].kind) && clang_isVolatileQualifiedType(type)))
      return true;
  }
  return false;
}

void ink_function_remarks(ink_unit *unit, const ink_function *function) {
  static const char *const clocks[] = {"clock", "clock64", "__nanosleep", "globaltimer"};
  const ink_tree *tree = &function->tree;
  bool spinning = false, grid = false, clock = false;
  for (uint32_t i = 0; i < tree->nodes.count; i++) {
    const ink_node *node = &tree->nodes.items[i];
    if (!spinning && ink_node_is_loop(node) && spins(tree, i)) {
      spinning = true;
      ink_unit_say(unit, function->source, node->start,
                   "the loop may wait for other blocks: marks can lower how many are resident");
    }
    if (node->kind != CXCursor_DeclRefExpr)
      continue;
    if (!grid && is_named(node, "this_grid")) {
      grid = true;
      ink_unit_say(unit, function->source, node->start,
                   "a cooperative launch at full occupancy may not fit with marks");
    }
    for (size_t c = 0; c < sizeof clocks / sizeof *clocks && !clock; c++)
      if (is_named(node, clocks[c])) {
        clock = true;
        ink_unit_say(unit, function->source, node->start,
                     "the function reads a clock itself: what it measures now includes the marks");
      }
  }
  warn_conditions(unit, function);
}
