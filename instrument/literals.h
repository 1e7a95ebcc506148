/* SPDX-License-Identifier: MIT */
/* Strings, characters, comments and words of a C++ text, told without a compiler. */
#ifndef INKMARK_LITERALS_H
#define INKMARK_LITERALS_H

#include <stddef.h>

/* What a piece of C++ text is. */
typedef enum ink_literal {
  INK_LITERAL_NONE, /* one character of none of these */
  INK_LITERAL_WORD, /* or number */
  INK_LITERAL_TEXT, /* a string or character, with the prefix of a raw one, or `#include <name>` */
  INK_LITERAL_COMMENT
} ink_literal;
/* Behind the piece that begins at `at`, which is in front of `end`. */
const char *ink_literal_behind(const char *at, const char *end, ink_literal *kind);
/* A copy of the text in which strings, characters and comments hold no markers and words of ours; NULL:
 * out of memory. The caller frees. */
char *ink_literals_hide(const char *text, size_t bytes);
/* Gives a hidden text, or a part of it, its own characters back. */
void ink_literals_show(char *text, size_t bytes);

#endif
