/* SPDX-License-Identifier: MIT */
/* Private: what CUPTI's threads put down and the drain takes: items in blocks, names once, and the
 * correlations of inkmark's own work. Bounded; what does not fit is counted. */
#ifndef INK_CUDA_ACTIVITY_QUEUE_H
#define INK_CUDA_ACTIVITY_QUEUE_H

#include "inkmark/activity.h"

#include <pthread.h>

enum {
  ACTIVITY_BLOCK = 4096,      /* items; 512 KiB */
  ACTIVITY_BLOCKS_MAX = 64,   /* between two drains: 262,144 items, 32 MiB */
  ACTIVITY_NAMES_MAX = 1 << 16,
  ACTIVITY_OWN_MAX = 1 << 14, /* between two drains */
  ACTIVITY_OWN_RECENT = 1 << 12,
  ACTIVITY_DEVICES_MAX = 64
};

typedef struct ink_i_activity_queue {
  pthread_mutex_t lock; /* all below; held for a memcpy's time, never around a call of CUPTI or CUDA */
  ink_activity *blocks[ACTIVITY_BLOCKS_MAX];
  size_t count;                /* items in them */
  char **names;                /* [id - 1] */
  uint32_t name_count, names_written, name_room;
  uint32_t *slots;             /* hash of the names: ids */
  uint32_t slot_count;
  uint32_t own[ACTIVITY_OWN_MAX];
  size_t own_count;
  uint32_t recent[ACTIVITY_OWN_RECENT]; /* own ones, the newest by correlation modulo the size */
  ink_activity_device devices[ACTIVITY_DEVICES_MAX];
  size_t device_count;
  uint64_t left_out;           /* did not fit */
  uint64_t own_items;          /* inkmark's own, not kept */
} ink_i_activity_queue;

void ink_i_queue_init(ink_i_activity_queue *queue);
void ink_i_queue_free(ink_i_activity_queue *queue);

/* These take the lock. */
void ink_i_queue_item(ink_i_activity_queue *queue, const ink_activity *item, const char *name);
/* The id of a name; 0: none, or no room. */
uint32_t ink_i_queue_name(ink_i_activity_queue *queue, const char *name);
void ink_i_queue_own(ink_i_activity_queue *queue, uint32_t correlation);
void ink_i_queue_device(ink_i_activity_queue *queue, const ink_activity_device *device);
/* Whether an item waits that is not inkmark's own. */
bool ink_i_queue_wanted(ink_i_activity_queue *queue);
/* Writes and empties. */
ink_status ink_i_queue_write(ink_i_activity_queue *queue, ink_writer *writer, ink_error *error);

#endif
