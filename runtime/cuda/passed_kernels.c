/* SPDX-License-Identifier: MIT */
/* Which kernels ran that a filter of names leaves out: a filter that lets none through is told what there is. */
#include "cuda/passed_kernels.h"

#include "list_room.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct passed_name {
  const char *table, *name;
  size_t length;
  uint32_t slot; /* at which its search ends, perhaps with that of a kernel of another table */
  bool entered;  /* else it is of before the slots changed */
  bool ran;
} passed_name;

struct ink_i_passed {
  passed_name *names;
  size_t count, room, kept; /* the first are of before the slots changed */
  uint64_t *since; /* [slot_count]: what a slot had counted before it was watched */
  bool *watched;   /* [slot_count] */
};

static bool make(ink_i_device *d) {
  ink_i_passed *p = d->passed ? NULL : calloc(1, sizeof *p);
  if (!p)
    return d->passed != NULL;
  p->since = calloc(d->slot_count, sizeof *p->since);
  p->watched = calloc(d->slot_count, sizeof *p->watched);
  d->passed = p;
  if (!p->since || !p->watched)
    ink_i_passed_free(d);
  return d->passed != NULL;
}

/* As kernels search; some slot is always empty. */
static uint32_t end_of_search(const ink_i_device *d, uint64_t key) {
  uint32_t at = INK_KERNEL_FIRST(key);
  while (d->slots[at].key)
    at = (at + INK_KERNEL_STEP(key)) & (d->slot_count - 1);
  return at;
}

static passed_name *find(ink_i_passed *p, const char *table, const char *name) {
  for (size_t i = 0; i < p->kept; i++)
    if (p->names[i].table == table && p->names[i].name == name)
      return &p->names[i];
  return NULL;
}

static passed_name *add(ink_i_passed *p) {
  return ink_list_room((void **)&p->names, &p->room, p->count, sizeof *p->names) ? &p->names[p->count++] : NULL;
}

void ink_i_passed_enter(ink_i_device *d, uint64_t key, const char *table, const char *name, size_t length) {
  if (!make(d))
    return;
  ink_i_passed *p = d->passed;
  passed_name *one = find(p, table, name);
  const bool ran = one && one->ran;
  if (!one && !(one = add(p)))
    return;
  *one = (passed_name){table, name, length, end_of_search(d, key), true, ran};
  if (p->watched[one->slot])
    return;
  p->watched[one->slot] = true;
  p->since[one->slot] = d->slots[one->slot].missed;
}

void ink_i_passed_note(ink_i_device *d) {
  ink_i_passed *p = d->passed;
  for (size_t i = 0; p && i < p->count; i++) {
    passed_name *one = &p->names[i];
    one->ran |= one->entered && d->slots[one->slot].missed != p->since[one->slot];
  }
}

/* From here on the slot is one like others: what it counted stays left out of the unknown. */
void ink_i_passed_clear(ink_i_device *d) {
  ink_i_passed *p = d->passed;
  ink_i_passed_note(d);
  size_t kept = 0;
  for (uint32_t i = 0; p && i < d->slot_count; i++)
    if (p->watched[i]) {
      d->unknown_before -= d->slots[i].missed - p->since[i];
      p->watched[i] = false;
    }
  for (size_t i = 0; p && i < p->count; i++)
    if (p->names[i].ran) {
      p->names[kept] = p->names[i];
      p->names[kept++].entered = false;
    }
  if (p)
    p->count = p->kept = kept;
}

uint64_t ink_i_passed_unknown(const ink_i_device *d, uint32_t slot) {
  return d->passed && d->passed->watched[slot] ? d->passed->since[slot] : d->slots[slot].missed;
}

void ink_i_passed_after_fork(ink_i_device *d) {
  ink_i_passed *p = d->passed;
  for (uint32_t i = 0; p && i < d->slot_count; i++)
    p->since[i] = d->slots[i].missed;
  for (size_t i = 0; p && i < p->count; i++)
    p->names[i].ran = false;
}

void ink_i_passed_free(ink_i_device *d) {
  if (!d->passed)
    return;
  free(d->passed->names);
  free(d->passed->since);
  free(d->passed->watched);
  free(d->passed);
  d->passed = NULL;
}

/* Another device's, or another context's; it may be the end of another name as well. */
static bool is_listed(const char *text, const char *word, size_t length) {
  for (const char *at = text; (at = strstr(at, word)); at++)
    if ((at == text || at[-1] == ' ') && (!at[length] || at[length] == ','))
      return true;
  return false;
}

void ink_i_passed_list(const ink_i_device *d, char *text, size_t bytes) {
  const ink_i_passed *p = d->passed;
  for (size_t i = 0; p && i < p->count; i++) {
    const passed_name *one = &p->names[i];
    char word[600];
    const size_t used = strlen(text);
    const int length = snprintf(word, sizeof word, "%s::%.*s", one->table, (int)one->length, one->name);
    if (!one->ran || (size_t)length >= sizeof word || used + (size_t)length + 3 > bytes ||
        is_listed(text, word, (size_t)length))
      continue;
    snprintf(text + used, bytes - used, "%s%s", used ? ", " : "", word);
  }
}
