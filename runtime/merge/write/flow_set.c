/* SPDX-License-Identifier: MIT */
/* A hash table of words of 64 arrows. */
#include "flow_set.h"

#include <stdlib.h>

typedef struct flow_word {
  uint64_t process, group; /* group: the numbers' higher bits */
  uint64_t starts, ends;   /* both 0: a free place */
} flow_word;

static flow_word *place_of(flow_word *words, size_t room, uint64_t process, uint64_t group) {
  uint64_t h = (group ^ process << 40) * 0x9e3779b97f4a7c15ull;
  size_t at = (size_t)(h ^ h >> 32) & (room - 1);
  while ((words[at].starts || words[at].ends) &&
         (words[at].process != process || words[at].group != group))
    at = (at + 1) & (room - 1);
  return &words[at];
}

static ink_status grow(flow_set *set) {
  size_t room = set->room ? set->room * 2 : 256;
  flow_word *words = calloc(room, sizeof *words);
  if (!words)
    return INK_ERROR_MEMORY;
  for (size_t i = 0; i < set->room; i++)
    if (set->words[i].starts || set->words[i].ends)
      *place_of(words, room, set->words[i].process, set->words[i].group) = set->words[i];
  free(set->words);
  set->words = words;
  set->room = room;
  return INK_OK;
}

/* The same. The number asked for last is most often near this one, in the same word. */
static flow_word *word_of(flow_set *set, uint64_t process, uint64_t group) {
  if (set->last < set->room) {
    flow_word *word = &set->words[set->last];
    if ((word->starts || word->ends) && word->process == process && word->group == group)
      return word;
  }
  flow_word *word = place_of(set->words, set->room, process, group);
  set->last = (size_t)(word - set->words);
  return word;
}

ink_status flow_set_add(flow_set *set, uint64_t process, uint64_t number, bool starts) {
  if (2 * (set->count + 1) > set->room) {
    ink_status status = grow(set);
    if (status != INK_OK)
      return status;
  }
  flow_word *word = word_of(set, process, number >> 6);
  if (!word->starts && !word->ends)
    set->count++;
  word->process = process;
  word->group = number >> 6;
  *(starts ? &word->starts : &word->ends) |= UINT64_C(1) << (number & 63);
  return INK_OK;
}

bool flow_set_whole(flow_set *set, uint64_t process, uint64_t number) {
  if (!set->room)
    return false;
  const flow_word *word = word_of(set, process, number >> 6);
  return word->starts & word->ends & UINT64_C(1) << (number & 63);
}

uint64_t flow_set_count(const flow_set *set) {
  uint64_t n = 0;
  for (size_t i = 0; i < set->room; i++)
    n += (uint64_t)__builtin_popcountll(set->words[i].starts & set->words[i].ends);
  return n;
}

void flow_set_free(flow_set *set) {
  free(set->words);
  *set = (flow_set){0};
}
