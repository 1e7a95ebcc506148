/* SPDX-License-Identifier: MIT */
/* What the kernels of rows.cu and their models share. */
#ifndef INKMARK_TRUTH_ROWS_H
#define INKMARK_TRUTH_ROWS_H

enum { ROWS_BLOCKS = 10, ROWS_THREADS = 64, WIDE_BLOCKS = 4, RECORDS_BLOCKS = 6 };

static inline int rows_rounds(int block) {
  return (block * 5 + 2) % 9;
}

#endif
