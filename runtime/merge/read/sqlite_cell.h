/* SPDX-License-Identifier: MIT */
/* One value of a row. */
#ifndef INK_SQLITE_CELL_H
#define INK_SQLITE_CELL_H

#include <stdint.h>

typedef struct sqlite_cell {
  int type;      /* SQL_INTEGER ... */
  uint32_t size; /* SQL_TEXT and SQL_BLOB: of the bytes */
  union {
    long long number;           /* SQL_INTEGER */
    double real;                /* SQL_FLOAT */
    const unsigned char *bytes; /* SQL_TEXT and SQL_BLOB: to the next row, without a zero behind them */
  };
} sqlite_cell;

#endif
