/* SPDX-License-Identifier: MIT */
/* Everything that reads a capture, one after the other, for tests that feed it damaged ones. */
#ifndef INKMARK_TESTS_PIPELINE_H
#define INKMARK_TESTS_PIPELINE_H

#include "inkmark/table.h"

#include <string.h>

typedef struct pipeline_sums {
  uint64_t slices, points, asyncs, records, problems, tracks, touched;
} pipeline_sums;

static inline ink_status pipeline_slice(void *user, const ink_slice *s) {
  ((pipeline_sums *)user)->slices++;
  ((pipeline_sums *)user)->touched += (uint64_t)s->begin_ns ^ (uint64_t)s->end_ns;
  return INK_OK;
}
static inline ink_status pipeline_point(void *user, const ink_point *p) {
  ((pipeline_sums *)user)->points++;
  ((pipeline_sums *)user)->touched += p->value.u64;
  return INK_OK;
}
static inline ink_status pipeline_async(void *user, const ink_async *a) {
  ((pipeline_sums *)user)->asyncs++;
  ((pipeline_sums *)user)->touched += a->key;
  return INK_OK;
}
static inline ink_status pipeline_record(void *user, uint64_t head, uint64_t cycles,
                                         ink_section_index section, int64_t row, uint8_t called) {
  ((pipeline_sums *)user)->records++;
  ((pipeline_sums *)user)->touched += head + cycles + section + (uint64_t)row + called;
  return INK_OK;
}
static inline ink_status pipeline_problem(void *user, const ink_problem *p) {
  ((pipeline_sums *)user)->problems++;
  ((pipeline_sums *)user)->touched += strlen(p->text);
  return INK_OK;
}
static inline ink_status pipeline_track(void *user, const ink_decoded_track *t) {
  ((pipeline_sums *)user)->tracks++;
  ((pipeline_sums *)user)->touched += t->marks_kept;
  return INK_OK;
}

/* Looks at every name, decodes twice (with records and without) and makes every table, with the marks' cost and
 * without it. */
static inline ink_status pipeline_run(const ink_capture *capture, pipeline_sums *sums,
                                      ink_error *error) {
  ink_clock_map *map = NULL;
  const ink_section *sections;
  size_t n = ink_capture_sections(capture, &sections);
  for (size_t i = 0; i < n; i++)
    sums->touched += strlen(sections[i].name) + strlen(sections[i].table->file);
  const ink_kernel *kernels;
  n = ink_capture_kernels(capture, &kernels);
  for (size_t i = 0; i < n; i++)
    sums->touched += strlen(kernels[i].name);
  ink_status status = ink_clock_map_make(capture, &map, error);
  if (status != INK_OK)
    return status;
  ink_sink sink = {.user = sums, .slice = pipeline_slice, .point = pipeline_point,
                   .async = pipeline_async, .record = pipeline_record,
                   .problem = pipeline_problem, .track_end = pipeline_track};
  status = ink_decode(capture, map, UINT32_MAX, &sink, error);
  sink.record = NULL;
  if (status == INK_OK)
    status = ink_decode(capture, map, UINT32_MAX, &sink, error);
  for (int i = INK_BY_SECTION; i < 2 * (INK_BY_LAUNCH + 1) && status == INK_OK; i++) {
    ink_table *table = NULL;
    ink_table_options options = {.size = sizeof options, .by = (enum ink_group_by)(i / 2),
                                 .launch = UINT32_MAX, .without_marking = i % 2};
    status = ink_table_make(capture, map, &options, &table, error);
    ink_table_free(table);
  }
  ink_clock_map_free(map);
  return status;
}

#endif
