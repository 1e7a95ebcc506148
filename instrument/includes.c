/* SPDX-License-Identifier: MIT */
/* Finds out whether a text includes our device headers. */
#include "inkmark/instrument.h"

#include <string.h>

static const char *skip_blanks(const char *at, const char *end) {
  while (at < end && (*at == ' ' || *at == '\t'))
    at++;
  return at;
}

bool ink_includes_marks(const char *text, size_t bytes) {
  static const char folder[] = "inkmark/", word[] = "include";
  const char *end = text + bytes;
  for (const char *line = text; line && line < end;) {
    const char *at = skip_blanks(line, end);
    line = memchr(line, '\n', (size_t)(end - line));
    line = line ? line + 1 : end;
    if (at == end || *at != '#')
      continue;
    at = skip_blanks(at + 1, line);
    if ((size_t)(line - at) < sizeof word || memcmp(at, word, sizeof word - 1))
      continue;
    at = skip_blanks(at + sizeof word - 1, line);
    if ((size_t)(line - at) > sizeof folder && (*at == '"' || *at == '<') &&
        !memcmp(at + 1, folder, sizeof folder - 1))
      return true;
  }
  return false;
}
