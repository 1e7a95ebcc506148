/* SPDX-License-Identifier: MIT */
/* Private: what the program's threads say of themselves, until a drain takes it: events in a ring without locks, and
 * texts once each. Nobody waits; what finds no room is lost and counted. A signal handler may put something down while
 * its thread is in the middle of doing so. */
#ifndef INK_CUDA_HOST_QUEUE_H
#define INK_CUDA_HOST_QUEUE_H

#include "inkmark/host_ranges.h"

#include <stdbool.h>

enum {
  INK_I_HOST_EVENTS = 1 << 17,  /* between two drains: 12 MiB, of which what is used is touched */
  INK_I_HOST_NAMES = 1 << 16,
  INK_I_HOST_NAME_BYTES = 1 << 23,
  INK_I_HOST_NAME_MOST = 4096   /* a longer name is cut */
};

typedef struct ink_i_host_queue ink_i_host_queue;

/* NULL: no memory. */
ink_i_host_queue *ink_i_host_queue_make(void);
/* In a forked child, where no other thread is: without what the parent had there; texts keep their ids. */
void ink_i_host_queue_forget(ink_i_host_queue *queue);

void ink_i_host_put(ink_i_host_queue *queue, const ink_host_event *event);
/* The id of a text, from 1; 0 for NULL and "". Where there is no room for more, all that come are one. */
uint32_t ink_i_host_name(ink_i_host_queue *queue, const char *text);
/* Of a wide one, as UTF-8. */
uint32_t ink_i_host_wide_name(ink_i_host_queue *queue, const wchar_t *text);
const char *ink_i_host_text(const ink_i_host_queue *queue, uint32_t id); /* or "" */

/* The rest is for who drains, one thread at a time. */
bool ink_i_host_any(const ink_i_host_queue *queue);
/* A new file: texts are written again, events before that moment (CLOCK_MONOTONIC) and losses until now are not its. */
void ink_i_host_new_file(ink_i_host_queue *queue, int64_t from_ns);
/* Writes and empties. */
ink_status ink_i_host_write(ink_i_host_queue *queue, ink_writer *writer, ink_error *error);

#endif
