/* SPDX-License-Identifier: MIT */
/* Insertions into a text at byte offsets. Each is wrapped in a pair of comments, so that stripping
 * gives back the very bytes; nothing of the original is ever replaced or removed. */
#ifndef INKMARK_EDITS_H
#define INKMARK_EDITS_H

#include "bytes.h"

#include "inkmark/status.h"

#include <stdint.h>

#define INK_EDIT_OPEN "/*ink[*/"
#define INK_EDIT_CLOSE "/*ink]*/"
#define INK_COPY_OPEN "\n#if INK_CONTEXTS\n"
#define INK_PREAMBLE_OPEN "// inkmark rewriter: begin (inkmark instrument --strip removes it)\n"
#define INK_PREAMBLE_CLOSE "// inkmark rewriter: end\n"

/* At one offset, what closes a place stands before what opens one; inner closings before outer
 * ones, outer openings before inner ones. */
typedef struct ink_edit {
  uint32_t offset, depth, order;
  bool closes;
  uint32_t line; /* not 0: a whole line before the line of this number, followed by #line */
  bool is_copy;  /* of a function: lines of its own, between INK_COPY_OPEN and what ink_edits_end_copy adds */
  bool is_for_copy; /* belongs into the copy of the function that it lies in, and not into the text */
  char *text;
} ink_edit;

typedef struct ink_edits {
  ink_edit *items;
  size_t count, room;
  bool failed;
} ink_edits;

__attribute__((format(printf, 6, 7))) void ink_edits_add(ink_edits *edits, uint32_t offset,
                                                         bool closes, uint32_t depth, uint32_t line,
                                                         const char *format, ...);
/* Of what was added last. */
void ink_edits_for_copy(ink_edits *edits);
/* Writes [from, to) of the text with the insertions that lie inside, bare. */
void ink_edits_apply_inside(ink_edits *edits, const char *text, uint32_t from, uint32_t to, ink_bytes *out);
/* Takes the insertions inside of (from, to) away again; all, or those that belong into a copy. */
void ink_edits_drop_inside(ink_edits *edits, uint32_t from, uint32_t to, bool all);
/* A copy of a function, to be put at `offset`, which lies in this line; takes the text over. */
void ink_edits_add_copy(ink_edits *edits, uint32_t offset, ink_bytes *text, uint32_t line);
void ink_edits_free(ink_edits *edits);
/* Writes the text with the insertions; the preamble (may be empty) comes behind a byte order mark.
 */
void ink_edits_apply(ink_edits *edits, const char *text, size_t bytes, const char *preamble,
                     ink_bytes *out);
/* ink_instrument_strip of a hidden text; what is not a whole text is not looked through for leftovers. */
ink_status ink_edits_take_out(const char *text, size_t bytes, bool whole, char **out,
                              size_t *out_bytes, ink_error *error);
/* The text holds insertions or a preamble, outside of strings and comments. */
bool ink_edits_present(const char *text, size_t bytes);

#endif
