/* SPDX-License-Identifier: MIT */
/* The texts of an Nsight Systems export, which rows name by number: the table StringIds. */
#ifndef INK_STRING_IDS_H
#define INK_STRING_IDS_H

#include "sqlite_load.h"

#include <stdbool.h>

enum { STRING_IDS_RECENT = 1024 };

typedef struct string_slot {
  long long id;
  uint64_t number; /* what the caller keeps of the text, as its place in a table of its own */
  bool used;
} string_slot;

typedef struct string_ids {
  const sqlite *s;
  void *statement; /* NULL: the export has no such table, and no number a text */
  string_slot recent[STRING_IDS_RECENT];
} string_ids;

void string_ids_open(string_ids *ids, const sqlite *s);
void string_ids_close(string_ids *ids);
/* The slot of that number. Where *fresh, the slot's number is the caller's to set, from *text,
 * which is NULL where there is none, and valid to the next call. */
string_slot *string_ids_find(string_ids *ids, long long id, bool *fresh, const char **text);

#endif
