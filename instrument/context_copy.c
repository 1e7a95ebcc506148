/* SPDX-License-Identifier: MIT */
/* The copy of a function that has the context of its callers as its first parameter, `ink_with_f` beside `f`: whether
 * the function's text can be had twice, and the text. The copy is no overload of the same name: that would make `&f`
 * and `decltype(f)` ambiguous. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct text_word {
  const char *at;
  size_t bytes;
} text_word;

static text_word word_at(const ink_source *source, size_t token) {
  const ink_token *of = token < source->tokens.count ? &source->tokens.items[token] : NULL;
  return of ? (text_word){source->text.at + of->start, of->end - of->start} : (text_word){"", 0};
}

static bool is_one_of(text_word word, const char *const *words, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (word.bytes == strlen(words[i]) && !memcmp(word.at, words[i], word.bytes))
      return true;
  return false;
}
#define IS_ONE_OF(word, words) is_one_of(word, words, sizeof words / sizeof *words)

/* ---- the head ----------------------------------------------------------------------------------- */

/* What stands here ends what is before the head of a function. */
static bool is_boundary(const ink_source *source, size_t token) {
  static const char *const ends[] = {";", "{", "}", "<%", "%>"}, *const labels[] = {"public", "protected", "private"};
  return source->tokens.items[token].directive || IS_ONE_OF(word_at(source, token), ends) ||
         (token && ink_source_token_is(source, token, ":") && IS_ONE_OF(word_at(source, token - 1), labels));
}

/* The first token of the head: from where clang has the function begin, or its name, back to the boundary, for
 * clang leaves out attributes in front. */
static size_t head_of(const ink_source *source, uint32_t from) {
  size_t at = ink_source_token_at(source, from);
  while (at && !is_boundary(source, at - 1))
    at--;
  while (at < source->tokens.count && source->tokens.items[at].kind == CXToken_Comment)
    at++;
  return at;
}

/* Behind the `[[...]]` at the token. */
static size_t behind_attributes(const ink_source *source, size_t at) {
  while (ink_source_token_is(source, at, "[") && ink_source_token_is(source, at + 1, "[")) {
    int depth = 0;
    do {
      depth += ink_source_token_is(source, at, "[");
      depth -= ink_source_token_is(source, at, "]");
    } while (++at < source->tokens.count && depth);
    at = ink_source_skip(source, at);
  }
  return at;
}

static const char by_macro[] = "a macro makes its head";

typedef struct head_words { /* with those that its macros make */
  CXTranslationUnit tu;
  unsigned depth;      /* of macros in macros */
  bool is_device;      /* they say so */
  const char *why_not; /* they cannot stand twice; NULL: they can */
} head_words;

static void note_word(head_words *head, text_word word) {
  static const char *const unfit[] = {"extern", "friend", "virtual", "operator", "typedef", "asm"};
  static const char *const apart[] = {"__noinline__", "noinline"}, *const device[] = {"__device__", "device"};
  head->is_device |= IS_ONE_OF(word, device);
  if (IS_ONE_OF(word, apart))
    head->why_not = "it is not inlined";
  else if (IS_ONE_OF(word, unfit))
    head->why_not = "its head has words that cannot stand twice";
}

static bool is_of_toolkit(text_word word) {
  static const char *const toolkit[] = {"__device__", "__host__", "__forceinline__", "__inline__"};
  return IS_ONE_OF(word, toolkit);
}

/* The words that the macro makes, whichever of its definitions holds. */
static bool note_macro(CXCursor definition, void *data) {
  static const char *const parts[] = {";", "{", "}", "template", "##", "_Pragma"};
  head_words *head = data;
  ink_macro_text text = {0};
  if (head->depth == 8 || clang_Cursor_isMacroFunctionLike(definition) || !ink_macro_read(&text, head->tu, definition))
    head->why_not = by_macro;
  head->depth++;
  for (unsigned i = 0; i < text.count && !head->why_not; i++) {
    const text_word word = {text.words[i], strlen(text.words[i])};
    note_word(head, word);
    if (IS_ONE_OF(word, parts))
      head->why_not = by_macro;
    else if (i && !is_of_toolkit(word) && clang_getTokenKind(text.tokens[i]) == CXToken_Identifier)
      ink_macro_definitions(head->tu, text.words[i], note_macro, head);
  }
  head->depth--;
  ink_macro_free(&text);
  return !head->why_not;
}

bool ink_is_call_operator(const ink_function *function) { return !strcmp(function->name, "operator()"); }

/* The last token of a function's name at the token; tokens.count: it has another one. */
static size_t last_of_name(const ink_source *source, size_t at, const char *name) {
  if (!strcmp(name, "operator()"))
    return ink_source_token_is(source, at, "operator") && ink_source_token_is(source, at + 1, "(") &&
                   ink_source_token_is(source, at + 2, ")")
               ? at + 2
               : source->tokens.count;
  return ink_source_token_is(source, at, name) ? at : source->tokens.count;
}

/* Reads a head that begins at `start` or before it and has its name at `named_at`. */
static const char *why_no_head(const ink_source *source, CXTranslationUnit tu, uint32_t start, uint32_t named_at,
                               const char *called, ink_head *out) {
  head_words head = {.tu = tu};
  const size_t first = head_of(source, start < named_at ? start : named_at), name = ink_source_token_at(source, named_at);
  const size_t last = name < source->tokens.count ? last_of_name(source, name, called) : name;
  const size_t open = ink_source_skip(source, last + 1);
  const size_t inside = ink_source_skip(source, open + 1);
  if (first > name || last >= source->tokens.count || source->tokens.items[name].start != named_at)
    return "it has no plain name";
  if (ink_source_token_is(source, last + 1, "<") ||
      (ink_source_token_is(source, first, "template") && ink_source_token_is(source, first + 2, ">")))
    return "it is a specialisation";
  if (!ink_source_token_is(source, open, "(") || ink_source_token_is(source, inside, "void"))
    return "its parameters cannot be told from the text";
  if (!strncmp(word_at(source, inside).at, "PROF_PARAMS", strlen("PROF_PARAMS")))
    return "it has a context by hand";
  for (size_t i = first; i < name && !head.why_not; i++)
    note_word(&head, word_at(source, i));
  for (size_t i = 0; i < source->macros.count && !head.why_not; i++) {
    const ink_macro_use *use = &source->macros.items[i];
    if (use->start == source->tokens.items[inside].start || use->start == named_at)
      return by_macro;
    if (use->start >= source->tokens.items[first].start && use->start < named_at &&
        !is_of_toolkit(word_at(source, ink_source_token_at(source, use->start))))
      note_macro(clang_getCursorReferenced(use->cursor), &head);
  }
  if (head.why_not)
    return head.why_not;
  if (!head.is_device)
    return "its head cannot be told from the text";
  *out = (ink_head){.start = source->tokens.items[first].start,
                    .attributed = source->tokens.items[behind_attributes(source, first)].start,
                    .name = {named_at, source->tokens.items[last].end},
                    .behind_open = source->tokens.items[open].end,
                    .no_parameters = ink_source_token_is(source, inside, ")"),
                    .is_template = ink_source_token_is(source, first, "template")};
  return NULL;
}

static const char branches[] = "a preprocessor conditional begins or ends in it";

/* A member that is defined outside of its class: its declaration there gets a copy too. */
static const char *why_no_declaration(ink_unit *unit, const ink_function *function, ink_copy *copy) {
  const CXCursor cursor = function->cursor, first = clang_getCanonicalCursor(cursor);
  const enum CXCursorKind around = clang_getCursorKind(clang_getCursorSemanticParent(cursor));
  const CXSourceRange range = clang_getCursorExtent(first);
  uint32_t start, named_at, end;
  CXFile file;
  if (around != CXCursor_ClassTemplate && around != CXCursor_StructDecl && around != CXCursor_ClassDecl)
    return "it is declared before it is defined";
  clang_getExpansionLocation(clang_getRangeStart(range), &file, NULL, NULL, NULL);
  ink_source *source = ink_unit_source(unit, file);
  if (!source || !source->is_project || source->is_marked_already || source->is_forced ||
      (!source->is_main && !unit->options->headers))
    return "its class is in a file that is not marked";
  ink_source_locate(source, clang_getRangeStart(range), &start); /* as a rule the macro __device__ */
  if (!ink_source_locate(source, clang_getCursorLocation(first), &named_at) ||
      !ink_source_locate(source, clang_getRangeEnd(range), &end))
    return by_macro;
  const char *why = why_no_head(source, unit->tu, start, named_at, function->name, &copy->declared);
  const size_t last = ink_source_skip(source, ink_source_token_at(source, end));
  if (why)
    return why;
  if (!ink_source_token_is(source, last, ";"))
    return "its declaration cannot be told from the text";
  copy->declared_in = source;
  copy->declared_end = source->tokens.items[last].end;
  if (!ink_source_free_at(source, copy->declared_end))
    return by_macro;
  return ink_source_same_branch(source, copy->declared.start, copy->declared_end) ? NULL : branches;
}

/* ---- the body ----------------------------------------------------------------------------------- */

/* A variable of which there is one for all calls: a copy would have another one. */
static bool has_lasting_variable(const ink_tree *tree) {
  for (size_t i = 0; i < tree->nodes.count; i++) {
    const CXCursor cursor = tree->nodes.items[i].cursor;
    if (tree->nodes.items[i].kind != CXCursor_VarDecl)
      continue;
    const enum CX_StorageClass storage = clang_Cursor_getStorageClass(cursor);
    if (storage == CX_SC_Static || (storage != CX_SC_Extern && ink_is_in_memory_space(cursor)))
      return true;
  }
  return false;
}

/* Its own name, or a count of uses, would be another in the copy. */
static bool tells_its_name(const ink_function *function) {
  static const char *const words[] = {"__func__", "__FUNCTION__", "__PRETTY_FUNCTION__", "__COUNTER__"};
  const ink_source *source = function->source;
  for (size_t i = ink_source_token_at(source, function->body_start);
       i < source->tokens.count && source->tokens.items[i].start < function->body_end; i++)
    if (IS_ONE_OF(word_at(source, i), words))
      return true;
  for (size_t i = 0; i < source->macros.count; i++) {
    const ink_macro_use *use = &source->macros.items[i];
    if (use->start <= function->body_start || use->start >= function->body_end)
      continue;
    char *name = ink_name_of(use->cursor);
    const bool tells = name && !strcmp(name, "__COUNTER__");
    free(name);
    if (tells)
      return true;
  }
  return false;
}

static bool defines_macros(const ink_function *function) {
  static const char *const words[] = {"define", "undef", "include", "line"};
  const ink_source *source = function->source;
  for (size_t i = ink_source_token_at(source, function->body_start);
       i + 1 < source->tokens.count && source->tokens.items[i].start < function->body_end; i++)
    if (source->tokens.items[i].directive && ink_source_token_is(source, i, "#") &&
        IS_ONE_OF(word_at(source, i + 1), words))
      return true;
  return false;
}

/* ---- all of it ---------------------------------------------------------------------------------- */

const char *ink_why_no_copy(ink_unit *unit, const ink_function *function, ink_copy *copy) {
  const CXCursor cursor = function->cursor;
  const enum CXCursorKind kind = clang_getCursorKind(cursor);
  if (function->outer || function->in_host)
    return "it is a lambda or stands in a function";
  if (kind != CXCursor_FunctionDecl && kind != CXCursor_CXXMethod && kind != CXCursor_FunctionTemplate)
    return "it is a constructor, a destructor or a conversion";
  if (!strncmp(function->name, "operator", 8) && !ink_is_call_operator(function))
    return "it is an operator";
  if (kind == CXCursor_CXXMethod && clang_CXXMethod_isVirtual(cursor))
    return "it is virtual";
  if (function->opened_at)
    return "it opens a track by itself";
  if (function->repeats)
    return "it is the text of a function before it, in a file that is included again";
  if (function->odd_braces)
    return "its braces are others than { and }";
  const char *why = why_no_head(function->source, unit->tu, function->start, function->named_at, function->name, &copy->head);
  if (!why && !ink_source_same_branch(function->source, copy->head.start, function->body_end))
    why = branches;
  copy->is_free = clang_getCursorKind(cursor) == CXCursor_FunctionDecl &&
                  clang_Cursor_getStorageClass(cursor) != CX_SC_Static;
  if (!why && !clang_equalCursors(clang_getCanonicalCursor(cursor), cursor))
    why = why_no_declaration(unit, function, copy);
  if (why)
    return why;
  if (has_lasting_variable(&function->tree))
    return "it has a static or shared variable";
  if (tells_its_name(function))
    return "it uses its own name (__func__)";
  return defines_macros(function) ? "a #define or #include stands in it" : NULL;
}

/* ---- the text ----------------------------------------------------------------------------------- */

static const char *name_of_copy(const ink_function *function) {
  return ink_is_call_operator(function) ? "call" : function->name;
}

/* The head up to behind its first parameter, the context. */
static void put_head(ink_bytes *out, const ink_function *function, const ink_head *head, const char *context,
                     const char *text, const char *words) {
  ink_bytes_add(out, text + head->start, head->attributed - head->start);
  ink_bytes_text(out, words);
  if (!head->is_template) /* of templates the compiler decides */
    ink_bytes_text(out, "INK_INLINED() ");
  ink_bytes_add(out, text + head->attributed, head->name.start - head->attributed);
  ink_bytes_format(out, "ink_with_%s", name_of_copy(function));
  ink_bytes_add(out, text + head->name.end, head->behind_open - head->name.end);
  ink_bytes_text(out, context);
  ink_bytes_text(out, head->no_parameters ? "" : ", ");
}

static void add_declaration(const ink_function *function, const ink_copy *copy, const char *context) {
  ink_source *source = copy->declared_in;
  const char *text = source->text.at;
  ink_bytes out = {0};
  const CXTranslationUnit tu = clang_Cursor_getTranslationUnit(function->cursor);
  const uint32_t first = ink_source_shown_line(source, tu, copy->declared.start);
  const uint32_t last = ink_source_shown_line(source, tu, copy->declared_end);
  ink_bytes_format(&out, INK_COPY_OPEN "#line %u\n", first);
  put_head(&out, function, &copy->declared, context, text, "");
  ink_bytes_add(&out, text + copy->declared.behind_open, copy->declared_end - copy->declared.behind_open);
  ink_edits_add_copy(&source->edits, copy->declared_end, &out, last);
}

void ink_copy_add(ink_function *function, const ink_copy *copy, const char *context) {
  ink_source *source = function->source;
  const ink_head *head = &copy->head;
  const char *text = source->text.at;
  const enum CXCursorKind kind = clang_getCursorKind(function->cursor);
  ink_bytes out = {0};
  char words[64];
  const CXTranslationUnit tu = clang_Cursor_getTranslationUnit(function->cursor);
  if (copy->declared_in)
    add_declaration(function, copy, context);
  const uint32_t first = ink_source_shown_line(source, tu, head->start);
  const uint32_t last = ink_source_shown_line(source, tu, function->body_end);
  ink_bytes_format(&out, INK_COPY_OPEN "#line %u\n", first);
  snprintf(words, sizeof words, "%s%s", copy->is_free ? "static INK_UNUSED() " : "",
           kind == CXCursor_FunctionDecl && !clang_Cursor_isFunctionInlined(function->cursor) ? "inline " : "");
  put_head(&out, function, head, context, text, words);
  ink_bytes_add(&out, text + head->behind_open, function->body_start - head->behind_open);
  ink_edits_apply_inside(&source->edits, text, function->body_start, function->body_end, &out);
  ink_edits_drop_inside(&source->edits, function->body_start, function->body_end, !function->keeps_marks);
  ink_edits_add_copy(&source->edits, function->body_end, &out, last);
  /* nobody may call the original any more */
  if (kind == CXCursor_FunctionDecl && clang_getCursorLinkage(function->cursor) != CXLinkage_External)
    ink_edits_add(&source->edits, head->attributed, false, 0, 0, "INK_UNUSED() ");
}
