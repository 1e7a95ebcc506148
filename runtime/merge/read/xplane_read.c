/* SPDX-License-Identifier: MIT */
/* The kernels of an XLA profile, .xplane.pb, as JAX and TensorFlow leave it: of planes "/device:GPU:N" those events on
 * lines "Stream #N" that are neither copies nor sets. Field numbers are those of tsl/profiler/protobuf/xplane.proto.
 * One plane is in memory at a time. */
#include "foreign_private.h"
#include "packet_stream.h"

#include "merge/try.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLANE_BYTES_MAX = 1 << 30, TEXT_BYTES = 1024 };
enum { PLANE_ID = 1, PLANE_NAME = 2, PLANE_LINE = 3, PLANE_EVENT_NAME = 4, PLANE_STAT_NAME = 5, PLANE_STAT = 6 };
enum { LINE_NAME = 2, LINE_NS = 3, LINE_EVENT = 4 };
enum { EVENT_NAME = 1, EVENT_PS = 2, EVENT_LENGTH_PS = 3, EVENT_STAT = 4 };
enum { STAT_NAME = 1, STAT_UINT = 3, STAT_INT = 4, STAT_TEXT = 5, STAT_REF = 7 };
enum { ENTRY_KEY = 1, ENTRY_VALUE = 2, METADATA_NAME = 2 };

typedef struct reader {
  ink_foreign *foreign;
  ink_error *error;
  packet_stream stream;
  text_table texts;
  id_map events, stats; /* of the current plane: names, numbers of `texts` */
  int32_t device;
  int64_t stream_number, line_ns;
  int64_t start_ns; /* of the profile; 0: the file does not tell */
  bool bad;         /* something inside of the plane is no protobuf */
} reader;

static const char *text_of(const reader *r, const id_map *map, uint64_t id) {
  const uint32_t text = id_map_get(map, id);
  return text == INK_ID_NONE ? "" : r->texts.texts[text];
}

/* An entry of a map from numbers to metadata, of which the name is kept. */
static ink_status read_name(reader *r, pb_message entry, id_map *map) {
  pb_field f, inner;
  uint64_t key = 0;
  pb_field name = {0};
  while (pb_scan(&entry, &f)) {
    if (f.number == ENTRY_KEY)
      key = f.value;
    if (f.number != ENTRY_VALUE || f.wire != PB_BYTES)
      continue;
    pb_message m = pb_inside(&f);
    while (pb_scan(&m, &inner))
      if (inner.number == METADATA_NAME && inner.wire == PB_BYTES)
        name = inner;
    r->bad |= m.at != m.end;
  }
  r->bad |= entry.at != entry.end;
  uint32_t text;
  if (!name.bytes)
    return INK_OK;
  TRY(text_table_add(&r->texts, (const char *)name.bytes, strnlen((const char *)name.bytes, name.size), &text, NULL));
  return id_map_put(map, key, text) ? INK_OK : INK_ERROR_MEMORY;
}

typedef struct plane_stat { /* one of an event or a plane */
  const char *name;
  int64_t number;
  char text[TEXT_BYTES];
} plane_stat;

static void read_stat(reader *r, pb_message m, plane_stat *out) {
  pb_field f;
  out->name = "";
  out->number = -1;
  out->text[0] = 0;
  while (pb_scan(&m, &f)) {
    if (f.number == STAT_NAME)
      out->name = text_of(r, &r->stats, f.value);
    else if ((f.number == STAT_UINT || f.number == STAT_INT) && f.value <= INT64_MAX)
      out->number = (int64_t)f.value;
    else if (f.number == STAT_TEXT && f.wire == PB_BYTES)
      snprintf(out->text, sizeof out->text, "%.*s", (int)(f.size < TEXT_BYTES ? f.size : TEXT_BYTES - 1),
               (const char *)f.bytes);
    else if (f.number == STAT_REF) /* the text is another stat's name */
      snprintf(out->text, sizeof out->text, "%s", text_of(r, &r->stats, f.value));
  }
  r->bad |= m.at != m.end;
}

static bool to_ns(int64_t line_ns, uint64_t offset_ps, int64_t *out) {
  return offset_ps <= INT64_MAX && !__builtin_add_overflow(line_ns, (int64_t)(offset_ps / 1000), out) &&
         *out <= INT64_MAX / 2;
}

static ink_status read_event(reader *r, pb_message m) {
  ink_foreign *f = r->foreign;
  ink_foreign_kernel k = {.correlation = -1};
  ink_foreign_type t = {.device = r->device, .stream = r->stream_number, .short_name = UINT32_MAX, .mangled = UINT32_MAX};
  uint64_t id = 0, offset = 0, length = 0, end;
  bool copies = false;
  pb_field field;
  plane_stat s;
  while (pb_scan(&m, &field)) {
    if (field.number == EVENT_NAME)
      id = field.value;
    else if (field.number == EVENT_PS)
      offset = field.value;
    else if (field.number == EVENT_LENGTH_PS)
      length = field.value;
    if (field.number != EVENT_STAT || field.wire != PB_BYTES)
      continue;
    read_stat(r, pb_inside(&field), &s);
    if (!strcmp(s.name, "correlation_id"))
      k.correlation = s.number;
    else if (!strcmp(s.name, "kernel_details")) {
      foreign_xla_dimension(s.text, "grid:", t.grid_dim);
      foreign_xla_dimension(s.text, "block:", t.block_dim);
    }
    copies |= !strcmp(s.name, "memcpy_details") || !strcmp(s.name, "memset_details") || !strcmp(s.name, "Memcpy_details") ||
              !strcmp(s.name, "Memset_details");
  }
  r->bad |= m.at != m.end;
  const char *name = text_of(r, &r->events, id);
  f->facts.events++;
  if (copies || !strncmp(name, "Memcpy", 6) || !strncmp(name, "Memset", 6))
    return INK_OK;
  if (!*name || __builtin_add_overflow(offset, length, &end) || !to_ns(r->line_ns, offset, &k.begin_ns) ||
      !to_ns(r->line_ns, end, &k.end_ns) || k.begin_ns < 0) {
    f->facts.kernels_left_out++;
    return INK_OK;
  }
  if (!t.grid_dim[0] || !t.block_dim[0])
    memset(t.grid_dim, 0, sizeof t.grid_dim), memset(t.block_dim, 0, sizeof t.block_dim);
  TRY(ink_foreign_intern(f, name, strlen(name), &t.name));
  TRY(foreign_place_track(f, &t, 0, 0));
  return ink_foreign_add(f, &t, &k);
}

static ink_status read_line(reader *r, pb_message m) {
  const pb_message whole = m;
  pb_field f;
  r->line_ns = 0;
  r->stream_number = -1;
  while (pb_scan(&m, &f)) {
    if (f.number == LINE_NS)
      r->line_ns = f.value <= INT64_MAX / 2 ? (int64_t)f.value : -1;
    if (f.number != LINE_NAME || f.wire != PB_BYTES)
      continue;
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)(f.size < 60 ? f.size : 60), (const char *)f.bytes);
    if (!strncmp(name, "Stream #", 8))
      r->stream_number = strtoll(name + 8, NULL, 10);
  }
  r->bad |= m.at != m.end;
  for (m = whole; r->stream_number >= 0 && pb_scan(&m, &f);)
    if (f.number == LINE_EVENT && f.wire == PB_BYTES)
      TRY(read_event(r, pb_inside(&f)));
  return INK_OK;
}

/* The N of "/device:GPU:N"; -1: another plane. */
static int32_t device_of(const pb_field *name) {
  static const char mark[] = "/device:GPU:";
  const size_t n = sizeof mark - 1;
  char text[32];
  snprintf(text, sizeof text, "%.*s", (int)(name->size < 31 ? name->size : 31), (const char *)name->bytes);
  char *end;
  if (strncmp(text, mark, n) || text[n] < '0' || text[n] > '9')
    return -1;
  const long device = strtol(text + n, &end, 10);
  return !*end && device < INT32_MAX ? (int32_t)device : -1;
}

/* Names come behind the lines that need them, so the plane is gone through twice. */
static ink_status read_plane(reader *r, pb_message m) {
  const pb_message whole = m;
  pb_field f, name = {.bytes = (const unsigned char *)""};
  plane_stat s;
  id_map_free(&r->events);
  id_map_free(&r->stats);
  while (pb_scan(&m, &f)) {
    if (f.number == PLANE_ID && (int64_t)f.value > r->foreign->packets.plane_id && f.value < INT32_MAX)
      r->foreign->packets.plane_id = (int64_t)f.value;
    else if (f.number == PLANE_NAME && f.wire == PB_BYTES)
      name = f;
    else if ((f.number == PLANE_EVENT_NAME || f.number == PLANE_STAT_NAME) && f.wire == PB_BYTES)
      TRY(read_name(r, pb_inside(&f), f.number == PLANE_EVENT_NAME ? &r->events : &r->stats));
  }
  r->bad |= m.at != m.end;
  char text[48];
  snprintf(text, sizeof text, "%.*s", (int)(name.size < 40 ? name.size : 40), (const char *)name.bytes);
  foreign_note_category(r->foreign, text);
  r->foreign->packets.count++;
  r->device = device_of(&name);
  for (m = whole; pb_scan(&m, &f);) {
    if (f.number == PLANE_LINE && f.wire == PB_BYTES && r->device >= 0)
      TRY(read_line(r, pb_inside(&f)));
    if (f.number != PLANE_STAT || f.wire != PB_BYTES)
      continue;
    read_stat(r, pb_inside(&f), &s);
    if (!strcmp(s.name, "profile_start_time") && s.number > 0 && s.number < INT64_MAX / 4)
      r->start_ns = s.number;
  }
  return r->bad ? ink_error_set(r->error, INK_ERROR_DAMAGED, "'%s' is damaged: its plane that ends at byte %llu is no protobuf",
                                r->stream.path, (unsigned long long)packet_stream_offset(&r->stream))
                : INK_OK;
}

/* Times are since the start of the profile, which the file tells, or Unix time. */
static void add_base(reader *r) {
  ink_foreign *f = r->foreign;
  f->facts.base_known = foreign_are_dates(f);
  if (f->facts.base_known || !r->start_ns)
    return;
  f->facts.base_known = true;
  f->facts.base_ns = r->start_ns;
  for (size_t i = 0; i < f->kernel_count; i++) { /* neither is beyond half of what there is */
    f->kernels[i].begin_ns += r->start_ns;
    f->kernels[i].end_ns += r->start_ns;
  }
}

ink_status ink_xplane_read(ink_foreign *f, const char *path, const foreign_reading *how, ink_error *error) {
  reader r = {.foreign = f, .error = error};
  f->facts.kind = INK_FOREIGN_XPLANE;
  ink_status status = packet_stream_open(&r.stream, path, PLANE_BYTES_MAX, error);
  while (status == INK_OK) {
    pb_message plane;
    bool whole;
    status = packet_stream_next(&r.stream, &plane, &whole, error);
    if (status != INK_OK || !whole)
      break;
    status = read_plane(&r, plane);
    if (status == INK_OK && how && how->progress)
      status = how->progress(how->user, r.stream.bytes.taken, 2 * r.stream.bytes.size);
  }
  if (status == INK_OK)
    add_base(&r);
  f->facts.bytes = packet_stream_offset(&r.stream);
  f->packed_bytes = r.stream.bytes.size;
  packet_stream_close(&r.stream);
  text_table_free(&r.texts);
  id_map_free(&r.events);
  id_map_free(&r.stats);
  return status;
}
