/* SPDX-License-Identifier: MIT */
/* Private: what the decoder takes off the clock for each record. */
#ifndef INK_MARK_COST_H
#define INK_MARK_COST_H

#include "inkmark/capture.h"

/* One kind of record of a recording thread. Whole cycles, since stamps are; what rounding leaves is
 * in the bound. */
typedef struct ink_cost {
  uint64_t cycles;
  uint64_t bound_millicycles;
} ink_cost;

/* All zero: nothing is taken off. */
typedef struct ink_costs {
  bool known;
  ink_cost opening;
  ink_cost of[2]
             [8]; /* [called function][enum ink_kind; ESCAPE: VALUE] of the record that is passed */
  ink_cost track; /* opening and closing, which no slice holds */
  ink_cost sum_pair, sum_inside, sum_record;
  ink_cost clocks; /* from the second clock read on; the triple itself tells what lies before */
  bool clocks_known;
} ink_costs;

/* Those of a device; known is false where the capture has none. */
ink_costs ink_costs_of(const ink_capture *capture, int32_t device);

/* The cost of a record by its kind, and its escape where the kind is ESCAPE. Nothing is taken off for a
 * CLOCKS or a SUM where they were not measured. */
static inline ink_cost ink_cost_of(const ink_costs *costs, int called, uint32_t kind,
                                   uint32_t escape) {
  if (kind == INK_KIND_ESCAPE && escape == INK_ESCAPE_SUM)
    return costs->sum_record;
  if (kind == INK_KIND_ESCAPE && escape == INK_ESCAPE_CLOCKS)
    return costs->clocks;
  return costs->of[called][kind];
}

/* What each pass of a SUM loses: what lies inside of its pair, but never more than the least pass took;
 * 0 where the total does not hold that much, in damaged words. */
static inline uint64_t ink_cost_of_pass(const ink_costs *costs, uint64_t count, uint64_t total,
                                        uint64_t least) {
  const uint64_t each = costs->sum_inside.cycles < least ? costs->sum_inside.cycles : least;
  return each && count <= total / each ? each : 0;
}

#endif
