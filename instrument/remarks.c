/* SPDX-License-Identifier: MIT */
/* What a reader should know of a marked function: loops that wait for other blocks or that write
 * more than a track keeps, clocks that the function reads itself. */
#include "unit.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define INK_I_TRACK_WORDS 1024 /* records_per_track of session.h where nothing else is asked */

/* ---- loops that write more than a track keeps
 * ----------------------------------------------------- */

static void warn_many(ink_unit *unit, const ink_function *function) {
  const ink_tree *tree = &function->tree;
  for (size_t f = 0, n = unit->found.count; f < n; f++) {
    const ink_found *loop = &unit->found.items[f];
    uint32_t at = 0;
    if (loop->function != function || loop->kind != INK_PLACE_LOOP ||
        loop->state != INK_PLACE_MARKED)
      continue;
    while (at < tree->nodes.count && (tree->nodes.items[at].start != loop->offset ||
                                      !ink_node_is_loop(&tree->nodes.items[at])))
      at++;
    if (at == tree->nodes.count || !tree->nodes.items[at].rows)
      continue;
    long long words = 2; /* the row */
    for (size_t i = 0; i < n; i++) {
      const ink_found *other = &unit->found.items[i];
      if (other->function == function && other->state == INK_PLACE_MARKED && other != loop &&
          other->offset > loop->offset && other->offset < tree->nodes.items[at].end)
        words += other->kind == INK_PLACE_LOOP ? 6 : other->kind == INK_PLACE_HAND ? 1 : 2;
    }
    const long long trips = ink_trips_of(tree, at, LLONG_MAX);
    if (trips > INK_I_TRACK_WORDS / words)
      ink_unit_say(unit, function->source, loop->offset,
                   "the loop runs %lld times with %lld words of records each time, more than the %d that a "
                   "track keeps by default: only the last %d iterations are kept (record --records-per-track N "
                   "keeps more, or choose less)",
                   trips, words, INK_I_TRACK_WORDS, (int)(INK_I_TRACK_WORDS / words));
  }
}

/* A loop whose condition reads what another block writes. */
static bool spins(const ink_tree *tree, uint32_t loop) {
  const ink_node *nodes = tree->nodes.items;
  const uint32_t body = ink_node_body(tree, loop);
  if (nodes[loop].kind == CXCursor_ForStmt || nodes[loop].kind == CXCursor_CXXForRangeStmt)
    return false;
  for (uint32_t i = loop + 1, end = ink_tree_end(tree, loop); i < end; i++) {
    if (body != INK_NO_NODE && i >= body && i < ink_tree_end(tree, body))
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
  static const char *const clocks[] = {"clock", "clock64", "globaltimer"};
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
    if (!grid && ink_node_is_named(node, "this_grid")) {
      grid = true;
      ink_unit_say(unit, function->source, node->start,
                   "a cooperative launch at full occupancy may not fit with marks");
    }
    for (size_t c = 0; c < sizeof clocks / sizeof *clocks && !clock; c++)
      if (ink_node_is_named(node, clocks[c])) {
        clock = true;
        ink_unit_say(unit, function->source, node->start,
                     "the function reads a clock itself: what it measures now includes the marks");
      }
  }
  ink_function_thread_remarks(unit, function);
  warn_many(unit, function);
}
