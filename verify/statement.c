/* SPDX-License-Identifier: MIT */
/* Which lines a statement covers, by the text of its file: a mark inside of an expression has the line at
 * which the assembler's table puts it, while its clock is read somewhere between the first and the last
 * line of the statement around it. */
#include "verify_private.h"

#include <stdlib.h>
#include <string.h>

static uint32_t count_lines(const char *text) {
  uint32_t lines = 1;
  for (const char *at = strchr(text, '\n'); at; at = strchr(at + 1, '\n'))
    lines++;
  return lines;
}

/* Every line from `first` to `last` is touched by a statement that covers just these. */
static void cover(v_lines *lines, uint32_t first, uint32_t last) {
  for (uint32_t line = first; line <= last && line <= lines->count; line++) {
    uint32_t *of = lines->of[line];
    of[0] = of[0] && of[0] < first ? of[0] : first;
    of[1] = of[1] > last ? of[1] : last;
  }
}

/* Behind a string or a character, or at the end of its line where it has none. */
static const char *skip_quoted(const char *at) {
  const char quote = *at++;
  for (; *at && *at != quote && *at != '\n'; at++)
    at += *at == '\\' && at[1] && at[1] != '\n';
  return *at == quote ? at : at - 1;
}

static bool is_digit_separator(const char *text, const char *at) {
  return *at == '\'' && at > text && strchr("0123456789abcdefABCDEF", at[-1]) && at[1] &&
         strchr("0123456789abcdefABCDEF", at[1]);
}

/* Statements end at `;`, `{` and `}` that stand in no parenthesis; a line of the preprocessor is one. */
bool ink_v_scan_statements(const char *text, v_lines *out) {
  uint32_t line = 1, first = 0;
  long depth = 0;
  out->count = count_lines(text);
  out->of = calloc((size_t)out->count + 1, sizeof *out->of);
  if (!out->of)
    return false;
  bool line_begins = true;
  for (const char *at = text; *at; at++) {
    if (*at == '\n') {
      line++;
      line_begins = true;
      continue;
    }
    if (*at == ' ' || *at == '\t' || *at == '\r')
      continue;
    if (*at == '#' && line_begins) {
      const char *end = at + strcspn(at, "\n");
      while (*end && end[-1] == '\\') {
        line++;
        end += 1 + strcspn(end + 1, "\n");
      }
      at = end - 1;
      continue;
    }
    line_begins = false;
    first = first ? first : line;
    if ((*at == '"' || *at == '\'') && !is_digit_separator(text, at))
      at = skip_quoted(at);
    else if (*at == '(' || *at == '[')
      depth++;
    else if (*at == ')' || *at == ']')
      depth -= depth > 0;
    else if (!depth && (*at == ';' || *at == '{' || *at == '}')) {
      cover(out, first, line);
      first = 0;
    }
  }
  return true;
}

void ink_v_statement(const ink_verify *v, uint32_t file, uint32_t line, uint32_t *first,
                     uint32_t *last) {
  const v_lines *lines = v->lines ? &v->lines[file] : NULL;
  const bool known = lines && lines->of && line <= lines->count && lines->of[line][0];
  *first = known ? lines->of[line][0] : line;
  *last = known ? lines->of[line][1] : line;
}
