/* SPDX-License-Identifier: MIT */
/* Cursors in a hash table, each with a number. */
#ifndef INKMARK_CURSOR_MAP_H
#define INKMARK_CURSOR_MAP_H

#include <clang-c/Index.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ink_cursor_map {
  struct ink_cursor_slot {
    CXCursor cursor;
    uint32_t value;
    bool used;
  } *slots;
  size_t room, count; /* room: a power of two, or 0 */
} ink_cursor_map;

/* Where the cursor's number is; it is put in with `fresh` where it was not there. NULL: out of memory. The place is
 * good until the next call. *was_there may be NULL. */
uint32_t *ink_cursor_map_at(ink_cursor_map *map, CXCursor cursor, uint32_t fresh, bool *was_there);
void ink_cursor_map_free(ink_cursor_map *map);

#endif
