/* SPDX-License-Identifier: MIT */
#include "list_room.h"

#include <stdint.h>
#include <stdlib.h>

bool ink_list_room(void **items, size_t *capacity, size_t count, size_t item_bytes) {
  if (count < *capacity)
    return true;
#if defined(INKMARK_TIGHT) /* a step behind the last item is out of the memory: address sanitizers want this */
  size_t more = count + 1;
#else
  size_t more = *capacity ? *capacity + *capacity / 2 + 1 : 8;
#endif
  if (more > SIZE_MAX / item_bytes)
    return false;
  void *grown = realloc(*items, more * item_bytes);
  if (!grown)
    return false;
  *items = grown;
  *capacity = more;
  return true;
}
