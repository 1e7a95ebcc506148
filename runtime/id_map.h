/* SPDX-License-Identifier: MIT */
/* A hash map from 64-bit keys to 32-bit values, the one that every index here uses. */
#ifndef INKMARK_ID_MAP_H
#define INKMARK_ID_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INK_ID_NONE UINT32_MAX /* never a value */

typedef struct id_map_entry {
  uint64_t key;
  uint32_t value; /* INK_ID_NONE: empty */
  uint32_t reserved;
} id_map_entry;

typedef struct id_map { /* all zero: empty */
  id_map_entry *entries;
  size_t mask, count;
} id_map;

static inline uint64_t ink_mix64(uint64_t key) { /* the finaliser of SplitMix64, public domain */
  key = (key ^ key >> 30) * 0xbf58476d1ce4e5b9u;
  key = (key ^ key >> 27) * 0x94d049bb133111ebu;
  return key ^ key >> 31;
}

static inline uint32_t id_map_get(const id_map *map, uint64_t key) {
  if (!map->entries)
    return INK_ID_NONE;
  for (size_t i = (size_t)ink_mix64(key) & map->mask;; i = (i + 1) & map->mask) {
    const id_map_entry *entry = &map->entries[i];
    if (entry->value == INK_ID_NONE || entry->key == key)
      return entry->value;
  }
}

/* Sets or replaces; false when out of memory, and then nothing has changed. */
bool id_map_put(id_map *map, uint64_t key, uint32_t value);
void id_map_clear(id_map *map); /* keeps the room */
void id_map_free(id_map *map);

#endif
