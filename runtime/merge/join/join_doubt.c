/* SPDX-License-Identifier: MIT */
/* Which of the pairs that order and time found are uncertain: a kernel that no launch has would do
 * as well, or a launch that has no kernel. Where both have another, order has settled it. */
#include "join_private.h"

#include "merge/read/foreign_private.h"

#include <math.h>
#include <stdlib.h>

enum { NEIGHBOURS = 24 };

typedef struct doubt {
  join_device *d;
  double same_ns; /* costs that close are as good as the same: the offset is not known better */
  size_t *owner;  /* [kernels] the launch that has it, or SIZE_MAX */
} doubt;

static double cost(const join_device *d, size_t launch, size_t kernel) {
  const ink_join_launch *l = &d->launches[d->mine[launch]];
  if (!ink_join_fits_length(l, &d->kernels[kernel]))
    return INFINITY;
  join_pair pair = ink_join_pair(d, launch, kernel);
  return ink_join_cost(&pair, ink_join_line(&d->clock, pair.at_ns));
}

/* The launch could be this kernel as well as the pair it would take the place in is one. */
static void compare(const doubt *x, size_t launch, size_t kernel) {
  join_device *d = x->d;
  size_t owner = x->owner[kernel];
  if (owner == launch)
    return;
  if (d->chosen[launch] != SIZE_MAX) {
    if (owner == SIZE_MAX &&
        cost(d, launch, kernel) <= cost(d, launch, d->chosen[launch]) + x->same_ns)
      d->uncertain[launch] = true;
  } else if (owner != SIZE_MAX && cost(d, launch, kernel) <= cost(d, owner, kernel) + x->same_ns) {
    d->uncertain[owner] = true;
  }
}

ink_status ink_join_doubt(join_device *d, ink_error *error) {
  size_t kernels = d->foreign->kernel_count;
  doubt x = {d, (double)d->clock.bound_ns, malloc((kernels + 1) * sizeof *x.owner)};
  if (!x.owner)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  for (size_t k = 0; k < kernels; k++)
    x.owner[k] = SIZE_MAX;
  for (size_t i = 0; i < d->count; i++)
    if (d->chosen[i] != SIZE_MAX)
      x.owner[d->chosen[i]] = i;
  for (size_t i = 0; i < d->count; i++) {
    const ink_join_launch *l = &d->launches[d->mine[i]];
    const join_group *g = &d->groups[d->group_of[i]];
    if (g->overlaps)
      continue; /* join_overlap.c has told */
    double offset = ink_join_line(&d->clock, ink_join_middle(l->begin_ns, l->end_ns));
    size_t at = ink_join_first_from(d, g, l->begin_ns + d->shift_ns + llround(offset));
    for (size_t c = at > NEIGHBOURS ? at - NEIGHBOURS : 0; c < g->count && c < at + NEIGHBOURS; c++)
      compare(&x, i, d->candidates[g->first + c]);
  }
  free(x.owner);
  return INK_OK;
}
