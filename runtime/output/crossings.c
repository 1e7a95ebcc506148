/* SPDX-License-Identifier: MIT */
/* Growing lists of a launch's ranges across threads. */
#include "crossings.h"

#include <stdlib.h>

void ink_crossings_clear(ink_crossings *c) { c->count = c->track_count = 0; }

void ink_crossings_free(ink_crossings *c) {
  free(c->items);
  free(c->lanes);
  free(c->tracks);
  free(c->table);
  *c = (ink_crossings){0};
}

ink_status ink_crossings_track(ink_crossings *c, uint64_t track, uint64_t place) {
  void *tracks = c->tracks;
  const ink_status status = ink_grow(&tracks, c->track_count, &c->track_room, sizeof *c->tracks);
  c->tracks = tracks;
  if (status == INK_OK)
    c->tracks[c->track_count++] = (crossing_track){track, place};
  return status;
}

/* One that ended before it began has no length. */
ink_status ink_crossings_add(ink_crossings *c, const ink_crossing *crossing) {
  if (crossing->cut)
    return INK_OK;
  void *items = c->items;
  const ink_status status = ink_grow(&items, c->count, &c->room, sizeof *c->items);
  c->items = items;
  if (status != INK_OK)
    return status;
  c->items[c->count++] = *crossing;
  return INK_OK;
}

static int by_begin(const void *left, const void *right) {
  const ink_crossing *a = left, *b = right;
  if (a->begin_ns != b->begin_ns)
    return a->begin_ns < b->begin_ns ? -1 : 1;
  if (a->from_track != b->from_track)
    return a->from_track < b->from_track ? -1 : 1;
  if (a->end_ns != b->end_ns)
    return a->end_ns < b->end_ns ? -1 : 1;
  return (a->key > b->key) - (a->key < b->key);
}

/* The first of the group's lanes that is free then, or a new one. */
static ink_status take_lane(ink_crossings *c, uint32_t group, const ink_crossing *item, size_t *out) {
  uint32_t number = 0;
  size_t at = 0;
  for (; at < c->table_count; at++) {
    if (c->table[at].group == group && c->table[at].end_ns <= item->begin_ns)
      break;
    number += c->table[at].group == group;
  }
  if (at == c->table_count) {
    void *table = c->table;
    const ink_status status = ink_grow(&table, at, &c->table_room, sizeof *c->table);
    c->table = table;
    if (status != INK_OK)
      return status;
    c->table[c->table_count++] = (crossing_lane){.group = group, .number = number};
  }
  c->table[at].end_ns = item->end_ns > item->begin_ns ? item->end_ns : item->begin_ns;
  *out = at;
  return INK_OK;
}

ink_status ink_crossings_lanes(ink_crossings *c, uint32_t group) {
  if (c->count)
    qsort(c->items, c->count, sizeof *c->items, by_begin);
  for (size_t i = 0; i < c->count; i++) {
    void *lanes = c->lanes;
    ink_status status = ink_grow(&lanes, i, &c->lane_room, sizeof *c->lanes);
    c->lanes = lanes;
    if (status == INK_OK)
      status = take_lane(c, group, &c->items[i], &c->lanes[i]);
    if (status != INK_OK)
      return status;
  }
  return INK_OK;
}

bool ink_crossings_find(const ink_crossings *c, uint64_t track, uint64_t *place) {
  size_t low = 0, high = c->track_count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (c->tracks[middle].track < track)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == c->track_count || c->tracks[low].track != track)
    return false;
  *place = c->tracks[low].place;
  return true;
}

const char *ink_scope_name(uint8_t scope) {
  return scope == INK_SCOPE_BLOCK ? "block" : scope == INK_SCOPE_CLUSTER ? "cluster" : "grid";
}
