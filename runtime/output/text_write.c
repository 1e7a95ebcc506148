/* SPDX-License-Identifier: MIT */
/* The rarer pieces of text: microseconds, doubles, JSON strings, CSV fields. */
#include "text_write.h"

#include "inkmark/text.h"
#include "number_text.h"
#include "text_scan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const char ink_digit_pairs[200] = {
#define PAIRS(t) t, '0', t, '1', t, '2', t, '3', t, '4', t, '5', t, '6', t, '7', t, '8', t, '9'
    PAIRS('0'), PAIRS('1'), PAIRS('2'), PAIRS('3'), PAIRS('4'),
    PAIRS('5'), PAIRS('6'), PAIRS('7'), PAIRS('8'), PAIRS('9')};

static char *us(char *p, int64_t ns, bool tenth) {
  uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
  if (ns < 0)
    *p++ = '-';
  p = text_u64(p, size / 1000);
  unsigned rest = (unsigned)(size % 1000);
  if (!rest)
    return p;
  *p++ = '.';
  *p++ = (char)('0' + rest / 100);
  memcpy(p, ink_digit_pairs + rest % 100 * 2, 2);
  if (!tenth)
    return p + 2;
  p[2] = '1';
  return p + 3;
}

char *text_us(char *p, int64_t ns) {
  return us(p, ns, true);
}

char *text_us_exact(char *p, int64_t ns) {
  return us(p, ns, false);
}

char *text_double(char *p, double value) {
  if (!isfinite(value))
    return text_bytes(p, "null", 4);
  int n = ink_i_print(p, 32, "%.15g", value);
  if (ink_i_to_double(p, NULL) != value)
    n = ink_i_print(p, 32, "%.17g", value);
  return p + n;
}

/* What stands in a JSON string and in a script element as it is. */
static size_t plain(const char *text) {
  size_t n = 0;
  while (text[n] >= 0x20 && text[n] < 0x7f && text[n] != '"' && text[n] != '\\' && text[n] != '<')
    n++;
  return n;
}

void ink_file_json_string(ink_file *file, const char *text) {
  ink_file_write(file, "\"", 1);
  while (*text) {
    const size_t n = plain(text);
    ink_file_write(file, text, n);
    text += n;
    if (*text == '<') {
      ink_file_write(file, "\\u003c", 6);
      text++;
    } else if (*text) {
      char escaped[16];
      uint32_t code;
      const size_t bytes = ink_i_text_next(text, strnlen(text, 4), &code);
      ink_file_write(file, escaped, ink_text_put(escaped, sizeof escaped, INK_TEXT_JSON, text, bytes));
      text += bytes;
    }
  }
  ink_file_write(file, "\"", 1);
}

char *ink_csv_field(const char *text) {
  const size_t bytes = strlen(text), length = ink_text_put(NULL, 0, INK_TEXT_CELL, text, bytes);
  char *field = malloc(length + 1);
  if (field)
    ink_text_put(field, length + 1, INK_TEXT_CELL, text, bytes);
  return field;
}
