/* SPDX-License-Identifier: MIT */
/* Asks for a text once, not once a row: rows repeat few of them. */
#include "string_ids.h"

#include <stdlib.h>

void string_ids_open(string_ids *ids, const sqlite *s) {
  ids->s = s;
  if (s->prepare_v2(s->db, "SELECT value FROM StringIds WHERE id = ?", -1, &ids->statement, NULL))
    ids->statement = NULL;
}

void string_ids_close(string_ids *ids) {
  if (ids->statement)
    ids->s->finalize(ids->statement);
  ids->statement = NULL;
}

string_slot *string_ids_find(string_ids *ids, long long id, bool *fresh, const char **text) {
  string_slot *slot = &ids->recent[(uint64_t)id % STRING_IDS_RECENT];
  *fresh = !slot->used || slot->id != id;
  if (!*fresh)
    return slot;
  *slot = (string_slot){.id = id, .used = true};
  *text = NULL;
  if (!ids->statement)
    return slot;
  const sqlite *s = ids->s;
  s->reset(ids->statement);
  if (!s->bind_int64(ids->statement, 1, id) && s->step(ids->statement) == SQL_ROW)
    *text = (const char *)s->column_text(ids->statement, 0);
  return slot;
}
