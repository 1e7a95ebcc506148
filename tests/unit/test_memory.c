/* SPDX-License-Identifier: MIT */
/* Every allocation of writing, opening, decoding, making tables and answers, and joining fails once, in turn: each time
 * the status is INK_ERROR_MEMORY with a message, nothing leaks (the sanitizer's build tells) and
 * nothing is handed out. The linker sends the library's allocations through here. */
#include "check.h"
#include "failing_allocations.h"
#include "inkmark/critical.h"
#include "inkmark/variance.h"
#include "merge/read/foreign_private.h"
#include "pipeline.h"
#include "synth.h"

#include <inttypes.h>

static synth_track busy_track(uint32_t block) {
  synth_track t;
  synth_track_init(&t, 512, 64, false);
  t.header.grid_dim[0] = 8;
  t.header.block_index[0] = block % 8;
  t.header.ticket = block;
  t.header.grid_id = 1 + block / 8;
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

static synth_track written;

static ink_status write_all(const char *path, ink_error *error) {
  ink_writer *writer = NULL;
  ink_device_info device = {.records_per_track = 512, .aux_records_per_track = 64, .name = "d"};
  ink_status status = ink_writer_open(path, true, &writer, error);
  if (status == INK_OK)
    status = ink_writer_fact(writer, "key", "value", error);
  if (status == INK_OK)
    status = ink_writer_device(writer, &device, error);
  if (status == INK_OK)
    status = synth_costs(writer, error);
  for (uint32_t i = 0; i < 40 && status == INK_OK; i++)
    status = ink_writer_track(writer, 0, &written.header, written.rings[0], written.rings[1], error);
  if (status == INK_OK)
    status = ink_writer_close(writer, error);
  else
    ink_writer_abandon(writer);
  return status;
}

static ink_status read_all(const char *path, ink_error *error) {
  ink_capture *capture = NULL;
  ink_status status = ink_capture_open(path, &capture, error);
  pipeline_sums sums = {0};
  if (status == INK_OK)
    status = pipeline_run(capture, &sums, error);
  else
    CHECK(capture == NULL, "a capture was handed out");
  ink_capture_free(capture);
  return status;
}

/* What stands out, what explains the spread, and the critical path. */
static ink_status answer_all(const char *path, ink_error *error) {
  ink_capture *capture = NULL;
  ink_clock_map *map = NULL;
  ink_table *table = NULL;
  ink_variance *variance = NULL;
  ink_critical_path *critical = NULL;
  const ink_table_options options = {.size = sizeof options, .launch = UINT32_MAX, .findings = true};
  const ink_variance_options spread = {.size = sizeof spread, .launch = UINT32_MAX};
  ink_status status = ink_capture_open(path, &capture, error);
  if (status == INK_OK)
    status = ink_clock_map_make(capture, &map, error);
  if (status == INK_OK && (status = ink_table_make(capture, map, &options, &table, error)) != INK_OK)
    CHECK(!table, "a table was handed out");
  if (status == INK_OK && (status = ink_variance_make(capture, map, &spread, &variance, error)) != INK_OK)
    CHECK(!variance, "a variance was handed out");
  if (status == INK_OK && (status = ink_critical_path_make(capture, map, 0, "B", &critical, error)) != INK_OK)
    CHECK(!critical, "a path was handed out");
  ink_critical_path_free(critical);
  ink_variance_free(variance);
  ink_table_free(table);
  ink_clock_map_free(map);
  ink_capture_free(capture);
  return status;
}

enum { LAUNCHES = 40 };
static ink_join_launch launches[LAUNCHES];
static ink_foreign *theirs;

/* Two devices, two kernels and two streams of each; `ids`: with correlations. */
static void make_trace(bool ids) {
  theirs = calloc(1, sizeof *theirs);
  theirs->facts.base_known = true;
  for (int i = 0; i < LAUNCHES; i++) {
    const char *name = i % 3 ? "step(float*)" : "solve(int)";
    const int64_t begin = INT64_C(1700000000000000000) + i * INT64_C(70000) + i * i % 17 * INT64_C(3000);
    ink_foreign_type type = {.short_name = UINT32_MAX, .mangled = UINT32_MAX, .stream = 7 + i % 2, .device = i % 4 / 2,
                             .grid_dim = {64, 1, 1}, .block_dim = {128, 1, 1}};
    if (ink_foreign_intern(theirs, name, strlen(name), &type.name))
      exit(1);
    const ink_foreign_kernel k = {.begin_ns = begin, .end_ns = begin + 30000, .correlation = ids ? i + 1 : -1};
    if (ink_foreign_add(theirs, &type, &k))
      exit(1);
    launches[i] = (ink_join_launch){.device = i % 4 / 2, .kernel = i % 3 == 0, .name = i % 3 ? "step" : "solve", .correlation = ids ? i + 1 : 0,
                                    .grid_dim = {64, 1, 1}, .block_dim = {128, 1, 1}, .begin_ns = begin + 700, .end_ns = begin + 29900};
  }
}

static ink_status join_all(const char *path, ink_error *error) {
  ink_join *join = NULL;
  const ink_status status = ink_join_make(launches, LAUNCHES, theirs, &join, error);
  (void)path;
  CHECK((status == INK_OK) == (join != NULL), "status %d, and a join was %shanded out", (int)status, join ? "" : "not ");
  ink_join_free(join);
  return status;
}

static void each_fails(const char *what, const char *path, ink_status (*all_of_it)(const char *, ink_error *)) {
  ink_error error = {0};
  countdown = 0;
  *made = 0;
  counting = true;
  ink_status status = all_of_it(path, &error);
  counting = false;
  CHECK(status == INK_OK, "%s without failures: %s", what, error.message);
  long all = *made;
  CHECK(all > 5, "only %ld allocations seen", all);
  for (long n = 1; n <= all; n++) {
    memset(&error, 0, sizeof error);
    countdown = n;
    counting = true;
    status = all_of_it(path, &error);
    counting = false;
    CHECK(status == INK_ERROR_MEMORY, "%s, allocation %ld of %ld: %d '%s'", what, n, all, (int)status,
          error.message);
    CHECK(strstr(error.message, "out of memory"), "%s, allocation %ld: '%s'", what, n, error.message);
  }
  printf("%s: %ld allocations\n", what, all);
}

int main(void) {
  for (int ids = 0; ids < 2; ids++) {
    make_trace(ids);
    each_fails(ids ? "joining by ids" : "joining by time", NULL, join_all);
    ink_foreign_free(theirs);
  }
  const char *path = synth_path("memory");
  ink_writer *writer = synth_writer(path, 512, 64, false);
  for (uint32_t i = 0; i < 16; i++) {
    synth_track t = busy_track(i);
    synth_put(writer, &t);
    synth_track_free(&t);
  }
  synth_finish(writer);
  each_fails("answers", path, answer_all);
  each_fails("reading", path, read_all);
  written = busy_track(0);
  each_fails("writing", path, write_all);
  synth_track_free(&written);
  remove(path);
  return check_result("memory");
}
