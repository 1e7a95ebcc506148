/* SPDX-License-Identifier: MIT */
/* What a person has marked already: it is not opened, ranged or counted a second time. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

ink_hand_kind ink_hand_kind_of(const char *macro) {
  static const struct {
    const char *macro;
    ink_hand_kind kind;
  } all[] = {{"PROF_BEGIN", INK_HAND_BEGIN},           {"PROF_BEGIN_WITH", INK_HAND_BEGIN},
             {"PROF_END", INK_HAND_END},               {"PROF_SUM_BEGIN", INK_HAND_SUM_BEGIN},
             {"PROF_SUM_END", INK_HAND_SUM_END},       {"PROF_SCOPE", INK_HAND_SCOPE},
             {"PROF_MARK", INK_HAND_MARK},             {"PROF_MARK_STRICT", INK_HAND_MARK},
             {"PROF_MARK_LOADED", INK_HAND_MARK},      {"PROF_MARK_ID", INK_HAND_MARK},
             {"PROF_ITER", INK_HAND_ITER},             {"PROF_ROLE", INK_HAND_ROLE}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (!strcmp(macro, all[i].macro))
      return all[i].kind;
  return INK_HAND_OTHER;
}

/* ---- marks in macros of the user's own ------------------------------------------------------------ */

/* `PROF_KERNEL` of the text that the macro of that name became: a parenthesis that is written in mark.cuh. */
static bool marks_name(const ink_unit *unit, const ink_node *node, char *name, size_t room) {
  CXFile file;
  unsigned at;
  size_t bytes = 0;
  if (!node->in_macro || node->kind != CXCursor_ParenExpr)
    return false;
  clang_getSpellingLocation(clang_getRangeStart(clang_getCursorExtent(node->cursor)), &file, NULL, NULL, &at);
  if (!file)
    return false;
  CXString spelling = clang_getFileName(file);
  const char *path = clang_getCString(spelling), *last = path ? strrchr(path, '/') : NULL;
  const bool ours = last && !strcmp(last, "/mark.cuh");
  clang_disposeString(spelling);
  const char *text = ours ? ink_file_text(unit->tu, file, &bytes) : NULL;
  if (!text || at >= bytes)
    return false;
  while (at && text[at - 1] != '\n')
    at--;
  static const char define[] = "#define ";
  if (bytes - at < sizeof define || memcmp(text + at, define, sizeof define - 1))
    return false;
  const char *from = text + at + sizeof define - 1;
  const size_t length = strspn(from, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
  if (!length || length >= room)
    return false;
  memcpy(name, from, length);
  name[length] = 0;
  return true;
}

static void see_openings(const ink_unit *unit, ink_function *function) {
  char name[40];
  for (uint32_t i = 1; i < function->tree.nodes.count && !function->is_opened; i++) {
    const ink_node *node = &function->tree.nodes.items[i];
    if (node->in_lambda || !marks_name(unit, node, name, sizeof name) || !ink_macro_opens(name))
      continue;
    ink_function_note_hand(function, name, node->start);
    function->is_opened = true;
    function->has_rows |= strstr(name, "_ROWS") != NULL;
  }
}

void ink_unit_see_hand_marks(ink_unit *unit) {
  for (size_t i = 0; i < unit->functions.count; i++)
    if (!unit->functions.items[i].source->is_marked_already)
      see_openings(unit, &unit->functions.items[i]);
  for (size_t i = 0; i < unit->hand.count; i++) {
    const ink_hand *mark = &unit->hand.items[i];
    const ink_tree *tree = &mark->function->tree;
    uint32_t loop = INK_NO_NODE;
    for (uint32_t n = 0; n < tree->nodes.count && mark->kind == INK_HAND_ITER; n++) {
      const ink_node *node = &tree->nodes.items[n];
      if (node->start < mark->offset && node->end > mark->offset && ink_node_is_loop(node) && !node->in_lambda)
        loop = n; /* the innermost comes last */
    }
    if (loop != INK_NO_NODE)
      tree->nodes.items[loop].rows = tree->nodes.items[loop].rows_by_hand = true;
  }
}

/* ---- what they hold ------------------------------------------------------------------------------- */

/* The mark whose `;` is the token. */
static const ink_hand *mark_before(const ink_unit *unit, const ink_function *function, size_t token) {
  const ink_source *source = function->source;
  if (!ink_source_token_is(source, token, ";"))
    return NULL;
  for (size_t i = 0; i < unit->hand.count; i++) {
    const ink_hand *mark = &unit->hand.items[i];
    if (mark->function == function && mark->end <= source->tokens.items[token].start &&
        ink_source_skip(source, ink_source_token_at(source, mark->end)) == token)
      return mark;
  }
  return NULL;
}

static const ink_hand *mark_at(const ink_unit *unit, const ink_function *function, size_t token) {
  const ink_source *source = function->source;
  for (size_t i = 0; i < unit->hand.count && token < source->tokens.count; i++)
    if (unit->hand.items[i].function == function && unit->hand.items[i].offset == source->tokens.items[token].start)
      return &unit->hand.items[i];
  return NULL;
}

/* The token before `index` that is neither comment nor part of a directive; tokens.count: there is none. */
static size_t token_before(const ink_source *source, size_t index) {
  while (index-- > 0)
    if (source->tokens.items[index].kind != CXToken_Comment && !source->tokens.items[index].directive)
      return index;
  return source->tokens.count;
}

bool ink_hand_holds(const ink_unit *unit, const ink_function *function, uint32_t start, uint32_t end, uint32_t *line) {
  const ink_source *source = function->source;
  if (!unit->hand.count)
    return false;
  const size_t next = ink_source_skip(source, ink_source_token_at(source, end));
  const ink_hand *before = mark_before(unit, function, token_before(source, ink_source_token_at(source, start)));
  const ink_hand *after = mark_at(unit, function, next);
  uint32_t column;
  bool holds = false;
  if (!before)
    return false;
  if (after && before->kind == INK_HAND_BEGIN)
    holds = after->kind == INK_HAND_END && !strcmp(before->name, after->name);
  else if (after && before->kind == INK_HAND_SUM_BEGIN)
    holds = after->kind == INK_HAND_SUM_END && !strcmp(before->name, after->name);
  else if (before->kind == INK_HAND_SCOPE)
    holds = ink_source_token_is(source, next, "}");
  if (holds) {
    ink_source_position(source, before->offset, line, &column);
  } else if (after && after->kind == INK_HAND_MARK) {
    ink_source_position(source, after->offset, line, &column);
    holds = true;
  }
  return holds;
}

bool ink_hand_is_whole(const ink_unit *unit, const ink_function *function) {
  const ink_source *source = function->source;
  if (!unit->hand.count || function->in_macro)
    return false;
  const ink_hand *first = mark_at(unit, function, ink_source_skip(source, ink_source_token_at(source, function->body_start + 1)));
  if (!first || first->kind != INK_HAND_BEGIN)
    return first && first->kind == INK_HAND_SCOPE;
  size_t last = token_before(source, ink_source_token_at(source, function->body_end - 1));
  const size_t name = token_before(source, last), word = token_before(source, name);
  if (word < source->tokens.count && ink_source_token_is(source, word, "return")) /* `return v;` takes no time */
    last = token_before(source, word);
  const ink_hand *end = last < source->tokens.count ? mark_before(unit, function, last) : NULL;
  return end && end->kind == INK_HAND_END && !strcmp(first->name, end->name);
}

bool ink_hand_has(const ink_unit *unit, const ink_function *function, ink_hand_kind kind, uint32_t start, uint32_t end) {
  for (size_t i = 0; i < unit->hand.count; i++) {
    const ink_hand *mark = &unit->hand.items[i];
    if (mark->function == function && mark->kind == kind && mark->offset >= start && mark->offset < end)
      return true;
  }
  return false;
}

/* ---- who opens ------------------------------------------------------------------------------------ */

static uint32_t find_opener(ink_unit *unit, uint32_t from, bool *seen) {
  const ink_function *function = &unit->functions.items[from];
  seen[from] = true;
  for (uint32_t n = 0; n < function->tree.nodes.count; n++) {
    ink_function *to;
    if (function->tree.nodes.items[n].kind != CXCursor_CallExpr)
      continue;
    for (unsigned k = 0; (to = ink_called_function(unit, &function->tree, n, k)); k++) {
      const uint32_t at = (uint32_t)(to - unit->functions.items);
      if (to->kernel || seen[at])
        continue;
      if (to->opened_at)
        return at + 1;
      const uint32_t found = find_opener(unit, at, seen);
      if (found)
        return found;
    }
  }
  for (uint32_t i = 0; i < unit->functions.count; i++) /* lambdas of it */
    if (unit->functions.items[i].outer == from + 1 && unit->functions.items[i].opened_at)
      return i + 1;
  return 0;
}

uint32_t ink_hand_opener(ink_unit *unit, const ink_function *kernel) {
  bool any = false;
  for (size_t i = 0; i < unit->functions.count; i++)
    any |= unit->functions.items[i].opened_at && !unit->functions.items[i].kernel;
  if (!any || kernel->is_opened)
    return 0;
  bool *seen = calloc(unit->functions.count, sizeof *seen);
  unit->failed |= !seen;
  const uint32_t found = seen ? find_opener(unit, (uint32_t)(kernel - unit->functions.items), seen) : 0;
  free(seen);
  return found;
}
