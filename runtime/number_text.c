/* SPDX-License-Identifier: MIT */
/* The one place that knows of locales: printf and strtod run in one whose numbers are those of C. */
#include "number_text.h"

#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static locale_t c_numbers; /* (locale_t)0: out of memory, then numbers are as the program has them */

static void make_locale(void) {
  c_numbers = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* Only this thread's locale changes, and only until leave(). */
static locale_t enter(void) {
  pthread_once(&once, make_locale);
  return c_numbers ? uselocale(c_numbers) : (locale_t)0;
}

static void leave(locale_t before) {
  if (before)
    uselocale(before);
}

int ink_i_vprint(char *to, size_t room, const char *format, va_list arguments) {
  const locale_t before = enter();
  const int n = vsnprintf(to, room, format, arguments);
  leave(before);
  return n;
}

int ink_i_print(char *to, size_t room, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int n = ink_i_vprint(to, room, format, arguments);
  va_end(arguments);
  return n;
}

double ink_i_to_double(const char *text, char **end) {
  const locale_t before = enter();
  const double value = strtod(text, end);
  leave(before);
  return value;
}

bool ink_i_same_letters(const char *a, const char *b) {
  while (*a && ink_i_lower(*a) == ink_i_lower(*b))
    a++, b++;
  return ink_i_lower(*a) == ink_i_lower(*b);
}

bool ink_i_begins_with(const char *text, const char *word) {
  while (*word && ink_i_lower(*text) == ink_i_lower(*word))
    text++, word++;
  return !*word;
}
