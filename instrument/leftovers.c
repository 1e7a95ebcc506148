/* SPDX-License-Identifier: MIT */
/* Finds what the rewriter put in by its words: no name of these is used by hand. */
#include "leftovers.h"

#include "edits.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char left[] = "what stands here was put in, but its markers are damaged or gone";
static const char unpaired[] =
    "a bracket that was put in here has no other one: the markers of that are damaged or gone";

void ink_taken_keep(ink_taken *taken, const char *from, const char *to) {
  if (from < to && INK_I_GROW(taken->kept))
    taken->kept.items[taken->kept.count++] = (ink_piece){from, to};
  else
    taken->failed |= from < to;
}

void ink_taken_free(ink_taken *taken) {
  ink_bytes_free(&taken->table);
  free(taken->kept.items);
  free(taken->inserted.items);
  free(taken->open.items);
  *taken = (ink_taken){0};
}

static bool begins(const char *at, const char *end, const char *word) {
  const size_t n = strlen(word);
  return (size_t)(end - at) >= n && !memcmp(at, word, n);
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

static const char *word_end(const char *at, const char *end) {
  while (at < end && is_word(*at))
    at++;
  return at;
}

static void open_bracket(ink_taken *taken, const char *at, char bracket) {
  if (INK_I_GROW(taken->open))
    taken->open.items[taken->open.count++] = (ink_opened){at, bracket};
  else
    taken->failed = true;
}

void ink_taken_add(ink_taken *taken, const char *from, const char *to) {
  if (INK_I_GROW(taken->inserted))
    taken->inserted.items[taken->inserted.count++] = (ink_piece){from, to};
  else
    taken->failed = true;
  if (begins(from, to, INK_COPY_OPEN)) /* the user's text is in it, quotes in comments too */
    return;
  for (const char *at = from; at < to; at++) {
    if (*at == '"' || *at == '\'') {
      const char quote = *at;
      while (++at < to && *at != quote)
        at += *at == '\\';
    } else if (begins(at, to, "INK_AFTER")) {
      open_bracket(taken, at, ')'); /* its macro opens one more */
      at += strlen("INK_AFTER") - 1;
    } else if (*at == '(' || *at == '{' || *at == '[') {
      open_bracket(taken, at, *at == '(' ? ')' : *at == '{' ? '}' : ']');
    } else if (*at == ')' || *at == '}' || *at == ']') {
      if (taken->unpaired)
        continue;
      if (taken->open.count && taken->open.items[taken->open.count - 1].bracket == *at)
        taken->open.count--;
      else
        taken->unpaired = at;
    }
  }
}

/* ---- words ---- */

static bool holds(const ink_bytes *bytes, const char *format, size_t n, const char *word) {
  ink_bytes text = {0};
  ink_bytes_format(&text, format, (int)n, word);
  const bool found = !text.failed && bytes->count && memmem(bytes->at, bytes->count, text.at, text.count);
  ink_bytes_free(&text);
  return found;
}

/* A section that the rewriter named, `name_L12`: the table shows it with its file, other insertions use
 * it, or the number is that of the line. What the user named like that, `Load_L2`, is none of it. */
static bool is_our_section(const ink_taken *taken, const char *at, const char *end, unsigned line) {
  const char *to = word_end(at, end), *number = to;
  while (number > at && (isdigit((unsigned char)number[-1]) || number[-1] == '_'))
    number--;
  const size_t n = (size_t)(to - at);
  if (number - at < 2 || number == to || number[-1] != 'L' || number[-2] != '_')
    return false;
  if (holds(&taken->table, ", %.*s\n", n, at) && !holds(&taken->table, "%.*s\"\n", n, at))
    return true;
  for (size_t i = 0; i < taken->inserted.count; i++) {
    const ink_piece *piece = &taken->inserted.items[i];
    const char *found = memmem(piece->from, (size_t)(piece->to - piece->from), at, n);
    if (found && !is_word(found[n]))
      return true;
  }
  return strtoul(number, NULL, 10) == line;
}

/* A mark that a comment asked for stands right before it. */
static bool is_before_directive(const char *at, const char *end) {
  int depth = 0;
  for (; at < end && *at != '\n'; at++) {
    depth += *at == '(';
    depth -= *at == ')';
    if (*at == ')' && !depth)
      break;
  }
  if (!begins(at, end, ");"))
    return false;
  at += 2;
  if (!begins(at, end, "//") && !begins(at, end, "/*"))
    return false;
  for (at += 2; at < end && (*at == ' ' || *at == '\t' || *at == '/' || *at == '*');)
    at++;
  return begins(at, end, "prof:");
}

static bool kept(const ink_taken *taken, const char *word) {
  for (size_t i = 0; i < taken->kept.count; i++) {
    const ink_piece *piece = &taken->kept.items[i];
    if (memmem(piece->from, (size_t)(piece->to - piece->from), word, strlen(word)))
      return true;
  }
  return false;
}

/* What has no name of ours, where it stands right behind a brace and nothing else in the file is of marks by
 * hand. */
static bool is_alone(const ink_taken *taken, const char *at, const char *end, char before) {
  return before == '{' && (begins(at, end, "PROF_ITER(") || begins(at, end, "PROF_LAMBDA();")) &&
         taken->inserted.count && !kept(taken, "PROF_KERNEL") && !kept(taken, "<inkmark/") &&
         !kept(taken, "\"inkmark/");
}

/* `at` is the beginning of a word. */
static bool is_leftover(const ink_taken *taken, const char *at, const char *end, unsigned line) {
  static const char *const words[] = {"INK_BEFORE",       "INK_AFTER",        "INK_AFTER_HELD",
                                      "INK_BEHIND",       "INK_UNTIL",        "INK_UNTIL_HELD",
                                      "INK_UNTIL_END",    "INK_BEGIN_STRICT", "INK_END_STRICT",
                                      "INK_BEFORE_STRICT", "INK_AFTER_STRICT", "INK_UNTIL_STRICT",
                                      "INK_MAYBE",        "INK_TABLE",        "INK_FLUSH_AT_END",
                                      "INK_SUM_SCOPE",    "INK_SUM_CLEAR",    "INK_FIRST_LANE",
                                      "INK_ELECTED_LANE", "INK_WITH",         "INK_CONTEXT",      "INK_PARAMS",
                                      "INK_UNUSED",       "INK_INLINED",      "INK_OBJECT",
                                      "INK_KERNEL_APART", "INK_KERNEL_APART_IF", "INK_REGISTERS"};
  const char *to = word_end(at, end);
  if (to == end || *to != '(')
    return false;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if ((size_t)(to - at) == strlen(words[i]) && begins(at, end, words[i]))
      return true;
  return begins(at, end, "PROF_") &&
         (is_our_section(taken, to + 1, end, line) || is_before_directive(to, end));
}

static bool is_our_include(const char *at, const char *end) {
  for (at++; at < end && (*at == ' ' || *at == '\t');)
    at++;
  return begins(at, end, "include \"inkmark/rewritten.cuh\"") || begins(at, end, "if INK_CONTEXTS");
}

static bool is_marker(const char *at, const char *end) {
  if (begins(at, end, "// inkmark rewriter: begin") || begins(at, end, "// inkmark rewriter: end"))
    return true;
  if (!begins(at, end, "/*"))
    return false;
  for (at += 2; at < end && *at == ' ';)
    at++;
  if (!begins(at, end, "ink"))
    return false;
  for (at += 3; at < end && *at == ' ';)
    at++;
  return at < end && (*at == '[' || *at == ']');
}

const char *ink_taken_leftover(const ink_taken *taken, const char **where) {
  unsigned line = 1; /* of the result */
  for (size_t i = 0; i < taken->kept.count; i++) {
    const ink_piece *piece = &taken->kept.items[i];
    char before = 0;
    for (const char *at = piece->from; at < piece->to; before = *at++) {
      line += *at == '\n';
      if ((*at == '/' && is_marker(at, piece->to)) || (*at == '#' && is_our_include(at, piece->to)) ||
          ((*at == 'I' || *at == 'P') && !is_word(before) &&
           (is_leftover(taken, at, piece->to, line) || is_alone(taken, at, piece->to, before)))) {
        *where = at;
        return left;
      }
    }
  }
  if (!taken->open.count && !taken->unpaired)
    return NULL;
  *where = taken->unpaired ? taken->unpaired : taken->open.items[taken->open.count - 1].at;
  return unpaired;
}
