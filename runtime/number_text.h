/* SPDX-License-Identifier: MIT */
/* Numbers as text and text as numbers as in the C locale, whatever the program has set: every decimal of
 * an output, a message or another tool's file goes through here. */
#ifndef INKMARK_NUMBER_TEXT_H
#define INKMARK_NUMBER_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#if defined(__GNUC__)
#define INK_I_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define INK_I_PRINTF(text, first)
#endif

/* snprintf, vsnprintf and strtod with a point before the decimals and no grouping. */
INK_I_PRINTF(3, 4) int ink_i_print(char *to, size_t room, const char *format, ...);
INK_I_PRINTF(3, 0)
int ink_i_vprint(char *to, size_t room, const char *format, va_list arguments);
double ink_i_to_double(const char *text, char **end);

/* ASCII only: in a Turkish locale I is no capital i, in others more bytes are letters. */
static inline bool ink_i_is_upper(char c) { return c >= 'A' && c <= 'Z'; }
static inline char ink_i_lower(char c) { return ink_i_is_upper(c) ? (char)(c - 'A' + 'a') : c; }
static inline bool ink_i_is_alnum(char c) {
  return (c >= '0' && c <= '9') || (ink_i_lower(c) >= 'a' && ink_i_lower(c) <= 'z');
}
/* Without regard to case, as strcasecmp, and whether `text` begins with `word`. */
bool ink_i_same_letters(const char *a, const char *b);
bool ink_i_begins_with(const char *text, const char *word);

#endif
