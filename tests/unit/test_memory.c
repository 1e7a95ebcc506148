/* SPDX-License-Identifier: MIT */
/* Every allocation of writing, opening, decoding and making tables fails once, in turn: each time
 * the status is INK_ERROR_MEMORY with a message, nothing leaks (the sanitizer's build tells) and
 * nothing is handed out. The linker sends the library's allocations through here. */
#include "check.h"
#include "pipeline.h"
#include "synth.h"

#include <inttypes.h>

static bool counting;
static long countdown, made;

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
char *__wrap_strdup(const char *text);

static bool fails(void) {
  if (!counting)
    return false;
  made++;
  return --countdown == 0;
}

void *__wrap_malloc(size_t bytes) { return fails() ? NULL : __real_malloc(bytes); }
void *__wrap_calloc(size_t n, size_t bytes) { return fails() ? NULL : __real_calloc(n, bytes); }
void *__wrap_realloc(void *old, size_t bytes) { return fails() ? NULL : __real_realloc(old, bytes); }
char *__wrap_strdup(const char *text) { return fails() ? NULL : __real_strdup(text); }

static synth_track busy_track(uint32_t block) {
  synth_track t;
  synth_track_init(&t, 512, 64, false);
  t.header.grid_dim[0] = 40;
  t.header.block_index[0] = block;
  t.header.ticket = block;
  t.header.grid_id = 1 + block / 20;
  t.header.sm_open = t.header.sm_close = block % 3;
  uint64_t c = 1000, sum[4] = {1, 2, 2, 2};
  synth_open(&t, c, 5000);
  for (uint64_t i = 0; i < 30; i++) {
    synth_record(&t, 0, INK_KIND_ITER, 0, i, c += 3);
    synth_record(&t, 0, INK_KIND_BEGIN, 2 + (uint32_t)i % 4, 0, c += 5);
    synth_record(&t, 0, INK_KIND_ASYNC_BEGIN, 3, i, c += 5);
    synth_record(&t, 1, INK_KIND_MARK, 4, 0, c += 5 + i * i);
    synth_record(&t, 0, INK_KIND_MARK, 6, 0, c += UINT64_C(100) << (i % 9));
  }
  for (uint64_t i = 30; i-- > 0;) {
    synth_record(&t, 0, INK_KIND_ASYNC_END, 3, i, c += 5);
    synth_record(&t, 0, INK_KIND_END, 2 + (uint32_t)i % 4, 0, c += 5);
  }
  synth_sum(&t, 1, sum, SYNTH_OTHER_HASH, c += 2);
  synth_close(&t, c + 50, 50000);
  return t;
}

/* Writes, opens and reads everything; frees all that was made. */
static ink_status everything(const char *path, bool write, const synth_track *t,
                             ink_error *error) {
  ink_status status = INK_OK;
  if (write) {
    ink_writer *writer = NULL;
    ink_device_info device = {.records_per_track = 512, .aux_records_per_track = 64, .name = "d"};
    status = ink_writer_open(path, true, &writer, error);
    if (status == INK_OK)
      status = ink_writer_fact(writer, "key", "value", error);
    if (status == INK_OK)
      status = ink_writer_device(writer, &device, error);
    if (status == INK_OK)
      status = synth_costs(writer, error);
    for (uint32_t i = 0; i < 40 && status == INK_OK; i++)
      status = ink_writer_track(writer, 0, &t->header, t->rings[0], t->rings[1], error);
    if (status == INK_OK)
      status = ink_writer_close(writer, error);
    else
      ink_writer_abandon(writer);
    return status;
  }
  ink_capture *capture = NULL;
  status = ink_capture_open(path, &capture, error);
  pipeline_sums sums = {0};
  if (status == INK_OK)
    status = pipeline_run(capture, &sums, error);
  else
    CHECK(capture == NULL, "a capture was handed out");
  ink_capture_free(capture);
  return status;
}

static void each_fails(const char *path, bool write) {
  ink_error error = {0};
  synth_track track = busy_track(0);
  countdown = 0;
  made = 0;
  counting = true;
  ink_status status = everything(path, write, &track, &error);
  counting = false;
  CHECK(status == INK_OK, "without failures: %s", error.message);
  long all = made;
  CHECK(all > 5, "only %ld allocations seen", all);
  for (long n = 1; n <= all; n++) {
    memset(&error, 0, sizeof error);
    countdown = n;
    counting = true;
    status = everything(path, write, &track, &error);
    counting = false;
    CHECK(status == INK_ERROR_MEMORY, "allocation %ld of %ld: %d '%s'", n, all, (int)status,
          error.message);
    CHECK(strstr(error.message, "out of memory"), "allocation %ld: '%s'", n, error.message);
  }
  synth_track_free(&track);
  printf("%s: %ld allocations\n", write ? "writing" : "reading", all);
}

int main(void) {
  const char *path = synth_path("memory");
  ink_writer *writer = synth_writer(path, 512, 64, false);
  for (uint32_t i = 0; i < 40; i++) {
    synth_track t = busy_track(i);
    synth_put(writer, &t);
    synth_track_free(&t);
  }
  synth_finish(writer);
  each_fails(path, false);
  each_fails(path, true);
  remove(path);
  return check_result("memory");
}
