/* SPDX-License-Identifier: MIT */
/* The kernels of a Perfetto trace: slices of track events whose category is "kernel" or a kernel dispatch, and GPU
 * render stages that compute. The file is read twice: which tracks have kernels is known only at its end, and an
 * end may stand before its begin. Field numbers are those of Perfetto's protos/perfetto/trace. */
#include "packet_stream.h"
#include "perfetto_kernels.h"

#include "merge/try.h"
#include "output/perfetto_packets.h"
#include "output/track_events.h"

#include <stdlib.h>

enum { PACKET_BYTES_MAX = 64 << 20 };
enum {
  PACKET_CLEARED = 41,
  PACKET_DROPPED = 42,
  PACKET_PACKED = 50,
  PACKET_RENDER_STAGE = 53,
  PACKET_PACKED_ZSTD = 133
};
enum { FLAG_CLEARED = 1, FLAG_NEEDS = 2 };
enum { EVENT_CATEGORY_IIDS = 3, ARG_VALUE_IID = 17 };
enum { /* GpuRenderStageEvent */
       STAGE_DURATION = 2,
       STAGE_GPU = 11,
       STAGE_QUEUE = 13,
       STAGE_STAGE = 14,
       STAGE_NAME = 17,
       STAGE_NAME_IID = 20,
       STAGE_LAUNCH = 21
};

typedef struct reader {
  ink_foreign *foreign;
  const foreign_reading *how;
  ink_error *error;
  packet_stream stream;
  packet_clocks clocks;
  packet_state state;
  packet_kernels kernels;
  bool second;
  unsigned char *has_kernels; /* [track] */
  size_t has_kernels_room;
} reader;

typedef struct packet { /* what of one is looked at; NULL bytes: not there */
  pb_field event, stage, snapshot, interned, defaults, descriptor;
  uint64_t time, flags, clock, sequence;
  bool timed, cleared, dropped;
} packet;

/* ---- track events ------------------------------------------------------------------------------
 */

typedef struct event {
  uint64_t type, track, name_iid;
  bool has_track, kernel, unknown; /* unknown: a category that is not in the trace */
  pb_field name;
} event;

static ink_status look_at_category(reader *r, const packet_sequence *s, uint64_t iid, event *e) {
  const char *category = packet_state_text(&r->state, s, NAMES_OF_CATEGORIES, iid);
  e->unknown |= !category;
  if (category) {
    e->kernel |= foreign_is_kernel(category);
    foreign_note_category(r->foreign, category);
  }
  return INK_OK;
}

static void look_at_text(reader *r, const pb_field *f, event *e) {
  char text[128];
  const size_t n = f->size < sizeof text - 1 ? f->size : sizeof text - 1;
  memcpy(text, f->bytes, n);
  text[n] = 0;
  e->kernel |= foreign_is_kernel(text);
  foreign_note_category(r->foreign, text);
}

static void read_event(reader *r, const packet_sequence *s, pb_message m, event *e) {
  pb_field f;
  *e = (event){.track = s->track, .has_track = s->track != 0};
  while (pb_scan(&m, &f)) {
    if (f.number == EVENT_TYPE && f.wire == PB_VARINT) {
      e->type = f.value;
    } else if (f.number == EVENT_TRACK && f.wire == PB_VARINT) {
      e->track = f.value;
      e->has_track = f.value != 0;
    } else if (f.number == EVENT_NAME_IID && f.wire == PB_VARINT) {
      e->name_iid = f.value;
    } else if (f.number == EVENT_NAME && f.wire == PB_BYTES) {
      e->name = f;
    } else if (f.number == EVENT_CATEGORY_IIDS && f.wire == PB_VARINT) {
      look_at_category(r, s, f.value, e);
    } else if (f.number == EVENT_CATEGORY_IIDS && f.wire == PB_BYTES) { /* packed */
      pb_message list = pb_inside(&f);
      for (uint64_t iid; pb_scan_varint(&list, &iid);)
        look_at_category(r, s, iid, e);
    } else if (f.number == EVENT_CATEGORY_NAME && f.wire == PB_BYTES) {
      look_at_text(r, &f, e);
    }
  }
}

static ink_status name_kernel(reader *r, const packet_sequence *s, const pb_field *name, uint64_t iid, uint32_t *out) {
  const char *text = name->bytes ? NULL : packet_state_text(&r->state, s, NAMES_OF_EVENTS, iid);
  *out = UINT32_MAX;
  if (name->bytes)
    return ink_foreign_intern(r->foreign, (const char *)name->bytes, strnlen((const char *)name->bytes, name->size), out);
  return text ? ink_foreign_intern(r->foreign, text, strlen(text), out) : INK_OK;
}

/* [4, 1, 1] of "grid" and "block"; 0 where it is no such list. */
static void read_three(const pb_message *annotation, uint32_t out[3]) {
  pb_message m = *annotation;
  pb_field f, value;
  for (int n = 0; n < 3 && pb_scan(&m, &f);) {
    if (f.number != ARG_ARRAY || f.wire != PB_BYTES)
      continue;
    for (pb_message inner = pb_inside(&f); pb_scan(&inner, &value);)
      if ((value.number == ARG_INT || value.number == ARG_UINT) && value.value <= INT32_MAX)
        out[n] = (uint32_t)value.value;
    n++;
  }
}

static void read_annotation(reader *r, const packet_sequence *s, pb_message m, packet_kernel *k) {
  const pb_message whole = m;
  pb_field f;
  char name[64] = "", text[128] = "";
  const char *known;
  int64_t number = 0;
  bool is_number = false;
  while (pb_scan(&m, &f)) {
    if (f.number == ARG_NAME_IID && (known = packet_state_text(&r->state, s, NAMES_OF_ARGUMENTS, f.value)))
      snprintf(name, sizeof name, "%s", known);
    else if (f.number == ARG_NAME && f.wire == PB_BYTES)
      snprintf(name, sizeof name, "%.*s", (int)(f.size < 60 ? f.size : 60), (const char *)f.bytes);
    else if (f.number == ARG_STRING && f.wire == PB_BYTES)
      snprintf(text, sizeof text, "%.*s", (int)(f.size < 120 ? f.size : 120), (const char *)f.bytes);
    else if (f.number == ARG_VALUE_IID && (known = packet_state_text(&r->state, s, NAMES_OF_VALUES, f.value)))
      snprintf(text, sizeof text, "%s", known);
    else if ((f.number == ARG_INT || f.number == ARG_UINT) && f.wire == PB_VARINT) {
      is_number = true;
      number = (int64_t)f.value;
    }
  }
  if (!strcmp(name, "grid"))
    read_three(&whole, k->type.grid_dim);
  else if (!strcmp(name, "block"))
    read_three(&whole, k->type.block_dim);
  else if (is_number || *text)
    packet_kernel_argument(k, name, number, is_number ? NULL : text);
}

static packet_kernel new_kernel(void) {
  return (packet_kernel){.type = {.name = UINT32_MAX, .short_name = UINT32_MAX, .mangled = UINT32_MAX},
                         .begin_ns = INT64_MIN, .end_ns = INT64_MIN, .correlation = -1, .track = UINT32_MAX};
}

/* A kernel whose arguments tell how long it took needs no end: on a stream where kernels overlap, ends by their
 * order would be others'. */
static ink_status begin_kernel(reader *r, const packet_sequence *s, const event *e, pb_message m, uint32_t track,
                               int64_t ns) {
  packet_kernel k = new_kernel();
  pb_field f;
  k.track = track;
  TRY(name_kernel(r, s, &e->name, e->name_iid, &k.type.name));
  while (pb_scan(&m, &f))
    if (f.number == EVENT_ARG && f.wire == PB_BYTES)
      read_annotation(r, s, pb_inside(&f), &k);
  int64_t length = -1;
  if (k.begin_ns < 0 || k.end_ns < k.begin_ns || __builtin_sub_overflow(k.end_ns, k.begin_ns, &length))
    length = -1;
  k.begin_ns = ns;
  k.end_ns = INT64_MIN;
  const bool told = length >= 0 && !__builtin_add_overflow(ns, length, &k.end_ns);
  TRY(packet_kernels_add(&r->kernels, &k));
  return packet_kernels_point(&r->kernels, track, ns, false, told ? UINT32_MAX : (uint32_t)r->kernels.count - 1);
}

static ink_status mark_track(reader *r, uint32_t track) {
  const size_t room = r->has_kernels_room;
  if (track >= room) {
    const size_t wanted = room * 2 > track + 64u ? room * 2 : track + 64u;
    unsigned char *more = realloc(r->has_kernels, wanted);
    if (!more)
      return INK_ERROR_MEMORY;
    memset(more + room, 0, wanted - room);
    r->has_kernels = more;
    r->has_kernels_room = wanted;
  }
  r->has_kernels[track] = 1;
  return INK_OK;
}

static ink_status take_event(reader *r, const packet_sequence *s, const packet *p, bool timed, int64_t ns) {
  event e;
  uint32_t track;
  const pb_message m = pb_inside(&p->event);
  read_event(r, s, m, &e);
  if (e.type != TYPE_BEGIN && e.type != TYPE_END)
    return INK_OK;
  r->foreign->packets.lost += !r->second && e.unknown;
  TRY(e.has_track ? packet_state_track(&r->state, e.track, &track) : packet_state_implicit(&r->state, s, &track));
  e.kernel &= e.type == TYPE_BEGIN;
  if (!r->second)
    return e.kernel ? mark_track(r, track) : INK_OK;
  if (track >= r->has_kernels_room || !r->has_kernels[track])
    return INK_OK;
  if (!timed) {
    r->foreign->facts.kernels_left_out += e.kernel;
    return INK_OK;
  }
  return e.kernel ? begin_kernel(r, s, &e, m, track, ns)
                  : packet_kernels_point(&r->kernels, track, ns, e.type == TYPE_END, UINT32_MAX);
}

/* ---- render stages -----------------------------------------------------------------------------
 */

static void read_dimensions(pb_message launch, packet_kernel *k) {
  pb_field f, axis;
  while (pb_scan(&launch, &f)) {
    uint32_t *to = f.number == 1 ? k->type.grid_dim : f.number == 2 ? k->type.block_dim : NULL;
    for (pb_message m = pb_inside(&f); to && pb_scan(&m, &axis);)
      if (axis.number >= 1 && axis.number <= 3 && axis.value <= INT32_MAX)
        to[axis.number - 1] = (uint32_t)axis.value;
  }
}

static ink_status take_stage(reader *r, const packet_sequence *s, const packet *p, bool timed, int64_t ns) {
  packet_kernel k = new_kernel();
  pb_field f, name = {0};
  uint64_t duration = 0, name_iid = 0, stage = 0, queue = 0;
  bool kernel = false;
  for (pb_message m = pb_inside(&p->stage); pb_scan(&m, &f);) {
    if (f.number == STAGE_DURATION)
      duration = f.value;
    else if (f.number == STAGE_NAME_IID)
      name_iid = f.value;
    else if (f.number == STAGE_STAGE)
      stage = f.value;
    else if (f.number == STAGE_QUEUE)
      queue = f.value;
    else if (f.number == STAGE_GPU && f.value <= INT32_MAX)
      k.type.device = (int32_t)f.value;
    else if (f.number == STAGE_NAME && f.wire == PB_BYTES)
      name = f;
    else if (f.number == STAGE_LAUNCH && f.wire == PB_BYTES) {
      kernel = true;
      read_dimensions(pb_inside(&f), &k);
    }
  }
  kernel |= id_map_get(&s->compute, stage) != INK_ID_NONE;
  if (!r->second || !kernel)
    return INK_OK;
  const char *text = packet_state_text(&r->state, s, NAMES_OF_STAGES, queue);
  k.type.stream = (int64_t)(queue & INT64_MAX);
  if (text)
    packet_kernel_argument(&k, "stream", 0, text);
  TRY(name_kernel(r, s, &name, name_iid, &k.type.name));
  text = packet_state_text(&r->state, s, NAMES_OF_STAGES, stage);
  if (k.type.name == UINT32_MAX && text)
    TRY(ink_foreign_intern(r->foreign, text, strlen(text), &k.type.name));
  if (timed && duration <= INT64_MAX / 2 && !__builtin_add_overflow(ns, (int64_t)duration, &k.end_ns)) {
    k.begin_ns = ns;
  } else {
    k.type.name = UINT32_MAX;
  }
  return packet_kernels_add(&r->kernels, &k);
}

/* ---- packets -----------------------------------------------------------------------------------
 */

static ink_status unpack_packet(reader *r, const pb_field *f) {
  bool known;
  TRY(packet_stream_unpack(&r->stream, f, f->number == PACKET_PACKED_ZSTD, &known, r->error));
  return known ? INK_OK
               : ink_error_set(r->error, INK_ERROR_UNSUPPORTED, "cannot read '%s': %s is not on this machine (Debian: %s)",
                               r->stream.path, unpack_library(UNPACK_ZSTD), unpack_package(UNPACK_ZSTD));
}

static ink_status damaged(reader *r) {
  return ink_error_set(r->error, INK_ERROR_DAMAGED, "'%s' is damaged: its packet that ends at byte %llu is no protobuf",
                       r->stream.path, (unsigned long long)packet_stream_offset(&r->stream));
}

static void look_at_field(const pb_field *f, packet *p) {
  switch (f->number) {
  case PACKET_TIMESTAMP:
    p->time = f->value;
    p->timed = true;
    break;
  case PACKET_SEQUENCE_ID:
    p->sequence = f->value;
    break;
  case PACKET_SEQUENCE_FLAGS:
    p->flags = f->value;
    break;
  case PACKET_CLOCK_ID:
    p->clock = f->value;
    break;
  case PACKET_CLEARED:
    p->cleared = f->value;
    break;
  case PACKET_DROPPED:
    p->dropped = f->value;
    break;
  default: {
    const struct {
      uint32_t number;
      pb_field *to;
    } messages[] = {{PACKET_TRACK_EVENT, &p->event},   {PACKET_RENDER_STAGE, &p->stage},
                    {PACKET_CLOCK_SNAPSHOT, &p->snapshot}, {PACKET_INTERNED_DATA, &p->interned},
                    {PACKET_DEFAULTS, &p->defaults},   {PACKET_TRACK_DESCRIPTOR, &p->descriptor}};
    for (size_t i = 0; i < sizeof messages / sizeof *messages && f->wire == PB_BYTES; i++)
      if (messages[i].number == f->number)
        *messages[i].to = *f;
  }
  }
}

/* In the order in which the trace processor takes what one packet says. */
static ink_status take_packet(reader *r, const packet *p) {
  packet_sequence *s;
  int64_t ns = 0;
  TRY(packet_state_sequence(&r->state, (uint32_t)p->sequence, &s));
  if (p->cleared || p->flags & FLAG_CLEARED)
    packet_state_clear(s);
  else if (p->dropped)
    s->lost = true;
  if (s->lost && p->flags & FLAG_NEEDS) {
    r->foreign->packets.lost += !r->second;
    return INK_OK;
  }
  if (p->interned.bytes)
    TRY(packet_state_intern(&r->state, s, pb_inside(&p->interned)));
  if (p->defaults.bytes)
    packet_state_defaults(s, pb_inside(&p->defaults));
  if (p->snapshot.bytes)
    TRY(packet_clocks_snapshot(&r->clocks, s->id, pb_inside(&p->snapshot)));
  if (p->descriptor.bytes && !r->second)
    TRY(packet_state_describe(&r->state, pb_inside(&p->descriptor)));
  const unsigned clock = p->clock ? (unsigned)p->clock : s->clock;
  const bool timed = p->timed && packet_clocks_ns(&r->clocks, s->id, clock, p->time, &ns);
  if (p->event.bytes)
    TRY(take_event(r, s, p, timed, ns));
  return p->stage.bytes ? take_stage(r, s, p, timed, ns) : INK_OK;
}

static ink_status read_packet(reader *r, pb_message m) {
  packet p = {0};
  pb_field f;
  while (pb_scan(&m, &f)) {
    if (f.wire == PB_BYTES && (f.number == PACKET_PACKED || f.number == PACKET_PACKED_ZSTD))
      TRY(unpack_packet(r, &f));
    else
      look_at_field(&f, &p);
  }
  if (m.at != m.end)
    return damaged(r);
  r->foreign->facts.events += r->second;
  return take_packet(r, &p);
}

static ink_status read_pass(reader *r, const char *path) {
  ink_status status = packet_stream_open(&r->stream, path, PACKET_BYTES_MAX, r->error);
  const foreign_reading *how = r->how;
  for (uint64_t n = 1; status == INK_OK; n++) {
    pb_message m;
    bool whole;
    status = packet_stream_next(&r->stream, &m, &whole, r->error);
    if (status != INK_OK || !whole)
      break;
    status = read_packet(r, m);
    const uint64_t size = r->stream.bytes.size;
    if (status == INK_OK && !(n & 0xffff) && how && how->progress)
      status = how->progress(how->user, (r->second * size + r->stream.bytes.taken) / 2, 2 * size);
  }
  r->foreign->facts.bytes = packet_stream_offset(&r->stream);
  r->foreign->packed_bytes = r->stream.bytes.size;
  packet_stream_close(&r->stream);
  return status;
}

/* What further packets must keep clear of. */
static ink_status note_ids(reader *r) {
  foreign_packets *out = &r->foreign->packets;
  out->count = r->foreign->facts.events;
  out->clock = r->clocks.trace_clock ? r->clocks.trace_clock : CLOCK_BOOTTIME_ID;
  bool good = true;
  for (size_t i = 0; i < r->state.track_count && good; i++)
    good = id_map_put(&out->track_highs, r->state.tracks[i].uuid >> 32, 1);
  for (size_t i = 0; i < r->state.sequence_count && good; i++)
    good = id_map_put(&out->sequences, r->state.sequences[i].id, 1);
  return good ? INK_OK : INK_ERROR_MEMORY;
}

static ink_status put_kernels(reader *r) {
  ink_foreign *f = r->foreign;
  TRY(note_ids(r));
  f->facts.base_known = r->clocks.unix_known;
  f->facts.base_ns = r->clocks.unix_known ? r->clocks.unix_ns : 0;
  TRY(packet_kernels_put(&r->kernels, &r->state, f->facts.base_ns, f));
  if (!f->facts.base_known)
    f->facts.base_known = foreign_are_dates(f);
  return INK_OK;
}

ink_status ink_perfetto_read(ink_foreign *f, const char *path, const foreign_reading *how, ink_error *error) {
  reader r = {.foreign = f, .how = how, .error = error};
  f->facts.kind = INK_FOREIGN_PERFETTO;
  ink_status status = read_pass(&r, path);
  for (size_t i = 0; i < r.state.sequence_count; i++)
    packet_state_clear(&r.state.sequences[i]);
  packet_clocks_free(&r.clocks);
  r.second = true;
  if (status == INK_OK)
    status = read_pass(&r, path);
  if (status == INK_OK)
    status = put_kernels(&r);
  packet_clocks_free(&r.clocks);
  packet_state_free(&r.state);
  packet_kernels_free(&r.kernels);
  free(r.has_kernels);
  return status;
}
