/* SPDX-License-Identifier: MIT */
/* `template __global__ void k<4>(float *);` leaves nothing in libclang's tree that leads to the instance. The parse
 * gets, behind the source's own text, a pointer to each. */
#include "instantiations.h"

#include "bytes.h"
#include "literals.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct span {
  const char *at, *end;
} span;

typedef struct scan {
  const char *text, *at, *end;
  const char *statement; /* where the one in hand begins; NULL: at the next word */
  struct {
    span *items; /* heads of the namespaces around; at NULL: a function's or class's brace */
    size_t count, room;
  } around;
  struct {
    span *items; /* the lines of #if, #ifdef and #ifndef around; at NULL: with an #else */
    size_t count, room;
  } conditions;
  unsigned found;
  ink_bytes out;
} scan;

static bool is_word(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

static bool starts_with(const char *at, const char *end, const char *word) {
  const size_t length = strlen(word);
  return (size_t)(end - at) > length && !memcmp(at, word, length) && !is_word(at[length]);
}

/* Behind a directive, which may go on over lines. */
static const char *behind_directive(scan *state) {
  const char *word = state->at + 1;
  while (word < state->end && (*word == ' ' || *word == '\t'))
    word++;
  const char *at = word;
  while (at < state->end && (*at != '\n' || at[-1] == '\\' || (at[-1] == '\r' && at[-2] == '\\')))
    at++;
  const bool begins = starts_with(word, state->end, "if") || starts_with(word, state->end, "ifdef") || starts_with(word, state->end, "ifndef");
  if (begins && INK_I_GROW(state->conditions))
    state->conditions.items[state->conditions.count++] = (span){state->at, at};
  else if (begins)
    state->out.failed = true;
  else if (state->conditions.count && word < state->end && *word == 'e') {
    if (starts_with(word, state->end, "endif"))
      state->conditions.count--;
    else if (starts_with(word, state->end, "else") || !strncmp(word, "elif", 4))
      state->conditions.items[state->conditions.count - 1].at = NULL;
  }
  return at;
}

static bool at_line_start(const scan *state) {
  const char *at = state->at;
  while (at > state->text && (at[-1] == ' ' || at[-1] == '\t'))
    at--;
  return at == state->text || at[-1] == '\n';
}

/* Back over what brackets hold: from behind `>` or `)` to its `<` or `(`; NULL: there is none. */
static const char *back_over(const char *from, const char *behind, char open, char close) {
  int depth = 0;
  for (const char *at = behind; at-- > from;) {
    depth += *at == close;
    depth -= *at == open;
    if (!depth)
      return at;
  }
  return NULL;
}

static const char *trim_back(const char *from, const char *behind) {
  while (behind > from && isspace((unsigned char)behind[-1]))
    behind--;
  return behind;
}

/* The statement `template ... void NAME<...>(...)` that ends before the `;` in hand. */
static void write_pointer(scan *state) {
  const char *begin = state->statement, *behind = trim_back(begin, state->at);
  const char *open = behind > begin && behind[-1] == ')' ? back_over(begin, behind, '(', ')') : NULL;
  const char *name_end = open ? trim_back(begin, open) : NULL, *name = name_end;
  if (name && name > begin && name[-1] == '>')
    name = back_over(begin, name, '<', '>');
  name = name ? trim_back(begin, name) : NULL;
  while (name && name > begin && (is_word(name[-1]) || name[-1] == ':'))
    name--;
  static const char word[] = "void";
  if (!name || name == begin || name == name_end || !memmem(begin, (size_t)(name - begin), word, sizeof word - 1))
    return;
  for (size_t i = 0; i < state->around.count; i++)
    if (!state->around.items[i].at)
      return; /* in a class or function */
  for (size_t i = 0; i < state->conditions.count; i++)
    if (!state->conditions.items[i].at)
      return;
  for (size_t i = 0; i < state->conditions.count; i++) { /* what is defined at the end of the file decides */
    ink_bytes_add(&state->out, state->conditions.items[i].at,
                  (size_t)(state->conditions.items[i].end - state->conditions.items[i].at));
    ink_bytes_text(&state->out, "\n");
  }
  for (size_t i = 0; i < state->around.count; i++) {
    ink_bytes_add(&state->out, state->around.items[i].at, (size_t)(state->around.items[i].end - state->around.items[i].at));
    ink_bytes_text(&state->out, "{ ");
  }
  ink_bytes_format(&state->out, "static void (*ink_i_instance_%u)", ++state->found);
  ink_bytes_add(&state->out, open, (size_t)(behind - open));
  ink_bytes_text(&state->out, " = &");
  ink_bytes_add(&state->out, name, (size_t)(name_end - name));
  ink_bytes_text(&state->out, ";");
  for (size_t i = 0; i < state->around.count; i++)
    ink_bytes_text(&state->out, " }");
  ink_bytes_text(&state->out, "\n");
  for (size_t i = 0; i < state->conditions.count; i++)
    ink_bytes_text(&state->out, "#endif\n");
}

static void open_brace(scan *state) {
  const char *begin = state->statement ? state->statement : state->at;
  const bool named = starts_with(begin, state->at + 1, "namespace") ||
                     (starts_with(begin, state->at + 1, "inline") && memmem(begin, (size_t)(state->at - begin), "namespace", 9));
  const bool linkage = starts_with(begin, state->at + 1, "extern") && memchr(begin, '"', (size_t)(state->at - begin)) &&
                       !memchr(begin, '(', (size_t)(state->at - begin));
  if (INK_I_GROW(state->around))
    state->around.items[state->around.count++] = (span){named || linkage ? begin : NULL, state->at};
  else
    state->out.failed = true;
}

char *ink_instantiations(const char *text, size_t bytes) {
  scan state = {.text = text, .at = text, .end = text + bytes};
  if (!memmem(text, bytes, "template", 8))
    return NULL;
  while (state.at < state.end) {
    ink_literal kind;
    const char c = *state.at, *next = ink_literal_behind(state.at, state.end, &kind);
    if (kind == INK_LITERAL_TEXT || kind == INK_LITERAL_COMMENT) {
      state.at = next;
      continue;
    }
    if (c == '#' && at_line_start(&state)) {
      state.at = behind_directive(&state);
      continue;
    }
    if (!state.statement && !isspace((unsigned char)c))
      state.statement = state.at;
    if (c == ';' || c == '{' || c == '}') {
      const char *behind = state.statement + 8;
      while (behind < state.at && isspace((unsigned char)*behind))
        behind++;
      if (c == ';' && starts_with(state.statement, state.at, "template") && *behind != '<')
        write_pointer(&state);
      if (c == '{')
        open_brace(&state);
      else if (c == '}' && state.around.count)
        state.around.count--;
      state.statement = NULL;
    }
    state.at = next;
  }
  free(state.around.items);
  free(state.conditions.items);
  return state.found ? ink_bytes_take(&state.out) : (ink_bytes_free(&state.out), (char *)NULL);
}
