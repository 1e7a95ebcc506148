/* SPDX-License-Identifier: MIT */
/* What loops are called in reports: by their heads, `for k < n`, `while !done`. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

enum { MOST_SHOWN = 48 };

/* The text [start, end) with comments and breaks left out, cut where it is long. */
static void put_text(const ink_source *source, size_t first, size_t behind, char *name, size_t room) {
  size_t n = strlen(name), shown = 0;
  uint32_t before = 0;
  for (size_t i = first; i < behind; i++) {
    const ink_token *token = &source->tokens.items[i];
    if (token->kind == CXToken_Comment || token->directive)
      continue;
    const size_t gap = before && token->start > before, bytes = token->end - token->start;
    if (shown + gap + bytes > MOST_SHOWN || n + gap + bytes + 4 > room) {
      snprintf(name + n, room - n, "...");
      return;
    }
    n += (size_t)snprintf(name + n, room - n, "%s%.*s", gap ? " " : "", (int)bytes, source->text.at + token->start);
    shown += gap + bytes;
    before = token->end;
  }
}

/* The index of the token that the word is, from `at` on and before the offset; tokens.count: none. */
static size_t find_token(const ink_source *source, size_t at, uint32_t before, const char *word) {
  for (; at < source->tokens.count && source->tokens.items[at].start < before; at++)
    if (ink_source_token_is(source, at, word))
      return at;
  return source->tokens.count;
}

/* Of `(init; condition; step)`: first and behind become those of the condition; where there is none, those of all of
 * it with its parentheses. */
static void narrow_to_condition(const ink_source *source, size_t *first, size_t *behind) {
  size_t parts[3], count = 0;
  int depth = 0;
  for (size_t i = *first; i < *behind; i++) {
    if (ink_source_token_is(source, i, "(") || ink_source_token_is(source, i, "{") || ink_source_token_is(source, i, "["))
      depth++;
    else if (ink_source_token_is(source, i, ")") || ink_source_token_is(source, i, "}") ||
             ink_source_token_is(source, i, "]"))
      depth--;
    else if (!depth && ink_source_token_is(source, i, ";") && count < 3)
      parts[count++] = i;
  }
  if (count == 2 && parts[1] > parts[0] + 1) {
    *first = parts[0] + 1;
    *behind = parts[1];
  } else if (count == 2) {
    --*first;
    ++*behind;
  }
}

void ink_put_text(const ink_source *source, uint32_t start, uint32_t end, char *name, size_t room) {
  put_text(source, ink_source_token_at(source, start), ink_source_token_at(source, end), name, room);
}

void ink_loop_name(const ink_tree *tree, uint32_t at, char *name, size_t room) {
  const ink_source *source = tree->source;
  const ink_node *node = &tree->nodes.items[at];
  const bool is_do = node->kind == CXCursor_DoStmt;
  const char *word = is_do || node->kind == CXCursor_WhileStmt ? "while" : "for";
  snprintf(name, room, "%s%s", is_do ? "do " : "", word);
  size_t from = ink_source_token_at(source, node->start);
  if (node->in_macro) { /* the macro's use, if that is all of it */
    const size_t behind = ink_source_token_is(source, from + 1, "(") ? ink_source_match(source, from + 1) : from;
    if (ink_macro_statement_end(tree, at) && behind < source->tokens.count) {
      name[0] = 0;
      put_text(source, from, behind + 1, name, room);
    }
    return;
  }
  if (is_do && node->first != INK_NO_NODE)
    from = ink_source_token_at(source, tree->nodes.items[node->first].end);
  size_t key = find_token(source, from, node->end, word);
  const size_t open = find_token(source, from, node->end, "(");
  if (key > open || open == source->tokens.count) { /* a macro makes the head: its use is the name */
    if (open == source->tokens.count || is_do)
      return;
    name[0] = 0;
    const size_t close = ink_source_match(source, open);
    if (close < source->tokens.count)
      put_text(source, from, close + 1, name, room);
    return;
  }
  const size_t close = ink_source_match(source, open);
  size_t first = open + 1, behind = close;
  if (close >= source->tokens.count)
    return;
  if (node->kind == CXCursor_ForStmt)
    narrow_to_condition(source, &first, &behind);
  if (room > strlen(name) + 2)
    strcat(name, " ");
  put_text(source, first, behind, name, room);
}
