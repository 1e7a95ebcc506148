/* SPDX-License-Identifier: MIT */
/* The rows of a table out of the pages of a database file, https://www.sqlite.org/fileformat2.html: its B-tree, leaf by
 * leaf. Nothing of the file is believed: pages are counted, and every length is held against its page. */
#ifndef INK_SQLITE_PAGES_H
#define INK_SQLITE_PAGES_H

#include "inkmark/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sqlite_pages sqlite_pages;

enum { SQLITE_BEHIND = 8 };

/* *out is NULL where the file or the page at which the table begins is of a form that is not read here. */
ink_status sqlite_pages_open(sqlite_pages **out, const char *path, long long root, ink_error *error);
/* *row is NULL at the end; it is there to the next call, with SQLITE_BEHIND bytes behind it that may be read. */
ink_status sqlite_pages_next(sqlite_pages *pages, const unsigned char **row, size_t *size, long long *rowid,
                             ink_error *error);
void sqlite_pages_close(sqlite_pages *pages);

/* A number of one to nine bytes; 0 where it does not end before `end`, else where it ends. */
static inline const unsigned char *sqlite_varint(const unsigned char *p, const unsigned char *end, uint64_t *out) {
  if (p < end && *p < 0x80) { /* most are small */
    *out = *p;
    return p + 1;
  }
  uint64_t value = 0;
  for (const unsigned char *ninth = p + 8; p < end; p++) {
    if (p == ninth) {
      *out = value << 8 | *p;
      return p + 1;
    }
    value = value << 7 | (*p & 0x7f);
    if (*p < 0x80) {
      *out = value;
      return p + 1;
    }
  }
  return NULL;
}

#endif
