/* SPDX-License-Identifier: MIT */
/* What the tests of the outputs drive:
 *   output_tool make KIND CAPTURE            a made-up capture
 *   output_tool write FORMAT CAPTURE PATH [KERNEL_REGEX [LAUNCH]]
 *   output_tool dump CAPTURE                 tables and decoded events as JSON, for comparison */
#include "inkmark/output.h"
#include "inkmark/table.h"
#include "made_capture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct dump {
  const ink_section *sections;
  const ink_kernel *kernels;
  ink_stored_track track;
  bool some;
} dump;

static const char *section_name(const dump *d, ink_section_index section) {
  return section == INK_SECTION_UNKNOWN ? "(unmarked)" : d->sections[section].name;
}

/* The made-up names hold quotes and angle brackets, nothing worse. */
static void put_string(const char *text) {
  putchar('"');
  for (; *text; text++) {
    if (*text == '"' || *text == '\\')
      putchar('\\');
    putchar(*text);
  }
  putchar('"');
}

static void put_row(int64_t row) {
  if (row == INK_ROW_NONE)
    printf("null");
  else if (row == INK_ROW_UNKNOWN)
    printf("\"unknown\"");
  else
    printf("%" PRId64, row);
}

static void begin_event(dump *d, const char *kind, ink_section_index section, int64_t row) {
  const ink_track *h = &d->track.header;
  printf("%s\n{\"kind\":\"%s\",\"launch\":%u,\"device\":%d,\"sm\":%u,\"block\":%u,\"thread\":%u,",
         d->some ? "," : "", kind, d->track.launch, d->track.device, h->sm_open, h->block_index[0],
         h->thread);
  if (h->grid_dim[1] > 1 || h->grid_dim[2] > 1)
    printf("\"block_y\":%u,\"block_z\":%u,", h->block_index[1], h->block_index[2]);
  if (d->track.role_name) {
    printf("\"role_shared\":%d,\"role\":", d->track.role_shared);
    put_string(d->track.role_name);
    printf(",");
  }
  printf("\"name\":");
  d->some = true;
  put_string(section_name(d, section));
  printf(",\"row\":");
  put_row(row);
}

static ink_status on_track_begin(void *user, const ink_decoded_track *track) {
  ((dump *)user)->track = *track->stored;
  return INK_OK;
}

static ink_status on_slice(void *user, const ink_slice *s) {
  begin_event(user, "slice", s->section, s->row);
  printf(",\"begin_ns\":\"%" PRId64 "\",\"end_ns\":\"%" PRId64 "\",\"cycles\":%" PRIu64
         ",\"begin_cycles\":\"%" PRIu64 "\",\"end_cycles\":\"%" PRIu64
         "\",\"depth\":%u,\"cut\":%u,\"called\":%u}",
         s->begin_ns, s->end_ns, s->end_cycles - s->begin_cycles, s->begin_cycles, s->end_cycles,
         s->depth, s->cut, s->called);
  return INK_OK;
}

static ink_status on_point(void *user, const ink_point *p) {
  begin_event(user, "point", p->section, p->row);
  printf(",\"ns\":\"%" PRId64 "\",\"record\":%u,\"escape\":%u,\"value\":", p->ns, p->kind,
         p->escape);
  if (p->escape == INK_ESCAPE_VALUE_F64)
    printf("%.17g}", p->value.f64);
  else
    printf("%" PRId64 "}", p->value.i64);
  return INK_OK;
}

static ink_status on_async(void *user, const ink_async *a) {
  begin_event(user, "async", a->section, a->row);
  printf(",\"begin_ns\":\"%" PRId64 "\",\"end_ns\":\"%" PRId64 "\",\"cycles\":%" PRIu64
         ",\"key\":%" PRIu64 ",\"cut\":%u}",
         a->begin_ns, a->end_ns, a->end_cycles - a->begin_cycles, a->key, a->cut);
  return INK_OK;
}

static ink_status on_track_end(void *user, const ink_decoded_track *t) {
  const ink_track *h = &t->stored->header;
  const uint64_t linear =
      h->block_index[0] + (uint64_t)h->grid_dim[0] * (h->block_index[1] + (uint64_t)h->grid_dim[1] * h->block_index[2]);
  begin_event(user, "track", INK_SECTION_UNKNOWN, INK_ROW_NONE);
  printf(",\"kernel\":");
  put_string(((const dump *)user)->kernels[t->stored->kernel].name);
  printf(",\"linear\":%" PRIu64, linear);
  printf(",\"open_ns\":\"%" PRId64 "\",\"close_ns\":\"%" PRId64 "\",\"kept\":%" PRIu64
         ",\"dropped\":%" PRIu64 "}",
         t->open_ns, t->close_ns, t->marks_kept, t->marks_dropped);
  return INK_OK;
}

static ink_status put_table(const ink_capture *capture, const ink_clock_map *map, dump *d,
                            ink_error *error) {
  const ink_table_options options = {.size = sizeof options, .launch = UINT32_MAX};
  const ink_kernel *kernels;
  const ink_table_row *rows;
  const ink_kernel_total *totals;
  ink_table *table;
  ink_status status = ink_table_make(capture, map, &options, &table, error);
  if (status != INK_OK)
    return status;
  ink_capture_kernels(capture, &kernels);
  size_t count = ink_table_rows(table, &rows);
  printf("{\"table\":[");
  for (size_t i = 0; i < count; i++) {
    printf("%s\n{\"kernel\":\"%s\",\"name\":", i ? "," : "", kernels[rows[i].kernel].name);
    put_string(section_name(d, rows[i].section));
    printf(",\"count\":%" PRIu64 ",\"cut\":%" PRIu64 ",\"summed\":%u,\"called\":%u,"
           "\"total_cycles\":%" PRIu64 ",\"min_cycles\":%" PRIu64 ",\"max_cycles\":%" PRIu64
           ",\"total_ns\":%.17g}",
           rows[i].count, rows[i].cut, rows[i].summed, rows[i].called, rows[i].total_cycles,
           rows[i].min_cycles, rows[i].max_cycles, rows[i].total_ns);
  }
  count = ink_table_kernels(table, &totals);
  printf("],\n\"kernels\":[");
  for (size_t i = 0; i < count; i++)
    printf(
        "%s\n{\"name\":\"%s\",\"launches\":%" PRIu64 ",\"tracks\":%" PRIu64 ",\"executed\":%" PRIu64
        ",\"kept\":%" PRIu64 ",\"dropped\":%" PRIu64 ",\"missed\":%" PRIu64 "}",
        i ? "," : "", kernels[totals[i].kernel].name, totals[i].launches, totals[i].tracks,
        totals[i].marks_executed, totals[i].marks_kept, totals[i].marks_dropped, totals[i].missed);
  printf("]");
  ink_table_free(table);
  return INK_OK;
}

static ink_status dump_all(const ink_capture *capture, const ink_clock_map *map, ink_error *error) {
  dump d = {0};
  ink_capture_sections(capture, &d.sections);
  ink_capture_kernels(capture, &d.kernels);
  ink_status status = put_table(capture, map, &d, error);
  if (status != INK_OK)
    return status;
  const ink_sink sink = {.user = &d,
                         .track_begin = on_track_begin,
                         .slice = on_slice,
                         .point = on_point,
                         .async = on_async,
                         .track_end = on_track_end};
  printf(",\n\"events\":[");
  status = ink_decode(capture, map, UINT32_MAX, &sink, error);
  printf("]}\n");
  return status;
}

int main(int argc, char **argv) {
  ink_capture *capture = NULL;
  ink_clock_map *map = NULL;
  ink_error error = {0};
  ink_status status = INK_ERROR_ARGUMENT;
  if (argc == 4 && !strcmp(argv[1], "make"))
    return make_capture(argv[2], argv[3]) ? 0 : 1;
  bool dumping = argc == 3 && !strcmp(argv[1], "dump");
  if (!dumping && !(argc >= 5 && !strcmp(argv[1], "write"))) {
    fprintf(stderr, "usage: output_tool make KIND CAPTURE | write FORMAT CAPTURE PATH [REGEX "
                    "[LAUNCH]] | dump CAPTURE\n");
    return 2;
  }
  status = ink_capture_open(argv[dumping ? 2 : 3], &capture, &error);
  if (status == INK_OK)
    status = ink_clock_map_make(capture, &map, &error);
  if (status == INK_OK && dumping) {
    status = dump_all(capture, map, &error);
  } else if (status == INK_OK) {
    const ink_output *output = ink_output_by_name(argv[2]);
    if (!output) {
      fprintf(stderr, "output_tool: no output '%s'\n", argv[2]);
      return 2;
    }
    const ink_output_options options = {.size = sizeof options,
                                        .kernel_regex = argc > 5 && *argv[5] ? argv[5] : NULL,
                                        .launch = argc > 6 ? (uint32_t)strtoul(argv[6], NULL, 10)
                                                           : UINT32_MAX};
    status = output->write(capture, map, &options, argv[4], &error);
  }
  if (status != INK_OK)
    fprintf(stderr, "output_tool: %s\n", error.message);
  ink_clock_map_free(map);
  ink_capture_free(capture);
  return status != INK_OK;
}
