/* SPDX-License-Identifier: MIT */
/* Kernels that the text has and the parse has not, because of errors in it or of a condition that names clang, and kernels
 * with errors inside: what is missing there is said where it is. Also kernels in headers that are not taken for the project's. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static bool is_skipped(const ink_source *source, uint32_t offset) {
  for (size_t i = 0; i < source->skipped.count; i++)
    if (offset >= source->skipped.items[i].start && offset < source->skipped.items[i].end)
      return true;
  return false;
}

/* From `__global__` on: the `{` of its body, or 0 where it is a declaration; *name is the last word before an
 * outermost parenthesis. */
static uint32_t body_behind(const ink_source *source, size_t token, const ink_token **name) {
  int depth = 0;
  *name = NULL;
  for (size_t i = token + 1; i < source->tokens.count; i++) {
    const ink_token *at = &source->tokens.items[i];
    if (at->directive || at->kind != CXToken_Punctuation)
      continue;
    const char c = at->end - at->start == 1 ? source->text.at[at->start] : 0;
    if (c == '(' && !depth++ && source->tokens.items[i - 1].kind == CXToken_Identifier)
      *name = &source->tokens.items[i - 1];
    depth -= c == ')';
    if (!depth && c == ';')
      return 0;
    if (!depth && c == '{')
      return at->start;
  }
  return 0;
}

static bool is_known(const ink_unit *unit, const ink_source *source, uint32_t from, uint32_t body) {
  for (size_t i = 0; i < unit->functions.count; i++) {
    const ink_function *function = &unit->functions.items[i];
    if (function->source == source && function->kernel &&
        (function->body_start == body || (function->start <= from && from < function->body_end)))
      return true;
  }
  return false;
}

static void say_hidden(ink_unit *unit, ink_source *source) {
  for (size_t i = 0; i < source->tokens.count; i++) {
    const ink_token *name, *token = &source->tokens.items[i];
    if (token->directive || !ink_source_token_is(source, i, "__global__") || is_skipped(source, token->start))
      continue;
    const uint32_t body = body_behind(source, i, &name);
    if (body && name && !is_known(unit, source, token->start, body))
      ink_unit_say(unit, source, token->start, "warning: the kernel '%.*s' is not seen, because of errors in the parse",
                   (int)(name->end - name->start), source->text.at + name->start);
  }
}

/* ---- conditions that are others for clang than for nvcc ---- */

enum { MOST_CONDITIONS = 64 };

static const char *skip_blanks(const char *at, const char *end) {
  while (at < end && (*at == ' ' || *at == '\t'))
    at++;
  return at;
}

static bool begins(const char *at, const char *end, const char *word) {
  return (size_t)(end - at) >= strlen(word) && !memcmp(at, word, strlen(word));
}

/* The innermost conditional that is open behind the line of `offset`: does a condition of it name a macro of clang's? */
static bool names_clang(const ink_source *source, uint32_t offset) {
  static const char macro[] = "__clang";
  bool names[MOST_CONDITIONS] = {false};
  unsigned depth = 0;
  const char *end = source->text.at + source->text.count, *until = source->text.at + offset;
  for (const char *line = source->text.at, *next; line && line <= until && line < end; line = next) {
    const char *stop = memchr(line, '\n', (size_t)(end - line));
    next = stop ? stop + 1 : end;
    const char *at = skip_blanks(line, next);
    if (at == next || *at != '#')
      continue;
    at = skip_blanks(at + 1, next);
    const bool named = memmem(at, (size_t)(next - at), macro, sizeof macro - 1) != NULL;
    if (begins(at, next, "if")) {
      if (depth++ < MOST_CONDITIONS)
        names[depth - 1] = named;
    } else if (begins(at, next, "endif")) {
      depth -= depth > 0;
    } else if (begins(at, next, "el") && depth && depth <= MOST_CONDITIONS) {
      names[depth - 1] |= named;
    }
  }
  return depth && depth <= MOST_CONDITIONS && names[depth - 1];
}

static void say_other_compiler(ink_unit *unit, ink_source *source) {
  for (size_t s = 0; s < source->skipped.count; s++) {
    const ink_span *span = &source->skipped.items[s];
    bool looked = false;
    for (size_t i = 0; i < source->tokens.count; i++) {
      const ink_token *name, *token = &source->tokens.items[i];
      if (token->start < span->start || token->start >= span->end || token->directive ||
          !ink_source_token_is(source, i, "__global__"))
        continue;
      if (!looked && !names_clang(source, span->start))
        break;
      looked = true;
      if (body_behind(source, i, &name) && name)
        ink_unit_say(unit, source, token->start,
                     "warning: the kernel '%.*s' is not seen: a condition around it names clang, with which it is parsed; nvcc may compile it",
                     (int)(name->end - name->start), source->text.at + name->start);
    }
  }
}

/* The function of ours that an error lies in; NULL: none. */
static ink_function *function_of(ink_unit *unit, CXSourceLocation location) {
  CXFile file;
  unsigned offset;
  clang_getExpansionLocation(location, &file, NULL, NULL, &offset);
  const ink_source *source = ink_unit_source(unit, file);
  for (size_t i = 0; source && i < unit->functions.count; i++) {
    ink_function *function = &unit->functions.items[i];
    if (function->source == source && function->body_start <= offset && offset < function->body_end)
      return function;
  }
  return NULL;
}

static void say_errors_inside(ink_unit *unit) {
  unsigned *counts = calloc(unit->functions.count + 1, sizeof *counts);
  unit->failed |= !counts;
  for (unsigned i = 0, n = clang_getNumDiagnostics(unit->tu); counts && i < n; i++) {
    CXDiagnostic diagnostic = clang_getDiagnostic(unit->tu, i);
    const ink_function *function = clang_getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error
                                       ? function_of(unit, clang_getDiagnosticLocation(diagnostic))
                                       : NULL;
    if (function && ink_unit_complaint_matters(unit, diagnostic))
      counts[function - unit->functions.items]++;
    clang_disposeDiagnostic(diagnostic);
  }
  for (size_t i = 0; counts && i < unit->functions.count; i++) {
    const ink_function *function = &unit->functions.items[i];
    if (counts[i] && function->calls_deep >= 0)
      ink_unit_say(unit, function->source, function->start,
                   "warning: %u error%s of the parse in '%s': calls and loops of it may be missing", counts[i],
                   counts[i] == 1 ? "" : "s", function->name);
  }
  free(counts);
}

/* Told in the source itself: the other file is none of ours to point into. */
static void say_outside(ink_unit *unit) {
  for (size_t i = 0; i < unit->sources.count; i++) {
    const ink_source *source = unit->sources.items[i];
    if (source->is_joined)
      ink_unit_say(unit, unit->sources.items[0], 0, "'%s' is marked too: all kernels are there, outside of the root '%s'",
                   source->shown, unit->root ? unit->root : "");
    else if (source->kernels_outside)
      ink_unit_say(unit, unit->sources.items[0], 0, "%u kernel%s of '%s' %s left: the file is outside of the root '%s' (--root)",
                   source->kernels_outside, source->kernels_outside == 1 ? "" : "s", source->shown,
                   source->kernels_outside == 1 ? "is" : "are", unit->root ? unit->root : "");
  }
}

void ink_unit_hidden_remarks(ink_unit *unit) {
  say_outside(unit);
  for (size_t i = 0; i < unit->sources.count; i++)
    if (unit->sources.items[i]->is_project)
      say_other_compiler(unit, unit->sources.items[i]);
  if (!unit->parse_errors)
    return;
  for (size_t i = 0; i < unit->sources.count; i++)
    if (unit->sources.items[i]->is_project)
      say_hidden(unit, unit->sources.items[i]);
  say_errors_inside(unit);
}
