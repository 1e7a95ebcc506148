/* SPDX-License-Identifier: MIT */
/* What the text of a file says of its lines. Which lines a statement covers: a mark inside of an expression has the line
 * at which the assembler's table puts it, while its clock is read somewhere between the first and the last line of the
 * statement around it. Whether it computes, and in which branch of #if it stands. */
#include "verify_private.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static uint32_t count_lines(const char *text) {
  uint32_t lines = 1;
  for (const char *at = strchr(text, '\n'); at; at = strchr(at + 1, '\n'))
    lines++;
  return lines;
}

/* Every line from `first` to `last` is touched by a statement that covers just these. */
static void cover(v_lines *lines, uint32_t first, uint32_t last, bool assigns) {
  for (uint32_t line = first; line <= last && line <= lines->count; line++) {
    v_line *of = &lines->of[line];
    of->first = of->first && of->first < first ? of->first : first;
    of->last = of->last > last ? of->last : last;
    of->assigns = of->assigns || assigns;
  }
}

/* ---- does a statement compute? ---- */

static bool is_word_char(char c) { return isalnum((unsigned char)c) || c == '_'; }

static bool begins_with(const char *at, const char *word) {
  const size_t n = strlen(word);
  return strncmp(at, word, n) == 0 && !is_word_char(at[n]);
}

/* An operator on values, or a call, between `at` and `end`. */
static bool computes(const char *at, const char *end) {
  bool value = false; /* behind a value: what follows is binary */
  for (; at < end; at++) {
    if (is_word_char(*at)) {
      while (at + 1 < end && is_word_char(at[1]))
        at++;
      value = true;
      continue;
    }
    if (*at == '(' && value)
      return true;
    if (strchr("+-*/%&|^?", *at) && value)
      return true;
    if (at + 1 < end && (*at == '<' || *at == '>') && at[1] == *at)
      return true;
    if (*at == '~')
      return true;
    if (*at == ')' || *at == ']')
      value = true;
    else if (*at != ' ' && *at != '\t' && *at != '\n' && *at != '.' && *at != ':')
      value = false;
  }
  return false;
}

/* `x = a * b`, `x += a`, `float x = f(a)`; not the sum of a pointer, a constant, the head of a loop or of a branch. */
static bool is_assignment(const char *at, const char *end) {
  static const char *const others[] = {"for", "while", "if", "switch", "return", "using", "typedef", "static", "constexpr",
                                       "extern", "const static", "__shared__", "template", "struct", "else", NULL};
  while (at < end && isspace((unsigned char)*at))
    at++;
  for (const char *const *word = others; *word; word++)
    if (begins_with(at, *word))
      return false;
  long depth = 0;
  for (const char *p = at; p < end; p++) {
    depth += *p == '(' || *p == '[' ? 1 : *p == ')' || *p == ']' ? -1 : 0;
    if (*p != '=' || depth || p == at || p + 1 >= end)
      continue;
    if (p[1] == '=' || strchr("=!<>", p[-1]))
      return strchr("<>", p[-1]) && p - at > 1 && p[-2] == p[-1]; /* <<=, >>= */
    if (strchr("+-*/%&|^", p[-1]))
      return true;
    const char *name = p;
    while (name > at && isspace((unsigned char)name[-1]))
      name--;
    while (name > at && is_word_char(name[-1]))
      name--;
    while (name > at && isspace((unsigned char)name[-1]))
      name--;
    const bool pointer = name > at && (name[-1] == '*' || name[-1] == '&') && name - 1 > at;
    return !pointer && computes(p + 1, end);
  }
  return false;
}

/* ---- statements ---- */

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

/* #if, #ifdef, #ifndef begin a branch, #elif and #else another, #endif ends it. */
typedef struct branches {
  uint32_t open[64], depth, made;
} branches;

static void read_directive(branches *b, const char *at) {
  at += 1 + strspn(at + 1, " \t");
  if (strncmp(at, "if", 2) == 0) {
    if (b->depth < sizeof b->open / sizeof *b->open)
      b->open[b->depth] = ++b->made;
    b->depth++;
  } else if (strncmp(at, "endif", 5) == 0) {
    b->depth -= b->depth > 0;
  } else if (strncmp(at, "el", 2) == 0 && b->depth && b->depth <= sizeof b->open / sizeof *b->open) {
    b->open[b->depth - 1] = ++b->made;
  }
}

static void begin_line(v_lines *out, const branches *b, uint32_t line) {
  if (line <= out->count && b->depth && b->depth <= sizeof b->open / sizeof *b->open)
    out->of[line].branch = b->open[b->depth - 1];
}

/* Statements end at `;`, `{` and `}` that stand in no parenthesis; a line of the preprocessor is one. */
bool ink_v_scan_statements(const char *text, v_lines *out) {
  uint32_t line = 1, first = 0;
  const char *begin = text;
  branches open = {.depth = 0};
  long depth = 0;
  out->count = count_lines(text);
  out->of = calloc((size_t)out->count + 1, sizeof *out->of);
  if (!out->of)
    return false;
  bool line_begins = true, head = false;
  for (const char *at = text; *at; at++) {
    if (*at == '\n') {
      begin_line(out, &open, ++line);
      line_begins = true;
      continue;
    }
    if (*at == ' ' || *at == '\t' || *at == '\r')
      continue;
    if (*at == '#' && line_begins) {
      read_directive(&open, at);
      out->of[line].turns = true;
      const char *end = at + strcspn(at, "\n");
      while (*end && end[-1] == '\\') {
        begin_line(out, &open, ++line);
        end += 1 + strcspn(end + 1, "\n");
      }
      at = end - 1;
      continue;
    }
    line_begins = false;
    if (!first) {
      begin = at;
      first = line;
      head = begins_with(at, "for") || begins_with(at, "while");
    }
    if ((*at == '"' || *at == '\'') && !is_digit_separator(text, at))
      at = skip_quoted(at);
    else if (*at == '(' || *at == '[')
      depth++;
    else if (*at == ')' || *at == ']') {
      depth -= depth > 0;
      for (uint32_t of = first; head && !depth && of <= line; of++)
        out->of[of].loop = true;
      head = head && depth;
    } else if (!depth && (*at == ';' || *at == '{' || *at == '}')) {
      cover(out, first, line, *at == ';' && is_assignment(begin, at));
      out->of[line].turns = out->of[line].turns || *at != ';';
      first = 0;
    } else if (!depth && *at == '?') {
      out->of[line].turns = true; /* one side only may be run */
    }
  }
  return true;
}

void ink_v_statement(const ink_verify *v, uint32_t file, uint32_t line, uint32_t *first,
                     uint32_t *last) {
  const v_lines *lines = v->lines ? &v->lines[file] : NULL;
  const bool known = lines && lines->of && line <= lines->count && lines->of[line].first;
  *first = known ? lines->of[line].first : line;
  *last = known ? lines->of[line].last : line;
}
