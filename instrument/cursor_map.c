/* SPDX-License-Identifier: MIT */
/* Cursors in a hash table: open addressing, at most half full. */
#include "cursor_map.h"

#include <stdlib.h>

static struct ink_cursor_slot *slot_of(const ink_cursor_map *map, CXCursor cursor) {
  size_t at = clang_hashCursor(cursor) * (size_t)0x9e3779b97f4a7c15u >> 20;
  while (map->slots[at & (map->room - 1)].used &&
         !clang_equalCursors(map->slots[at & (map->room - 1)].cursor, cursor))
    at++;
  return &map->slots[at & (map->room - 1)];
}

static bool grow(ink_cursor_map *map) {
  ink_cursor_map wider = {.room = map->room ? 2 * map->room : 256, .count = map->count};
  wider.slots = calloc(wider.room, sizeof *wider.slots);
  if (!wider.slots)
    return false;
  for (size_t i = 0; i < map->room; i++)
    if (map->slots[i].used)
      *slot_of(&wider, map->slots[i].cursor) = map->slots[i];
  free(map->slots);
  *map = wider;
  return true;
}

uint32_t *ink_cursor_map_at(ink_cursor_map *map, CXCursor cursor, uint32_t fresh, bool *was_there) {
  if (2 * map->count >= map->room && !grow(map))
    return NULL;
  struct ink_cursor_slot *slot = slot_of(map, cursor);
  if (was_there)
    *was_there = slot->used;
  if (!slot->used) {
    *slot = (struct ink_cursor_slot){cursor, fresh, true};
    map->count++;
  }
  return &slot->value;
}

void ink_cursor_map_free(ink_cursor_map *map) {
  free(map->slots);
  *map = (ink_cursor_map){0};
}
