/* SPDX-License-Identifier: MIT */
/* One source file as text: tokens, conditionals, lines. */
#include "source.h"

#include <stdlib.h>
#include <string.h>

static bool add_region(ink_source *source, uint32_t start, uint32_t id, uint32_t depth) {
  if (!INK_I_GROW(source->regions))
    return false;
  source->regions.items[source->regions.count++] = (ink_region){start, id, depth};
  return true;
}

static size_t directive_end(const ink_source *source, size_t at) {
  const char *text = source->text.at;
  for (; at < source->text.count; at++) {
    if (text[at] != '\n')
      continue;
    size_t back = at;
    if (back && text[back - 1] == '\r')
      back--;
    if (!back || text[back - 1] != '\\')
      return at;
  }
  return at;
}

/* Marks the tokens of directives, and notes each branch of the conditionals. */
static bool find_directives(ink_source *source) {
  uint32_t stack[256], depth = 0, next = 1;
  size_t last_line_end = 0;
  if (!add_region(source, 0, 0, 0))
    return false;
  for (size_t i = 0; i < source->tokens.count; i++) {
    ink_token *token = &source->tokens.items[i];
    const char *line = source->text.at + token->start;
    if (token->start < last_line_end && last_line_end) {
      token->directive = true;
      continue;
    }
    if (source->text.at[token->start] != '#' || token->kind != CXToken_Punctuation)
      continue;
    while (line > source->text.at && (line[-1] == ' ' || line[-1] == '\t'))
      line--;
    if (line > source->text.at && line[-1] != '\n')
      continue;
    token->directive = true;
    last_line_end = directive_end(source, token->start);
    if (i + 1 == source->tokens.count)
      break;
    const ink_token *word = &source->tokens.items[i + 1];
    const char *name = source->text.at + word->start;
    const size_t length = word->end - word->start;
    const bool opens = length >= 2 && !strncmp(name, "if", 2) && depth < 255;
    const bool ends = length == 5 && !strncmp(name, "endif", 5) && depth;
    const bool turns = length >= 4 && !strncmp(name, "el", 2) && depth;
    if (opens)
      stack[depth++] = next++;
    else if (turns)
      stack[depth - 1] = next++;
    else if (ends)
      depth--;
    if ((opens || turns || ends) &&
        !add_region(source, (uint32_t)last_line_end, depth ? stack[depth - 1] : 0, depth))
      return false;
  }
  return true;
}

/* ---- files of the parse ---- */

static _Thread_local struct {
  CXTranslationUnit tu;
  ink_file_facts *items; /* by the file's address, with gaps */
  size_t count, room;
} facts;

static ink_file_facts *slot_of(ink_file_facts *items, size_t room, CXFile file) {
  size_t at = (size_t)((uint64_t)(uintptr_t)file * 0x9e3779b97f4a7c15u >> 20) & (room - 1);
  while (items[at].file && items[at].file != file)
    at = (at + 1) & (room - 1);
  return &items[at];
}

/* NULL: memory ran out. */
static ink_file_facts *facts_of(CXTranslationUnit tu, CXFile file) {
  if (facts.tu != tu)
    ink_file_forget();
  facts.tu = tu;
  if (2 * facts.count >= facts.room) {
    const size_t room = facts.room ? 2 * facts.room : 256;
    ink_file_facts *items = calloc(room, sizeof *items);
    if (!items)
      return NULL;
    for (size_t i = 0; i < facts.room; i++)
      if (facts.items[i].file)
        *slot_of(items, room, facts.items[i].file) = facts.items[i];
    free(facts.items);
    facts.items = items;
    facts.room = room;
  }
  ink_file_facts *one = slot_of(facts.items, facts.room, file);
  facts.count += !one->file;
  one->file = file;
  return one;
}

void ink_file_forget(void) {
  free(facts.items);
  facts.items = NULL;
  facts.count = facts.room = 0;
  facts.tu = NULL;
}

const char *ink_file_text(CXTranslationUnit tu, CXFile file, size_t *bytes) {
  ink_file_facts *one = facts_of(tu, file);
  if (!one)
    return clang_getFileContents(tu, file, bytes);
  if (!one->has_text)
    one->text = clang_getFileContents(tu, file, &one->bytes);
  one->has_text = true;
  *bytes = one->bytes;
  return one->text;
}

CXSourceLocation ink_file_start(CXTranslationUnit tu, CXFile file) {
  ink_file_facts *one = facts_of(tu, file);
  if (!one)
    return clang_getLocationForOffset(tu, file, 0);
  if (!one->has_start)
    one->start = clang_getLocationForOffset(tu, file, 0);
  one->has_start = true;
  return one->start;
}

bool ink_source_lex(ink_source *source, CXTranslationUnit unit) {
  const CXSourceLocation start = ink_file_start(unit, source->file);
  const CXSourceLocation end =
      clang_getLocationForOffset(unit, source->file, (unsigned)source->text.count);
  CXToken *tokens = NULL;
  unsigned count = 0;
  bool fine = true;
  clang_tokenize(unit, clang_getRange(start, end), &tokens, &count);
  for (unsigned i = 0; i < count && fine; i++) {
    const CXSourceRange range = clang_getTokenExtent(unit, tokens[i]);
    unsigned from, to;
    clang_getSpellingLocation(clang_getRangeStart(range), NULL, NULL, NULL, &from);
    clang_getSpellingLocation(clang_getRangeEnd(range), NULL, NULL, NULL, &to);
    if (to > source->text.count || from >= to)
      continue;
    fine = INK_I_GROW(source->tokens);
    if (fine)
      source->tokens.items[source->tokens.count++] =
          (ink_token){from, to, (unsigned char)clang_getTokenKind(tokens[i]), false};
  }
  clang_disposeTokens(unit, tokens, count);
  return fine && find_directives(source);
}

void ink_source_free(ink_source *source) {
  free(source->path);
  free(source->shown);
  ink_bytes_free(&source->text);
  ink_edits_free(&source->edits);
  free(source->tokens.items);
  free(source->regions.items);
  free(source->macros.items);
  free(source->skipped.items);
}

void ink_source_position(const ink_source *source, uint32_t offset, uint32_t *line,
                         uint32_t *column) {
  uint32_t lines = 1, begin = 0;
  for (uint32_t i = 0; i < offset && i < source->text.count; i++)
    if (source->text.at[i] == '\n') {
      lines++;
      begin = i + 1;
    }
  *line = lines;
  *column = offset - begin + 1;
}

size_t ink_source_token_at(const ink_source *source, uint32_t offset) {
  size_t low = 0, high = source->tokens.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (source->tokens.items[middle].start < offset)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

bool ink_source_token_is(const ink_source *source, size_t index, const char *text) {
  if (index >= source->tokens.count)
    return false;
  const ink_token *token = &source->tokens.items[index];
  return token->end - token->start == strlen(text) &&
         !memcmp(source->text.at + token->start, text, strlen(text));
}

size_t ink_source_skip(const ink_source *source, size_t index) {
  while (index < source->tokens.count && (source->tokens.items[index].kind == CXToken_Comment ||
                                          source->tokens.items[index].directive))
    index++;
  return index;
}

size_t ink_source_match(const ink_source *source, size_t open) {
  int depth = 0;
  for (size_t i = open; i < source->tokens.count; i++) {
    const ink_token *token = &source->tokens.items[i];
    if (token->kind != CXToken_Punctuation || token->directive)
      continue;
    if (source->text.at[token->start] == '(')
      depth++;
    else if (source->text.at[token->start] == ')' && --depth == 0)
      return i;
  }
  return source->tokens.count;
}

bool ink_source_free_at(const ink_source *source, uint32_t offset) {
  for (size_t i = 0; i < source->macros.count; i++)
    if (source->macros.items[i].start < offset && offset < source->macros.items[i].end)
      return false;
  size_t next = ink_source_token_at(source, offset);
  if (next < source->tokens.count && source->tokens.items[next].start == offset &&
      source->tokens.items[next].directive)
    return false;
  if (next > 0) {
    const ink_token *last = &source->tokens.items[next - 1];
    if (last->end > offset || (last->directive && offset <= directive_end(source, last->start)))
      return false;
    /* behind a line comment, or where a backslash glues lines, nothing may be put */
    if (last->kind == CXToken_Comment && last->end == offset &&
        !memcmp(source->text.at + last->start, "//", 2))
      return false;
  }
  return true;
}

static size_t region_at(const ink_source *source, uint32_t offset) {
  size_t found = 0;
  while (found + 1 < source->regions.count && source->regions.items[found + 1].start <= offset)
    found++;
  return found;
}

bool ink_source_same_branch(const ink_source *source, uint32_t a, uint32_t b) {
  const size_t from = region_at(source, a), to = region_at(source, b);
  const ink_region *items = source->regions.items;
  if (items[from].id != items[to].id || items[from].depth != items[to].depth)
    return false;
  for (size_t i = from; i <= to; i++)
    if (items[i].depth < items[from].depth ||
        (items[i].depth == items[from].depth && items[i].id != items[from].id))
      return false;
  return true;
}
