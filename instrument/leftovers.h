/* SPDX-License-Identifier: MIT */
/* What stripping took out and what it kept of a text, and whether something that was kept had been put in:
 * where both markers of an insertion are damaged, only its words still tell. */
#ifndef INKMARK_LEFTOVERS_H
#define INKMARK_LEFTOVERS_H

#include "bytes.h"

#include <stdint.h>

typedef struct ink_piece { /* points into the text that is stripped */
  const char *from, *to;
} ink_piece;

typedef struct ink_opened { /* a bracket of an insertion that is open still */
  const char *at;
  char bracket;
} ink_opened;

typedef struct ink_taken {
  ink_bytes table; /* the header of the rewriter, with its table of sections */
  struct {
    ink_piece *items;
    size_t count, room;
  } kept, inserted;
  struct {
    ink_opened *items;
    size_t count, room;
  } open;
  const char *unpaired; /* the first bracket that has no other one, or NULL */
  bool failed;
} ink_taken;

void ink_taken_keep(ink_taken *taken, const char *from, const char *to);
void ink_taken_add(ink_taken *taken, const char *from, const char *to);
/* NULL, or what is wrong and where in the text: words of ours that were kept, and brackets of what was
 * taken out that do not pair, for all that is ever put in pairs. */
const char *ink_taken_leftover(const ink_taken *taken, const char **where);
void ink_taken_free(ink_taken *taken);

#endif
