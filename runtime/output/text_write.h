/* SPDX-License-Identifier: MIT */
/* Numbers and quoted names as text, fast enough for one row a record. */
#ifndef INK_TEXT_WRITE_H
#define INK_TEXT_WRITE_H

#include "output_file.h"

extern const char ink_digit_pairs[200]; /* "00" "01" .. "99" */

static inline char *text_u64(char *p, uint64_t value) {
  char digits[20];
  char *d = digits + 20;
  while (value >= 100) {
    d -= 2;
    memcpy(d, ink_digit_pairs + value % 100 * 2, 2);
    value /= 100;
  }
  if (value >= 10) {
    d -= 2;
    memcpy(d, ink_digit_pairs + value * 2, 2);
  } else {
    *--d = (char)('0' + value);
  }
  size_t length = (size_t)(digits + 20 - d);
  memcpy(p, d, length);
  return p + length;
}

static inline char *text_i64(char *p, int64_t value) {
  if (value >= 0)
    return text_u64(p, (uint64_t)value);
  *p++ = '-';
  return text_u64(p, 0 - (uint64_t)value);
}

static inline char *text_bytes(char *p, const char *text, size_t length) {
  memcpy(p, text, length);
  return p + length;
}

/* Microseconds with the ns as decimals. A tenth of a ns is added where there are decimals: readers
 * that compute (int64_t)(us * 1000.0), as Perfetto's did, would otherwise lose a ns in two thirds
 * of all numbers. */
char *text_us(char *p, int64_t ns);
char *text_us_exact(char *p, int64_t ns); /* without it, for numbers beside another writer's */

/* A double so that it reads back the same; "null" where JSON has no number for it. */
char *text_double(char *p, double value);

/* A JSON string with its quotes, as INK_TEXT_JSON has it; "<" is escaped too, so that it can stand in a
 * script element. */
void ink_file_json_string(ink_file *file, const char *text);
/* A new string: the text as INK_TEXT_CELL has it. NULL: out of memory. */
char *ink_csv_field(const char *text);

#endif
