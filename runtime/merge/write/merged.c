/* SPDX-License-Identifier: MIT */
/* Writes a merged trace in the form that its name asks for. */
#include "merge/read/foreign_private.h"
#include "convert_notes.h"
#include "merged_private.h"
#include "options_take.h"

#include <stdlib.h>
#include <string.h>

static bool ends(const char *path, const char *ending) {
  size_t n = strlen(path), m = strlen(ending);
  return n > m && !strcmp(path + n - m, ending);
}

typedef ink_status write_fn(merged_whole *whole, const char *path, ink_error *error);

static write_fn *writer_of(const char *path) {
  static const struct {
    const char *ending;
    write_fn *write;
  } forms[] = {{".json", merged_write_json},
               {".json.gz", merged_write_json},
               {".zip", merged_write_zip},
               {".pftrace", merged_write_perfetto},
               {".pftrace.gz", merged_write_perfetto},
               {".perfetto-trace", merged_write_perfetto},
               {".xplane.pb", merged_write_xplane}};
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    if (ends(path, forms[i].ending))
      return forms[i].write;
  return NULL;
}

uint64_t foreign_events_end(const ink_foreign *foreign) {
  return foreign->events_end;
}

json_edits foreign_edits(const ink_foreign *foreign) {
  return foreign->edits;
}

uint64_t foreign_packed_bytes(const ink_foreign *foreign) {
  return foreign->packed_bytes;
}

/* Half of a pair of UTF-16, as the reader keeps it: three bytes that no UTF-8 has. */
static bool is_half(const unsigned char *p) {
  return p[0] == 0xed && p[1] >= 0xa0 && p[1] <= 0xbf && p[2] >= 0x80 && p[2] <= 0xbf;
}

static void json_string(const char *text, char *to) {
  *to++ = '"';
  for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
    unsigned code = *p;
    if (is_half(p)) {
      code = 0xd000u | (p[1] & 63u) << 6 | (p[2] & 63u);
      p += 2;
    }
    if (code < ' ' || code > 0xff)
      to += sprintf(to, "\\u%04x", code);
    else if (code == '"' || code == '\\')
      to += sprintf(to, "\\%c", (char)code);
    else
      *to++ = (char)code;
  }
  strcpy(to, "\"");
}

static void id_json(const trace_id *id, char *token) {
  if (id->is_string)
    json_string(id->text, token);
  else
    snprintf(token, FOREIGN_ID_BYTES, "%s", *id->text ? id->text : "0"); /* none: viewers take 0 */
}

void foreign_pid(const ink_foreign *foreign, const ink_foreign_kernel *kernel, char *text,
                 size_t size) {
  const foreign_place *place = ink_foreign_find_place(foreign, kernel);
  if (place)
    snprintf(text, size, "%s", place->pid.text);
  else
    snprintf(text, size, "%d", kernel->type->device);
}

void foreign_tid(const ink_foreign *foreign, const ink_foreign_kernel *kernel, char *text,
                 size_t size) {
  const foreign_place *place = ink_foreign_find_place(foreign, kernel);
  if (place)
    snprintf(text, size, "%s", place->tid.text);
  else
    snprintf(text, size, "%lld", (long long)kernel->type->stream);
}

void foreign_pid_json(const ink_foreign *foreign, const ink_foreign_kernel *kernel,
                      char token[FOREIGN_ID_BYTES]) {
  const foreign_place *place = ink_foreign_find_place(foreign, kernel);
  if (place)
    id_json(&place->pid, token);
  else
    foreign_pid(foreign, kernel, token, FOREIGN_ID_BYTES);
}

void foreign_tid_json(const ink_foreign *foreign, const ink_foreign_kernel *kernel,
                      char token[FOREIGN_ID_BYTES]) {
  const foreign_place *place = ink_foreign_find_place(foreign, kernel);
  if (place)
    id_json(&place->tid, token);
  else
    foreign_tid(foreign, kernel, token, FOREIGN_ID_BYTES);
}

void foreign_key(const ink_foreign *foreign, const ink_foreign_kernel *kernel, char *process,
                 size_t process_size, char *track, size_t track_size) {
  foreign_pid(foreign, kernel, process, process_size);
  foreign_tid(foreign, kernel, track, track_size);
}

bool merged_is_perfetto(const char *path) {
  return writer_of(path) == merged_write_perfetto;
}

/* What the tracks of each of several captures are called by; with its file's name where that would
 * be said of two. */
static void name_captures(merged_whole *whole, const ink_merged_capture *captures) {
  for (size_t i = 0; i < whole->count && whole->count > 1; i++) {
    placement *p = &whole->sinks[i].place;
    p->label = captures[i].name;
    merged_name_capture(captures[i].capture, p->who, sizeof p->who);
  }
  for (size_t i = 1; i < whole->count; i++) {
    placement *p = &whole->sinks[i].place;
    const char *slash = strrchr(captures[i].name, '/');
    size_t n = strlen(p->who);
    for (size_t k = 0; k < i; k++)
      if (!strcmp(whole->sinks[k].place.who, p->who)) {
        snprintf(p->who + n, sizeof p->who - n, ", %.40s", slash ? slash + 1 : captures[i].name);
        break;
      }
  }
}

/* A kernel is one launch: where a few are claimed by two captures the first keeps them, where many
 * are it is not known which capture is which. */
static ink_status settle_claims(merged_whole *whole, ink_error *error) {
  size_t kernels = whole->sinks[0].place.kernel_count;
  uint32_t *owner = calloc(kernels + 1, sizeof *owner);
  if (!owner)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  ink_status status = INK_OK;
  for (size_t i = 0; i < whole->count && status == INK_OK; i++) {
    placement *p = &whole->sinks[i].place;
    size_t taken = 0, joined = p->joined;
    const placement *other = NULL;
    for (size_t l = 0; l < p->selection.launch_count; l++) {
      size_t kernel = p->launches[l].kernel;
      if (kernel == SIZE_MAX)
        continue;
      if (!owner[kernel]) {
        owner[kernel] = (uint32_t)i + 1;
        continue;
      }
      other = &whole->sinks[owner[kernel] - 1].place;
      placement_unjoin(p, l);
      taken++;
    }
    if (taken * 100 > joined)
      status = ink_error_set(error, INK_ERROR_NOT_FOUND,
                             "the launches of '%.100s' and '%.100s' fit the same kernels of "
                             "'%.100s' (%zu), so which is whose is not known",
                             other->label, p->label, p->with, taken);
    else if (taken)
      placement_say(p, "%zu launches fit kernels that are of another capture", taken);
  }
  free(owner);
  return status;
}

static ink_status write_whole(merged_whole *whole, const ink_merged_capture *captures,
                              const char *with, const ink_merged_options *options, write_fn *write,
                              const char *path, ink_error *error) {
  foreign_listener listener;
  foreign_reading reading = {options->progress, options->user, NULL};
  if (write == merged_write_perfetto) {
    whole->notes = convert_notes_new();
    if (!whole->notes)
      return INK_ERROR_MEMORY;
    listener = convert_notes_listener(whole->notes);
    reading.listener = &listener;
  }
  ink_status status = foreign_open(with, &reading, &whole->foreign, error);
  if (status == INK_OK && whole->notes &&
      (whole->foreign->facts.kind != INK_FOREIGN_KINETO || !convert_notes_fit(whole->notes, whole->foreign->facts.base_ns))) {
    convert_notes_free(whole->notes);
    whole->notes = NULL;
  }
  for (size_t i = 0; i < whole->count && status == INK_OK; i++) {
    whole->sinks[i].error = error;
    status = placement_make(&whole->sinks[i].place, captures[i].capture, captures[i].map, with,
                            whole->foreign, options, error);
  }
  if (status == INK_OK && whole->count > 1)
    status = settle_claims(whole, error);
  for (size_t i = 0; i < whole->count && status == INK_OK; i++)
    placement_tell(&whole->sinks[i].place);
  if (status == INK_OK && write != merged_write_xplane && whole->foreign->facts.kind == INK_FOREIGN_XPLANE)
    status = ink_error_set(error, INK_ERROR_UNSUPPORTED,
                           "'%s' is an XLA profile in protobuf: use a name that ends in .xplane.pb, or its .trace.json.gz "
                           "for another form",
                           with);
  return status == INK_OK ? write(whole, path, error) : status;
}

ink_status ink_merged_write_several(const ink_merged_capture *captures, size_t n, const char *with,
                                    const ink_merged_options *options, const char *path,
                                    ink_error *error) {
  ink_merged_options chosen = {.launch = UINT32_MAX};
  ink_error own = {0};
  error = error ? error : &own;
  const ink_status taken = INK_I_OPTIONS_TAKE(&chosen, ink_merged_options, remark_user, options, error);
  if (taken != INK_OK)
    return taken;
  write_fn *write = writer_of(path);
  if (!write)
    return ink_error_set(error, INK_ERROR_UNSUPPORTED,
                         "a merged trace is a .json, .json.gz, .zip, .pftrace or .xplane.pb, not '%s'", path);
  ink_status status = merged_check_distinct(captures, n, error);
  if (status != INK_OK)
    return status;
  merged_whole whole = {.sinks = calloc(n + 1, sizeof *whole.sinks), .count = n};
  if (!whole.sinks)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  name_captures(&whole, captures);
  status = write_whole(&whole, captures, with, &chosen, write, path, error);
  for (size_t i = 0; i < n; i++) {
    sm_counters_free(&whole.sinks[i].counters);
    placement_free(&whole.sinks[i].place);
  }
  free(whole.sinks);
  ink_foreign_free(whole.foreign);
  convert_notes_free(whole.notes);
  return status;
}

ink_status ink_merged_write(const ink_capture *capture, const ink_clock_map *map, const char *with,
                            const ink_merged_options *options, const char *path, ink_error *error) {
  const ink_merged_capture one = {"the capture", capture, map};
  return ink_merged_write_several(&one, 1, with, options, path, error);
}
