/* SPDX-License-Identifier: MIT */
/* What a reader should know of a marked function: marks that the recording thread may not pass,
 * loops that wait for other blocks, clocks that the function reads itself. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#define INK_I_TRACK_WORDS 1024 /* records_per_track of session.h where nothing else is asked */

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

static bool is_thread_source(const ink_node *node) {
  static const char *const names[] = {"threadIdx", "thread_rank", "thread_index", "__laneid",
                                      "lane_id", "laneid"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (is_named(node, names[i]))
      return true;
  return false;
}

/* `at`'s subtree names threadIdx or a lane, or one of the locals that were computed from these. */
static bool is_thread_dependent(const ink_tree *tree, uint32_t at, const CXCursor *locals,
                                size_t count) {
  for (uint32_t i = at, end = subtree_end(tree, at); i < end; i++) {
    const ink_node *node = &tree->nodes.items[i];
    if (node->kind == CXCursor_MemberRefExpr && is_thread_source(node))
      return true;
    if (node->kind != CXCursor_DeclRefExpr)
      continue;
    if (is_thread_source(node))
      return true;
    const CXCursor target = clang_getCursorReferenced(node->cursor);
    for (size_t l = 0; l < count; l++)
      if (clang_equalCursors(locals[l], target))
        return true;
  }
  return false;
}

static bool is_listed(const CXCursor *locals, size_t count, CXCursor target) {
  for (size_t l = 0; l < count; l++)
    if (clang_equalCursors(locals[l], target))
      return true;
  return false;
}

/* `asm("mov.u32 %0, %laneid;" : "=r"(lane))`: the node is the first name in it. */
static bool assigned_by_asm(const ink_tree *tree, uint32_t at, CXCursor *target) {
  const ink_node *nodes = tree->nodes.items, *node = &nodes[at];
  if (node->kind != CXCursor_DeclRefExpr || node->parent == INK_NO_NODE ||
      nodes[node->parent].kind != CXCursor_GCCAsmStmt || nodes[node->parent].in_macro)
    return false;
  const ink_node *around = &nodes[node->parent];
  const char *text = tree->source->text.at + around->start;
  const size_t bytes = around->end - around->start;
  *target = clang_getCursorReferenced(node->cursor);
  return memmem(text, bytes, "%laneid", 7) || memmem(text, bytes, "%tid", 4);
}

/* The locals that are computed from threadIdx, a lane or what is loaded with these: by declaration or
 * by assignment, over as many steps as it takes. */
static size_t find_thread_locals(const ink_tree *tree, CXCursor *locals, size_t room) {
  size_t count = 0, before;
  do {
    before = count;
    for (uint32_t i = 0; i < tree->nodes.count && count < room; i++) {
      const ink_node *node = &tree->nodes.items[i];
      CXCursor target = node->cursor;
      const bool assigns =
          node->kind == CXCursor_CompoundAssignOperator ||
          (node->kind == CXCursor_BinaryOperator &&
           clang_getCursorBinaryOperatorKind(node->cursor) == CXBinaryOperator_Assign);
      if (assigned_by_asm(tree, i, &target)) {
        if (count < room)
          locals[count++] = target;
        continue;
      }
      if (assigns && node->first != INK_NO_NODE &&
          tree->nodes.items[node->first].kind == CXCursor_DeclRefExpr)
        target = clang_getCursorReferenced(tree->nodes.items[node->first].cursor);
      else if (node->kind != CXCursor_VarDecl)
        continue;
      if (!is_listed(locals, count, target) && is_thread_dependent(tree, assigns ? node->last : i, locals, count))
        locals[count++] = target;
    }
  } while (count > before && count < room);
  return count;
}

/* The first node and the end of the condition that decides whether what is in the node is passed;
 * false: there is none. */
static bool find_condition(const ink_tree *tree, uint32_t at, uint32_t *from, uint32_t *to,
                           const char **what) {
  const ink_node *node = &tree->nodes.items[at];
  if (node->first == INK_NO_NODE || node->in_macro)
    return false;
  *from = node->first;
  *to = subtree_end(tree, node->first);
  *what = "the condition";
  if (node->kind == CXCursor_IfStmt || node->kind == CXCursor_ConditionalOperator)
    return true;
  if (node->kind == CXCursor_SwitchStmt)
    return *what = "the switch", true;
  if (node->kind == CXCursor_BinaryOperator) {
    const enum CXBinaryOperatorKind kind = clang_getCursorBinaryOperatorKind(node->cursor);
    return kind == CXBinaryOperator_LAnd || kind == CXBinaryOperator_LOr;
  }
  if (node->kind != CXCursor_WhileStmt && node->kind != CXCursor_ForStmt)
    return false;
  *what = "how often the loop runs";
  if (node->kind == CXCursor_WhileStmt)
    return true;
  /* of a for the bound alone: threads that take turns, from threadIdx.x in steps, all pass */
  for (uint32_t child = node->first; child != INK_NO_NODE; child = tree->nodes.items[child].next) {
    const ink_node *one = &tree->nodes.items[child];
    const enum CXBinaryOperatorKind kind = clang_getCursorBinaryOperatorKind(one->cursor);
    if (one->kind != CXCursor_BinaryOperator || kind < CXBinaryOperator_LT ||
        kind > CXBinaryOperator_NE || one->last == INK_NO_NODE)
      continue;
    *from = one->last;
    *to = subtree_end(tree, one->last);
    return true;
  }
  return false;
}

/* The first mark between two offsets; NULL: none. */
static const ink_found *mark_between(const ink_unit *unit, const ink_function *function,
                                     uint32_t from, uint32_t to) {
  for (size_t f = 0; f < unit->found.count; f++) {
    const ink_found *found = &unit->found.items[f];
    if (found->function == function && found->state == INK_PLACE_MARKED &&
        found->kind != INK_PLACE_KERNEL && found->offset > from && found->offset < to)
      return found;
  }
  return NULL;
}

static void warn_conditions(ink_unit *unit, const ink_function *function) {
  const ink_tree *tree = &function->tree;
  CXCursor locals[64];
  const size_t count = find_thread_locals(tree, locals, 64);
  for (uint32_t i = 0; i < tree->nodes.count; i++) {
    const ink_node *node = &tree->nodes.items[i];
    uint32_t from, to;
    const char *what;
    bool depends = false;
    if (node->in_lambda || !find_condition(tree, i, &from, &to, &what))
      continue;
    for (uint32_t c = from; c < to; c = subtree_end(tree, c))
      depends |= is_thread_dependent(tree, c, locals, count);
    const ink_found *found =
        depends ? mark_between(unit, function, tree->nodes.items[to - 1].end, node->end) : NULL;
    if (found)
      ink_unit_say(unit, function->source, node->start,
                   "%s depends on the thread: the thread that records may not pass the marks in "
                   "it, '%s' first",
                   what,
                   found->section && *found->section ? found->section : found->name);
  }
}

/* ---- loops that write more than a track keeps ----------------------------------------------------- */

static bool value_of(CXCursor cursor, long long *value) {
  CXEvalResult result = clang_Cursor_Evaluate(cursor);
  const bool fine = result && clang_EvalResult_getKind(result) == CXEval_Int;
  if (fine)
    *value = clang_EvalResult_getAsLongLong(result);
  if (result)
    clang_EvalResult_dispose(result);
  return fine;
}

/* How often `for (T i = A; i < B; i += C)` with constants runs; 0: cannot tell. */
static long long trips_of(const ink_tree *tree, uint32_t loop) {
  const ink_node *nodes = tree->nodes.items;
  long long start = 0, end = 0, step = 1;
  const uint32_t init = nodes[loop].first;
  const uint32_t condition = init == INK_NO_NODE ? INK_NO_NODE : nodes[init].next;
  const uint32_t advance = condition == INK_NO_NODE ? INK_NO_NODE : nodes[condition].next;
  if (nodes[loop].kind != CXCursor_ForStmt || advance == INK_NO_NODE ||
      advance == nodes[loop].last || nodes[init].kind != CXCursor_DeclStmt ||
      nodes[init].first == INK_NO_NODE || nodes[nodes[init].first].last == INK_NO_NODE ||
      nodes[condition].kind != CXCursor_BinaryOperator ||
      !value_of(nodes[nodes[nodes[init].first].last].cursor, &start) ||
      !value_of(nodes[nodes[condition].last].cursor, &end))
    return 0;
  if (nodes[advance].kind == CXCursor_CompoundAssignOperator &&
      (!value_of(nodes[nodes[advance].last].cursor, &step) || step < 1))
    return 0;
  return end > start ? (end - start + step - 1) / step : 0;
}

static void warn_many(ink_unit *unit, const ink_function *function) {
  const ink_tree *tree = &function->tree;
  for (size_t f = 0, n = unit->found.count; f < n; f++) {
    const ink_found *loop = &unit->found.items[f];
    uint32_t at = 0;
    if (loop->function != function || loop->kind != INK_PLACE_LOOP ||
        loop->state != INK_PLACE_MARKED)
      continue;
    while (at < tree->nodes.count &&
           (tree->nodes.items[at].start != loop->offset || !ink_node_is_loop(&tree->nodes.items[at])))
      at++;
    if (at == tree->nodes.count || ink_loops_around(tree, at))
      continue;
    long long words = 2; /* the row */
    for (size_t i = 0; i < n; i++) {
      const ink_found *other = &unit->found.items[i];
      if (other->function == function && other->state == INK_PLACE_MARKED && other != loop &&
          other->offset > loop->offset && other->offset < tree->nodes.items[at].end)
        words += other->kind == INK_PLACE_LOOP ? 6 : other->kind == INK_PLACE_HAND ? 1 : 2;
    }
    const long long trips = trips_of(tree, at);
    if (trips && trips > INK_I_TRACK_WORDS / words)
      ink_unit_say(unit, function->source, loop->offset,
                   "the loop runs %lld times with %lld words of records each time, more than the "
                   "%d that a track keeps by default: the last %d iterations stay (record "
                   "--records-per-track N, or choose less)",
                   trips, words, INK_I_TRACK_WORDS, (int)(INK_I_TRACK_WORDS / words));
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
  warn_many(unit, function);
}
