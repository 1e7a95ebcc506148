/* SPDX-License-Identifier: MIT */
/* Gathers the readings of clock64 and globaltimer that a capture has, SM by SM. */
#include "clock_pairs.h"

#include <stdlib.h>
#include <string.h>

enum {
  LONG_TRACK_NS = 200000, /* in shorter ones no one looks for clock triples */
  READINGS_MAX = 65536    /* globaltimer readings looked at for the step */
};

static bool thinned_add(ink_thinned *list, const ink_clock_pair *pair) {
  list->stride += !list->stride;
  if (list->seen++ % list->stride)
    return true;
  if (list->count == INK_PAIRS_MAX) {
    for (size_t i = 0; i < INK_PAIRS_MAX / 2; i++)
      list->items[i] = list->items[i * 2];
    list->count = INK_PAIRS_MAX / 2;
    list->stride *= 2;
  }
  if (list->count % 64 == 0) {
    ink_clock_pair *items = realloc(list->items, (list->count + 64) * sizeof *items);
    if (!items)
      return false;
    list->items = items;
  }
  list->items[list->count++] = *pair;
  return true;
}

static bool add_reading(ink_device_pairs *device, uint64_t global_ns) {
  if (device->reading_count == READINGS_MAX)
    return true;
  if (device->reading_count == device->reading_room) {
    size_t room = device->reading_room ? device->reading_room * 2 : 256;
    uint64_t *readings = realloc(device->readings, room * sizeof *readings);
    if (!readings)
      return false;
    device->readings = readings;
    device->reading_room = room;
  }
  device->readings[device->reading_count++] = global_ns;
  return true;
}

/* NULL: out of memory. */
static ink_sm_pairs *find_sm(ink_device_pairs *device, uint32_t sm) {
  if (sm >= device->sm_count) {
    uint32_t count = sm + 1;
    ink_sm_pairs *sms = realloc(device->sms, count * sizeof *sms);
    if (!sms)
      return NULL;
    for (uint32_t i = device->sm_count; i < count; i++)
      sms[i] = (ink_sm_pairs){.low_cycles = UINT64_MAX};
    device->sms = sms;
    device->sm_count = count;
  }
  return &device->sms[sm];
}

static bool add_pair(ink_device_pairs *device, uint32_t sm, ink_clock_pair pair) {
  if (sm >= INK_SM_MAX)
    return true; /* no GPU has it: a damaged header */
  ink_sm_pairs *list = find_sm(device, sm);
  if (!list || !add_reading(device, pair.global_ns))
    return false;
  if (pair.cycles0 < list->low_cycles)
    list->low_cycles = pair.cycles0;
  if (pair.cycles1 > list->high_cycles)
    list->high_cycles = pair.cycles1;
  return thinned_add(&list->tracks, &pair);
}

/* The clock triples of a ring: found by their last word, whose lower 48 bits are 0, and believed
 * where every word of theirs agrees. */
static bool add_triples(ink_device_pairs *device, const ink_track *track, const uint64_t *words,
                        uint64_t n) {
  for (uint64_t i = 4; i < n; i++) {
    if (words[i] & INK_CLOCK_MASK)
      continue;
    uint64_t before = words[i - 4], after = words[i - 3];
    if (words[i] != INK_ESCAPE_WORD(INK_ESCAPE_CLOCKS, 0, after) ||
        words[i - 1] != INK_HEAD(INK_KIND_INSTANT, 0, after) || before > after ||
        before < track->open_clock0 || after > track->close_clock1)
      continue;
    ink_clock_pair pair = {.cycles0 = before, .cycles1 = after, .global_ns = words[i - 2]};
    if (!add_pair(device, track->sm_open, pair))
      return false;
  }
  return true;
}

bool ink_pairs_add_track(ink_device_pairs *device, const ink_stored_track *stored) {
  const ink_track *track = &stored->header;
  if (track->open_clock1 < track->open_clock0)
    return true;
  const bool stayed = track->sm_close == track->sm_open;
  ink_clock_pair open = {.cycles0 = track->open_clock0, .cycles1 = track->open_clock1,
                         .global_ns = track->open_global_ns, .opens = 1};
  if (!add_pair(device, track->sm_open, open))
    return false;
  if (track->state != INK_TRACK_CLOSED || track->close_clock1 < track->close_clock0)
    return true;
  ink_clock_pair close = {.cycles0 = track->close_clock0, .cycles1 = track->close_clock1,
                          .global_ns = track->close_global_ns, .opens = stayed ? -1 : 0};
  if (stayed && close.cycles0 > open.cycles0 && close.global_ns > open.global_ns) {
    device->cycles_sum += (double)(close.cycles0 - open.cycles0);
    device->ns_sum += (double)(close.global_ns - open.global_ns);
    if (close.global_ns - open.global_ns >= LONG_TRACK_NS &&
        ((!INK_TRACK_ROWS(track) && !add_triples(device, track, stored->ring, stored->ring_words)) ||
         !add_triples(device, track, stored->aux, stored->aux_words)))
      return false;
  }
  return add_pair(device, track->sm_close, close);
}

bool ink_pairs_add_edges(ink_device_pairs *device, const ink_clock_edges *edges) {
  device->calibrations += edges->sm_count != 0;
  for (uint32_t i = 0; i < edges->sm_count; i++) {
    const ink_sm_edges *sm = &edges->sms[i];
    ink_sm_pairs *list = sm->sm < INK_SM_MAX && sm->count ? find_sm(device, sm->sm) : NULL;
    if (!list && sm->sm < INK_SM_MAX && sm->count)
      return false;
    for (uint32_t k = 0; k < sm->count && list; k++) {
      const ink_edge *edge = &sm->edges[k];
      if (edge->cycles1 < edge->cycles0 || !edge->jump_ns)
        continue; /* damage */
      ink_clock_pair pair = {.cycles0 = edge->cycles0, .cycles1 = edge->cycles1,
                             .global_ns = edge->global_ns, .jump_ns = edge->jump_ns};
      if (!thinned_add(&list->edges, &pair) || !add_reading(device, edge->global_ns) ||
          !add_reading(device, edge->global_ns - edge->jump_ns))
        return false;
    }
  }
  return true;
}

static int compare_pair(const void *left, const void *right) {
  const ink_clock_pair *a = left, *b = right;
  if (a->cycles0 != b->cycles0)
    return a->cycles0 < b->cycles0 ? -1 : 1;
  return a->global_ns < b->global_ns ? -1 : a->global_ns > b->global_ns;
}

bool ink_pairs_sort(ink_device_pairs *device) {
  for (uint32_t i = 0; i < device->sm_count; i++) {
    ink_sm_pairs *sm = &device->sms[i];
    size_t n = sm->tracks.count + sm->edges.count;
    if (!n)
      continue;
    sm->items = malloc(n * sizeof *sm->items);
    if (!sm->items)
      return false;
    if (sm->tracks.count)
      memcpy(sm->items, sm->tracks.items, sm->tracks.count * sizeof *sm->items);
    if (sm->edges.count)
      memcpy(sm->items + sm->tracks.count, sm->edges.items, sm->edges.count * sizeof *sm->items);
    sm->count = n;
    qsort(sm->items, n, sizeof *sm->items, compare_pair);
  }
  return true;
}

void ink_pairs_free(ink_device_pairs *device) {
  for (uint32_t i = 0; i < device->sm_count; i++) {
    free(device->sms[i].tracks.items);
    free(device->sms[i].edges.items);
    free(device->sms[i].items);
  }
  free(device->sms);
  free(device->readings);
}

static int compare_u64(const void *left, const void *right) {
  uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return a < b ? -1 : a > b;
}

uint32_t ink_pairs_step(ink_device_pairs *device, uint32_t *smallest) {
  uint64_t *readings = device->readings;
  size_t n = device->reading_count;
  if (n)
    qsort(readings, n, sizeof *readings, compare_u64);
  uint64_t least = 0, common = 0, steps = 0;
  for (size_t i = 1; i < n; i++) {
    uint64_t step = readings[i] - readings[i - 1];
    steps += step != 0;
    if (step && (!least || step < least))
      least = step;
    for (uint64_t rest = step; rest;) { /* Euclid */
      uint64_t next = common % rest;
      common = rest;
      rest = next;
    }
  }
  *smallest = steps < 2 || least > UINT32_MAX ? 0 : (uint32_t)least;
  return steps < 2 || common > UINT32_MAX ? 0 : (uint32_t)common;
}

bool ink_pairs_recorded(const ink_sm_pairs *list, uint64_t cycles) {
  int64_t open = 0;
  for (size_t i = 0; i < list->count && list->items[i].cycles0 <= cycles; i++)
    open += list->items[i].opens;
  return open > 0 || list->tracks.stride > 1; /* some readings were left out: who knows */
}

bool ink_pairs_tracks_in(const ink_sm_pairs *list, uint64_t from_cycles, uint64_t to_cycles) {
  for (size_t i = 0; i < list->count && list->items[i].cycles0 <= to_cycles; i++)
    if (list->items[i].cycles0 >= from_cycles && !list->items[i].jump_ns)
      return true;
  return false;
}
