/* SPDX-License-Identifier: MIT */
/* strerror in the style of our messages: "no such file or directory", "EOF while reading". */
#ifndef INKMARK_ERRNO_WORDS_H
#define INKMARK_ERRNO_WORDS_H

#include "number_text.h"

#include <stdio.h>
#include <string.h>

typedef struct ink_i_words {
  char text[128];
} ink_i_words;

static inline ink_i_words ink_i_errno_words(int code) {
  ink_i_words words;
  snprintf(words.text, sizeof words.text, "%s", strerror(code));
  if (words.text[0] && !ink_i_is_upper(words.text[1]))
    words.text[0] = ink_i_lower(words.text[0]);
  return words;
}

#endif
