/* SPDX-License-Identifier: MIT */
/* Samples of machine instructions, summed by the sections of a map. */
#ifndef INKMARK_CLI_STALL_JOIN_H
#define INKMARK_CLI_STALL_JOIN_H

#include "stall_csv.h"

#include "inkmark/verify.h"

/* Of one row of the map. */
typedef struct stall_sum {
  double samples, own;      /* own: of these, on the marks' instructions */
  double executed, loads;   /* by warps; executed without the marks' own */
  double passes;            /* executions of the clock reads that close the section; 0: none does, or not known */
  double *reasons;          /* [reason_count], sorted as the table's */
} stall_sum;

typedef struct stall_join {
  const stall_table *table;
  const ink_verify_map *map;
  stall_sum *sums;          /* [map->row_count] */
  double samples;
} stall_join;

/* The function's bare name: "saxpy" of "void ns::saxpy<float>(float *)" and of "_ZN2ns5saxpyIfEEvPf". */
void stall_bare_name(const char *name, char *out, size_t bytes);

/* The map that has the very instructions of the table; NULL: none. Then *near is the one that the table is another build of,
 * or NULL where no map has its name, with the offset and both texts of the first difference. */
typedef struct stall_difference {
  const ink_verify_map *near;
  uint64_t offset;
  const char *sampled;
  char mapped[160];
} stall_difference;
const ink_verify_map *stall_find_map(const stall_table *table, const ink_verify_map *maps, size_t n, stall_difference *difference);

bool stall_join_make(const stall_table *table, const ink_verify_map *map, stall_join *out); /* false after a message */
void stall_join_free(stall_join *join);

#endif
