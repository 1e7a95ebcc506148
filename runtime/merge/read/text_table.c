/* SPDX-License-Identifier: MIT */
/* A hash table of texts, and a growing buffer. */
#include "text_table.h"

#include "output/track_events.h"

#include <stdlib.h>
#include <string.h>

static uint32_t hash(const char *text, size_t length) {
  uint64_t h = 0xcbf29ce484222325ull; /* FNV-1a, eight bytes at a time, in two chains that do not wait for each other */
  uint64_t other = length;
  for (; length >= 16; length -= 16, text += 16) {
    uint64_t word[2];
    memcpy(word, text, sizeof word);
    h = (h ^ word[0]) * 0x9e3779b97f4a7c15ull;
    h ^= h >> 29;
    other = (other ^ word[1]) * 0xd6e8feb86659fd93ull;
    other ^= other >> 29;
  }
  h ^= other;
  for (; length >= 8; length -= 8, text += 8) {
    uint64_t word;
    memcpy(&word, text, 8);
    h = (h ^ word) * 0x9e3779b97f4a7c15ull;
    h ^= h >> 29;
  }
  for (; length; length--)
    h = (h ^ (unsigned char)*text++) * 0x100000001b3ull;
  return (uint32_t)(h ^ h >> 32);
}

static ink_status more_slots(text_table *t) {
  size_t count = t->slot_count ? t->slot_count * 2 : 256;
  uint32_t *slots = calloc(count, sizeof *slots);
  if (!slots)
    return INK_ERROR_MEMORY;
  for (size_t i = 0; i < t->count; i++) {
    size_t at = t->keys[i].hash & (count - 1);
    while (slots[at])
      at = (at + 1) & (count - 1);
    slots[at] = (uint32_t)i + 1;
  }
  free(t->slots);
  t->slots = slots;
  t->slot_count = count;
  return INK_OK;
}

static inline uint32_t find(const text_table *t, const char *text, size_t length, uint32_t h) {
  if (!t->slot_count)
    return UINT32_MAX;
  size_t mask = t->slot_count - 1;
  for (size_t at = h & mask; t->slots[at]; at = (at + 1) & mask) {
    uint32_t i = t->slots[at] - 1;
    if (t->keys[i].hash == h && t->keys[i].length == length && !memcmp(t->texts[i], text, length))
      return i;
  }
  return UINT32_MAX;
}

uint32_t text_table_find(const text_table *t, const char *text, size_t length) {
  return find(t, text, length, hash(text, length));
}

static ink_status add(text_table *t, const char *text, size_t length, uint32_t h) {
  if (t->count >= UINT32_MAX - 1 || length > UINT32_MAX)
    return INK_ERROR_LIMIT;
  if (2 * (t->count + 1) > t->slot_count && more_slots(t) != INK_OK)
    return INK_ERROR_MEMORY;
  void *texts = t->texts, *keys = t->keys;
  ink_status status = ink_grow(&texts, t->count, &t->room, sizeof *t->texts);
  t->texts = texts;
  if (status == INK_OK)
    status = ink_grow(&keys, t->count, &t->key_room, sizeof *t->keys);
  t->keys = keys;
  char *copy = status == INK_OK ? malloc(length + 1) : NULL;
  if (!copy)
    return INK_ERROR_MEMORY;
  memcpy(copy, text, length);
  copy[length] = 0;
  size_t at = h & (t->slot_count - 1);
  while (t->slots[at])
    at = (at + 1) & (t->slot_count - 1);
  t->texts[t->count] = copy;
  t->keys[t->count++] = (struct text_key){h, (uint32_t)length};
  t->slots[at] = (uint32_t)t->count;
  return INK_OK;
}

ink_status text_table_add(text_table *t, const char *text, size_t length, uint32_t *out,
                          bool *fresh) {
  uint32_t h = hash(text, length);
  *out = find(t, text, length, h);
  if (fresh)
    *fresh = *out == UINT32_MAX;
  if (*out != UINT32_MAX)
    return INK_OK;
  ink_status status = add(t, text, length, h);
  if (status == INK_OK)
    *out = (uint32_t)t->count - 1;
  return status;
}

void text_table_free(text_table *t) {
  for (size_t i = 0; i < t->count; i++)
    free(t->texts[i]);
  free(t->texts);
  free(t->keys);
  free(t->slots);
  *t = (text_table){0};
}

char *text_buffer_room(text_buffer *b, size_t more) {
  if (b->failed)
    return NULL;
  if (b->room - b->size < more) {
    size_t room = b->room ? b->room : 4096;
    while (room - b->size < more)
      room *= 2;
    char *grown = realloc(b->bytes, room);
    if (!grown) {
      b->failed = true;
      return NULL;
    }
    b->bytes = grown;
    b->room = room;
  }
  return b->bytes + b->size;
}
