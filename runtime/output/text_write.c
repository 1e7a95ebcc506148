/* SPDX-License-Identifier: MIT */
/* The rarer pieces of text: microseconds, doubles, JSON strings, CSV fields. */
#include "text_write.h"

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
  int n = snprintf(p, 32, "%.15g", value);
  if (strtod(p, NULL) != value)
    n = snprintf(p, 32, "%.17g", value);
  return p + n;
}

void ink_file_json_string(ink_file *file, const char *text) {
  ink_file_write(file, "\"", 1);
  for (const char *run = text; *run;) {
    size_t plain = 0;
    while ((unsigned char)run[plain] >= 0x20 && !strchr("\"\\<", run[plain]))
      plain++;
    ink_file_write(file, run, plain);
    run += plain;
    if (*run) {
      char escaped[8];
      int n = *run == '"' || *run == '\\'
                  ? snprintf(escaped, sizeof escaped, "\\%c", *run)
                  : snprintf(escaped, sizeof escaped, "\\u%04x", (unsigned char)*run);
      ink_file_write(file, escaped, (size_t)n);
      run++;
    }
  }
  ink_file_write(file, "\"", 1);
}

char *ink_csv_field(const char *text) {
  size_t length = strlen(text), quotes = 0;
  for (size_t i = 0; i < length; i++)
    quotes += text[i] == '"';
  char *field = malloc(length + quotes + 3);
  if (!field)
    return NULL;
  if (!text[strcspn(text, ",\"\r\n")]) {
    memcpy(field, text, length + 1);
    return field;
  }
  char *p = field;
  *p++ = '"';
  for (size_t i = 0; i < length; i++) {
    if (text[i] == '"')
      *p++ = '"';
    *p++ = text[i];
  }
  *p++ = '"';
  *p = 0;
  return field;
}
