/* SPDX-License-Identifier: MIT */
/* Builds the tree of a function's body from libclang's cursors, and answers what libclang leaves
 * open: where a statement ends, which child is a body. */
#include "tree.h"

#include <stdlib.h>
#include <string.h>

bool ink_source_locate(const ink_source *source, CXSourceLocation location, uint32_t *offset) {
  CXFile spelled, expanded;
  unsigned at, expansion_at;
  clang_getSpellingLocation(location, &spelled, NULL, NULL, &at);
  clang_getExpansionLocation(location, &expanded, NULL, NULL, &expansion_at);
  *offset = expansion_at;
  return spelled && expanded && at == expansion_at && clang_File_isEqual(spelled, expanded) &&
         clang_File_isEqual(expanded, source->file) && expansion_at <= source->text.count;
}

uint32_t ink_source_shown_line(const ink_source *source, CXTranslationUnit tu, uint32_t offset) {
  unsigned line = 0;
  clang_getPresumedLocation(clang_getLocationForOffset(tu, source->file, offset), NULL, &line, NULL);
  return line;
}

typedef struct build {
  ink_tree *tree;
  uint32_t parent;
} build;

static bool opens_other_function(const ink_node *node) {
  return node->kind == CXCursor_LambdaExpr || node->kind == CXCursor_StructDecl ||
         node->kind == CXCursor_ClassDecl || node->kind == CXCursor_UnionDecl;
}

/* Of the argument of a macro: where it is written. */
static ink_span spelled_at(const ink_source *source, CXSourceRange range) {
  CXFile first, last;
  unsigned start, end;
  clang_getFileLocation(clang_getRangeStart(range), &first, NULL, NULL, &start);
  clang_getFileLocation(clang_getRangeEnd(range), &last, NULL, NULL, &end);
  if (!first || !last || !clang_File_isEqual(first, source->file) ||
      !clang_File_isEqual(last, source->file) || end > source->text.count || end < start)
    return (ink_span){0, 0};
  return (ink_span){start, end};
}

static bool is_in_another_file(const ink_source *source, CXSourceRange range) {
  CXFile file;
  clang_getExpansionLocation(clang_getRangeStart(range), &file, NULL, NULL, NULL);
  return file && !clang_File_isEqual(file, source->file);
}

/* The directive that a file is included by, behind `from`; `from` where there is none. */
static uint32_t include_behind(const ink_source *source, uint32_t from) {
  for (size_t i = ink_source_token_at(source, from); i + 1 < source->tokens.count; i++)
    if (source->tokens.items[i].directive && ink_source_token_is(source, i, "#") &&
        ink_source_token_is(source, i + 1, "include"))
      return source->tokens.items[i].start;
  return from;
}

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Where a macro's text begins in the file that defines it; NULL: it has none. */
static const char *macro_text(CXTranslationUnit tu, CXCursor definition, CXFile *file, unsigned *start, unsigned *end) {
  size_t bytes = 0;
  const CXSourceRange range = clang_getCursorExtent(definition);
  clang_getSpellingLocation(clang_getRangeStart(range), file, NULL, NULL, start);
  clang_getSpellingLocation(clang_getRangeEnd(range), NULL, NULL, NULL, end);
  const char *text = *file ? ink_file_text(tu, *file, &bytes) : NULL;
  if (!text || *end > bytes)
    return NULL;
  while (*start < *end && is_word(text[*start]))
    ++*start;
  if (*start < *end && text[*start] == '(') { /* parameters */
    while (*start < *end && text[*start] != ')')
      ++*start;
    *start += *start < *end;
  }
  while (*start < *end && strchr(" \t\\\r\n", text[*start]))
    ++*start;
  return *start < *end ? text + *start : NULL;
}

static const char *skip_blanks(const char *text, const char *end) {
  while (text < end && strchr(" \t\\\r\n", *text))
    text++;
  return text;
}

/* Behind the parentheses that begin here; `text` where there are none. */
static const char *skip_parentheses(const char *text, const char *end) {
  int depth = 0;
  bool quoted = false;
  const char *at = text;
  if (at == end || *at != '(')
    return text;
  for (; at < end; at++) {
    quoted ^= *at == '"' && at[-1] != '\\';
    depth += quoted ? 0 : (*at == '(') - (*at == ')');
    if (!depth)
      return at + 1;
  }
  return text;
}

static const char *skip_pragmas(CXTranslationUnit tu, const char *text, const char *end, unsigned depth);

typedef struct pragma_search {
  CXTranslationUnit tu;
  unsigned depth;
  bool found, other;
} pragma_search;

static bool note_definition(CXCursor definition, void *data) {
  pragma_search *search = data;
  CXFile file;
  unsigned from, to;
  const char *text = macro_text(search->tu, definition, &file, &from, &to);
  search->found = true;
  search->other |= !text || skip_pragmas(search->tu, text, text + (to - from), search->depth + 1) != text + (to - from);
  return !search->other;
}

/* Every definition of the macro comes to nothing but pragmas. libclang has no macros that are used in others, and to look
 * for a definition takes long: what is found is kept. */
static bool is_pragma_macro(CXTranslationUnit tu, const char *name, size_t bytes, unsigned depth) {
  static _Thread_local struct {
    CXTranslationUnit tu;
    char name[64];
    bool is;
  } known[16];
  static _Thread_local unsigned next;
  char word[sizeof known->name];
  if (!bytes || bytes >= sizeof word || depth > 8)
    return false;
  memcpy(word, name, bytes);
  word[bytes] = 0;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (known[i].tu == tu && !strcmp(known[i].name, word))
      return known[i].is;
  pragma_search search = {tu, depth, false, false};
  ink_macro_definitions(tu, word, note_definition, &search);
  const size_t at = next++ % (sizeof known / sizeof *known);
  known[at].tu = tu;
  strcpy(known[at].name, word);
  return known[at].is = search.found && !search.other;
}

/* Behind what a macro's text begins with and comes to nothing but pragmas: `_Pragma("unroll")`, `DO_PRAGMA(unroll n)`. */
static const char *skip_pragmas(CXTranslationUnit tu, const char *text, const char *end, unsigned depth) {
  for (const char *at = text; at < end; text = at = skip_blanks(at, end)) {
    while (at < end && is_word(*at))
      at++;
    const size_t bytes = (size_t)(at - text);
    const char *behind = skip_parentheses(skip_blanks(at, end), end);
    if (!(bytes == 7 && !memcmp(text, "_Pragma", 7)) && !is_pragma_macro(tu, text, bytes, depth))
      return text;
    at = behind;
  }
  return end;
}

/* What begins in the use of a macro that it begins with, and ends in the file: `NS::f(x)`, `UNROLL(4) for (...) ...`,
 * `KERNEL_LOOP(i, n) ...`. What stands before the use stands before all of it. */
static bool begins_with_macro(const ink_tree *tree, const ink_node *node, CXSourceLocation begin) {
  const CXTranslationUnit tu = clang_Cursor_getTranslationUnit(node->cursor);
  const bool pragma = node->kind == CXCursor_UnexposedStmt;
  const bool loop = node->kind == CXCursor_ForStmt || node->kind == CXCursor_WhileStmt || node->kind == CXCursor_CXXForRangeStmt;
  const ink_macro_use *use = NULL;
  for (size_t i = 0; i < tree->source->macros.count; i++) {
    const ink_macro_use *one = &tree->source->macros.items[i];
    if (one->start == node->start && one->end < node->end && (!use || one->end > use->end))
      use = one;
  }
  if (!use)
    return false;
  bool object = true;
  for (uint32_t at = use->start; at < use->end; at++)
    object &= is_word(tree->source->text.at[at]);
  CXFile file, spelled;
  unsigned from, to, at;
  const char *text = macro_text(tu, clang_getCursorReferenced(use->cursor), &file, &from, &to);
  clang_getSpellingLocation(begin, &spelled, NULL, NULL, &at);
  if (!text)
    return false;
  const char *end = text + (to - from);
  const char *behind = pragma || loop ? skip_pragmas(tu, text, end, 0) : text;
  if (pragma)
    return behind == end || (behind > text && (!strncmp(behind, "for", 3) || !strncmp(behind, "while", 5)));
  return (object || loop) && spelled && clang_File_isEqual(spelled, file) && at == from + (unsigned)(behind - text);
}

static uint32_t add_node(ink_tree *tree, CXCursor cursor, uint32_t parent) {
  const CXSourceRange range = clang_getCursorExtent(cursor);
  ink_node node = {.cursor = cursor,
                   .kind = clang_getCursorKind(cursor),
                   .parent = parent,
                   .first = INK_NO_NODE,
                   .next = INK_NO_NODE,
                   .last = INK_NO_NODE};
  const bool begins = ink_source_locate(tree->source, clang_getRangeStart(range), &node.start);
  const bool ends = ink_source_locate(tree->source, clang_getRangeEnd(range), &node.end);
  node.in_macro = !begins || !ends || node.end < node.start;
  if (!begins && ends && node.end > node.start && !is_in_another_file(tree->source, range) &&
      begins_with_macro(tree, &node, clang_getRangeStart(range)))
    node.in_macro = false;
  if (node.in_macro)
    node.spelled = spelled_at(tree->source, range);
  if (node.in_macro && parent != INK_NO_NODE && is_in_another_file(tree->source, range)) {
    const ink_node *up = &tree->nodes.items[parent];
    const ink_node *before = up->last == INK_NO_NODE ? NULL : &tree->nodes.items[up->last];
    node.included = true;
    node.start = node.end = up->included                 ? up->start
                            : before && before->included ? before->start
                                                         : include_behind(tree->source, before ? before->end : up->start);
  }
  if (!INK_I_GROW(tree->nodes)) {
    tree->failed = true;
    return INK_NO_NODE;
  }
  const uint32_t at = (uint32_t)tree->nodes.count++;
  ink_node *nodes = tree->nodes.items;
  if (parent != INK_NO_NODE) {
    node.depth = nodes[parent].depth + 1;
    node.in_lambda = nodes[parent].in_lambda || opens_other_function(&nodes[parent]);
    if (nodes[parent].last == INK_NO_NODE)
      nodes[parent].first = at;
    else
      nodes[nodes[parent].last].next = at;
    nodes[parent].last = at;
  }
  nodes[at] = node;
  return at;
}

static enum CXChildVisitResult visit(CXCursor cursor, CXCursor parent, CXClientData data) {
  build *state = data;
  (void)parent;
  const uint32_t at = add_node(state->tree, cursor, state->parent);
  if (at == INK_NO_NODE || state->tree->nodes.items[at].depth > 2000) {
    state->tree->failed = true;
    return CXChildVisit_Break;
  }
  build inner = {state->tree, at};
  clang_visitChildren(cursor, visit, &inner);
  return state->tree->failed ? CXChildVisit_Break : CXChildVisit_Continue;
}

/* A statement could begin here: what is before it is whole. */
static bool is_behind_statement(const ink_source *source, uint32_t offset) {
  for (size_t at = ink_source_token_at(source, offset); at-- > 0;) {
    const ink_token *token = &source->tokens.items[at];
    if (token->kind != CXToken_Comment && !token->directive)
      return ink_source_token_is(source, at, ";") || ink_source_token_is(source, at, "{") || ink_source_token_is(source, at, "}");
  }
  return false;
}

/* Something behind the node names what the statement declares. */
static bool is_named_behind(const ink_tree *tree, uint32_t declares, uint32_t at) {
  const ink_node *nodes = tree->nodes.items;
  for (uint32_t i = nodes[declares].first; i != INK_NO_NODE; i = nodes[i].next)
    for (uint32_t k = ink_tree_end(tree, at); k < tree->nodes.count; k++)
      if (clang_equalCursors(clang_getCursorReferenced(nodes[k].cursor), nodes[i].cursor))
        return true;
  return false;
}

/* `#define GRID_LOOP(i, n) int at = first(); for (int i = at; i < (n); i = next(at))`, with the body behind its use: the loop
 * begins with the use, for what it declares before is the loop's alone. */
static bool begins_with_declarations(const ink_tree *tree, uint32_t at) {
  const ink_node *nodes = tree->nodes.items, *node = &nodes[at];
  const ink_macro_use *use = NULL;
  if (!node->in_macro || node->included || node->parent == INK_NO_NODE ||
      nodes[node->parent].kind != CXCursor_CompoundStmt || nodes[node->parent].in_macro || nodes[node->parent].start >= node->start)
    return false;
  for (size_t i = 0; i < tree->source->macros.count && !use; i++)
    if (tree->source->macros.items[i].start == node->start && tree->source->macros.items[i].end < node->end)
      use = &tree->source->macros.items[i];
  uint32_t offset;
  if (!use || !ink_source_locate(tree->source, clang_getRangeEnd(clang_getCursorExtent(node->cursor)), &offset) ||
      !is_behind_statement(tree->source, use->start))
    return false;
  for (uint32_t i = nodes[node->parent].first; i != at; i = nodes[i].next)
    if (nodes[i].end > use->start || (nodes[i].start == use->start))
      if (nodes[i].start != use->start || nodes[i].kind != CXCursor_DeclStmt || is_named_behind(tree, i, at))
        return false;
  return true;
}

bool ink_tree_build(ink_tree *tree, ink_source *source, CXCursor body) {
  *tree = (ink_tree){.source = source};
  build state = {tree, add_node(tree, body, INK_NO_NODE)};
  if (state.parent != INK_NO_NODE)
    clang_visitChildren(body, visit, &state);
  for (uint32_t i = 0; i < tree->nodes.count && !tree->failed; i++)
    if (ink_node_is_loop(&tree->nodes.items[i]) && begins_with_declarations(tree, i))
      tree->nodes.items[i].in_macro = false;
  return !tree->failed;
}

void ink_tree_free(ink_tree *tree) {
  free(tree->nodes.items);
  *tree = (ink_tree){0};
}

bool ink_node_is_loop(const ink_node *node) {
  return node->kind == CXCursor_ForStmt || node->kind == CXCursor_WhileStmt ||
         node->kind == CXCursor_DoStmt || node->kind == CXCursor_CXXForRangeStmt;
}

bool ink_node_is_expression(const ink_node *node) {
  return clang_isExpression(node->kind) != 0;
}

const char *ink_node_why_left(const ink_node *node) {
  return node->included ? "is in a file that is included here" : "begins or ends in a macro";
}

static bool ends_with_its_last_child(enum CXCursorKind kind) {
  switch (kind) {
  case CXCursor_IfStmt:
  case CXCursor_ForStmt:
  case CXCursor_WhileStmt:
  case CXCursor_CXXForRangeStmt:
  case CXCursor_SwitchStmt:
  case CXCursor_LabelStmt:
  case CXCursor_CaseStmt:
  case CXCursor_DefaultStmt:
    return true;
  default:
    return false;
  }
}

uint32_t ink_node_statement_end(const ink_tree *tree, uint32_t at) {
  const ink_node *nodes = tree->nodes.items, *node = &nodes[at];
  while (ends_with_its_last_child(node->kind) ||
         (node->kind == CXCursor_UnexposedStmt && node->last != INK_NO_NODE)) {
    if (node->last == INK_NO_NODE)
      return 0;
    node = &nodes[node->last];
  }
  const ink_source *source = tree->source;
  if (node->in_macro || node->end == 0)
    return 0;
  const bool whole = node->kind == CXCursor_CompoundStmt || node->kind == CXCursor_NullStmt ||
                     node->kind == CXCursor_DeclStmt;
  if (whole && (source->text.at[node->end - 1] == '}' || source->text.at[node->end - 1] == ';' ||
                (node->end > 1 && !memcmp(source->text.at + node->end - 2, "%>", 2))))
    return node->end;
  const size_t next = ink_source_skip(source, ink_source_token_at(source, node->end));
  if (!ink_source_token_is(source, next, ";"))
    return 0;
  const uint32_t end = source->tokens.items[next].end;
  return ink_source_free_at(source, end) ? end : 0;
}

/* The end of the parenthesis that heads an if, for, while or switch. */
static uint32_t head_end(const ink_tree *tree, const ink_node *node) {
  const ink_source *source = tree->source;
  size_t token = ink_source_token_at(source, node->start);
  for (int i = 0; i < 3 && token < source->tokens.count; i++) {
    token = ink_source_skip(source, token + 1);
    if (ink_source_token_is(source, token, "("))
      break;
  }
  if (!ink_source_token_is(source, token, "("))
    return UINT32_MAX;
  const size_t close = ink_source_match(source, token);
  return close < source->tokens.count ? source->tokens.items[close].end : UINT32_MAX;
}

uint32_t ink_node_body(const ink_tree *tree, uint32_t loop) {
  const ink_node *nodes = tree->nodes.items, *node = &nodes[loop];
  const uint32_t body = node->kind == CXCursor_DoStmt ? node->first : node->last;
  if (body == INK_NO_NODE || nodes[body].in_macro)
    return INK_NO_NODE;
  if (node->kind != CXCursor_DoStmt && nodes[body].start < head_end(tree, node))
    return INK_NO_NODE;
  return body;
}

bool ink_node_is_statement(const ink_tree *tree, uint32_t at, bool *alone) {
  const ink_node *nodes = tree->nodes.items, *node = &nodes[at];
  *alone = true;
  if (node->parent == INK_NO_NODE)
    return false;
  const ink_node *parent = &nodes[node->parent];
  switch (parent->kind) {
  case CXCursor_CompoundStmt:
    *alone = false;
    return true;
  case CXCursor_DoStmt:
    return parent->first == at;
  case CXCursor_IfStmt:
  case CXCursor_ForStmt:
  case CXCursor_WhileStmt:
  case CXCursor_CXXForRangeStmt:
  case CXCursor_SwitchStmt:
    return !parent->in_macro && node->start >= head_end(tree, parent);
  case CXCursor_LabelStmt:
    return true;
  case CXCursor_CaseStmt:
  case CXCursor_DefaultStmt:
    return parent->last == at;
  default:
    return false;
  }
}

uint32_t ink_node_behind_brace(const ink_tree *tree, uint32_t at) {
  const ink_node *node = &tree->nodes.items[at];
  const ink_bytes *text = &tree->source->text;
  if (node->kind != CXCursor_CompoundStmt || node->in_macro || node->start + 2 > text->count)
    return 0;
  return text->at[node->start] == '{' ? node->start + 1 : !memcmp(text->at + node->start, "<%", 2) ? node->start + 2 : 0;
}

bool ink_node_is_named(const ink_node *node, const char *name) {
  CXString spelling = clang_getCursorSpelling(node->cursor);
  const char *text = clang_getCString(spelling);
  const bool same = text && !strcmp(text, name);
  clang_disposeString(spelling);
  return same;
}

uint32_t ink_tree_end(const ink_tree *tree, uint32_t at) {
  uint32_t i = at + 1;
  while (i < tree->nodes.count && tree->nodes.items[i].depth > tree->nodes.items[at].depth)
    i++;
  return i;
}
