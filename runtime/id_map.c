/* SPDX-License-Identifier: MIT */
/* Growth of the hash map of id_map.h: open addressing, at most half full. */
#include "id_map.h"

#include <stdlib.h>

static void insert(id_map *map, uint64_t key, uint32_t value) {
  size_t i = (size_t)ink_mix64(key) & map->mask;
  while (map->entries[i].value != INK_ID_NONE && map->entries[i].key != key)
    i = (i + 1) & map->mask;
  map->count += map->entries[i].value == INK_ID_NONE;
  map->entries[i].key = key;
  map->entries[i].value = value;
}

static bool grow(id_map *map) {
  size_t slots = map->entries ? (map->mask + 1) * 2 : 16;
  if (slots > SIZE_MAX / sizeof *map->entries)
    return false;
  id_map bigger = {.entries = malloc(slots * sizeof *map->entries), .mask = slots - 1};
  if (!bigger.entries)
    return false;
  id_map_clear(&bigger);
  for (size_t i = 0; map->entries && i <= map->mask; i++)
    if (map->entries[i].value != INK_ID_NONE)
      insert(&bigger, map->entries[i].key, map->entries[i].value);
  free(map->entries);
  *map = bigger;
  return true;
}

bool id_map_put(id_map *map, uint64_t key, uint32_t value) {
  if ((!map->entries || map->count * 2 >= map->mask + 1) && !grow(map))
    return false;
  insert(map, key, value);
  return true;
}

void id_map_clear(id_map *map) {
  for (size_t i = 0; map->entries && i <= map->mask; i++)
    map->entries[i].value = INK_ID_NONE;
  map->count = 0;
}

void id_map_free(id_map *map) {
  free(map->entries);
  *map = (id_map){0};
}
