/* SPDX-License-Identifier: MIT */
/* Applies insertions to a text, and takes them out again. */
#include "edits.h"

#include "inkmark/instrument.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ink_edits_add(ink_edits *edits, uint32_t offset, bool closes, uint32_t depth, uint32_t line,
                   const char *format, ...) {
  char *text;
  va_list arguments;
  va_start(arguments, format);
  int n = vasprintf(&text, format, arguments);
  va_end(arguments);
  if (n < 0 || !INK_I_GROW(*edits)) {
    edits->failed = true;
    if (n >= 0)
      free(text);
    return;
  }
  edits->items[edits->count] = (ink_edit){.offset = offset,
                                          .depth = depth,
                                          .order = (uint32_t)edits->count,
                                          .closes = closes,
                                          .line = line,
                                          .text = text};
  edits->count++;
}

void ink_edits_free(ink_edits *edits) {
  for (size_t i = 0; i < edits->count; i++)
    free(edits->items[i].text);
  free(edits->items);
  *edits = (ink_edits){0};
}

static int before(const void *left, const void *right) {
  const ink_edit *a = left, *b = right;
  if (a->offset != b->offset)
    return a->offset < b->offset ? -1 : 1;
  if (a->closes != b->closes)
    return a->closes ? -1 : 1;
  if (a->depth != b->depth)
    return (a->depth < b->depth) == a->closes ? 1 : -1;
  return (a->order < b->order) == a->closes ? 1 : -1;
}

void ink_edits_apply(ink_edits *edits, const char *text, size_t bytes, const char *preamble,
                     ink_bytes *out) {
  size_t at = bytes >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
  if (edits->count)
    qsort(edits->items, edits->count, sizeof *edits->items, before);
  ink_bytes_add(out, text, at);
  ink_bytes_text(out, preamble);
  for (size_t i = 0; i < edits->count;) {
    const size_t offset = edits->items[i].offset;
    uint32_t line = 0;
    ink_bytes_add(out, text + at, offset - at);
    at = offset;
    ink_bytes_text(out, INK_EDIT_OPEN);
    for (; i < edits->count && edits->items[i].offset == offset; i++) {
      ink_bytes_text(out, edits->items[i].text);
      if (edits->items[i].line)
        line = edits->items[i].line;
    }
    if (line)
      ink_bytes_format(out, "\n#line %u " INK_EDIT_CLOSE "\n", line);
    else
      ink_bytes_text(out, INK_EDIT_CLOSE);
  }
  ink_bytes_add(out, text + at, bytes - at);
}

static const char *find(const char *from, const char *end, const char *what) {
  return from < end ? memmem(from, (size_t)(end - from), what, strlen(what)) : NULL;
}

bool ink_edits_present(const char *text, size_t bytes) {
  const char *end = text + bytes;
  return find(text, end, INK_EDIT_OPEN) || find(text, end, INK_PREAMBLE_OPEN) ||
         find(text, end, INK_EDIT_CLOSE) || find(text, end, INK_PREAMBLE_CLOSE);
}

/* ---- stripping: what does not look exactly as it was put in is an error, for a text of the user's
 * may stand between markers that do not belong together ---- */

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

/* An insertion is one line; before a pragma it ends with a line of "#line N", and a line break is
 * behind it. */
static const char *what_is_wrong(const char *from, const char *close, const char *end) {
  const char *newline = memchr(from, '\n', (size_t)(close - from));
  if (find(from, close, "/*ink"))
    return "a marker in an insertion is damaged";
  if (!newline)
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

/* Leaves out what stands between an opening marker and its end; `at` moves behind it. */
static const char *skip_inserted(const char *open, marker which, const char **at,
                                 const char *end) {
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
    return NULL;
  }
  const char *wrong = what_is_wrong(from, close, end);
  if (!wrong && memchr(from, '\n', (size_t)(close - from)))
    ++*at;
  return wrong;
}

ink_status ink_instrument_strip(const char *text, size_t bytes, char **out, size_t *out_bytes,
                                ink_error *error) {
  if ((!text && bytes) || !out || !out_bytes)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "no text to strip");
  const char *at = text, *end = text + bytes, *open;
  ink_bytes kept = {0};
  marker which = MARKERS;
  while ((open = next_marker(at, end, &which))) {
    ink_bytes_add(&kept, at, (size_t)(open - at));
    const char *wrong = skip_inserted(open, which, &at, end);
    if (wrong) {
      ink_bytes_free(&kept);
      return refuse(error, text, open, wrong);
    }
  }
  ink_bytes_add(&kept, at, (size_t)(end - at));
  size_t count = kept.count;
  char *result = ink_bytes_take(&kept);
  if (!result)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  *out = result;
  *out_bytes = count;
  return INK_OK;
}
