/* SPDX-License-Identifier: MIT */
/* Gives back tracks whose threads have left without closing them. Kernels are told of at no cost: an open track's state
 * says which warp's place of which SM its thread has, and where a thread of another block opened one there later, the
 * first is gone. So no more of them stay taken than warps of marked kernels can be on the device at a time. */
#include "cuda/drain_open.h"

#include "cuda/drain_parts.h"

#include <stdlib.h>
#include <string.h>

typedef struct open_place {
  uint32_t place, slot;
} open_place;

/* SM and warp of the thread that has the slot, from its state's word; false: it was compiled with INKMARK_NO_CALLED. */
static bool place_of(const ink_i_device *d, uint32_t slot, uint32_t *place) {
  enum { LANE_SHIFT = 26 }; /* the lane lies above: entry_lane of mark_entry.cuh */
  const uint32_t word = d->states[slot].word;
  *place = (word & ((1u << LANE_SHIFT) - 1)) >> INK_STATE_BITS;
  return (word & INK_STATE_TAKEN) && word != INK_STATE_NO_PLACE;
}

static bool same_block(const ink_device_track *a, const ink_device_track *b) {
  return a->grid_id == b->grid_id && a->block_index[0] == b->block_index[0] &&
         a->block_index[1] == b->block_index[1] && a->block_index[2] == b->block_index[2];
}

static int by_place(const void *left, const void *right) {
  const open_place *a = left, *b = right;
  return a->place != b->place ? (a->place > b->place) - (a->place < b->place) : (a->slot > b->slot) - (a->slot < b->slot);
}

static int by_slot(const void *left, const void *right) {
  const ink_i_wanted *a = left, *b = right;
  return (a->slot > b->slot) - (a->slot < b->slot);
}

/* Of tracks at one place all that are of another block than the newest, to d->wanted. */
static uint32_t take_left(ink_i_device *d, const open_place *at, uint32_t count, uint32_t n) {
  const ink_device_track *newest = &d->headers[at[0].slot];
  for (uint32_t i = 1; i < count; i++)
    if (d->headers[at[i].slot].open_clock0 > newest->open_clock0)
      newest = &d->headers[at[i].slot];
  for (uint32_t i = 0; i < count; i++)
    if (!same_block(&d->headers[at[i].slot], newest) && d->headers[at[i].slot].open_clock0 < newest->open_clock0)
      d->wanted[n++].slot = at[i].slot;
  return n;
}

static uint32_t find_left(ink_i_device *d, open_place *places) {
  uint32_t count = 0, n = 0;
  for (uint32_t slot = 0; slot < d->info.track_count; slot++)
    if ((d->open[slot] & INK_I_OPEN_TICKET) && !(d->open[slot] & INK_I_OPEN_FOREIGN) &&
        place_of(d, slot, &places[count].place))
      places[count++].slot = slot;
  qsort(places, count, sizeof *places, by_place);
  for (uint32_t i = 0, same; i < count; i += same) {
    for (same = 1; i + same < count && places[i + same].place == places[i].place;)
      same++;
    n = take_left(d, places + i, same, n);
  }
  qsort(d->wanted, n, sizeof *d->wanted, by_slot);
  return n;
}

/* What is in the capture with all that it will ever have: its slot can be claimed, and is as it was at arming. Of the
 * next `track_count` tickets one names it, and finds it free. */
static int give_back(ink_i_device *d, uint32_t slot) {
  const size_t ring_bytes = (size_t)d->info.records_per_track * 16;
  int code = 0;
  if (d->flight)
    memset((unsigned char *)ink_i_flight_ring(d->flight, slot) - sizeof(ink_device_track), 0xff,
           sizeof(ink_device_track) + ring_bytes);
  else
    code = d->cuda->set_async((void *)(uintptr_t)ink_i_device_header_at(d, slot), 0xff,
                              sizeof(ink_device_track) + ring_bytes, d->stream);
  if (!code)
    code = ink_i_drain_free_states(d, slot, slot + 1);
  d->clean_below[slot] = d->claims + d->info.track_count;
  d->seen[slot] = d->headers[slot].ticket + 1;
  d->open_count -= d->open[slot] != 0;
  d->open[slot] = 0;
  ink_i_follow_end(d, slot);
  return code;
}

ink_status ink_i_drain_left(ink_session *s, ink_i_device *d, ink_error *error) {
  if (d->open_count < 2 || (d->info.flags & INK_BUFFER_KEEP_FIRST))
    return INK_OK;
  open_place *places = malloc(d->info.track_count * sizeof *places);
  if (!places)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for open tracks");
  const uint32_t n = find_left(d, places);
  for (uint32_t i = 0; i < n; i++)
    places[i].slot = d->wanted[i].slot;
  ink_status status = n ? ink_i_open_store(s, d, n, true, true, error) : INK_OK;
  for (uint32_t i = 0; i < n && !status; i++) {
    const uint32_t slot = places[i].slot;
    const ink_i_follow *follow = d->follows[slot];
    if (!follow || !follow->whole || follow->ticket != d->headers[slot].ticket + 1)
      continue; /* the writer had no room for it */
    const int code = give_back(d, slot);
    if (code)
      status = ink_i_cuda_failed(d, code, "give tracks back", error);
  }
  free(places);
  return status;
}
