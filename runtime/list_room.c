/* SPDX-License-Identifier: MIT */
#include "list_room.h"

#include <stdint.h>
#include <stdlib.h>

bool ink_list_room(void **items, size_t *capacity, size_t count, size_t item_bytes) {
  if (count < *capacity)
    return true;
  size_t more = *capacity ? *capacity + *capacity / 2 + 1 : 8;
  if (more > SIZE_MAX / item_bytes)
    return false;
  void *grown = realloc(*items, more * item_bytes);
  if (!grown)
    return false;
  *items = grown;
  *capacity = more;
  return true;
}
