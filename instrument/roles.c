/* SPDX-License-Identifier: MIT */
/* Roles: branches by warp, warpgroup or elected lane that hold the work of a kernel. Each names the track of the
 * warps that take it; a kernel with roles has a track for each warp. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_LOCALS = 64, MOST_ARMS = 16 };

typedef struct arm {
  uint32_t node;          /* what it does; INK_NO_NODE: the rest of the block */
  uint32_t first, behind; /* nodes */
  uint32_t branch;        /* the if or the case */
  uint32_t chain_end;     /* of the whole statement, with all its branches */
  bool is_else;
} arm;

typedef struct search {
  ink_unit *unit;
  ink_function *function;
  const ink_tree *tree;
  CXCursor locals[MOST_LOCALS]; /* that depend on the thread */
  size_t count;
  arm arms[MOST_ARMS];
  size_t arm_count;
  uint32_t chain_end; /* of the statement in hand */
} search;

/* ---- conditions by warp ---- */

static bool holds_word(const char *text, const char *word) {
  const size_t bytes = strlen(word);
  for (; *text; text++)
    if (!strncasecmp(text, word, bytes))
      return true;
  return false;
}

static bool name_holds(CXCursor cursor, const char *word) {
  CXString spelling = clang_getCursorSpelling(cursor);
  const char *text = clang_getCString(spelling);
  const bool holds = text && holds_word(text, word);
  clang_disposeString(spelling);
  return holds;
}

static bool depends(const search *s, uint32_t at) {
  return ink_is_thread_dependent(s->tree, at, s->locals, s->count);
}

static bool by_warp(const search *s, uint32_t at, unsigned depth);

static bool local_is_by_warp(const search *s, const ink_node *node, unsigned depth) {
  const ink_node *nodes = s->tree->nodes.items;
  const CXCursor target = clang_getCursorReferenced(node->cursor);
  for (uint32_t i = 0; i < s->tree->nodes.count; i++)
    if (nodes[i].kind == CXCursor_VarDecl && clang_equalCursors(nodes[i].cursor, target))
      return (nodes[i].last != INK_NO_NODE && by_warp(s, nodes[i].last, depth + 1)) ||
             (depends(s, i) && (name_holds(target, "warp") || name_holds(target, "role")));
  return false;
}

/* threadIdx.x / 32, lane / 128: the warp of a thread. */
static bool divides_by_warps(const search *s, const ink_node *node, enum CXBinaryOperatorKind kind) {
  long long by;
  if (node->first == INK_NO_NODE || !depends(s, node->first) ||
      !ink_constant_of(s->tree->nodes.items[node->last].cursor, &by))
    return false;
  return kind == CXBinaryOperator_Div ? by >= 32 && by % 32 == 0 : kind == CXBinaryOperator_Shr && by >= 5;
}

/* threadIdx.x < 128, threadIdx.x >= kMathThreads: a bound between warps. */
static bool bounds_warps(const search *s, const ink_node *node) {
  const ink_node *nodes = s->tree->nodes.items;
  long long bound;
  const bool left = depends(s, node->first), right = depends(s, node->last);
  const uint32_t other = left ? node->last : node->first;
  if (left == right)
    return false;
  if (ink_constant_of(nodes[other].cursor, &bound))
    return bound >= 32 && bound % 32 == 0;
  for (uint32_t i = other, end = ink_tree_end(s->tree, other); i < end; i++) {
    if (nodes[i].kind != CXCursor_DeclRefExpr)
      continue;
    const CXCursor target = clang_getCursorReferenced(nodes[i].cursor);
    if (clang_getCursorKind(target) == CXCursor_NonTypeTemplateParameter)
      return true;
    if (clang_getCursorKind(target) == CXCursor_VarDecl && name_holds(target, "threads") &&
        clang_isConstQualifiedType(clang_getCursorType(target)))
      return true;
  }
  return false;
}

static bool binary_is_by_warp(const search *s, const ink_node *node, unsigned depth) {
  const enum CXBinaryOperatorKind kind = clang_getCursorBinaryOperatorKind(node->cursor);
  if (node->first == INK_NO_NODE || node->first == node->last)
    return false;
  if (kind == CXBinaryOperator_Div || kind == CXBinaryOperator_Shr)
    return divides_by_warps(s, node, kind) || by_warp(s, node->first, depth + 1);
  if (kind >= CXBinaryOperator_LT && kind <= CXBinaryOperator_GE && bounds_warps(s, node))
    return true;
  return by_warp(s, node->first, depth + 1) || by_warp(s, node->last, depth + 1);
}

/* `y`, or what the parse makes of it, `__fetch_builtin_y`. */
static bool is_second_or_third(const ink_node *node) {
  CXString spelling = clang_getCursorSpelling(node->cursor);
  const char *text = clang_getCString(spelling);
  const size_t bytes = text ? strlen(text) : 0;
  const bool is = bytes && (text[bytes - 1] == 'y' || text[bytes - 1] == 'z');
  clang_disposeString(spelling);
  return is;
}

static bool is_of_thread(const search *s, uint32_t at) {
  for (uint32_t i = at, end = ink_tree_end(s->tree, at); i < end; i++)
    if (ink_node_is_named(&s->tree->nodes.items[i], "threadIdx"))
      return true;
  return false;
}

static bool by_warp(const search *s, uint32_t at, unsigned depth) {
  if (at == INK_NO_NODE || depth > 12)
    return false;
  const ink_node *node = &s->tree->nodes.items[at];
  switch (node->kind) {
  case CXCursor_DeclRefExpr:
    return local_is_by_warp(s, node, depth);
  case CXCursor_MemberRefExpr: /* threadIdx.y counts warps where blocks are 32 wide */
    return name_holds(node->cursor, "warp") || (is_second_or_third(node) && is_of_thread(s, at));
  case CXCursor_CallExpr: {
    char *name = ink_called_name(s->tree, at);
    const bool is = name && (holds_word(name, "warp") || holds_word(name, "elect") || holds_word(name, "shfl"));
    free(name);
    for (uint32_t i = node->first; i != INK_NO_NODE && !is; i = s->tree->nodes.items[i].next)
      if (by_warp(s, i, depth + 1))
        return true;
    return is;
  }
  case CXCursor_BinaryOperator:
    return binary_is_by_warp(s, node, depth);
  default:
    for (uint32_t i = node->first; i != INK_NO_NODE; i = s->tree->nodes.items[i].next)
      if (by_warp(s, i, depth + 1))
        return true;
    return false;
  }
}

/* ---- arms ---- */

/* A loop that is not unrolled, or the call of more than a tiny helper that does not only wait and is in no unrolled
 * loop; *call is the only such call. */
static bool works(const search *s, uint32_t first, uint32_t behind, uint32_t *call) {
  const ink_node *nodes = s->tree->nodes.items;
  unsigned calls = 0, loops = 0;
  char name[160];
  *call = INK_NO_NODE;
  for (uint32_t i = first; i < behind; i++) {
    if (nodes[i].in_lambda || ink_wait_at(s->unit, s->tree, i, name, sizeof name)) {
      i = nodes[i].in_lambda ? i : ink_tree_end(s->tree, i) - 1;
      continue;
    }
    if (ink_node_is_loop(&nodes[i])) {
      const ink_loop_cost cost = ink_loop_judge(s->unit, s->function, i);
      loops += cost == INK_LOOP_LONG || cost == INK_LOOP_SMALL;
      continue;
    }
    if (nodes[i].kind != CXCursor_CallExpr || ink_is_unrolled(s->unit, s->tree, i))
      continue;
    const ink_function *called = ink_called_function(s->unit, s->tree, i, 0);
    if (called && !called->kernel && !called->is_constexpr && !ink_is_tiny(s->unit, called)) {
      calls++;
      *call = i;
    }
  }
  if (calls != 1 || loops)
    *call = INK_NO_NODE;
  return calls || loops;
}

static void add_arm(search *s, arm found) {
  uint32_t call;
  found.chain_end = s->chain_end;
  if (s->arm_count < MOST_ARMS && works(s, found.first, found.behind, &call))
    s->arms[s->arm_count++] = found;
}

static bool returns(const ink_tree *tree, uint32_t at) {
  const ink_node *node = &tree->nodes.items[at];
  while (node->kind == CXCursor_CompoundStmt && node->last != INK_NO_NODE)
    node = &tree->nodes.items[node->last];
  return node->kind == CXCursor_ReturnStmt;
}

static void see_block(search *s, uint32_t block);

static void see_if(search *s, uint32_t at) {
  const ink_node *nodes = s->tree->nodes.items;
  uint32_t condition = nodes[at].first;
  while (condition != INK_NO_NODE && nodes[condition].kind == CXCursor_DeclStmt)
    condition = nodes[condition].next;
  const uint32_t then = condition == INK_NO_NODE ? INK_NO_NODE : nodes[condition].next;
  if (then == INK_NO_NODE || nodes[at].in_macro)
    return;
  const uint32_t other = nodes[then].next;
  const size_t before = s->arm_count;
  if (!by_warp(s, condition, 0)) {
    see_block(s, then);
    if (other != INK_NO_NODE)
      nodes[other].kind == CXCursor_IfStmt ? see_if(s, other) : see_block(s, other);
    return;
  }
  add_arm(s, (arm){.node = then, .first = then, .behind = ink_tree_end(s->tree, then), .branch = at});
  if (other != INK_NO_NODE && nodes[other].kind == CXCursor_IfStmt)
    see_if(s, other);
  else if (other != INK_NO_NODE)
    add_arm(s, (arm){.node = other, .first = other, .behind = ink_tree_end(s->tree, other), .branch = at, .is_else = true});
  else if (s->arm_count > before && returns(s->tree, then) && nodes[at].next != INK_NO_NODE &&
           nodes[nodes[at].parent].kind == CXCursor_CompoundStmt)
    add_arm(s, (arm){.node = INK_NO_NODE, .first = nodes[at].next, .behind = ink_tree_end(s->tree, nodes[at].parent),
                     .branch = at, .is_else = true});
}

static void see_switch(search *s, uint32_t at) {
  const ink_node *nodes = s->tree->nodes.items;
  const uint32_t block = nodes[at].last;
  if (nodes[at].in_macro || nodes[at].first == block || nodes[block].kind != CXCursor_CompoundStmt ||
      !by_warp(s, nodes[at].first, 0))
    return;
  for (uint32_t i = nodes[block].first; i != INK_NO_NODE; i = nodes[i].next) {
    if (nodes[i].kind != CXCursor_CaseStmt && nodes[i].kind != CXCursor_DefaultStmt)
      continue;
    uint32_t behind = ink_tree_end(s->tree, i), next = nodes[i].next;
    for (; next != INK_NO_NODE && nodes[next].kind != CXCursor_CaseStmt && nodes[next].kind != CXCursor_DefaultStmt;
         next = nodes[next].next)
      behind = ink_tree_end(s->tree, next);
    uint32_t first = nodes[i].last;
    while (first != INK_NO_NODE && (nodes[first].kind == CXCursor_CaseStmt || nodes[first].kind == CXCursor_DefaultStmt))
      first = nodes[first].last;
    if (first != INK_NO_NODE)
      add_arm(s, (arm){.node = first, .first = first, .behind = behind, .branch = i});
  }
}

/* Branches of the function's own level, and inside of branches that are no roles. */
static void see_block(search *s, uint32_t block) {
  const ink_node *nodes = s->tree->nodes.items;
  for (uint32_t i = nodes[block].first; i != INK_NO_NODE; i = nodes[i].next) {
    s->chain_end = ink_tree_end(s->tree, i);
    if (nodes[i].kind == CXCursor_IfStmt)
      see_if(s, i);
    else if (nodes[i].kind == CXCursor_SwitchStmt)
      see_switch(s, i);
    else if (nodes[i].kind == CXCursor_CompoundStmt)
      see_block(s, i);
  }
}

static bool holds_loop(ink_unit *unit, const ink_function *function, uint32_t first, uint32_t behind, bool long_alone) {
  for (uint32_t i = first; i < behind; i++)
    if (!function->tree.nodes.items[i].in_lambda && ink_node_is_loop(&function->tree.nodes.items[i])) {
      const ink_loop_cost cost = ink_loop_judge(unit, function, i);
      if (cost == INK_LOOP_LONG || (cost == INK_LOOP_SMALL && !long_alone))
        return true;
    }
  return false;
}

/* The arm has a loop, or calls a function that has one. */
static bool arm_loops(const search *s, const arm *one) {
  if (holds_loop(s->unit, s->function, one->first, one->behind, false))
    return true;
  for (uint32_t i = one->first; i < one->behind; i++) {
    const ink_function *called =
        s->tree->nodes.items[i].kind == CXCursor_CallExpr ? ink_called_function(s->unit, s->tree, i, 0) : NULL;
    if (called && holds_loop(s->unit, called, 0, (uint32_t)called->tree.nodes.count, false))
      return true;
  }
  return false;
}

/* Each warp fetches something, and behind that all of them do the work together. */
static bool arms_only_prepare(const search *s) {
  uint32_t behind = 0, loops = 0;
  for (size_t i = 0; i < s->arm_count; i++) {
    behind = s->arms[i].behind > behind ? s->arms[i].behind : behind;
    loops += arm_loops(s, &s->arms[i]);
  }
  return s->arm_count && loops < 2 && holds_loop(s->unit, s->function, behind, (uint32_t)s->tree->nodes.count, true);
}

/* Branches for a call or two before those that hold the loops (one warp prefetches the descriptors of TMA): the warp has its
 * role from the later ones. */
static void drop_preludes(search *s) {
  bool loops[MOST_ARMS];
  size_t kept = 0;
  for (size_t i = 0; i < s->arm_count; i++)
    loops[i] = arm_loops(s, &s->arms[i]);
  for (size_t i = 0; i < s->arm_count; i++) {
    unsigned later = 0;
    for (size_t k = i + 1; k < s->arm_count; k++)
      later += loops[k] && s->arms[k].first >= s->arms[i].chain_end;
    const arm *one = &s->arms[i];
    if (loops[i] || later < 2 || (one->node != INK_NO_NODE && returns(s->tree, one->node)))
      s->arms[kept++] = *one;
  }
  s->arm_count = kept;
}

static void find_arms(search *s, ink_unit *unit, ink_function *function) {
  *s = (search){.unit = unit, .function = function, .tree = &function->tree};
  s->count = ink_find_thread_locals(s->tree, s->locals, MOST_LOCALS);
  if ((function->opens || (function->gone_into && !function->loops_outside)) && function->tree.nodes.count)
    see_block(s, 0);
  if (arms_only_prepare(s))
    s->arm_count = 0;
  drop_preludes(s);
}

bool ink_has_roles(ink_unit *unit, ink_function *function) {
  if (!function->roles) {
    search *s = malloc(sizeof *s);
    const bool asks = !unit->options->kernels_only && !unit->options->lines;
    if (s && asks)
      find_arms(s, unit, function);
    function->roles = 1 + (s && asks && s->arm_count > 1);
    unit->failed |= !s;
    free(s);
  }
  return function->roles > 1;
}

bool ink_elects(const ink_function *function) {
  for (uint32_t i = 0; i < function->tree.nodes.count; i++)
    if (function->tree.nodes.items[i].kind == CXCursor_CallExpr && name_holds(function->tree.nodes.items[i].cursor, "elect"))
      return true;
  return false;
}

/* ---- names and marks ---- */

/* `warp == 2`, `else of warp == 2`, `role::producer`, or the one function that the arm calls. */
static void name_of(const search *s, const arm *one, char *name, size_t room) {
  const ink_node *nodes = s->tree->nodes.items;
  const ink_node *branch = &nodes[one->branch];
  uint32_t call, condition = branch->first;
  if (works(s, one->first, one->behind, &call) && call != INK_NO_NODE) {
    char *called = ink_called_name(s->tree, call);
    snprintf(name, room, "%s", called ? called : "role");
    free(called);
    return;
  }
  if (branch->kind == CXCursor_DefaultStmt || condition == INK_NO_NODE) {
    snprintf(name, room, "default");
    return;
  }
  while (nodes[condition].kind == CXCursor_DeclStmt)
    condition = nodes[condition].next;
  snprintf(name, room, "%s", one->is_else ? "else of " : "");
  if (!nodes[condition].in_macro)
    ink_put_text(s->tree->source, nodes[condition].start, nodes[condition].end, name, room);
  if (!*name)
    snprintf(name, room, "role");
}

static void mark_arm(search *s, const arm *one) {
  ink_function *function = s->function;
  const ink_source *source = s->tree->source;
  const ink_node *nodes = s->tree->nodes.items;
  const ink_node *node = &nodes[one->node == INK_NO_NODE ? one->first : one->node];
  const bool block = one->node != INK_NO_NODE && node->kind == CXCursor_CompoundStmt;
  const bool in_if = !block && one->node != INK_NO_NODE && nodes[one->branch].kind == CXCursor_IfStmt;
  char name[200];
  name_of(s, one, name, sizeof name);
  ink_found *found = ink_unit_place(s->unit, INK_PLACE_ROLE, function, function->source, node->start, name);
  const uint32_t start = block ? ink_node_behind_brace(s->tree, one->node) : node->start;
  const uint32_t end = in_if ? ink_node_statement_end(s->tree, one->node) : 0;
  if (node->in_macro || source->text.at[node->start] == '#' || (block && !start) || (in_if && !end) ||
      !ink_source_free_at(source, start)) {
    ink_found_left(found, "%s", ink_node_why_left(node));
    return;
  }
  if (ink_hand_has(s->unit, function, INK_HAND_ROLE, start, nodes[one->behind - 1].end)) {
    found->reason = strdup("has a PROF_ROLE by hand");
    return;
  }
  if (!ink_function_may_mark(s->unit, function, found))
    return;
  const char *section = ink_section_at(s->unit, name, function->source, node->start);
  if (!section) {
    ink_found_left(found, "the section table is full");
    return;
  }
  ink_edits_add(&function->source->edits, start, false, block ? 0 : node->depth ? node->depth - 1 : 0, 0, "%sPROF_ROLE(%s);",
                in_if ? "{" : "", section);
  if (in_if)
    ink_edits_add(&function->source->edits, end, true, node->depth ? node->depth - 1 : 0, 0, "}");
  ink_found_marked(found, section, NULL);
}

void ink_mark_roles(ink_unit *unit, ink_function *function) {
  if (!ink_keeps_sums(function) || !ink_has_roles(unit, function))
    return;
  search *s = malloc(sizeof *s);
  if (s) {
    find_arms(s, unit, function);
    for (size_t i = 0; i < s->arm_count; i++)
      mark_arm(s, &s->arms[i]);
  }
  unit->failed |= !s;
  free(s);
}
