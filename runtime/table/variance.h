/* SPDX-License-Identifier: MIT */
/* Slices as their scatter is looked at: what each took, and where it was. */
#ifndef INK_TABLE_VARIANCE_PRIVATE_H
#define INK_TABLE_VARIANCE_PRIVATE_H

#include "inkmark/variance.h"

enum { INK_SPREAD_VALUES = 4, INK_SPREAD_MOST = 16384 };

typedef struct ink_spread_slice {
  uint64_t cycles, block;
  int64_t row;
  uint32_t launch, sm, warp;
  double values[INK_SPREAD_VALUES]; /* NAN: none in its iteration */
} ink_spread_slice;

/* variance_explain.c: fills what `row` says of n slices; `values` are the sections of slices[].values. */
ink_status ink_spread_explain(const ink_spread_slice *slices, size_t n, const ink_section_index *values,
                              size_t value_count, ink_variance_row *row, ink_error *error);

#endif
