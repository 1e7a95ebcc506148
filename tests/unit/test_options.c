/* SPDX-License-Identifier: MIT */
/* Options structs of older and newer headers than the library's: one rule for all of them. */
#include "check.h"
#include "inkmark/collect.h"
#include "inkmark/merged.h"
#include "inkmark/host_ranges.h"
#include "inkmark/output.h"
#include "inkmark/rows.h"
#include "inkmark/session.h"
#include "inkmark/table.h"
#include "inkmark/version.h"
#include "options_take.h"
#include "synth.h"

#include <string.h>

static ink_capture *capture;
static ink_clock_map *map;
static ink_error error;

/* Each takes options of any size; what it answers besides does not matter here, but the argument's own errors do. */
static ink_status take_session(const void *options) {
  ink_session *session = NULL;
  const ink_status status = ink_session_open(options, &session, &error);
  if (status == INK_OK)
    ink_session_close(session, NULL, NULL);
  return status;
}
static ink_status take_table(const void *options) {
  ink_table *table = NULL;
  const ink_status status = ink_table_make(capture, map, options, &table, &error);
  if (status == INK_OK)
    ink_table_free(table);
  return status;
}
static ink_status take_output(const void *options) {
  const ink_status status = ink_output_by_name("csv")->write(capture, map, options, "options.csv", &error);
  remove("options.csv");
  return status;
}
static ink_status take_merged(const void *options) {
  const ink_merged_capture one = {.capture = capture, .map = map};
  const ink_status status = ink_merged_write_captures(&one, 1, options, "options.pftrace", &error);
  remove("options.pftrace");
  /* the capture here cannot be drawn beside others; that is looked at behind the options */
  return status != INK_OK && strstr(error.message, "has no host clock") ? INK_OK : status;
}
static ink_status take_collector(const void *options) {
  ink_collector *collector = NULL;
  const ink_status status = ink_collector_open(options, &collector, &error);
  if (status == INK_OK)
    ink_collector_free(collector);
  return status;
}

typedef union any_options { /* with room for what a newer header has behind it */
  size_t size;
  ink_session_options session;
  ink_table_options table;
  ink_output_options output;
  ink_merged_options merged;
  ink_collector_options collector;
  unsigned char bytes[512];
} any_options;

typedef struct shape {
  const char *name;
  size_t bytes, first; /* of the first header, up to its last member */
  ink_status (*take)(const void *options);
} shape;

#define SHAPE(what, last) \
  {"ink_" #what "_options", sizeof(ink_##what##_options), \
   offsetof(ink_##what##_options, last) + sizeof(((ink_##what##_options *)0)->last), take_##what}

static const shape shapes[] = {SHAPE(session, activity), SHAPE(table, user), SHAPE(output, user),
                               SHAPE(merged, remark_user), SHAPE(collector, control)};

static any_options filled(const shape *s, size_t size) {
  any_options o = {.size = size};
  if (s->take == take_table)
    o.table.launch = UINT32_MAX;
  if (s->take == take_output)
    o.output.launch = UINT32_MAX;
  if (s->take == take_merged)
    o.merged.launch = UINT32_MAX;
  if (s->take == take_collector)
    o.collector.output = "/tmp/inkmark-options-%p.ink", o.collector.control = -1;
  return o;
}

static void test_sizes(const shape *s) {
  const size_t good[] = {s->bytes, s->bytes - 8, s->bytes + 8, s->bytes + 256, s->first};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    if (good[i] < s->first)
      continue; /* the struct has not grown by so much yet */
    const any_options o = filled(s, good[i]);
    const ink_status status = s->take(&o);
    CHECK(status == INK_OK, "%s of %zu bytes: %s", s->name, good[i], error.message);
  }
  const size_t bad[] = {0, 1, s->first - 1, (size_t)1 << 40};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const any_options o = filled(s, bad[i]);
    const ink_status status = s->take(&o);
    CHECK(status == INK_ERROR_ARGUMENT && strstr(error.message, s->name) && strstr(error.message, bad[i] ? "not sizeof" : "is not set"),
          "%s of %zu bytes: %d %s", s->name, bad[i], status, error.message);
  }
  any_options newer = filled(s, s->bytes + 16);
  newer.bytes[s->bytes + 15] = 1;
  const ink_status status = s->take(&newer);
  CHECK(status == INK_ERROR_UNSUPPORTED && strstr(error.message, "does not know"), "%s, an option that is not known: %d %s",
        s->name, status, error.message);
}

/* What an older caller has behind his struct is not looked at. */
static void test_older_keeps_defaults(void) {
  ink_table_options own = {.launch = 7};
  ink_table_options given;
  memset(&given, 0xff, sizeof given);
  given.size = offsetof(ink_table_options, by) + sizeof given.by;
  given.by = INK_BY_BLOCK;
  const ink_status status = ink_i_options_take(&own, sizeof own, given.size, &given, "it", &error);
  CHECK(status == INK_OK && own.by == INK_BY_BLOCK && own.launch == 7 && !own.kernel_regex &&
            own.size == sizeof own,
        "%d %d %u", status, own.by, own.launch);
}

/* An older program, whose rows are shorter, finds each of the library's. */
static void test_rows(void) {
  const struct {
    enum ink_row_type type;
    size_t bytes;
  } types[] = {{INK_ROW_ink_device_info, sizeof(ink_device_info)},       {INK_ROW_ink_section_table, sizeof(ink_section_table)},
               {INK_ROW_ink_kernel, sizeof(ink_kernel)},                 {INK_ROW_ink_launch, sizeof(ink_launch)},
               {INK_ROW_ink_host_clock, sizeof(ink_host_clock)},         {INK_ROW_ink_mark_costs, sizeof(ink_mark_costs)},
               {INK_ROW_ink_clock_edges, sizeof(ink_clock_edges)},       {INK_ROW_ink_section, sizeof(ink_section)},
               {INK_ROW_ink_clock_quality, sizeof(ink_clock_quality)},   {INK_ROW_ink_table_row, sizeof(ink_table_row)},
               {INK_ROW_ink_kernel_total, sizeof(ink_kernel_total)},     {INK_ROW_ink_finding, sizeof(ink_finding)},
               {INK_ROW_ink_crossing_total, sizeof(ink_crossing_total)}, {INK_ROW_ink_problem, sizeof(ink_problem)},
               {INK_ROW_ink_output, sizeof(ink_output)},                 {INK_ROW_ink_host_range, sizeof(ink_host_range)},
               {INK_ROW_ink_host_launch, sizeof(ink_host_launch)},       {INK_ROW_ink_open_track, sizeof(ink_open_track)}};
  const size_t n = sizeof types / sizeof *types;
  for (size_t i = 0; i < n; i++)
    CHECK((size_t)types[i].type == i + 1 && ink_row_bytes(types[i].type) == types[i].bytes, "type %zu: %zu bytes", i + 1,
          ink_row_bytes(types[i].type));
  CHECK(!ink_row_bytes((enum ink_row_type)0) && !ink_row_bytes((enum ink_row_type)(n + 1)), "a type that is not known");
  const ink_section *sections;
  const size_t count = ink_capture_sections(capture, &sections);
  CHECK(count > 1 && INK_ROW_AT(ink_section, sections, count - 1) == &sections[count - 1], "%zu sections", count);
}

int main(void) {
  const char *path = synth_path("options");
  ink_writer *writer = synth_writer(path, 64, 64, false);
  synth_track track;
  synth_track_init(&track, 64, 64, false);
  synth_open(&track, 1000, 1000);
  synth_record(&track, 0, INK_KIND_MARK, SYNTH_LINE_SEARCH, 0, 1100);
  synth_close(&track, 1200, 1200);
  synth_put(writer, &track);
  synth_track_free(&track);
  synth_finish(writer);
  NEED(ink_capture_open(path, &capture, &error), error);
  NEED(ink_clock_map_make(capture, &map, &error), error);
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    test_sizes(&shapes[i]);
  test_older_keeps_defaults();
  test_rows();
  CHECK(ink_version() == INKMARK_VERSION_NUMBER && INKMARK_VERSION_OF(1, 2, 3) == 10203, "%u", ink_version());
  ink_clock_map_free(map);
  ink_capture_free(capture);
  remove(path);
  return check_result("options");
}
