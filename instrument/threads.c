/* SPDX-License-Identifier: MIT */
/* Warns of marks that the recording thread may not pass: behind a condition, a loop bound or an
 * early return that depends on the thread. Nothing is said where thread 0, which records by
 * default, passes whenever any thread of its block does: `if (i < n)` with an i that grows with
 * threadIdx, and `if (threadIdx.x == 0)`, stand in nearly every kernel. */
#include "holds.h"

#include <stdlib.h>
#include <string.h>

static bool is_thread_source(const ink_node *node) {
  static const char *const names[] = {"threadIdx", "thread_rank", "thread_index",
                                      "__laneid",  "lane_id",     "laneid"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (ink_node_is_named(node, names[i]))
      return true;
  return false;
}

/* `at`'s subtree names threadIdx or a lane, or one of the locals that were computed from these. */
bool ink_is_thread_dependent(const ink_tree *tree, uint32_t at, const CXCursor *locals, size_t count) {
  for (uint32_t i = at, end = ink_tree_end(tree, at); i < end; i++) {
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

static bool assigns_to(const ink_node *node) {
  return node->kind == CXCursor_CompoundAssignOperator ||
         (node->kind == CXCursor_BinaryOperator &&
          clang_getCursorBinaryOperatorKind(node->cursor) == CXBinaryOperator_Assign);
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

/* The locals that are computed from threadIdx, a lane or what is loaded with these: by declaration
 * or by assignment, over as many steps as it takes. */
size_t ink_find_thread_locals(const ink_tree *tree, CXCursor *locals, size_t room) {
  size_t count = 0, before;
  do {
    before = count;
    for (uint32_t i = 0; i < tree->nodes.count && count < room; i++) {
      const ink_node *node = &tree->nodes.items[i];
      CXCursor target = node->cursor;
      const bool assigns = assigns_to(node);
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
      if (!is_listed(locals, count, target) &&
          ink_is_thread_dependent(tree, assigns ? node->last : i, locals, count))
        locals[count++] = target;
    }
  } while (count > before && count < room);
  return count;
}

/* ---- what thread 0 sees
 * --------------------------------------------------------------------------- Of a value that
 * differs between the threads of a block: how that of thread 0 compares to the others'. Sizes and
 * strides count as not negative. */

enum {
  LEAST = 1,
  MOST = 2,
  ZERO = 4
};                                /* ZERO: of what is not negative elsewhere; comes with LEAST */
#define INK_I_SAME (LEAST | MOST) /* no difference */

typedef struct threads {
  ink_unit *unit;
  const ink_function *function;
  const ink_tree *tree;
  CXCursor locals[64]; /* that depend on the thread */
  size_t count;
  bool begun[64];      /* whether it was judged, or is just now: then `found` is 0, unknown */
  unsigned found[64];
} threads;

static unsigned judge(threads *t, uint32_t at);

static bool depends(const threads *t, uint32_t at) {
  return ink_is_thread_dependent(t->tree, at, t->locals, t->count);
}

static unsigned reversed(unsigned of) {
  return (of & LEAST ? MOST : 0u) | (of & MOST ? LEAST : 0u);
}

static unsigned sum_of(unsigned a, unsigned b) {
  return a & b & (LEAST | MOST | ZERO);
}

/* A local: what it is set to at first, and added to. Anything else, unknown: also what is computed from itself. */
static unsigned judge_writes(threads *t, CXCursor target) {
  const ink_node *nodes = t->tree->nodes.items;
  ink_function *owner = (ink_function *)t->function;
  if (!owner->variables)
    owner->variables = ink_variables_find(t->unit, t->function);
  const ink_variable *item = NULL;
  for (size_t i = 0; owner->variables && i < owner->variables->list.count; i++)
    if (clang_equalCursors(owner->variables->list.items[i].cursor, target))
      item = &owner->variables->list.items[i];
  if (!item || item->is_parameter)
    return 0;
  unsigned found = LEAST | MOST | ZERO, writes = 0;
  bool any = false;
  for (uint32_t i = 0; i < t->tree->nodes.count && found; i++) {
    const ink_node *node = &nodes[i];
    uint32_t to = node->first;
    if (node->kind == CXCursor_VarDecl && clang_equalCursors(node->cursor, target)) {
      if (item->initialised) {
        found &= judge(t, node->last);
        any = true;
      }
      continue;
    }
    while (to != INK_NO_NODE && nodes[to].kind == CXCursor_ParenExpr)
      to = nodes[to].first;
    if (to == INK_NO_NODE || nodes[to].kind != CXCursor_DeclRefExpr ||
        !clang_equalCursors(clang_getCursorReferenced(nodes[to].cursor), target))
      continue;
    const bool adds = node->kind == CXCursor_CompoundAssignOperator &&
                      clang_getCursorBinaryOperatorKind(node->cursor) == CXBinaryOperator_AddAssign;
    const bool sets = node->kind == CXCursor_BinaryOperator && assigns_to(node);
    if (!adds && !sets)
      continue;
    found &= judge(t, node->last) & (adds ? ~(unsigned)ZERO : ~0u);
    any |= sets;
    writes++;
  }
  return any && writes == item->writes && (!item->why_not || !strstr(item->why_not, "address"))
             ? found
             : 0;
}

/* Each local is judged once: locals that are set from one another would be judged along every way between them. */
static unsigned judge_local(threads *t, CXCursor target) {
  for (size_t l = 0; l < t->count; l++)
    if (clang_equalCursors(t->locals[l], target)) {
      if (!t->begun[l]) {
        t->begun[l] = true;
        t->found[l] = judge_writes(t, target);
      }
      return t->found[l];
    }
  return 0;
}

/* `block.thread_rank()`: 0 for thread 0, if it is not the grid's. */
static unsigned judge_rank(const ink_tree *tree, uint32_t at) {
  for (uint32_t i = at, end = ink_tree_end(tree, at); i < end; i++) {
    CXString spelling = clang_getTypeSpelling(
        clang_getCanonicalType(clang_getCursorType(tree->nodes.items[i].cursor)));
    const char *text = clang_getCString(spelling);
    const bool block = text && strstr(text, "thread_block");
    clang_disposeString(spelling);
    if (block)
      return LEAST | ZERO;
  }
  return LEAST;
}

static bool literal_of(const ink_tree *tree, uint32_t at, bool *zero) {
  CXEvalResult result = clang_Cursor_Evaluate(tree->nodes.items[at].cursor);
  const bool fine = result && clang_EvalResult_getKind(result) == CXEval_Int;
  if (fine)
    *zero = clang_EvalResult_getAsLongLong(result) == 0;
  if (result)
    clang_EvalResult_dispose(result);
  return fine;
}

/* As a truth: thread 0's is false where another's is (LEAST), is true where another's is (MOST). */
static unsigned judge_equal(const threads *t, unsigned a, unsigned b, uint32_t other, bool equal) {
  bool zero = false;
  if ((a & b & INK_I_SAME) == INK_I_SAME)
    return INK_I_SAME;
  if (!(a & ZERO) || !literal_of(t->tree, other, &zero))
    return 0;
  return zero == equal ? MOST : LEAST;
}

static unsigned judge_binary(threads *t, uint32_t at) {
  const ink_node *nodes = t->tree->nodes.items, *node = &nodes[at];
  const unsigned a = judge(t, node->first), b = judge(t, node->last);
  const bool b_same = (b & INK_I_SAME) == INK_I_SAME, a_same = (a & INK_I_SAME) == INK_I_SAME;
  switch (clang_getCursorBinaryOperatorKind(node->cursor)) {
  case CXBinaryOperator_Add:
    return sum_of(a, b);
  case CXBinaryOperator_Sub:
    return sum_of(a, reversed(b));
  case CXBinaryOperator_Mul:
    return a_same || b_same ? (a & b & INK_I_SAME) | ((a | b) & ZERO) : a & b & (LEAST | ZERO);
  case CXBinaryOperator_Shl:
  case CXBinaryOperator_Shr:
  case CXBinaryOperator_Div:
    return b_same ? a : 0;
  case CXBinaryOperator_Rem:
  case CXBinaryOperator_And:
    return b_same ? a & ZERO ? LEAST | ZERO : 0 : a_same && b & ZERO ? LEAST | ZERO : 0;
  case CXBinaryOperator_Or:
    return a & b & (LEAST | ZERO);
  case CXBinaryOperator_LT:
  case CXBinaryOperator_LE:
    return reversed(a) & b & INK_I_SAME;
  case CXBinaryOperator_GT:
  case CXBinaryOperator_GE:
    return a & reversed(b) & INK_I_SAME;
  case CXBinaryOperator_EQ:
    return a_same ? judge_equal(t, b, a, node->first, true)
                  : judge_equal(t, a, b, node->last, true);
  case CXBinaryOperator_NE:
    return a_same ? judge_equal(t, b, a, node->first, false)
                  : judge_equal(t, a, b, node->last, false);
  case CXBinaryOperator_LAnd:
  case CXBinaryOperator_LOr:
    return a & b & INK_I_SAME;
  default:
    return 0;
  }
}

static unsigned judge(threads *t, uint32_t at) {
  const ink_node *nodes = t->tree->nodes.items;
  if (at == INK_NO_NODE)
    return 0;
  const ink_node *node = &nodes[at];
  if (!depends(t, at)) {
    bool zero = false;
    return INK_I_SAME | (literal_of(t->tree, at, &zero) && zero ? ZERO : 0u);
  }
  switch (node->kind) {
  case CXCursor_UnexposedExpr:
  case CXCursor_ParenExpr:
  case CXCursor_CStyleCastExpr:
  case CXCursor_CXXStaticCastExpr:
  case CXCursor_CXXFunctionalCastExpr:
  case CXCursor_InitListExpr:
    return judge(t, node->last);
  case CXCursor_DeclRefExpr:
    return is_thread_source(node) ? LEAST | ZERO
                                  : judge_local(t, clang_getCursorReferenced(node->cursor));
  case CXCursor_MemberRefExpr:
  case CXCursor_CallExpr:
    if (ink_node_is_named(node, "thread_rank") || ink_node_is_named(node, "thread_index") ||
        ink_node_is_named(node, "__laneid"))
      return judge_rank(t->tree, at);
    return node->kind == CXCursor_MemberRefExpr && node->first != INK_NO_NODE
               ? judge(t, node->first)
               : 0;
  case CXCursor_UnaryOperator:
    switch (clang_getCursorUnaryOperatorKind(node->cursor)) {
    case CXUnaryOperator_LNot:
    case CXUnaryOperator_Minus:
      return reversed(judge(t, node->first));
    case CXUnaryOperator_Plus:
      return judge(t, node->first);
    default:
      return 0;
    }
  case CXCursor_BinaryOperator:
    return judge_binary(t, at);
  default:
    return 0;
  }
}

/* The first node and the end of the condition that decides whether what is in the node is passed;
 * false: there is none. */
static bool find_condition(const ink_tree *tree, uint32_t at, uint32_t *from, uint32_t *to,
                           const char **what) {
  const ink_node *node = &tree->nodes.items[at];
  if (node->first == INK_NO_NODE || node->in_macro)
    return false;
  *from = node->first;
  *to = ink_tree_end(tree, node->first);
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
    *to = ink_tree_end(tree, one->last);
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

/* ---- what is said
 * --------------------------------------------------------------------------------- */

static uint32_t condition_of(const ink_tree *tree, uint32_t at) {
  const ink_node *nodes = tree->nodes.items;
  uint32_t condition = nodes[at].first;
  while (nodes[condition].next != INK_NO_NODE && nodes[condition].kind == CXCursor_DeclStmt)
    condition = nodes[condition].next; /* `if (int k = f(); k < n)` */
  return condition;
}

static bool is_in_else(const ink_tree *tree, uint32_t at, uint32_t offset) {
  const ink_node *nodes = tree->nodes.items;
  const uint32_t then = nodes[condition_of(tree, at)].next;
  const uint32_t other = then == INK_NO_NODE ? INK_NO_NODE : nodes[then].next;
  return other != INK_NO_NODE && offset >= nodes[other].start;
}

/* Thread 0 passes what lies at the offset, behind the condition of the node, if any thread does. */
static bool zero_passes(threads *t, uint32_t at, uint32_t offset) {
  const ink_node *node = &t->tree->nodes.items[at];
  if (node->kind == CXCursor_BinaryOperator)
    return judge(t, node->first) &
           (clang_getCursorBinaryOperatorKind(node->cursor) == CXBinaryOperator_LOr ? LEAST : MOST);
  if (node->kind != CXCursor_IfStmt && node->kind != CXCursor_ConditionalOperator &&
      node->kind != CXCursor_WhileStmt)
    return false;
  return judge(t, condition_of(t->tree, at)) & (is_in_else(t->tree, at, offset) ? LEAST : MOST);
}

static void warn_conditions(threads *t) {
  const ink_tree *tree = t->tree;
  for (uint32_t i = 0; i < tree->nodes.count; i++) {
    const ink_node *node = &tree->nodes.items[i];
    uint32_t from, to;
    const char *what;
    bool differs = false;
    if (node->in_lambda || !find_condition(tree, i, &from, &to, &what))
      continue;
    for (uint32_t c = from; c < to; c = ink_tree_end(tree, c))
      differs |= depends(t, c);
    uint32_t after = tree->nodes.items[to - 1].end;
    const ink_found *found;
    do { /* the first mark that thread 0 may miss: those of the other branch may be safe */
      found = differs ? mark_between(t->unit, t->function, after, node->end) : NULL;
      after = found ? found->offset : after;
    } while (found && zero_passes(t, i, found->offset));
    if (found)
      ink_unit_say(t->unit, t->function->source, node->start,
                   "%s depends on the thread: the thread that records may not pass the marks in "
                   "it, '%s' first (record --granularity warp: one of each warp does)",
                   what, found->section && *found->section ? found->section : found->name);
  }
}

/* Thread 0 may leave at a return although others go on to the marks behind it: said once a
 * function. */
static void warn_returns(threads *t) {
  const ink_node *nodes = t->tree->nodes.items;
  for (uint32_t i = 0; i < t->tree->nodes.count; i++) {
    if (nodes[i].kind != CXCursor_ReturnStmt || nodes[i].in_lambda)
      continue;
    for (uint32_t up = nodes[i].parent; up != INK_NO_NODE; up = nodes[up].parent) {
      if (nodes[up].kind != CXCursor_IfStmt || nodes[up].first == INK_NO_NODE)
        continue;
      bool differs = false;
      for (uint32_t c = nodes[up].first; c != INK_NO_NODE && nodes[c].start < nodes[i].start;
           c = nodes[c].next)
        differs |= clang_isExpression(nodes[c].kind) && depends(t, c);
      const ink_found *found =
          mark_between(t->unit, t->function, nodes[up].end, t->function->body_end);
      if (!differs || !found ||
          judge(t, condition_of(t->tree, up)) &
              (is_in_else(t->tree, up, nodes[i].start) ? MOST : LEAST))
        continue;
      ink_unit_say(
          t->unit, t->function->source, nodes[i].start,
          "whether it returns here depends on the thread: the thread that records may leave "
          "before the marks behind, '%s' first",
          found->section && *found->section ? found->section : found->name);
      return;
    }
  }
}

void ink_function_thread_remarks(ink_unit *unit, const ink_function *function) {
  threads t = {.unit = unit, .function = function, .tree = &function->tree};
  t.count = ink_find_thread_locals(t.tree, t.locals, 64);
  if (function->roles < 2) /* else each warp records */
    warn_conditions(&t);
  warn_returns(&t);
}
