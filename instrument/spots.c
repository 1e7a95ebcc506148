/* SPDX-License-Identifier: MIT */
/* Where marks can stand around a statement, and what else each rule asks of a place before it marks it. */
#include "unit.h"

/* The node, or the attributed statement around it that begins with its `#pragma unroll`. */
static uint32_t outermost(const ink_tree *tree, uint32_t at) {
  const ink_node *nodes = tree->nodes.items;
  while (nodes[at].parent != INK_NO_NODE && nodes[nodes[at].parent].kind == CXCursor_UnexposedStmt)
    at = nodes[at].parent;
  return at;
}

static uint32_t line_start(const ink_source *source, uint32_t offset) {
  while (offset && source->text.at[offset - 1] != '\n')
    offset--;
  return offset;
}

/* Something from elsewhere could jump into the node: a label in it, a case of a switch around it.
 */
static bool is_jumped_into(const ink_tree *tree, uint32_t at) {
  const ink_node *nodes = tree->nodes.items;
  for (uint32_t i = at + 1; i < tree->nodes.count && nodes[i].depth > nodes[at].depth; i++) {
    if (nodes[i].kind == CXCursor_LabelStmt)
      return true;
    if (nodes[i].kind != CXCursor_CaseStmt && nodes[i].kind != CXCursor_DefaultStmt)
      continue;
    uint32_t up = nodes[i].parent;
    while (up != at && nodes[up].kind != CXCursor_SwitchStmt)
      up = nodes[up].parent;
    if (nodes[up].kind != CXCursor_SwitchStmt)
      return true;
  }
  return false;
}

/* `#pragma unroll`, `#pragma GCC ivdep`: a pragma that is for the loop right behind it ends before `offset`. */
static bool is_behind_loop_pragma(const ink_source *source, uint32_t offset) {
  static const char *const words[] = {"unroll", "nounroll", "ivdep", "loop"};
  size_t at = ink_source_token_at(source, offset);
  while (at && source->tokens.items[at - 1].kind == CXToken_Comment && !source->tokens.items[at - 1].directive)
    at--;
  if (!at || !source->tokens.items[at - 1].directive)
    return false;
  for (at--; at && !ink_source_token_is(source, at, "#");)
    at--;
  const size_t word =
      at + 2 + (ink_source_token_is(source, at + 2, "GCC") || ink_source_token_is(source, at + 2, "clang"));
  for (size_t i = 0; i < sizeof words / sizeof *words && ink_source_token_is(source, at + 1, "pragma"); i++)
    if (ink_source_token_is(source, word, words[i]))
      return true;
  return false;
}

/* Before the statement, or the labels that it has: what was put between would part them. */
static bool has_loop_pragma(const ink_tree *tree, uint32_t at) {
  const ink_node *nodes = tree->nodes.items;
  if (is_behind_loop_pragma(tree->source, nodes[at].start))
    return true;
  const uint32_t up = nodes[at].parent;
  return up != INK_NO_NODE &&
         (nodes[up].kind == CXCursor_LabelStmt || nodes[up].kind == CXCursor_CaseStmt ||
          nodes[up].kind == CXCursor_DefaultStmt) &&
         has_loop_pragma(tree, up);
}

static bool is_first_in_line(const ink_source *source, uint32_t offset) {
  while (offset && (source->text.at[offset - 1] == ' ' || source->text.at[offset - 1] == '\t'))
    offset--;
  return !offset || source->text.at[offset - 1] == '\n';
}

/* A macro that is nothing, or a #pragma that the parse has as nothing, right before the offset: where its use
 * begins; else the offset. */
static uint32_t before_pragma_macros(const ink_source *source, uint32_t offset) {
  for (size_t at = ink_source_token_at(source, offset); at-- > 0;) {
    const ink_token *token = &source->tokens.items[at];
    if (token->kind == CXToken_Comment && !token->directive)
      continue;
    bool nothing = false;
    for (size_t i = 0; i < source->macros.count && !nothing && token->kind == CXToken_Identifier; i++) {
      const ink_macro_use *use = &source->macros.items[i];
      CXFile file;
      unsigned start, end;
      if (use->start != token->start || use->end != token->end)
        continue;
      const CXSourceRange range = clang_getCursorExtent(clang_getCursorReferenced(use->cursor));
      clang_getSpellingLocation(clang_getRangeStart(range), &file, NULL, NULL, &start);
      clang_getSpellingLocation(clang_getRangeEnd(range), NULL, NULL, NULL, &end);
      nothing = file && end - start == token->end - token->start; /* the name alone */
    }
    if (!nothing || token->directive)
      break;
    offset = token->start;
  }
  return offset;
}

/* A loop with the use of a macro before it that is a pragma here: for nvcc it may be `#pragma` (CUTE_UNROLL of CUTLASS is,
 * and _Pragma for clang). */
static bool begins_with_pragma_macro(const ink_source *source, uint32_t outer, uint32_t at, uint32_t start) {
  for (size_t i = 0; i < source->macros.count && outer != at; i++)
    if (source->macros.items[i].start == start)
      return is_first_in_line(source, start);
  return false;
}

bool ink_spot_find(const ink_function *function, uint32_t at, ink_spot *spot, const char **why) {
  const ink_tree *tree = &function->tree;
  const ink_source *source = tree->source;
  const uint32_t outer = outermost(tree, at);
  const ink_node *node = &tree->nodes.items[outer];
  *spot = (ink_spot){.start = node->start, .depth = node->depth};
  *why = NULL;
  const bool pragma = node->start < source->text.count && source->text.at[node->start] == '#';
  const uint32_t macro_end = node->in_macro ? ink_macro_statement_end(tree, outer) : 0;
  if (!macro_end && (node->in_macro || tree->nodes.items[at].in_macro))
    *why = ink_node_why_left(node->in_macro ? node : &tree->nodes.items[at]);
  else if (!ink_node_is_statement(tree, outer, &spot->alone))
    *why = "stands inside of an expression";
  else if (is_jumped_into(tree, outer))
    *why = "a label or case in it can be jumped to";
  else if (!(spot->end = macro_end ? macro_end : ink_node_statement_end(tree, outer)))
    *why = "its end is in a macro";
  else if (!pragma && !ink_source_free_at(source, node->start))
    *why = "is inside of the use of a macro";
  else if (!pragma && !macro_end && has_loop_pragma(tree, outer))
    *why = "a #pragma stands before it that is for a loop";
  if (*why)
    return false;
  if (!pragma && ink_node_is_loop(&tree->nodes.items[at]))
    spot->start = before_pragma_macros(source, spot->start);
  /* nvcc takes a #pragma of a macro as one where it begins a line */
  if (pragma || (spot->start != node->start && is_first_in_line(source, spot->start)) ||
      begins_with_pragma_macro(source, outer, at, spot->start)) {
    spot->line = ink_source_shown_line(source, clang_Cursor_getTranslationUnit(function->cursor), spot->start);
    spot->start = line_start(source, spot->start);
    const size_t last = ink_source_token_at(source, spot->start);
    if (last && source->tokens.items[last - 1].end > spot->start)
      *why = "its #pragma follows a comment that goes on";
  }
  if (!*why && !ink_source_same_branch(source, spot->start, spot->end))
    *why = "a preprocessor conditional begins or ends in it";
  if (!*why && spot->line && !ink_source_same_branch(source, spot->start, node->start))
    *why = "a preprocessor conditional stands before it";
  return !*why;
}

uint32_t ink_loops_around(const ink_tree *tree, uint32_t at) {
  const ink_node *nodes = tree->nodes.items;
  uint32_t loops = 0;
  for (uint32_t up = nodes[at].parent; up != INK_NO_NODE; up = nodes[up].parent)
    loops += ink_node_is_loop(&nodes[up]);
  return loops;
}

uint32_t ink_loops_at(const ink_function *function, uint32_t at) {
  return ink_loops_around(&function->tree, at) + function->loops_outside;
}

bool ink_keeps_sums(const ink_function *function) { return function->opens || function->gone_into; }

ink_function *ink_sums_of(const ink_unit *unit, const ink_function *function) {
  const ptrdiff_t own = function - unit->functions.items;
  return &unit->functions.items[function->sums_with ? (ptrdiff_t)function->sums_with - 1 : own];
}

ink_sums_place ink_sums_at(const ink_unit *unit, const ink_function *function, uint32_t at) {
  const ink_node *nodes = function->tree.nodes.items;
  ink_sums_place place = {function->sums_with, function->sums_loop};
  if (function->sums_with)
    return place;
  for (uint32_t up = nodes[at].parent; up != INK_NO_NODE; up = nodes[up].parent)
    if (ink_node_is_loop(&nodes[up]))
      place = (ink_sums_place){(uint32_t)(function - unit->functions.items) + 1, up}; /* the outermost one */
  return place;
}

bool ink_goes_by(const ink_unit *unit, const ink_function *function, uint32_t at, const ink_function *to) {
  const ink_sums_place place = ink_sums_at(unit, function, at);
  return to->gone_into && ink_keeps_sums(function) && function->in_rows == to->in_rows &&
         (to->in_rows || (to->sums_with == place.with && to->sums_loop == place.loop));
}

bool ink_goes_into(ink_unit *unit, const ink_function *function, uint32_t at) {
  const ink_function *to = function->tree.nodes.items[at].kind == CXCursor_CallExpr
                               ? ink_called_function(unit, &function->tree, at, 0)
                               : NULL;
  return to && ink_goes_by(unit, function, at, to);
}

bool ink_waits_in_loops(ink_unit *unit, const ink_function *function) {
  const ink_tree *tree = &function->tree;
  char name[160];
  for (uint32_t i = 1; i < tree->nodes.count; i++)
    if (!tree->nodes.items[i].in_lambda && ink_loops_at(function, i) &&
        ink_takes_wait(unit, ink_wait_at(unit, tree, i, name, sizeof name)) &&
        !ink_why_no_wait(unit, function, i, name))
      return true;
  return false;
}

bool ink_sum_fits(const ink_unit *unit, const ink_function *function, uint32_t at) {
  const ink_node *nodes = function->tree.nodes.items;
  const uint32_t slot = ink_sums_of(unit, function)->sums % INK_SUM_SLOTS;
  for (uint32_t up = nodes[at].parent; up != INK_NO_NODE; up = nodes[up].parent)
    if (nodes[up].summed && (nodes[up].summed - 1) % INK_SUM_SLOTS == slot)
      return false;
  return true;
}

bool ink_rules_are_asked(const ink_unit *unit) {
  const ink_instrument_options *options = unit->options;
  return options->calls || options->loops || options->waits || unit->has_calls_like;
}

bool ink_is_summed(const ink_unit *unit, const ink_function *function, uint32_t at) {
  const ink_node *nodes = function->tree.nodes.items;
  const uint32_t loops = ink_loops_at(function, at);
  uint32_t up = nodes[at].parent;
  if (function->in_rows)
    return false;
  if (!ink_keeps_sums(function) || loops != 1 || function->loops_outside)
    return ink_keeps_sums(function) && loops;
  while (!ink_node_is_loop(&nodes[up]))
    up = nodes[up].parent;
  return !nodes[up].rows && (nodes[up].summed || !ink_rules_are_asked(unit));
}

const char *ink_why_not_in_loops(const ink_unit *unit, const ink_function *function, uint32_t at) {
  const uint32_t loops = ink_loops_at(function, at);
  if (!loops)
    return NULL;
  if (ink_is_unrolled(unit, &function->tree, at))
    return "inside of a loop that is unrolled (--calls and --waits mark it)";
  if (!ink_keeps_sums(function))
    return "inside of a loop of a called function, where nothing is summed (--calls and --waits mark it)";
  if (loops > 2)
    return "inside of a loop that is summed (--calls and --waits mark it)";
  return ink_is_summed(unit, function, at) && ink_sums_of(unit, function)->loop_sums >= INK_SUM_SLOTS
             ? "the outermost loop around has 8 sums already (--calls and --waits mark it)"
             : NULL;
}

bool ink_function_may_mark(ink_unit *unit, ink_function *function, ink_found *found) {
  const uint32_t limit = unit->options->limit ? unit->options->limit : 256;
  if (function->marks >= limit) {
    ink_found_left(found, "the function has %u marks already (--limit)", limit);
    return false;
  }
  function->marks++;
  return true;
}

bool ink_is_in_inner(const ink_unit *unit, const ink_function *function, uint32_t offset) {
  for (size_t i = 0; i < unit->functions.count; i++) {
    const ink_function *inner = &unit->functions.items[i];
    if (inner->outer && &unit->functions.items[inner->outer - 1] == function &&
        offset > inner->body_start && offset < inner->body_end)
      return true;
  }
  return false;
}
