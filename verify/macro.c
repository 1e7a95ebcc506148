/* SPDX-License-Identifier: MIT */
/* Macros of the user's own that make marks: the text of a call has no PROF_ word, and the assembler's line table mixes up
 * neighbours. So the bodies of #define are kept where they have marks, and each call is read as the marks that it becomes. */
#include "verify_private.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { PARAMETERS = 16, DEPTH = 6 };

struct v_macro {
  char *name, *body; /* the body in one line, without do { } while (0) around it */
  bool is_call;      /* NAME(...), where a bare NAME is no use */
  uint32_t count;
  char *parameters[PARAMETERS];
};

typedef struct argument {
  const char *text;
  size_t bytes;
} argument;

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\\'; }

static argument trimmed(const char *text, size_t bytes) {
  while (bytes && is_space(*text)) {
    text++;
    bytes--;
  }
  while (bytes && is_space(text[bytes - 1]))
    bytes--;
  return (argument){text, bytes};
}

static bool is_text(const argument *a, const char *text) {
  return strlen(text) == a->bytes && memcmp(a->text, text, a->bytes) == 0;
}

/* The arguments between the parenthesis at `open` and its other one; how many. *behind is NULL where there is none. */
static uint32_t split(const char *open, argument *to, const char **behind) {
  uint32_t count = 0;
  long depth = 0;
  const char *from = open + 1;
  *behind = NULL;
  for (const char *at = open; *at; at++) {
    depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
    if (depth == 0)
      *behind = at + 1;
    if ((depth == 0 || (*at == ',' && depth == 1)) && count < PARAMETERS) {
      to[count++] = trimmed(from, (size_t)(at - from));
      from = at + 1;
    }
    if (depth == 0)
      break;
  }
  return count;
}

/* do { body } while (0) */
static argument without_braces(argument a) {
  if (a.bytes < 14 || memcmp(a.text, "do", 2) != 0)
    return a;
  argument inner = trimmed(a.text + 2, a.bytes - 2);
  const char *close = memrchr(inner.text, '}', inner.bytes);
  if (!inner.bytes || *inner.text != '{' || !close)
    return a;
  const argument rest = trimmed(close + 1, (size_t)(inner.text + inner.bytes - close - 1));
  return rest.bytes > 5 && memcmp(rest.text, "while", 5) == 0 ? trimmed(inner.text + 1, (size_t)(close - inner.text - 1)) : a;
}

static const struct v_macro *find(const ink_verify *v, const char *word, size_t bytes, const struct v_macro *after) {
  const size_t from = after ? (size_t)(after - v->macros) + 1 : 0;
  for (size_t i = from; i < v->macro_count; i++)
    if (strlen(v->macros[i].name) == bytes && memcmp(v->macros[i].name, word, bytes) == 0)
      return &v->macros[i];
  return NULL;
}

/* Does the text name a mark, or a macro that does? */
static bool has_marks(const ink_verify *v, argument body) {
  for (size_t i = 0; i < body.bytes; i++) {
    size_t n = 0;
    while (i + n < body.bytes && is_word(body.text[i + n]))
      n++;
    if (n && (ink_v_mark_macro(body.text + i, n) != SIZE_MAX || find(v, body.text + i, n, NULL)))
      return true;
    i += n ? n - 1 : 0;
  }
  return false;
}

static bool keep(ink_verify *v, argument name, const argument *parameters, uint32_t count, bool is_call, argument body) {
  if (!ink_v_room((void **)&v->macros, v->macro_count, &v->macro_room, sizeof *v->macros))
    return false;
  struct v_macro m = {.name = ink_v_keep(v, strndup(name.text, name.bytes)), .is_call = is_call, .count = count};
  char *copy = strndup(body.text, body.bytes);
  for (char *at = copy; at && *at; at++)
    *at = is_space(*at) ? ' ' : *at;
  const argument inner = without_braces(trimmed(copy ? copy : "", copy ? strlen(copy) : 0));
  m.body = copy ? ink_v_keep(v, strndup(inner.text, inner.bytes)) : NULL;
  free(copy);
  for (uint32_t i = 0; i < count; i++)
    if (!(m.parameters[i] = ink_v_keep(v, strndup(parameters[i].text, parameters[i].bytes))))
      return false;
  v->macros[v->macro_count++] = m;
  return m.name && m.body;
}

/* The end of a directive: a newline without a backslash in front. */
static char *end_of_directive(char *at) {
  for (; *at; at++)
    if (*at == '\n') {
      const char *before = at - 1;
      before -= *before == '\r';
      if (*before != '\\')
        break;
    }
  return at;
}

static bool read_define(ink_verify *v, char *at, char *end) {
  argument parameters[PARAMETERS] = {{0}};
  uint32_t count = 0;
  at += strspn(at, " \t");
  char *stop = at;
  while (is_word(*stop))
    stop++;
  const argument name = {at, (size_t)(stop - at)};
  const bool is_call = *stop == '(';
  const char *behind = stop;
  if (is_call)
    count = split(stop, parameters, &behind);
  if (!name.bytes || !behind || behind > end)
    return true;
  const argument body = trimmed(behind, (size_t)(end - behind));
  if (!has_marks(v, body))
    return true;
  if (!keep(v, name, parameters, count, is_call, body))
    return false;
  for (char *blank = stop; blank < end; blank++) /* no mark stands here */
    *blank = *blank == '\n' ? '\n' : ' ';
  return true;
}

bool ink_v_collect_macros(ink_verify *v, char *text) {
  bool fresh = true; /* at the beginning of a line */
  for (char *at = text; *at; at++) {
    if (*at == '#' && fresh) {
      char *word = at + 1 + strspn(at + 1, " \t"), *end = end_of_directive(at);
      if (strncmp(word, "define", 6) == 0 && (word[6] == ' ' || word[6] == '\t') && !read_define(v, word + 6, end))
        return false;
      at = end;
      if (!*at)
        break;
    }
    fresh = *at == '\n' || (fresh && (*at == ' ' || *at == '\t'));
  }
  return true;
}

/* What the word of a body stands for. */
static argument substituted(const struct v_macro *m, const argument *arguments, uint32_t count, argument word) {
  for (uint32_t i = 0; i < m->count && i < count; i++)
    if (is_text(&word, m->parameters[i]))
      return arguments[i];
  return word;
}

/* The marks of one body. `side`: of the call's line: as v_mark has it; `alone`: it has no other text. */
static bool expand(ink_verify *v, const v_use *use, const struct v_macro *m, const argument *arguments, uint32_t count, int depth) {
  const char *body = m->body;
  for (const char *at = body; *at; at++) {
    const char *end = at;
    while (is_word(*end))
      end++;
    if (end == at)
      continue;
    const size_t mark = ink_v_mark_macro(at, (size_t)(end - at));
    const char *open = end + strspn(end, " "), *behind;
    argument inner[PARAMETERS];
    if (mark != SIZE_MAX && *open == '(') {
      size_t bytes;
      const char *name = ink_v_first_argument(open, &bytes);
      const argument real = substituted(m, arguments, count, (argument){name, bytes});
      const int side = ink_v_side_of(body, at, open), own = ink_v_is_alone(body, at, open) ? use->side : use->alone ? side : 0;
      if (!ink_v_keep_mark(v, use->file, use->line, mark, real.text, real.bytes, own, true))
        return false;
    }
    for (const struct v_macro *o = find(v, at, (size_t)(end - at), NULL); o && mark == SIZE_MAX; o = find(v, at, (size_t)(end - at), o)) {
      const uint32_t n = o->is_call && *open == '(' ? split(open, inner, &behind) : 0;
      for (uint32_t i = 0; i < n; i++)
        inner[i] = substituted(m, arguments, count, inner[i]);
      const v_use nested = {use->file, use->line, 0, use->alone && ink_v_is_alone(body, at, open)};
      if (o != m && depth < DEPTH && (!o->is_call || *open == '(') && !expand(v, &nested, o, inner, n, depth + 1))
        return false;
    }
    at = end - 1;
  }
  return true;
}

bool ink_v_expand_macro(ink_verify *v, uint32_t file, uint32_t line, const char *text, const char *at, const char *end) {
  const char *open = end + strspn(end, " \t\r\n");
  for (const struct v_macro *m = find(v, at, (size_t)(end - at), NULL); m; m = find(v, at, (size_t)(end - at), m)) {
    argument arguments[PARAMETERS];
    const char *behind = NULL;
    const uint32_t count = m->is_call && *open == '(' ? split(open, arguments, &behind) : 0;
    if (m->is_call && !behind)
      continue;
    const char *last = behind ? open : end - 1;
    const v_use use = {file, line, ink_v_side_of(text, at, last), ink_v_is_alone(text, at, last)};
    if (!expand(v, &use, m, arguments, count, 0))
      return false;
  }
  return true;
}
