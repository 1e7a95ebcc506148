/* SPDX-License-Identifier: MIT */
/* Numbers for texts: 0, 1, 2, ... in the order in which they are first asked for. */
#ifndef INK_TEXT_TABLE_H
#define INK_TEXT_TABLE_H

#include "inkmark/status.h"

#include <stdbool.h>

typedef struct text_table {
  char **texts; /* each with a NUL behind it */
  struct text_key {
    uint32_t hash, length;
  } * keys;
  size_t count, room, key_room;
  uint32_t *slots; /* index + 1 */
  size_t slot_count;
} text_table;

/* *fresh (may be NULL) tells whether the text is new. */
ink_status text_table_add(text_table *table, const char *text, size_t length, uint32_t *out,
                          bool *fresh);
/* UINT32_MAX: not there. */
uint32_t text_table_find(const text_table *table, const char *text, size_t length);
void text_table_free(text_table *table);

/* Bytes that grow. */
typedef struct text_buffer {
  char *bytes;
  size_t size, room;
  bool failed; /* out of memory; what follows is dropped */
} text_buffer;

/* Room for `more` bytes behind the end, which may be written without a check; NULL after a failure.
 */
char *text_buffer_room(text_buffer *buffer, size_t more);

#endif
