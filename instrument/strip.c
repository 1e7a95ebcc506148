/* SPDX-License-Identifier: MIT */
/* Takes insertions out again. What does not look exactly as it was put in is an error: text of the
 * user's may stand between markers that do not belong together. */
#include "edits.h"
#include "leftovers.h"
#include "literals.h"

#include "inkmark/instrument.h"

#include <stdlib.h>
#include <string.h>

static const char *find(const char *from, const char *end, const char *what) {
  return from < end ? memmem(from, (size_t)(end - from), what, strlen(what)) : NULL;
}

typedef enum marker { EDIT_OPEN, EDIT_CLOSE, TOP_OPEN, TOP_CLOSE, MARKERS } marker;

static const char *const marker_texts[] = {INK_EDIT_OPEN, INK_EDIT_CLOSE, INK_PREAMBLE_OPEN,
                                           INK_PREAMBLE_CLOSE};

static const char *next_marker(const char *at, const char *end, marker *which) {
  const char *first = NULL;
  for (int i = 0; i < MARKERS; i++) {
    const size_t length = strlen(marker_texts[i]); /* only what begins before the first so far */
    const char *limit = first && (size_t)(end - first) > length ? first + length : end;
    const char *found = find(at, limit, marker_texts[i]);
    if (found && (!first || found < first)) {
      first = found;
      *which = (marker)i;
    }
  }
  return first;
}

static bool begins(const char *from, const char *end, const char *what) {
  const size_t length = strlen(what);
  return (size_t)(end - from) >= length && !memcmp(from, what, length);
}

/* The copy of a function has its own lines, and behind them "#endif" and a line of "#line N". */
static bool is_whole_copy(const char *from, const char *close) {
  const char *at = close - 1;
  if (!begins(from, close, INK_COPY_OPEN) || *at != '\n')
    return false;
  while (at > from && at[-1] >= '0' && at[-1] <= '9')
    at--;
  static const char end[] = "\n#endif\n#line ";
  return at < close - 1 && at - from > (ptrdiff_t)(sizeof end - 1) && !memcmp(at - (sizeof end - 1), end, sizeof end - 1);
}

/* An insertion is one line; before a pragma it ends with a line of "#line N", and a line break is
 * behind it. */
static const char *what_is_wrong(const char *from, const char *close, const char *end) {
  const char *newline = memchr(from, '\n', (size_t)(close - from));
  if (find(from, close, "/*ink"))
    return "a marker in an insertion is damaged";
  if (!newline || is_whole_copy(from, close))
    return NULL;
  const char *at = newline + 1;
  if (close - at < 8 || memcmp(at, "#line ", 6))
    return "an insertion holds a line break";
  for (at += 6; *at >= '0' && *at <= '9';)
    at++;
  if (at + 1 != close || *at != ' ' || close + strlen(INK_EDIT_CLOSE) >= end ||
      close[strlen(INK_EDIT_CLOSE)] != '\n')
    return "an insertion holds a line break";
  return NULL;
}

static ink_status refuse(ink_error *error, const char *text, const char *at, const char *problem) {
  unsigned line = 1;
  for (const char *c = text; c < at; c++)
    line += *c == '\n';
  const ink_status status = ink_error_set(error, INK_ERROR_FORMAT, "line %u: %s", line, problem);
  if (error)
    error->offset = (uint64_t)(at - text);
  return status;
}

/* Leaves out what stands between an opening marker and its end; `at` moves behind it, and it is
 * noted in `taken`. */
static const char *skip_inserted(const char *open, marker which, const char **at, const char *end,
                                 ink_taken *taken) {
  marker other = MARKERS;
  if (which == EDIT_CLOSE || which == TOP_CLOSE)
    return "the end of an insertion has no begin";
  const char *from = open + strlen(marker_texts[which]), *close = next_marker(from, end, &other);
  if (!close || other != which + 1)
    return "an insertion has no end";
  *at = close + strlen(marker_texts[other]);
  if (which == TOP_OPEN) { /* the #line below it belongs to it */
    const char *newline = find(*at, end, "\n");
    if (end - *at < 5 || memcmp(*at, "#line", 5) || !newline)
      return "the header of the rewriter lacks its last line";
    *at = newline + 1;
    ink_bytes_add(&taken->table, from, (size_t)(close - from));
    return NULL;
  }
  const char *wrong = what_is_wrong(from, close, end);
  if (!wrong && memchr(from, '\n', (size_t)(close - from)) && *from != '\n')
    ++*at;
  if (!wrong)
    ink_taken_add(taken, from, close);
  return wrong;
}

ink_status ink_edits_take_out(const char *text, size_t bytes, bool whole, char **out,
                              size_t *out_bytes, ink_error *error) {
  const char *at = text, *end = text + bytes, *open, *wrong = NULL, *where = NULL;
  ink_bytes kept = {0};
  ink_taken taken = {0};
  marker which = MARKERS;
  while (!wrong && (open = next_marker(at, end, &which))) {
    ink_taken_keep(&taken, at, open);
    ink_bytes_add(&kept, at, (size_t)(open - at));
    wrong = skip_inserted(open, which, &at, end, &taken);
    where = open;
  }
  ink_bytes_add(&kept, at, (size_t)(end - at));
  if (!wrong && whole) {
    ink_taken_keep(&taken, at, end);
    wrong = ink_taken_leftover(&taken, &where);
  }
  const bool failed = kept.failed || taken.failed;
  ink_taken_free(&taken);
  const size_t count = kept.count;
  char *result = wrong ? NULL : ink_bytes_take(&kept);
  if (wrong) {
    ink_bytes_free(&kept);
    return refuse(error, text, where, wrong);
  }
  if (!result || failed) {
    free(result);
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  }
  *out = result;
  *out_bytes = count;
  return INK_OK;
}

ink_status ink_instrument_strip(const char *text, size_t bytes, char **out, size_t *out_bytes,
                                ink_error *error) {
  if ((!text && bytes) || !out || !out_bytes)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "no text to strip");
  char *hidden = ink_literals_hide(text ? text : "", bytes);
  if (!hidden)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  const ink_status status = ink_edits_take_out(hidden, bytes, true, out, out_bytes, error);
  if (!status)
    ink_literals_show(*out, *out_bytes);
  free(hidden);
  return status;
}
