/* SPDX-License-Identifier: MIT */
/* Lists that grow: an array, how many items it has room for, and how many it has. */
#ifndef INKMARK_LIST_ROOM_H
#define INKMARK_LIST_ROOM_H

#include <stdbool.h>
#include <stddef.h>

/* Room for one more than `count`. False: out of memory, and the list is as it was. */
bool ink_list_room(void **items, size_t *capacity, size_t count, size_t item_bytes);

#endif
