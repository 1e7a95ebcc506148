/* SPDX-License-Identifier: MIT */
/* Where the numbers of a row stand, kept for rows whose heads are equal: a table has few kinds of head, and many rows.
 * https://www.sqlite.org/fileformat2.html#record_format */
#ifndef INK_SQLITE_LAYOUT_H
#define INK_SQLITE_LAYOUT_H

#include "sqlite_cell.h"

#include <stddef.h>
#include <string.h>

enum { SQLITE_REAL = 7, SQLITE_RESERVED = 10, SQLITE_LONG = 12 }; /* types of values, in the head of a row */

/* What the head says of a value that has no length of its own: its bytes, and how the number comes out of the eight bytes
 * that begin there, the highest first. */
typedef struct sqlite_form {
  int64_t mask; /* 0: the type alone says the number */
  unsigned char type, size, shift, one;
} sqlite_form;
extern const sqlite_form sqlite_forms[SQLITE_RESERVED];

static inline long long sqlite_number(const unsigned char *p, unsigned shift) {
  uint64_t eight;
  memcpy(&eight, p, sizeof eight);
  return (long long)__builtin_bswap64(eight) >> shift;
}

enum { LAYOUT_COLUMNS = 48, LAYOUTS = 64 };

typedef struct sqlite_layout {
  unsigned char head[LAYOUT_COLUMNS + 8]; /* its types, of the columns that are wanted */
  uint32_t head_bytes;                    /* 0: not used yet */
  uint32_t body_bytes;                    /* up to the last of them */
  uint32_t number_count;
  struct layout_number {
    uint16_t at; /* from the head's end on */
    unsigned char column, shift;
  } numbers[LAYOUT_COLUMNS];
  sqlite_cell cells[LAYOUT_COLUMNS]; /* types, and the numbers that the head alone says */
} sqlite_layout;

typedef struct sqlite_layouts {
  sqlite_layout of[LAYOUTS]; /* by a hash of the head */
} sqlite_layouts;

/* The layout of a head of which `count` columns are wanted, each with a type of one byte; NULL where it has others, or one of a
 * real or a text. The eight bytes behind the types may be read. */
const sqlite_layout *sqlite_layout_find(sqlite_layouts *layouts, const unsigned char *types, size_t count);

static inline void sqlite_layout_read(const sqlite_layout *layout, const unsigned char *body, size_t count, sqlite_cell *cells) {
  memcpy(cells, layout->cells, count * sizeof *cells);
  for (uint32_t i = 0; i < layout->number_count; i++) {
    const struct layout_number *n = &layout->numbers[i];
    cells[n->column].number = sqlite_number(body + n->at, n->shift);
  }
}

#endif
