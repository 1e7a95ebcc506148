/* SPDX-License-Identifier: MIT */
/* The ring between the program's threads and the drain: order within a thread, its bound, texts once each, a fork, a new
 * file. Nothing is lost that is not counted. */
#include "check.h"

#include "cuda/host_queue.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char path[] = "test_host_queue.ink";
enum { THREADS = 4, EACH = 60000 };

static ink_i_host_queue *queue;
static atomic_int running;

static ink_writer *opened(void) {
  ink_error error = {0};
  ink_writer *writer;
  NEED(ink_writer_open(path, true, &writer, &error), error);
  return writer;
}

static ink_capture *closed(ink_writer *writer) {
  ink_error error = {0};
  ink_capture *capture;
  NEED(ink_writer_close(writer, &error), error);
  NEED(ink_capture_open(path, &capture, &error), error);
  unlink(path);
  return capture;
}

static void *say(void *user) {
  const uint32_t thread = (uint32_t)(size_t)user;
  char name[32];
  for (uint32_t i = 0; i < EACH; i++) {
    snprintf(name, sizeof name, "name %u", i % 500);
    ink_i_host_put(queue, &(ink_host_event){.kind = INK_HOST_MARK, .ns = i, .thread = thread,
                                            .name = ink_i_host_name(queue, name), .payload_type = INK_PAYLOAD_U64, .payload = i});
  }
  atomic_fetch_sub(&running, 1);
  return NULL;
}

static void test_threads(void) {
  ink_error error = {0};
  pthread_t threads[THREADS];
  uint64_t next[THREADS] = {0};
  const ink_host_range *r;
  ink_writer *writer = opened();
  atomic_store(&running, THREADS);
  for (size_t i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, say, (void *)i);
  while (atomic_load(&running))
    NEED(ink_i_host_write(queue, writer, &error), error);
  for (size_t i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  NEED(ink_i_host_write(queue, writer, &error), error);
  CHECK(!ink_i_host_any(queue), "something is left");
  ink_capture *c = closed(writer);
  const size_t n = ink_capture_host_ranges(c, &r);
  const uint64_t lost = ink_capture_host_facts(c)->lost;
  CHECK(n + lost == THREADS * EACH, "%zu and %llu lost", n, (unsigned long long)lost);
  for (size_t i = 0; i < n; i++) { /* by time, so those of a thread in its order */
    char name[32];
    snprintf(name, sizeof name, "name %u", (unsigned)(r[i].payload % 500));
    if (r[i].thread >= THREADS || r[i].payload < next[r[i].thread] || strcmp(r[i].name, name) != 0)
      CHECK(false, "event %zu: %s", i, r[i].name);
    else
      next[r[i].thread] = r[i].payload + 1;
  }
  ink_capture_free(c);
}

static void put(uint32_t name, int64_t ns) {
  ink_i_host_put(queue, &(ink_host_event){.kind = INK_HOST_MARK, .ns = ns, .name = name});
}

static void test_bounds(void) {
  ink_error error = {0};
  const ink_host_range *r;
  ink_writer *writer = opened();
  ink_i_host_new_file(queue, 10);
  for (int i = 0; i < INK_I_HOST_EVENTS + 5; i++)
    put(ink_i_host_name(queue, "kept"), i);
  NEED(ink_i_host_write(queue, writer, &error), error);
  put(ink_i_host_wide_name(queue, L"\u00e9\u20ac\U0001f600"), INK_I_HOST_EVENTS);
  NEED(ink_i_host_write(queue, writer, &error), error);
  ink_capture *c = closed(writer);
  const size_t n = ink_capture_host_ranges(c, &r);
  CHECK(n == INK_I_HOST_EVENTS - 10 + 1, "%zu: what was before the file is not in it", n);
  CHECK(ink_capture_host_facts(c)->lost == 5, "lost");
  CHECK(n && !strcmp(r[0].name, "kept") && !strcmp(r[n - 1].name, "\u00e9\u20ac\U0001f600"), "names");
  ink_capture_free(c);
}

static void test_names(void) {
  CHECK(!ink_i_host_name(queue, NULL) && !ink_i_host_name(queue, "") && !ink_i_host_wide_name(queue, L""), "no name");
  CHECK(ink_i_host_name(queue, "a") == ink_i_host_name(queue, "a") && ink_i_host_name(queue, "a") != ink_i_host_name(queue, "b"),
        "ids");
  CHECK(ink_i_host_wide_name(queue, L"a") == ink_i_host_name(queue, "a"), "one text");
  CHECK(!strcmp(ink_i_host_text(queue, ink_i_host_name(queue, "a")), "a") && !*ink_i_host_text(queue, 0) &&
            !*ink_i_host_text(queue, UINT32_MAX), "texts");
  uint32_t last = 0, before = 0;
  for (int i = 0; i < INK_I_HOST_NAMES + 100; i++) {
    char name[32];
    snprintf(name, sizeof name, "many %d", i);
    before = last;
    last = ink_i_host_name(queue, name);
  }
  CHECK(last == before && strstr(ink_i_host_text(queue, last), "more names"), "%s", ink_i_host_text(queue, last));
  CHECK(ink_i_host_name(queue, "a") != last, "those that are there stay");
}

static void test_fork(void) {
  ink_error error = {0};
  const ink_host_range *r;
  put(1, 100);
  ink_i_host_queue_forget(queue);
  ink_i_host_new_file(queue, 0);
  CHECK(!ink_i_host_any(queue), "the parent's");
  ink_writer *writer = opened();
  for (int i = 0; i < INK_I_HOST_EVENTS; i++)
    put(ink_i_host_name(queue, "a"), i);
  NEED(ink_i_host_write(queue, writer, &error), error);
  ink_capture *c = closed(writer);
  CHECK(ink_capture_host_ranges(c, &r) == INK_I_HOST_EVENTS && !ink_capture_host_facts(c)->lost && !strcmp(r[0].name, "a"),
        "what came after");
  ink_capture_free(c);
}

int main(void) {
  queue = ink_i_host_queue_make();
  CHECK(queue, "no memory");
  if (queue) {
    test_threads();
    test_bounds();
    test_names();
    test_fork();
  }
  return check_result("host");
}
