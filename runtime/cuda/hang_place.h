/* SPDX-License-Identifier: MIT */
/* Private: where in its kernel a thread is, by the words of its rings. */
#ifndef INK_CUDA_HANG_PLACE_H
#define INK_CUDA_HANG_PLACE_H

#include "cuda/drain_open.h"

/* A section: its table's hash48, 0 for the kernel's own, and its id there; id 0: none. */
typedef struct ink_i_section {
  uint64_t hash48;
  uint32_t id;
} ink_i_section;

typedef struct ink_i_place {
  ink_i_section inside;     /* the innermost range that is open */
  uint64_t inside_clock;    /* of its BEGIN */
  ink_i_section after;      /* what the newest MARK or END named */
  uint64_t newest_clock;    /* of the newest record of all */
  int64_t iteration;
  bool has_iteration, has_records;
  bool known;               /* nothing newer can be there */
} ink_i_place;

/* INK_ERROR_MEMORY. */
ink_status ink_i_place_of(const ink_i_open_view *view, ink_i_place *out, ink_error *error);
/* What follows what among the newest records: calls step for each MARK or END of a range, and the MARK, BEGIN or END
 * behind it. */
ink_status ink_i_place_steps(const uint64_t *words, uint64_t count, uint64_t open_clock, uint64_t last_clock,
                             void (*step)(void *user, ink_i_section from, ink_i_section to), void *user,
                             ink_error *error);

#endif
