/* SPDX-License-Identifier: MIT */
/* Joins a capture with another profiler's trace and gives each launch its time there. */
#include "placement.h"

#include "merge/read/foreign_private.h"
#include "number_text.h"
#include "options_take.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const ink_join_clock *clock_of(const placement *p, int32_t device) {
  const ink_join_clock *clocks;
  size_t n = p->join ? ink_join_clocks(p->join, &clocks) : 0;
  for (size_t i = 0; i < n; i++)
    if (clocks[i].device == device && clocks[i].joined)
      return &clocks[i];
  return NULL;
}

size_t placement_any_kernel(const placement *p, int32_t device) {
  const ink_join_clock *clock = clock_of(p, device);
  int32_t theirs = clock ? clock->their_device : device;
  for (size_t i = 0; i < p->kernel_count; i++)
    if (p->kernels[i].type->device == theirs &&
        (!p->process || p->kernels[i].type->process == p->process))
      return i;
  return SIZE_MAX;
}

int64_t placement_ns(const placement *p, size_t launch, int64_t ns) {
  const ink_join_clock *clock = p->launches[launch].clock;
  return clock ? ink_join_clock_theirs(clock, ns) : ns;
}

int64_t placement_bound_ns(const placement *p, size_t launch) {
  const ink_clock_quality *q =
      ink_selection_quality(&p->selection, p->selection.launches[launch].device);
  const ink_join_clock *clock = p->launches[launch].clock;
  if (!q)
    return INT64_MAX;
  if (!clock)
    return q->bound_ns;
  if (!(q->sm_bound_ns < 1e15))
    return INT64_MAX;
  return (int64_t)ceil(q->sm_bound_ns) + clock->bound_ns;
}

/* The moment that is 0 in the trace: viewers drop what is before it. Nsight's export becomes a trace of Unix
 * time, with or without us. */
int64_t placement_zero_ns(const placement *p) {
  return p->facts->kind == INK_FOREIGN_NSIGHT && p->facts->base_known ? 0 : p->facts->base_ns;
}

static void place_launch(placement *p, size_t i, const ink_joined *joined) {
  placed_launch *l = &p->launches[i];
  const ink_launch_span *span = &p->selection.spans[i];
  *l = (placed_launch){.kernel = SIZE_MAX};
  if (!span->track_count || !ink_selection_has(&p->selection, i))
    return;
  p->chosen++;
  if (p->foreign && (p->options.align || !p->facts->base_known))
    l->clock = clock_of(p, p->selection.launches[i].device);
  if (p->foreign && !p->facts->base_known && !l->clock) {
    p->unplaced++; /* their times have no known base, and nothing of this device was joined */
    return;
  }
  l->placed = true;
  l->begin_ns = placement_ns(p, i, span->begin_ns);
  l->end_ns = placement_ns(p, i, span->end_ns);
  if (p->foreign && l->begin_ns < placement_zero_ns(p)) {
    l->placed = false;
    p->too_early++;
  }
  if (!joined || joined->method == INK_JOIN_NONE || joined->kernel == SIZE_MAX)
    return;
  p->joined++;
  l->kernel = joined->kernel;
  l->method = joined->method;
  l->confidence = joined->confidence;
  l->uncertain = joined->uncertain;
  p->uncertain += l->uncertain;
  l->residual_ns = joined->residual_ns;
  const ink_foreign_kernel *k = &p->kernels[l->kernel];
  l->early_ns = l->begin_ns < k->begin_ns ? k->begin_ns - l->begin_ns : 0;
  l->late_ns = l->end_ns > k->end_ns ? l->end_ns - k->end_ns : 0;
  p->outside += l->early_ns > 0 || l->late_ns > 0;
}

const char *placement_launch_name(const placement *p, size_t i, char text[PLACEMENT_NAME_BYTES]) {
  const placed_launch *l = &p->launches[i];
  const char *name = ink_selection_kernel(&p->selection, i);
  const ink_foreign_kernel *k = l->kernel == SIZE_MAX ? NULL : &p->kernels[l->kernel];
  if (!k || (l->begin_ns < k->end_ns && l->end_ns > k->begin_ns) || (!l->early_ns && !l->late_ns))
    return name;
  const int64_t by_ns = l->early_ns > l->late_ns ? l->early_ns : l->late_ns;
  ink_i_print(text, PLACEMENT_NAME_BYTES, "(outside of its kernel by %.1f us) %.400s", (double)by_ns / 1000, name);
  return text;
}

const char *placement_method(enum ink_join_method method) {
  switch (method) {
  case INK_JOIN_NONE:
    return "";
  case INK_JOIN_GRID_ID:
    return "grid id";
  case INK_JOIN_CORRELATION:
    return "correlation";
  case INK_JOIN_NAME:
    return "name, order and time";
  case INK_JOIN_DIMENSIONS:
    return "dimensions, order and time";
  }
  return "";
}

void placement_unjoin(placement *p, size_t i) {
  placed_launch *l = &p->launches[i];
  p->joined--;
  p->uncertain -= l->uncertain;
  p->outside -= l->early_ns > 0 || l->late_ns > 0;
  l->kernel = SIZE_MAX;
  l->method = INK_JOIN_NONE;
  l->early_ns = l->late_ns = 0;
  l->uncertain = false;
}

ink_status placement_make(placement *p, const ink_capture *capture, const ink_clock_map *map,
                          const char *with, const ink_foreign *foreign,
                          const ink_merged_options *options, ink_error *error) {
  p->options = (ink_merged_options){.launch = UINT32_MAX};
  p->with = with;
  p->foreign = foreign;
  ink_status status = INK_I_OPTIONS_TAKE(&p->options, ink_merged_options, remark_user, options, error);
  if (status != INK_OK)
    return status;
  const ink_output_options chosen = {
      .size = sizeof chosen, .kernel_regex = p->options.kernel_regex, .launch = p->options.launch};
  status = ink_selection_make(&p->selection, capture, map, &chosen, error);
  if (status != INK_OK)
    return status;
  if (!p->selection.chosen_tracks)
    return ink_error_set(error, INK_ERROR_EMPTY, "the capture holds no launches to merge");
  const ink_joined *joined = NULL;
  if (with) {
    p->kernel_count = ink_foreign_kernels(p->foreign, &p->kernels);
    p->facts = ink_foreign_get_facts(p->foreign);
    status = placement_join(p, error);
    if (status != INK_OK)
      return status;
    ink_join_launches(p->join, &joined);
  }
  p->launches = calloc(p->selection.launch_count, sizeof *p->launches);
  if (!p->launches)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  for (size_t i = 0; i < p->selection.launch_count; i++)
    place_launch(p, i, joined ? &joined[i] : NULL);
  if (with && !p->joined)
    return placement_refuse(p, error);
  if (with) {
    status = placement_check_apart(p, error);
    if (status != INK_OK)
      return status;
  }
  return placement_choose_tracks(p, error);
}

void placement_free(placement *p) {
  ink_join_free(p->join);
  free(p->launches);
  free(p->order);
  ink_selection_free(&p->selection);
}
