/* SPDX-License-Identifier: MIT */
/* A unified diff between a text and its marked form. Only insertions exist, and each is recognised
 * by its comments, so every line of the marked text is known to be old, changed or new. */
#include "edits.h"
#include "literals.h"

#include "inkmark/instrument.h"

#include <stdlib.h>
#include <string.h>

typedef struct line {
  const char *at;
  size_t bytes; /* without the newline */
  bool whole;   /* ends in a newline */
} line;

typedef struct lines {
  line *items;
  size_t count, room;
} lines;

static bool split(const char *text, size_t bytes, lines *out) {
  for (const char *at = text, *end = text + bytes; at < end;) {
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    const char *stop = newline ? newline : end;
    if (!INK_I_GROW(*out))
      return false;
    out->items[out->count++] = (line){at, (size_t)(stop - at), newline != NULL};
    at = newline ? newline + 1 : end;
  }
  return true;
}

static bool same(const line *a, const line *b) {
  return a->bytes == b->bytes && a->whole == b->whole && !memcmp(a->at, b->at, a->bytes);
}

/* How many insertions begin in the line and do not end in it. */
static int open_in(const line *item) {
  int open = 0;
  for (const char *at = item->at, *end = at + item->bytes; at < end; at++) {
    open += at + strlen(INK_EDIT_OPEN) <= end && !memcmp(at, INK_EDIT_OPEN, strlen(INK_EDIT_OPEN));
    open -= at + strlen(INK_EDIT_CLOSE) <= end && !memcmp(at, INK_EDIT_CLOSE, strlen(INK_EDIT_CLOSE));
  }
  return open;
}

/* The last of the lines from `k` on that are one line of the old text: more than one where the copy of a function
 * stands in it. */
static size_t last_of(const lines *of, size_t k) {
  int open = open_in(&of->items[k]);
  while (open > 0 && k + 1 < of->count)
    open += open_in(&of->items[++k]);
  return k;
}

/* Whether stripping the lines gives `a`. */
static bool is_marked_form(const line *a, const line *from, const line *to) {
  char *text = NULL;
  size_t bytes = 0;
  if (ink_edits_take_out(from->at, (size_t)(to->at - from->at) + to->bytes, false, &text, &bytes, NULL))
    return false;
  const bool equal = bytes == a->bytes && a->whole == to->whole && !memcmp(text, a->at, bytes);
  free(text);
  return equal;
}

typedef struct pair {
  size_t old_line, new_line;
  bool equal;
} pair;

typedef struct pairs {
  pair *items;
  size_t count, room;
} pairs;

/* Old lines in order, each with the new line that holds it, or its end; what lies between is new. */
static bool match(const lines *old, const lines *new_lines, pairs *out) {
  size_t j = 0;
  for (size_t i = 0; i < old->count; i++) {
    size_t k = j, end = j;
    for (; k < new_lines->count && !same(&old->items[i], &new_lines->items[k]); k++) {
      end = last_of(new_lines, k);
      if (is_marked_form(&old->items[i], &new_lines->items[k], &new_lines->items[end]))
        break;
    }
    if (k == new_lines->count || !INK_I_GROW(*out))
      return false;
    const bool equal = same(&old->items[i], &new_lines->items[k]);
    out->items[out->count++] = (pair){i, equal ? k : end, equal};
    j = (equal ? k : end) + 1;
  }
  return true;
}

static void put_line(ink_bytes *out, char sign, const line *item) {
  ink_bytes_add(out, &sign, 1);
  ink_bytes_add(out, item->at, item->bytes);
  ink_bytes_text(out, item->whole ? "\n" : "\n\\ No newline at end of file\n");
}

/* Whether the pair at `i` is untouched and no new line stands before it. */
static bool is_quiet(const pairs *all, size_t i) {
  const size_t expected = i ? all->items[i - 1].new_line + 1 : 0;
  return all->items[i].equal && all->items[i].new_line == expected;
}

static void put_hunk(ink_bytes *out, const lines *old, const lines *new_lines, const pairs *all,
                     size_t from, size_t to) {
  const size_t new_from = from ? all->items[from - 1].new_line + 1 : 0;
  const size_t new_to = to ? all->items[to - 1].new_line + 1 : 0;
  ink_bytes_format(out, "@@ -%zu,%zu +%zu,%zu @@\n", to > from ? from + 1 : from, to - from,
                   new_from + 1, new_to - new_from);
  for (size_t i = from; i < to;) {
    size_t run = i;
    while (run < to && !all->items[run].equal)
      run++;
    for (size_t k = i; k < run; k++)
      put_line(out, '-', &old->items[k]);
    for (size_t k = i; k < run; k++)
      for (size_t n = k ? all->items[k - 1].new_line + 1 : 0; n <= all->items[k].new_line; n++)
        put_line(out, '+', &new_lines->items[n]);
    if (run < to) {
      for (size_t n = run ? all->items[run - 1].new_line + 1 : 0; n < all->items[run].new_line; n++)
        put_line(out, '+', &new_lines->items[n]);
      put_line(out, ' ', &old->items[run]);
      run++;
    }
    i = run;
  }
}

static void put_hunks(ink_bytes *out, const lines *old, const lines *new_lines, const pairs *all) {
  for (size_t i = 0; i < all->count;) {
    if (is_quiet(all, i)) {
      i++;
      continue;
    }
    const size_t from = i > 3 ? i - 3 : 0;
    size_t quiet = 0, to = i;
    while (to < all->count && quiet < 6) {
      quiet = is_quiet(all, to) ? quiet + 1 : 0;
      to++;
    }
    const size_t end = quiet > 3 ? to - (quiet - 3) : to;
    put_hunk(out, old, new_lines, all, from, end);
    i = to;
  }
}

ink_status ink_instrument_diff(const char *marked, size_t bytes, const char *old_name,
                               const char *new_name, char **out, ink_error *error) {
  char *original = NULL, *hidden = ink_literals_hide(marked, bytes);
  size_t original_bytes = 0;
  lines old = {0}, new_lines = {0};
  pairs all = {0};
  ink_bytes text = {0};
  ink_status status = hidden ? ink_edits_take_out(hidden, bytes, true, &original, &original_bytes, error)
                             : ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  if (status) {
    free(hidden);
    return status;
  }
  marked = hidden;
  const size_t top =
      bytes >= 3 && !memcmp(marked, "\xef\xbb\xbf", 3) ? 3 : 0; /* before the preamble */
  if (!split(original + top, original_bytes - top, &old) ||
      !split(marked + top, bytes - top, &new_lines) || !match(&old, &new_lines, &all)) {
    status = ink_error_set(error, INK_ERROR_MEMORY, "cannot compare the texts");
  } else {
    bool differs = original_bytes != bytes;
    if (differs) {
      ink_bytes_format(&text, "--- %s\n+++ %s\n", old_name, new_name);
      put_hunks(&text, &old, &new_lines, &all);
    }
    const size_t length = text.count;
    char *result = ink_bytes_take(&text);
    if (result) {
      ink_literals_show(result, length);
      *out = result;
    } else {
      status = ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
    }
  }
  free(old.items);
  free(new_lines.items);
  free(all.items);
  free(original);
  free(hidden);
  return status;
}
