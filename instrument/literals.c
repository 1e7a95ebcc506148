/* SPDX-License-Identifier: MIT */
/* Strings, characters and comments of a text may hold what looks like ours. There its first character is exchanged
 * for a control character while the text is searched for markers and words, and given back behind that. */
#include "literals.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char *text;
  char hidden;
} looks[] = {{"/*ink", 1}, {"/* ink", 1}, {"// inkmark rewriter", 1}, {"INK_", 2}, {"PROF_", 3}};

static bool begins(const char *at, const char *end, const char *what) {
  const size_t length = strlen(what);
  return (size_t)(end - at) >= length && !memcmp(at, what, length);
}

static void hide(char *at, char *end) {
  for (; at < end; at++)
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++)
      if (begins(at, end, looks[i].text))
        *at = looks[i].hidden;
}

void ink_literals_show(char *text, size_t bytes) {
  for (char *at = text, *end = text + bytes; at < end; at++)
    for (size_t i = 0; i < sizeof looks / sizeof *looks && *at > 0 && *at < 4; i++)
      if (*at == looks[i].hidden && begins(at + 1, end, looks[i].text + 1))
        *at = looks[i].text[0];
}

/* Behind the string or character that the quote at `at` begins; it ends with its line at the latest. */
static const char *behind_quoted(const char *at, const char *end) {
  const char quote = *at;
  for (at++; at < end && *at != quote && *at != '\n'; at++)
    if (*at == '\\' && at + 1 < end) {
      at++;
      if (*at == '\r' && at + 1 < end && at[1] == '\n')
        at++;
    }
  return at < end ? at + (*at == quote) : end;
}

/* The same for R"x(...)x", whose quote is at `at`. */
static const char *behind_raw(const char *at, const char *end) {
  const char *from = at + 1, *open = from;
  char tail[20];
  while (open < end && open - from < 16 && !strchr("()\\ \t\r\n\"", *open))
    open++;
  if (open == end || *open != '(')
    return behind_quoted(at, end);
  const size_t length = (size_t)(open - from);
  tail[0] = ')';
  memcpy(tail + 1, from, length);
  tail[length + 1] = '"';
  const char *found = memmem(open, (size_t)(end - open), tail, length + 2);
  return found ? found + length + 2 : end;
}

static const char *behind_comment(const char *at, const char *end) {
  const char *to = at + 2;
  if (at[1] == '*') {
    to = memmem(to, (size_t)(end - to), "*/", 2);
    return to ? to + 2 : end;
  }
  for (; to < end && *to != '\n'; to++)
    if (*to == '\\' && to + 1 < end)
      to += to[1] == '\n' ? 1 : to + 2 < end && to[1] == '\r' && to[2] == '\n' ? 2 : 0;
  return to;
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Behind the word or number at `at`; *raw: it is the R of a raw string. */
static const char *behind_word(const char *at, const char *end, bool *raw) {
  const char *from = at;
  const bool number = isdigit((unsigned char)*at) != 0;
  while (at < end && (is_word(*at) || (number && (*at == '.' || (*at == '\'' && at + 1 < end && is_word(at[1]))))))
    at++;
  const size_t length = (size_t)(at - from);
  *raw = at < end && *at == '"' && length <= 3 && at[-1] == 'R' &&
         (length == 1 || (length == 2 && strchr("uUL", *from)) || (length == 3 && from[0] == 'u' && from[1] == '8'));
  return at;
}

/* Behind the `>` of an #include whose name stands in `<>`: nothing in it begins a comment. NULL: it is none. */
static const char *behind_include(const char *at, const char *end) {
  static const char *const words[] = {"include_next", "include", "import"};
  do
    at++;
  while (at < end && (*at == ' ' || *at == '\t'));
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (begins(at, end, words[i])) {
      at += strlen(words[i]);
      while (at < end && (*at == ' ' || *at == '\t'))
        at++;
      const char *line = at < end && *at == '<' ? memchr(at, '\n', (size_t)(end - at)) : at;
      const char *to = memchr(at, '>', (size_t)((line ? line : end) - at));
      return to ? to + 1 : NULL;
    }
  return NULL;
}

const char *ink_literal_behind(const char *at, const char *end, ink_literal *kind) {
  bool raw = false;
  *kind = INK_LITERAL_NONE;
  const char *included = *at == '#' ? behind_include(at, end) : NULL;
  if (included) {
    *kind = INK_LITERAL_TEXT;
    return included;
  }
  if (is_word(*at)) {
    const char *behind = behind_word(at, end, &raw);
    *kind = raw ? INK_LITERAL_TEXT : INK_LITERAL_WORD;
    return raw ? behind_raw(behind, end) : behind;
  }
  if (*at == '"' || *at == '\'') {
    *kind = INK_LITERAL_TEXT;
    return behind_quoted(at, end);
  }
  if (begins(at, end, "/*") || begins(at, end, "//")) {
    *kind = INK_LITERAL_COMMENT;
    return behind_comment(at, end);
  }
  return at + 1;
}

char *ink_literals_hide(const char *text, size_t bytes) {
  char *copy = malloc(bytes + 1);
  if (!copy)
    return NULL;
  memcpy(copy, text, bytes);
  copy[bytes] = 0;
  for (const char *at = text, *end = text + bytes; at < end;) {
    ink_literal kind;
    const char *behind = ink_literal_behind(at, end, &kind);
    if (kind == INK_LITERAL_TEXT || kind == INK_LITERAL_COMMENT) /* the begin of a comment may be a marker's */
      hide(copy + (at - text) + 2 * (kind == INK_LITERAL_COMMENT), copy + (behind - text));
    at = behind;
  }
  return copy;
}
