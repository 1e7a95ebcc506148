/* SPDX-License-Identifier: MIT */
/* Follows the ranges that were begun and ended by hand along every way through a function: each
 * must end, on each way, in the order opposite to that in which they began. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INK_I_OPEN_MOST 32
#define INK_I_LABELS_MOST 32
#define INK_I_GOTOS_MOST 64

typedef struct state { /* which ranges are open; indices of their begins in unit->hand */
  size_t open[INK_I_OPEN_MOST];
  unsigned count;
  bool unreachable; /* behind a return, say */
} state;

typedef struct label {
  char name[64];
  uint32_t offset;
  state at; /* what is open there: unreachable until a way to it is known */
} label;

typedef struct jump {
  uint32_t label, offset;
  state from;
} jump;

typedef struct walk {
  ink_unit *unit;
  const ink_function *function;
  size_t next;        /* the first of unit->hand that was not passed */
  const state *leave; /* what must be open at a break or continue: NULL outside of loops */
  bool wrong;         /* said once a function: what follows an error says little */
  bool quiet;         /* only finds what is open at the labels */
  label labels[INK_I_LABELS_MOST];
  unsigned label_count;
  jump jumps[INK_I_GOTOS_MOST]; /* of this pass */
  unsigned jump_count;
  bool changed; /* a label was found to be reached */
} walk;

static uint32_t line_of(const walk *w, uint32_t offset) {
  uint32_t line, column;
  ink_source_position(w->function->source, offset, &line, &column);
  return line;
}

static void say(walk *w, uint32_t offset, size_t begin, const char *what) {
  const ink_hand *from = &w->unit->hand.items[begin];
  if (!w->wrong && !w->quiet)
    ink_unit_say(w->unit, w->function->source, offset,
                 "error: %s: 'PROF_BEGIN(%s)', line %u, has no end on this way", what, from->name,
                 line_of(w, from->offset));
  w->wrong = true;
}

static bool same(const state *a, const state *b) {
  if (a->count != b->count)
    return false;
  for (unsigned i = 0; i < a->count; i++)
    if (a->open[i] != b->open[i])
      return false;
  return true;
}

/* Two ways meet: what is open on them has to be the same. */
static state join(walk *w, const state *a, const state *b, uint32_t offset, const char *what) {
  if (a->unreachable)
    return *b;
  if (b->unreachable)
    return *a;
  const state *longer = a->count > b->count ? a : b;
  if (!same(a, b) && longer->count)
    say(w, offset, longer->open[longer->count - 1], what);
  return *a;
}

static void pass(walk *w, state *now, const ink_hand *mark, size_t which) {
  if (now->unreachable)
    return;
  if (mark->kind == INK_HAND_BEGIN) {
    if (now->count < INK_I_OPEN_MOST)
      now->open[now->count++] = which;
    return;
  }
  const ink_hand *last = now->count ? &w->unit->hand.items[now->open[now->count - 1]] : NULL;
  if (last && !strcmp(last->name, mark->name)) {
    now->count--;
  } else if (!w->wrong) {
    w->wrong = true;
    if (w->quiet)
      return;
    if (last)
      ink_unit_say(w->unit, w->function->source, mark->offset,
                   "error: 'PROF_END(%s)' ends while 'PROF_BEGIN(%s)', line %u, is open",
                   mark->name, last->name, line_of(w, last->offset));
    else
      ink_unit_say(w->unit, w->function->source, mark->offset,
                   "error: 'PROF_END(%s)' has no beginning on some way to it", mark->name);
  }
}

/* Passes the marks up to an offset. */
static void pass_until(walk *w, state *now, uint32_t offset) {
  for (; w->next < w->unit->hand.count; w->next++) {
    const ink_hand *mark = &w->unit->hand.items[w->next];
    if (mark->function != w->function)
      continue;
    if (mark->offset >= offset)
      break;
    if (mark->kind == INK_HAND_BEGIN || mark->kind == INK_HAND_END)
      pass(w, now, mark, w->next);
  }
}

static void follow(walk *w, uint32_t at, state *now);

static void follow_children(walk *w, uint32_t at, state *now) {
  const ink_node *nodes = w->function->tree.nodes.items;
  for (uint32_t child = nodes[at].first; child != INK_NO_NODE; child = nodes[child].next) {
    pass_until(w, now, nodes[child].start);
    follow(w, child, now);
  }
  pass_until(w, now, nodes[at].end);
}

static void follow_if(walk *w, uint32_t at, state *now) {
  const ink_tree *tree = &w->function->tree;
  const ink_node *nodes = tree->nodes.items;
  const state before = *now;
  state ways[2] = {before, before};
  unsigned count = 0;
  const bool in_macro = nodes[at].in_macro; /* then where its head ends is not known */
  bool alone;
  uint32_t child = nodes[at].first;
  while (in_macro && child != INK_NO_NODE &&
         (nodes[child].kind == CXCursor_VarDecl || nodes[child].kind == CXCursor_DeclStmt))
    child = nodes[child].next;
  if (in_macro && child != INK_NO_NODE) /* the condition */
    child = nodes[child].next;
  for (; child != INK_NO_NODE; child = nodes[child].next)
    if ((in_macro || ink_node_is_statement(tree, child, &alone)) && count < 2)
      follow(w, child, &ways[count++]);
  *now = join(w, &ways[0], &ways[1], nodes[at].start, "behind this if");
  pass_until(w, now, nodes[at].end);
}

static void follow_loop(walk *w, uint32_t at, state *now) {
  const ink_node *nodes = w->function->tree.nodes.items;
  const state before = *now, *outer = w->leave;
  w->leave = &before;
  follow_children(w, at, now);
  w->leave = outer;
  if (!now->unreachable)
    join(w, now, &before, nodes[at].start, "after one iteration of this loop");
  *now = before;
}

static void follow_switch(walk *w, uint32_t at, state *now) {
  const state before = *now, *outer = w->leave;
  w->leave = &before;
  follow_children(w, at, now);
  w->leave = outer;
  *now = join(w, now, &before, w->function->tree.nodes.items[at].start, "behind this switch");
}

/* ---- goto
 * ---------------------------------------------------------------------------------------- */

static label *label_named(walk *w, const char *name) {
  for (unsigned i = 0; i < w->label_count; i++)
    if (!strcmp(w->labels[i].name, name))
      return &w->labels[i];
  return NULL;
}

/* A label is reached with what is open where its gotos are, and where the text before it ends: any
 * one of them says what has to be open there. */
static void reach(walk *w, label *to, const state *from) {
  if (from->unreachable || !to->at.unreachable)
    return;
  to->at = *from;
  w->changed = true;
}

static void follow_label(walk *w, uint32_t at, state *now) {
  CXString spelling = clang_getCursorSpelling(w->function->tree.nodes.items[at].cursor);
  const char *name = clang_getCString(spelling);
  label *here = name ? label_named(w, name) : NULL;
  clang_disposeString(spelling);
  if (!here)
    return;
  if (now->unreachable) {
    *now = here->at;
    return;
  }
  reach(w, here, now);
  here->at = *now; /* the gotos are measured against what the text above it leaves open */
}

static void follow_goto(walk *w, uint32_t at, state *now) {
  const ink_node *nodes = w->function->tree.nodes.items;
  CXString spelling = clang_getCursorSpelling(nodes[nodes[at].first].cursor);
  const char *name = clang_getCString(spelling);
  label *to = name ? label_named(w, name) : NULL;
  clang_disposeString(spelling);
  if (to && !now->unreachable && w->jump_count < INK_I_GOTOS_MOST) {
    reach(w, to, now);
    w->jumps[w->jump_count++] = (jump){(uint32_t)(to - w->labels), nodes[at].start, *now};
  }
  now->unreachable = true;
}

/* Each goto must find open at its label what is open where it stands. */
static void compare_jumps(walk *w) {
  for (unsigned i = 0; i < w->jump_count && !w->wrong; i++) {
    const jump *one = &w->jumps[i];
    const label *to = &w->labels[one->label];
    const bool leaves = one->from.count >= to->at.count;
    const state *longer = leaves ? &one->from : &to->at;
    if (same(&one->from, &to->at) || !longer->count)
      continue;
    const ink_hand *begin = &w->unit->hand.items[longer->open[longer->count - 1]];
    w->wrong = true;
    ink_unit_say(w->unit, w->function->source, one->offset,
                 "error: the goto to '%s', line %u, %s 'PROF_BEGIN(%s)', line %u", to->name,
                 line_of(w, to->offset), leaves ? "leaves the range of" : "jumps into the range of",
                 begin->name, line_of(w, begin->offset));
  }
}

static void follow(walk *w, uint32_t at, state *now) {
  const ink_node *nodes = w->function->tree.nodes.items, *node = &nodes[at];
  if (node->in_lambda || ink_node_is_expression(node)) {
    pass_until(w, now, node->end); /* a mark ends where the use of its macro does */
    return;
  }
  if (ink_node_is_loop(node)) {
    follow_loop(w, at, now);
    return;
  }
  switch (node->kind) {
  case CXCursor_IfStmt:
    follow_if(w, at, now);
    return;
  case CXCursor_SwitchStmt:
    follow_switch(w, at, now);
    return;
  case CXCursor_CaseStmt:
  case CXCursor_DefaultStmt:
    if (w->leave)
      *now = join(w, now, w->leave, node->start, "at this case");
    follow_children(w, at, now);
    return;
  case CXCursor_ReturnStmt:
    pass_until(w, now, node->end);
    if (!now->unreachable && now->count)
      say(w, node->start, now->open[now->count - 1], "at this return");
    now->unreachable = true;
    return;
  case CXCursor_GotoStmt:
    pass_until(w, now, node->end);
    if (node->first != INK_NO_NODE)
      follow_goto(w, at, now);
    return;
  case CXCursor_LabelStmt:
    follow_label(w, at, now);
    follow_children(w, at, now);
    return;
  case CXCursor_BreakStmt:
  case CXCursor_ContinueStmt:
    if (w->leave)
      join(w, now, w->leave, node->start,
           node->kind == CXCursor_BreakStmt ? "at this break" : "at this continue");
    now->unreachable = true;
    return;
  default:
    follow_children(w, at, now);
  }
}

/* False: more labels than are kept, or a goto to an address. */
static bool find_labels(walk *w) {
  const ink_tree *tree = &w->function->tree;
  unsigned jumps = 0;
  for (uint32_t i = 0; i < tree->nodes.count; i++) {
    const ink_node *node = &tree->nodes.items[i];
    if (node->in_lambda)
      continue;
    if (node->kind == CXCursor_IndirectGotoStmt ||
        (node->kind == CXCursor_GotoStmt && ++jumps > INK_I_GOTOS_MOST))
      return false;
    if (node->kind != CXCursor_LabelStmt)
      continue;
    if (w->label_count == INK_I_LABELS_MOST)
      return false;
    label *one = &w->labels[w->label_count++];
    CXString spelling = clang_getCursorSpelling(node->cursor);
    const char *name = clang_getCString(spelling);
    snprintf(one->name, sizeof one->name, "%s", name ? name : "");
    clang_disposeString(spelling);
    one->offset = node->start;
    one->at.unreachable = true;
  }
  return true;
}

static void walk_once(walk *w, state *now) {
  *now = (state){0};
  w->next = 0;
  w->jump_count = 0;
  w->wrong = w->changed = false;
  w->leave = NULL;
  follow(w, 0, now);
}

void ink_function_pairs(ink_unit *unit, const ink_function *function) {
  const ink_tree *tree = &function->tree;
  bool has_marks = false;
  for (size_t i = 0; i < unit->hand.count; i++)
    has_marks |= unit->hand.items[i].function == function &&
                 (unit->hand.items[i].kind == INK_HAND_BEGIN || unit->hand.items[i].kind == INK_HAND_END);
  if (!has_marks || !tree->nodes.count)
    return;
  walk *w = calloc(1, sizeof *w);
  if (!w) {
    unit->failed = true;
    return;
  }
  *w = (walk){.unit = unit, .function = function, .quiet = true};
  state now;
  if (!find_labels(w)) {
    ink_unit_say(
        unit, function->source, function->start,
        "whether ranges end on every way was not checked: '%s' has a goto to an address, or "
        "too many",
        function->name);
    free(w);
    return;
  }
  do /* each time, code behind one more label is found to be reached */
    walk_once(w, &now);
  while (w->changed);
  w->quiet = false;
  walk_once(w, &now);
  compare_jumps(w);
  if (!now.unreachable && now.count)
    say(w, function->body_end - 1, now.open[now.count - 1], "at the end of the function");
  free(w);
}
