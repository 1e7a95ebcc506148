/* SPDX-License-Identifier: MIT */
/* Strings, characters and comments of a text may hold what looks like ours. There its first character is exchanged
 * for a control character while the text is searched for markers and words, and given back behind that. */
#include "edits.h"

#include <ctype.h>
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
static char *behind_quoted(char *at, char *end) {
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
static char *behind_raw(char *at, char *end) {
  char *from = at + 1, *open = from, tail[20];
  while (open < end && open - from < 16 && !strchr("()\\ \t\r\n\"", *open))
    open++;
  if (open == end || *open != '(')
    return behind_quoted(at, end);
  const size_t length = (size_t)(open - from);
  tail[0] = ')';
  memcpy(tail + 1, from, length);
  tail[length + 1] = '"';
  char *found = memmem(open, (size_t)(end - open), tail, length + 2);
  return found ? found + length + 2 : end;
}

/* Behind the comment at `at`, whose begin is not hidden. */
static char *behind_comment(char *at, char *end) {
  char *from = at + 2, *to;
  if (at[1] == '*') {
    to = memmem(from, (size_t)(end - from), "*/", 2);
    to = to ? to + 2 : end;
  } else {
    for (to = from; to < end && *to != '\n'; to++)
      if (*to == '\\' && to + 1 < end)
        to += to[1] == '\n' ? 1 : to + 2 < end && to[1] == '\r' && to[2] == '\n' ? 2 : 0;
  }
  hide(from, to);
  return to;
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Behind the word or number at `at`; *raw: it is the R of a raw string. */
static char *behind_word(char *at, char *end, bool *raw) {
  char *from = at;
  const bool number = isdigit((unsigned char)*at) != 0;
  while (at < end && (is_word(*at) || (number && (*at == '.' || (*at == '\'' && at + 1 < end && is_word(at[1]))))))
    at++;
  const size_t length = (size_t)(at - from);
  *raw = at < end && *at == '"' && length <= 3 && at[-1] == 'R' &&
         (length == 1 || (length == 2 && strchr("uUL", *from)) || (length == 3 && from[0] == 'u' && from[1] == '8'));
  return at;
}

char *ink_literals_hide(const char *text, size_t bytes) {
  char *copy = malloc(bytes + 1);
  if (!copy)
    return NULL;
  memcpy(copy, text, bytes);
  copy[bytes] = 0;
  for (char *at = copy, *end = copy + bytes; at < end;) {
    bool raw = false;
    if (is_word(*at)) {
      at = behind_word(at, end, &raw);
      if (!raw)
        continue;
    }
    if (*at == '"' || *at == '\'') {
      char *behind = raw ? behind_raw(at, end) : behind_quoted(at, end);
      hide(at, behind);
      at = behind;
    } else if (begins(at, end, "/*") || begins(at, end, "//")) {
      at = behind_comment(at, end);
    } else {
      at++;
    }
  }
  return copy;
}
