/* SPDX-License-Identifier: MIT */
/* Collects activities between CUPTI's threads and the drain, in bounded memory. */
#include "cuda/activity_queue.h"

#include <stdlib.h>
#include <string.h>

void ink_i_queue_init(ink_i_activity_queue *q) {
  memset(q, 0, sizeof *q);
  pthread_mutex_init(&q->lock, NULL);
}

void ink_i_queue_free(ink_i_activity_queue *q) {
  for (size_t i = 0; i < ACTIVITY_BLOCKS_MAX; i++)
    free(q->blocks[i]);
  for (uint32_t i = 0; i < q->name_count; i++)
    free(q->names[i]);
  free(q->names);
  free(q->slots);
  pthread_mutex_destroy(&q->lock);
}

/* ---- names ---- */

static uint32_t hash_text(const char *text) {
  uint32_t h = 2166136261u; /* FNV-1a */
  for (; *text; text++)
    h = (h ^ (unsigned char)*text) * 16777619u;
  return h ^ h >> 15;
}

static void place(ink_i_activity_queue *q, uint32_t id) {
  uint32_t at = hash_text(q->names[id - 1]) & (q->slot_count - 1);
  while (q->slots[at])
    at = (at + 1) & (q->slot_count - 1);
  q->slots[at] = id;
}

static bool widen(ink_i_activity_queue *q) {
  if (q->name_count < q->name_room)
    return true;
  const uint32_t room = q->name_room ? q->name_room * 2 : 256;
  char **names = realloc(q->names, room * sizeof *names);
  if (!names)
    return false;
  q->names = names;
  uint32_t *slots = calloc(room * (size_t)2, sizeof *slots);
  if (!slots)
    return false;
  free(q->slots);
  q->slots = slots;
  q->slot_count = room * 2;
  q->name_room = room;
  for (uint32_t id = 1; id <= q->name_count; id++)
    place(q, id);
  return true;
}

static uint32_t name_locked(ink_i_activity_queue *q, const char *name) {
  if (!name || !*name)
    return 0;
  if (q->slot_count) {
    uint32_t at = hash_text(name) & (q->slot_count - 1);
    for (; q->slots[at]; at = (at + 1) & (q->slot_count - 1))
      if (!strcmp(q->names[q->slots[at] - 1], name))
        return q->slots[at];
  }
  char *copy = q->name_count < ACTIVITY_NAMES_MAX && widen(q) ? strdup(name) : NULL;
  if (!copy)
    return 0;
  q->names[q->name_count++] = copy;
  place(q, q->name_count);
  return q->name_count;
}

uint32_t ink_i_queue_name(ink_i_activity_queue *q, const char *name) {
  pthread_mutex_lock(&q->lock);
  const uint32_t id = name_locked(q, name);
  pthread_mutex_unlock(&q->lock);
  return id;
}

/* ---- putting ---- */

/* Known by now to be inkmark's own. What CUPTI hands over before its correlation is found out by the
 * reader of the capture. */
static bool is_own(const ink_i_activity_queue *q, const ink_activity *item) {
  return item->correlation &&
         q->recent[item->correlation % ACTIVITY_OWN_RECENT] == item->correlation;
}

/* Where the next item goes; NULL: no room. */
static ink_activity *next_place(ink_i_activity_queue *q) {
  const size_t block = q->count / ACTIVITY_BLOCK;
  if (block == ACTIVITY_BLOCKS_MAX)
    return NULL;
  if (!q->blocks[block])
    q->blocks[block] = malloc(ACTIVITY_BLOCK * sizeof *q->blocks[block]);
  return q->blocks[block] ? &q->blocks[block][q->count % ACTIVITY_BLOCK] : NULL;
}

void ink_i_queue_item(ink_i_activity_queue *q, const ink_activity *item, const char *name) {
  pthread_mutex_lock(&q->lock);
  const bool own = is_own(q, item);
  ink_activity *to = own ? NULL : next_place(q);
  if (to) {
    *to = *item;
    if (name)
      to->name = name_locked(q, name);
    q->count++;
  } else if (own) {
    q->own_items++;
  } else {
    q->left_out++;
  }
  pthread_mutex_unlock(&q->lock);
}

void ink_i_queue_own(ink_i_activity_queue *q, uint32_t correlation) {
  pthread_mutex_lock(&q->lock);
  q->recent[correlation % ACTIVITY_OWN_RECENT] = correlation;
  if (q->own_count < ACTIVITY_OWN_MAX)
    q->own[q->own_count++] = correlation;
  else
    q->left_out++; /* the item will be taken for one of the program's */
  pthread_mutex_unlock(&q->lock);
}

void ink_i_queue_device(ink_i_activity_queue *q, const ink_activity_device *device) {
  pthread_mutex_lock(&q->lock);
  size_t at = 0;
  while (at < q->device_count && q->devices[at].index != device->index)
    at++;
  if (at < ACTIVITY_DEVICES_MAX) {
    q->devices[at] = *device;
    q->device_count += at == q->device_count;
  }
  pthread_mutex_unlock(&q->lock);
}

bool ink_i_queue_wanted(ink_i_activity_queue *q) {
  bool wanted = false;
  pthread_mutex_lock(&q->lock);
  for (size_t i = 0; i < q->count && !wanted; i++) {
    const ink_activity *a = &q->blocks[i / ACTIVITY_BLOCK][i % ACTIVITY_BLOCK];
    const bool work = a->kind == INK_ACTIVITY_KERNEL || a->kind == INK_ACTIVITY_COPY ||
                      a->kind == INK_ACTIVITY_SET;
    wanted = work && !is_own(q, a);
  }
  pthread_mutex_unlock(&q->lock);
  return wanted;
}

/* ---- taking ---- */

/* What is written in one go, taken out of the queue so that nobody waits for the disk. */
typedef struct taken {
  ink_activity *blocks[ACTIVITY_BLOCKS_MAX];
  size_t count;
  uint32_t own[ACTIVITY_OWN_MAX];
  size_t own_count;
  ink_activity_device devices[ACTIVITY_DEVICES_MAX];
  size_t device_count;
} taken;

static void take(ink_i_activity_queue *q, taken *t) {
  memcpy(t->blocks, q->blocks, sizeof t->blocks);
  memset(q->blocks, 0, sizeof q->blocks);
  t->count = q->count;
  memcpy(t->own, q->own, q->own_count * sizeof *q->own);
  t->own_count = q->own_count;
  memcpy(t->devices, q->devices, sizeof t->devices);
  t->device_count = q->device_count;
  q->count = q->own_count = q->device_count = 0;
}

/* Names are never freed or moved while the queue lives, but for the list of them. */
static ink_status write_names(ink_i_activity_queue *q, ink_writer *writer, ink_error *error) {
  ink_status status = INK_OK;
  while (status == INK_OK) {
    pthread_mutex_lock(&q->lock);
    const uint32_t id = q->names_written + 1;
    const char *name = id <= q->name_count ? q->names[id - 1] : NULL;
    pthread_mutex_unlock(&q->lock);
    if (!name)
      break;
    status = ink_writer_activity_name(writer, id, name, error);
    q->names_written += status == INK_OK;
  }
  return status;
}

ink_status ink_i_queue_write(ink_i_activity_queue *q, ink_writer *writer, ink_error *error) {
  taken *t = calloc(1, sizeof *t);
  if (!t)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the activities");
  pthread_mutex_lock(&q->lock);
  take(q, t);
  pthread_mutex_unlock(&q->lock);
  ink_status status = write_names(q, writer, error);
  for (size_t i = 0; i < t->device_count && status == INK_OK; i++)
    status = ink_writer_activity_device(writer, &t->devices[i], error);
  for (size_t at = 0; at < t->count && status == INK_OK; at += ACTIVITY_BLOCK) {
    const size_t left = t->count - at;
    status = ink_writer_activities(writer, t->blocks[at / ACTIVITY_BLOCK],
                                   left < ACTIVITY_BLOCK ? left : ACTIVITY_BLOCK, error);
  }
  if (status == INK_OK)
    status = ink_writer_activity_own(writer, t->own, t->own_count, error);
  for (size_t i = 0; i < ACTIVITY_BLOCKS_MAX; i++)
    free(t->blocks[i]);
  free(t);
  return status;
}
