/* SPDX-License-Identifier: MIT */
/* Where text that is written in the use of a macro may be marked all the same: a statement that the use
 * makes up wholly, and a call that is part of one argument which the macro evaluates once. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

/* The widest use of a macro that starts at the offset; NULL: none. */
static const ink_macro_use *use_from(const ink_source *source, uint32_t offset) {
  const ink_macro_use *found = NULL;
  for (size_t i = 0; i < source->macros.count; i++) {
    const ink_macro_use *use = &source->macros.items[i];
    if (use->start == offset && (!found || use->end > found->end))
      found = use;
  }
  return found;
}

/* What ends the way through the statement, or may be jumped to, leaves a range around it open. */
static bool leaves_or_is_entered(const ink_tree *tree, uint32_t at) {
  for (uint32_t i = at, end = ink_tree_end(tree, at); i < end; i++) {
    const ink_node *node = &tree->nodes.items[i];
    uint32_t up = node->parent;
    switch (node->in_lambda ? CXCursor_FirstInvalid : node->kind) {
    case CXCursor_ReturnStmt:
    case CXCursor_GotoStmt:
    case CXCursor_IndirectGotoStmt:
    case CXCursor_LabelStmt:
    case CXCursor_CaseStmt:
    case CXCursor_DefaultStmt:
      return true;
    case CXCursor_BreakStmt:
    case CXCursor_ContinueStmt:
      while (up > at && up != INK_NO_NODE && !ink_node_is_loop(&tree->nodes.items[up]))
        up = tree->nodes.items[up].parent;
      if (up == INK_NO_NODE || up < at || !ink_node_is_loop(&tree->nodes.items[up]))
        return true;
      break;
    default:
      break;
    }
  }
  return false;
}

/* How the text of the macro ends: with a whole statement; and whether it begins with the end of another one. */
static bool ends_statement(const ink_macro_use *use, bool *goes_on) {
  const CXTranslationUnit tu = clang_Cursor_getTranslationUnit(use->cursor);
  ink_macro_text read;
  bool ends = false;
  *goes_on = true;
  if (ink_macro_read(&read, tu, clang_getCursorReferenced(use->cursor))) {
    unsigned body = 1;
    if (clang_Cursor_isMacroFunctionLike(clang_getCursorReferenced(use->cursor)))
      while (body < read.count && strcmp(read.words[body++], ")"))
        ;
    *goes_on = body >= read.count || !strcmp(read.words[body], "else") || !strcmp(read.words[body], "}");
    ends = !strcmp(read.words[read.count - 1], "}") || !strcmp(read.words[read.count - 1], ";");
  }
  ink_macro_free(&read);
  return ends;
}

static bool may_be_whole(const ink_node *node) {
  return ink_node_is_expression(node) || ink_node_is_loop(node) || node->kind == CXCursor_GCCAsmStmt ||
         node->kind == CXCursor_CompoundStmt || node->kind == CXCursor_IfStmt;
}

uint32_t ink_macro_statement_end(const ink_tree *tree, uint32_t at) {
  const ink_node *nodes = tree->nodes.items, *node = &nodes[at];
  const ink_source *source = tree->source;
  const ink_macro_use *use = node->included ? NULL : use_from(source, node->start);
  bool alone, goes_on = false;
  if (!use || !may_be_whole(node) || node->end > use->end || !ink_node_is_statement(tree, at, &alone) ||
      nodes[node->parent].in_macro || nodes[node->parent].start >= use->start ||
      !ink_source_free_at(source, use->start))
    return 0;
  /* the macro makes no other statement: `#define M f(x); return` does */
  for (uint32_t i = nodes[node->parent].first; i != INK_NO_NODE; i = nodes[i].next)
    if (i != at && nodes[i].start >= use->start && nodes[i].start < use->end)
      return 0;
  const bool ends = ends_statement(use, &goes_on);
  const size_t next = ink_source_skip(source, ink_source_token_at(source, use->end));
  if (goes_on || (!ink_node_is_expression(node) && leaves_or_is_entered(tree, at)))
    return 0;
  const bool semicolon = ink_source_token_is(source, next, ";");
  if (!semicolon && !ends)
    return 0;
  const uint32_t end = semicolon ? source->tokens.items[next].end : use->end;
  return ink_source_free_at(source, end) ? end : 0;
}

/* ---- arguments ---------------------------------------------------------------------------------- */

/* The one use of a macro that holds the text strictly; NULL: none, or more, or one begins or ends with it. */
static const ink_macro_use *use_around(const ink_source *source, ink_span text) {
  const ink_macro_use *found = NULL;
  for (size_t i = 0; i < source->macros.count; i++) {
    const ink_macro_use *use = &source->macros.items[i];
    if (use->end <= text.start || use->start >= text.end)
      continue;
    const bool around = use->start < text.start && text.end < use->end;
    const bool inside = text.start < use->start && use->end < text.end;
    if ((around && found) || (!around && !inside))
      return NULL;
    found = around ? use : found;
  }
  return found;
}

/* Which argument of the use the offset lies in, from 0 on; -1: in none. */
static int argument_at(const ink_source *source, const ink_macro_use *use, uint32_t offset) {
  int argument = -1, depth = 0;
  for (size_t i = ink_source_token_at(source, use->start);
       i < source->tokens.count && source->tokens.items[i].start < offset; i++) {
    if (source->tokens.items[i].directive)
      return -1;
    if (ink_source_token_is(source, i, "(") && depth++ == 0)
      argument = 0;
    else if (ink_source_token_is(source, i, ")"))
      depth--;
    else if (ink_source_token_is(source, i, ",") && depth == 1)
      argument++;
  }
  return depth > 0 ? argument : -1;
}

bool ink_macro_read(ink_macro_text *text, CXTranslationUnit tu, CXCursor definition) {
  *text = (ink_macro_text){.tu = tu};
  clang_tokenize(tu, clang_getCursorExtent(definition), &text->tokens, &text->count);
  text->words = calloc(text->count + 1, sizeof *text->words);
  for (unsigned i = 0; i < text->count && text->words; i++) {
    CXString spelling = clang_getTokenSpelling(tu, text->tokens[i]);
    const char *word = clang_getCString(spelling);
    text->words[i] = strdup(word ? word : "");
    clang_disposeString(spelling);
    if (!text->words[i])
      return false;
  }
  return text->words && text->count;
}

void ink_macro_free(ink_macro_text *text) {
  for (unsigned i = 0; i < text->count && text->words; i++)
    free(text->words[i]);
  free(text->words);
  clang_disposeTokens(text->tu, text->tokens, text->count);
}

/* The parameter's name, and the index of the first token of the body; NULL: cannot be told. */
static const char *parameter_of(const ink_macro_text *read, int argument, unsigned *body) {
  const char *name = NULL;
  int index = 0;
  if (read->count < 3 || strcmp(read->words[1], "("))
    return NULL;
  for (unsigned i = 2; i < read->count; i++) {
    const char *word = read->words[i];
    if (!strcmp(word, ")")) {
      *body = i + 1;
      return name;
    }
    if (!strcmp(word, ","))
      index++;
    else if (!strcmp(word, "...")) /* the last one takes all that follow */
      name = argument >= index ? (index && !name ? "__VA_ARGS__" : name ? name : "__VA_ARGS__") : name;
    else if (index == argument)
      name = word;
  }
  return NULL;
}

typedef struct macro_search {
  const char *name;
  ink_macro_fn *fn;
  void *data;
} macro_search;

static enum CXChildVisitResult find_macro(CXCursor cursor, CXCursor parent, CXClientData data) {
  const macro_search *search = data;
  (void)parent;
  if (clang_getCursorKind(cursor) != CXCursor_MacroDefinition)
    return CXChildVisit_Continue;
  CXString spelling = clang_getCursorSpelling(cursor);
  const char *text = clang_getCString(spelling);
  const bool found = text && !strcmp(text, search->name);
  clang_disposeString(spelling);
  return found && !search->fn(cursor, search->data) ? CXChildVisit_Break : CXChildVisit_Continue;
}

void ink_macro_definitions(CXTranslationUnit tu, const char *name, ink_macro_fn *fn, void *data) {
  macro_search search = {name, fn, data};
  clang_visitChildren(clang_getTranslationUnitCursor(tu), find_macro, &search);
}

static bool note_found(CXCursor definition, void *found) {
  (void)definition;
  *(bool *)found = true;
  return false;
}

static bool is_macro(CXTranslationUnit tu, const char *name) {
  bool found = false;
  ink_macro_definitions(tu, name, note_found, &found);
  return found;
}

/* Whether the body evaluates the parameter once: not pasted, not made a string, not handed to another
 * macro, which could do either, nor in what only the compiler looks at. */
static bool is_evaluated_once(const ink_macro_text *read, unsigned body, const char *parameter) {
  static const char *const operators[] = {"#",       "##",      "sizeof",     "decltype", "noexcept",
                                          "alignof", "typeid",  "__typeof__", "typeof",   "asm",
                                          "__asm__", "_Pragma", "__VA_OPT__", "constexpr"};
  unsigned count = 0;
  for (unsigned i = body; i < read->count; i++) {
    const char *word = read->words[i];
    for (size_t k = 0; k < sizeof operators / sizeof *operators; k++)
      if (!strcmp(word, operators[k]))
        return false;
    count += !strcmp(word, parameter);
    if (i + 1 < read->count && !strcmp(read->words[i + 1], "(") &&
        clang_getTokenKind(read->tokens[i]) == CXToken_Identifier && is_macro(read->tu, word))
      return false;
  }
  return count == 1;
}

bool ink_macro_argument(ink_unit *unit, const ink_function *function, uint32_t at, ink_span *text) {
  const ink_tree *tree = &function->tree;
  const ink_source *source = tree->source;
  const ink_node *node = &tree->nodes.items[at];
  if (!node->in_macro || node->spelled.end <= node->spelled.start)
    return false;
  const ink_macro_use *use = use_around(source, node->spelled);
  const int argument = use ? argument_at(source, use, node->spelled.start) : -1;
  const size_t last = use ? ink_source_token_at(source, node->spelled.end) : 0;
  if (argument < 0 || use->start != node->start || !last ||
      !ink_source_token_is(source, last - 1, ")") ||
      argument_at(source, use, node->spelled.end) != argument ||
      !ink_source_free_at(source, use->start) || !ink_source_free_at(source, use->end))
    return false;
  for (uint32_t i = 0; i < tree->nodes.count; i++) /* the compiler saw it more than once */
    if (i != at && tree->nodes.items[i].kind == node->kind &&
        tree->nodes.items[i].spelled.start == node->spelled.start &&
        tree->nodes.items[i].spelled.end == node->spelled.end)
      return false;
  ink_macro_text read;
  unsigned body = 0;
  bool once = false;
  if (ink_macro_read(&read, unit->tu, clang_getCursorReferenced(use->cursor))) {
    const char *parameter = parameter_of(&read, argument, &body);
    once = parameter && is_evaluated_once(&read, body, parameter);
  }
  ink_macro_free(&read);
  *text = node->spelled;
  return once;
}
