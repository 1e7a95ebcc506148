/* SPDX-License-Identifier: MIT */
/* The queue between CUPTI's threads and the drain: its bounds, its names, inkmark's own work, and that
 * several threads can put while one takes. */
#include "check.h"

#include "cuda/activity_queue.h"

#include <string.h>
#include <unistd.h>

static const char path[] = "test_activity_queue.ink";

static ink_activity item(uint64_t begin, uint32_t correlation) {
  return (ink_activity){.kind = INK_ACTIVITY_KERNEL, .begin_ns = begin, .end_ns = begin + 1,
                        .correlation = correlation, .peer = -1};
}

static void put(ink_i_activity_queue *q, uint64_t begin, uint32_t correlation, const char *name) {
  const ink_activity a = item(begin, correlation);
  ink_i_queue_item(q, &a, name);
}

static size_t read_back(uint64_t *own) {
  ink_error error = {0};
  ink_capture *capture;
  const ink_activity *const *all;
  NEED(ink_capture_open(path, &capture, &error), error);
  const size_t n = ink_capture_activities(capture, &all, own);
  for (size_t i = 0; i < n; i++)
    if (all[i]->name)
      CHECK(!strncmp(ink_capture_activity_name(capture, all[i]->name), "kernel", 6), "item %zu", i);
  ink_capture_free(capture);
  return n;
}

static void test_bounds(ink_i_activity_queue *q) {
  enum { MOST = ACTIVITY_BLOCK * ACTIVITY_BLOCKS_MAX };
  ink_error error = {0};
  ink_writer *writer;
  ink_i_queue_init(q);
  NEED(ink_writer_open(path, true, &writer, &error), error);
  for (int round = 0; round < 2; round++) { /* full, emptied, full again */
    for (uint32_t i = 0; i < MOST + 10; i++)
      put(q, i + 1, 0, i % 2 ? "kernel a" : "kernel b");
    CHECK(q->count == MOST && q->left_out == 10u * (unsigned)(round + 1), "%zu, left out %llu",
          q->count, (unsigned long long)q->left_out);
    CHECK(q->name_count == 2, "%u names", q->name_count);
    NEED(ink_i_queue_write(q, writer, &error), error);
    CHECK(q->count == 0, "not emptied");
  }
  NEED(ink_writer_close(writer, &error), error);
  uint64_t own;
  CHECK(read_back(&own) == 2u * MOST && own == 0, "read back");
  ink_i_queue_free(q);
  unlink(path);
}

static void test_names(ink_i_activity_queue *q) {
  char name[32];
  ink_i_queue_init(q);
  for (int i = 0; i < ACTIVITY_NAMES_MAX + 5; i++) {
    snprintf(name, sizeof name, "kernel %d", i);
    const uint32_t id = ink_i_queue_name(q, name);
    CHECK(id == (i < ACTIVITY_NAMES_MAX ? (uint32_t)i + 1 : 0), "name %d has id %u", i, id);
  }
  CHECK(ink_i_queue_name(q, "kernel 77") == 78, "found again");
  CHECK(!ink_i_queue_name(q, "") && !ink_i_queue_name(q, NULL), "no name");
  ink_i_queue_free(q);
}

static void test_own(ink_i_activity_queue *q) {
  ink_error error = {0};
  ink_writer *writer;
  ink_i_queue_init(q);
  CHECK(!ink_i_queue_wanted(q), "wanted while empty");
  put(q, 1, 5, NULL); /* its correlation is told of later */
  ink_i_queue_own(q, 5);
  CHECK(!ink_i_queue_wanted(q), "own work is wanted");
  ink_i_queue_own(q, 6);
  put(q, 2, 6, NULL);
  CHECK(q->count == 1 && q->own_items == 1, "own work is kept");
  const ink_activity call = {.kind = INK_ACTIVITY_RUNTIME_CALL, .device = -1, .begin_ns = 1,
                             .end_ns = 2, .correlation = 7, .peer = -1};
  ink_i_queue_item(q, &call, NULL);
  CHECK(!ink_i_queue_wanted(q), "a call alone is wanted");
  put(q, 3, 8, NULL);
  CHECK(ink_i_queue_wanted(q), "work is not wanted");
  NEED(ink_writer_open(path, true, &writer, &error), error);
  NEED(ink_i_queue_write(q, writer, &error), error);
  NEED(ink_writer_close(writer, &error), error);
  uint64_t own;
  CHECK(read_back(&own) == 2 && own == 1, "the late one is not taken out");
  for (uint32_t i = 0; i < ACTIVITY_OWN_MAX + 3; i++)
    ink_i_queue_own(q, 100 + i);
  CHECK(q->own_count == ACTIVITY_OWN_MAX && q->left_out == 3, "own: %zu", q->own_count);
  for (int i = 0; i < ACTIVITY_DEVICES_MAX + 3; i++)
    ink_i_queue_device(q, &(ink_activity_device){.index = i});
  CHECK(q->device_count == ACTIVITY_DEVICES_MAX, "%zu devices", q->device_count);
  ink_i_queue_free(q);
  unlink(path);
}

static ink_i_activity_queue queue;

static void *putter(void *number) {
  char name[32];
  for (uint32_t i = 0; i < 30000; i++) {
    snprintf(name, sizeof name, "kernel %u", i % 50);
    put(&queue, 1 + i + (uint64_t)(size_t)number * 100000, 0, name);
  }
  return NULL;
}

static void test_threads(void) {
  ink_error error = {0};
  ink_writer *writer;
  pthread_t threads[4];
  ink_i_queue_init(&queue);
  NEED(ink_writer_open(path, true, &writer, &error), error);
  for (size_t i = 0; i < 4; i++)
    pthread_create(&threads[i], NULL, putter, (void *)i);
  for (int i = 0; i < 50; i++)
    NEED(ink_i_queue_write(&queue, writer, &error), error);
  for (size_t i = 0; i < 4; i++)
    pthread_join(threads[i], NULL);
  NEED(ink_i_queue_write(&queue, writer, &error), error);
  NEED(ink_writer_close(writer, &error), error);
  uint64_t own;
  CHECK(read_back(&own) == 120000 && queue.left_out == 0, "left out %llu",
        (unsigned long long)queue.left_out);
  ink_i_queue_free(&queue);
  unlink(path);
}

int main(void) {
  test_bounds(&queue);
  test_names(&queue);
  test_own(&queue);
  test_threads();
  return check_result("activity_queue");
}
