/* SPDX-License-Identifier: MIT */
/* What marks cost, as a capture says: reading its chunks, and the table of costs that the decoder
 * uses. */
#include "mark_cost.h"

#include "capture_private.h"

#include <string.h>

ink_status ink_read_mark_costs(ink_capture *capture, const unsigned char *payload, uint64_t bytes,
                               ink_error *error) {
  ink_file_mark_costs fixed;
  if (bytes < sizeof fixed)
    return ink_error_set(error, INK_ERROR_DAMAGED, "costs of marks that are too short");
  memcpy(&fixed, payload, sizeof fixed);
  const uint64_t rest = bytes - sizeof fixed;
  if (fixed.count >= rest / sizeof(ink_mark_cost) + (rest % sizeof(ink_mark_cost) != 0))
    return ink_error_set(error, INK_ERROR_DAMAGED, "costs of marks that are cut off");
  const unsigned char *note = payload + sizeof fixed + fixed.count * sizeof(ink_mark_cost);
  if (!memchr(note, 0, (size_t)(payload + bytes - note)))
    return ink_error_set(error, INK_ERROR_DAMAGED, "costs of marks without their note");
  /* Chunks start at a multiple of 8, and so do these. */
  const ink_mark_costs found = {.device = fixed.device,
                                .count = fixed.count,
                                .costs = (const void *)(payload + sizeof fixed),
                                .note = (const char *)note};
  for (size_t i = 0; i < capture->mark_costs.count; i++)
    if (capture->mark_costs.items[i].device == found.device) {
      capture->mark_costs.items[i] = found;
      return INK_OK;
    }
  if (!INK_I_ROOM(capture->mark_costs))
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the costs of marks");
  capture->mark_costs.items[capture->mark_costs.count++] = found;
  return INK_OK;
}

size_t ink_capture_mark_costs(const ink_capture *capture, const ink_mark_costs **out) {
  *out = capture->mark_costs.items;
  return capture->mark_costs.count;
}

/* ---- costs --------------------------------------------------------------------------------- */

/* A mark that costs more than a second would be a damaged file's. */
#define MOST_MILLICYCLES UINT64_C(4000000000000)

static ink_cost cost_of(const ink_mark_cost *cost) {
  if (cost->millicycles > MOST_MILLICYCLES || cost->bound_millicycles > MOST_MILLICYCLES)
    return (ink_cost){0, MOST_MILLICYCLES};
  const uint64_t cycles = (cost->millicycles + 500) / 1000;
  const uint64_t whole = cycles * 1000;
  const uint64_t rounded =
      whole > cost->millicycles ? whole - cost->millicycles : cost->millicycles - whole;
  return (ink_cost){cycles, cost->bound_millicycles + rounded};
}

static void put_cost(ink_costs *costs, const ink_mark_cost *measured) {
  const ink_cost cost = cost_of(measured);
  ink_cost *of = costs->of[measured->flags & INK_COST_CALLED_FUNCTION ? 1 : 0];
  switch (measured->what) {
  case INK_COST_OF_MARK:
    of[INK_KIND_MARK] = cost;
    break;
  case INK_COST_OF_RANGE:
    of[INK_KIND_BEGIN] = of[INK_KIND_END] = cost;
    break;
  case INK_COST_OF_INSTANT:
    of[INK_KIND_INSTANT] = cost;
    break;
  case INK_COST_OF_ITER:
    of[INK_KIND_ITER] = cost;
    break;
  case INK_COST_OF_VALUE:
    of[INK_KIND_ESCAPE] = cost;
    break;
  case INK_COST_OF_ASYNC:
    of[INK_KIND_ASYNC_BEGIN] = of[INK_KIND_ASYNC_END] = cost;
    break;
  case INK_COST_OF_SUM:
    costs->sum_pair = cost;
    break;
  case INK_COST_OF_OPENING:
    costs->opening = cost;
    break;
  case INK_COST_OF_TRACK:
    costs->track = cost;
    break;
  case INK_COST_OF_SUM_INSIDE:
    costs->sum_inside = cost;
    break;
  case INK_COST_OF_SUM_RECORD:
    costs->sum_record = cost;
    break;
  case INK_COST_OF_CLOCKS:
    costs->clocks = cost;
    costs->clocks_known = true;
    break;
  default: /* of a newer version */
    break;
  }
}

ink_costs ink_costs_of(const ink_capture *capture, int32_t device) {
  ink_costs costs = {0};
  for (size_t i = 0; i < capture->mark_costs.count; i++) {
    const ink_mark_costs *measured = &capture->mark_costs.items[i];
    for (uint32_t k = 0; k < measured->count && measured->device == device; k++)
      if (measured->costs[k].flags & INK_COST_RECORDING) {
        costs.known = true;
        put_cost(&costs, &measured->costs[k]);
      }
  }
  return costs;
}
