/* SPDX-License-Identifier: MIT */
/* Insertions into a text. */
#include "edits.h"
#include "literals.h"

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

void ink_edits_for_copy(ink_edits *edits) {
  if (edits->count)
    edits->items[edits->count - 1].is_for_copy = true;
}

void ink_edits_add_copy(ink_edits *edits, uint32_t offset, ink_bytes *text, uint32_t line) {
  ink_bytes_format(text, "\n#endif\n#line %u\n", line);
  char *whole = ink_bytes_take(text);
  if (whole)
    ink_edits_add(edits, offset, true, UINT32_MAX, 0, "%s", whole); /* before all others at that place */
  else
    edits->failed = true;
  if (whole && !edits->failed)
    edits->items[edits->count - 1].is_copy = true;
  free(whole);
}

void ink_edits_drop_inside(ink_edits *edits, uint32_t from, uint32_t to, bool all) {
  size_t kept = 0;
  for (size_t i = 0; i < edits->count; i++) {
    ink_edit *edit = &edits->items[i];
    if (edit->offset > from && edit->offset < to && (all || edit->is_for_copy))
      free(edit->text);
    else
      edits->items[kept++] = *edit;
  }
  edits->count = kept;
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

void ink_edits_apply_inside(ink_edits *edits, const char *text, uint32_t from, uint32_t to, ink_bytes *out) {
  if (edits->count)
    qsort(edits->items, edits->count, sizeof *edits->items, before);
  uint32_t at = from, line = 0;
  for (size_t i = 0; i < edits->count; i++) {
    const ink_edit *edit = &edits->items[i];
    if (edit->offset <= from || edit->offset >= to)
      continue;
    ink_bytes_add(out, text + at, edit->offset - at);
    at = edit->offset;
    ink_bytes_text(out, edit->text);
    line = edit->line ? edit->line : line;
    if (!line || (i + 1 < edits->count && edits->items[i + 1].offset == at))
      continue;
    ink_bytes_format(out, "\n#line %u\n", line);
    line = 0;
  }
  ink_bytes_add(out, text + at, to - at);
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
    for (bool copy = false; i < edits->count && edits->items[i].offset == offset && !copy; i++) {
      copy = edits->items[i].is_copy; /* stands between markers of its own */
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
  if (!find(text, end, "ink")) /* as a rule */
    return false;
  char *hidden = ink_literals_hide(text, bytes);
  const char *from = hidden ? hidden : text, *to = from + bytes;
  const bool present = find(from, to, INK_EDIT_OPEN) || find(from, to, INK_PREAMBLE_OPEN) ||
                       find(from, to, INK_EDIT_CLOSE) || find(from, to, INK_PREAMBLE_CLOSE);
  free(hidden);
  return present;
}
