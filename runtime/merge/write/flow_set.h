/* SPDX-License-Identifier: MIT */
/* Which arrows have both ends, where an arrow is a process and a small number: two bits an arrow,
 * as numbers that are near each other share a word. */
#ifndef INK_FLOW_SET_H
#define INK_FLOW_SET_H

#include "inkmark/status.h"

#include <stdbool.h>

typedef struct flow_set {
  struct flow_word *words; /* hashed */
  size_t count, room, last; /* last: where the last number was found */
} flow_set;

ink_status flow_set_add(flow_set *set, uint64_t process, uint64_t number, bool starts);
bool flow_set_whole(flow_set *set, uint64_t process, uint64_t number);
uint64_t flow_set_count(const flow_set *set); /* of those with both ends */
void flow_set_free(flow_set *set);

#endif
