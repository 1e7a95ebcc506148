/* SPDX-License-Identifier: MIT */
/* Writes a merged trace in the form that its name asks for. */
#include "foreign_private.h"
#include "merged_private.h"

#include <string.h>

static bool ends(const char *path, const char *ending) {
  size_t n = strlen(path), m = strlen(ending);
  return n > m && !strcmp(path + n - m, ending);
}

typedef ink_status write_fn(merged_sink *sink, const char *path, ink_error *error);

static write_fn *writer_of(const char *path) {
  static const struct {
    const char *ending;
    write_fn *write;
  } forms[] = {{".json", merged_write_json},
               {".json.gz", merged_write_json},
               {".zip", merged_write_zip},
               {".pftrace", merged_write_perfetto},
               {".pftrace.gz", merged_write_perfetto},
               {".perfetto-trace", merged_write_perfetto}};
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    if (ends(path, forms[i].ending))
      return forms[i].write;
  return NULL;
}

uint64_t foreign_events_end(const ink_foreign *foreign) {
  return foreign->events_end;
}

uint64_t foreign_packed_bytes(const ink_foreign *foreign) {
  return foreign->packed_bytes;
}

void foreign_pid(const ink_foreign *foreign, const ink_foreign_kernel *kernel, char *text,
                 size_t size) {
  const foreign_place *place = ink_foreign_find_place(foreign, kernel);
  if (place)
    snprintf(text, size, "%s", place->pid);
  else
    snprintf(text, size, "%d", kernel->device);
}

void foreign_tid(const ink_foreign *foreign, const ink_foreign_kernel *kernel, char *text,
                 size_t size) {
  const foreign_place *place = ink_foreign_find_place(foreign, kernel);
  if (place)
    snprintf(text, size, "%s", place->tid);
  else
    snprintf(text, size, "%lld", (long long)kernel->stream);
}

void foreign_key(const ink_foreign *foreign, const ink_foreign_kernel *kernel, char *process,
                 size_t process_size, char *track, size_t track_size) {
  foreign_pid(foreign, kernel, process, process_size);
  foreign_tid(foreign, kernel, track, track_size);
}

bool merged_is_perfetto(const char *path) {
  return writer_of(path) == merged_write_perfetto;
}

ink_status ink_merged_write(const ink_capture *capture, const ink_clock_map *map, const char *with,
                            const ink_merged_options *options, const char *path, ink_error *error) {
  write_fn *write = writer_of(path);
  if (!write)
    return ink_error_set(error, INK_ERROR_UNSUPPORTED,
                         "a merged trace is a .json, .json.gz, .zip or .pftrace, not '%s'", path);
  ink_error own = {0};
  error = error ? error : &own;
  merged_sink sink = {.error = error, .place.converts = merged_is_perfetto(path)};
  ink_status status = placement_make(&sink.place, capture, map, with, options, error);
  if (status == INK_OK) {
    placement_tell(&sink.place);
    status = write(&sink, path, error);
  }
  sm_counters_free(&sink.counters);
  placement_free(&sink.place);
  return status;
}
