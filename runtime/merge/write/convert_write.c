/* SPDX-License-Identifier: MIT */
/* The packets of another profiler's events: a sequence of their own, with whole times, because the
 * order of the file jumps between threads, and interned names that stay valid to the end. */
#include "convert.h"

#include <stdlib.h>
#include <string.h>

enum { CONVERT_SEQUENCE = 0xffff };

/* A packet in two parts, its length before it, goes into the file. */
static void put_parts(convert *c, const char *bytes, size_t size, const char *rest, size_t rest_size) {
  char *p = pb_varint(ink_file_room(c->out->file, 16), PACKET << 3 | 2);
  ink_file_took(c->out->file, pb_varint_wide(p, size + rest_size));
  ink_file_write(c->out->file, bytes, size);
  if (rest_size)
    ink_file_write(c->out->file, rest, rest_size);
}

static void put_packet(convert *c, const char *bytes, size_t size) {
  put_parts(c, bytes, size, NULL, 0);
}

uint64_t convert_uuid(const convert *c, uint32_t track, uint32_t lane) {
  const conv_track *t = &c->tracks[track];
  return lane ? t->lane_uuids[lane - 1] : t->uuid;
}

static char *packet_head(char *p, int64_t ns) {
  p = pb_uint_wide(p, PACKET_TIMESTAMP, (uint64_t)ns);
  return pb_uint(p, PACKET_SEQUENCE_ID, CONVERT_SEQUENCE);
}

void convert_start(convert *c) {
  char packet[64];
  char *p = pb_uint(packet, PACKET_SEQUENCE_ID, CONVERT_SEQUENCE);
  p = pb_uint(p, PACKET_SEQUENCE_FLAGS, 1);
  char *defaults = p = pb_begin(p, PACKET_DEFAULTS);
  p = pb_end(defaults, pb_uint(p, DEFAULTS_CLOCK_ID, BUILTIN_REALTIME));
  put_packet(c, packet, (size_t)(p - packet));
}

/* 16 bytes from p on may be overwritten. */
static char *put_track(convert *c, char *p, uint64_t uuid) {
  struct conv_track_field *field = &c->track_fields[uuid % (sizeof c->track_fields / sizeof *c->track_fields)];
  if (field->uuid != uuid || !field->size) {
    field->uuid = uuid;
    field->size = (unsigned char)(pb_uint(field->bytes, EVENT_TRACK, uuid) - field->bytes);
  }
  memcpy(p, field->bytes, sizeof field->bytes);
  return p + field->size;
}

void convert_end(convert *c, uint64_t uuid, int64_t ns) {
  char *packet = pb_begin(ink_file_room(c->out->file, 128), PACKET);
  char *event = pb_begin(packet_head(packet, ns), PACKET_TRACK_EVENT);
  char *p = pb_uint(event, EVENT_TYPE, TYPE_END);
  p = pb_end(event, put_track(c, p, uuid));
  ink_file_took(c->out->file, pb_end(packet, p));
}

ink_status convert_intern(convert *c, enum conv_names what, const char *text, size_t length,
                          uint64_t *iid) {
  static const uint32_t fields[] = {INTERNED_EVENT_NAME, INTERNED_CATEGORY, INTERNED_ARG_NAME};
  text_table *const tables[] = {&c->names, &c->categories, &c->arg_names};
  uint32_t index;
  bool fresh;
  ink_status status = text_table_add(tables[what], text, length, &index, &fresh);
  if (status != INK_OK)
    return status;
  *iid = (uint64_t)index + 1;
  if (!fresh)
    return INK_OK;
  text_buffer packet = {0};
  char *bytes = text_buffer_room(&packet, 3 * length + 128);
  if (!bytes)
    return INK_ERROR_MEMORY;
  char *p = pb_uint(bytes, PACKET_SEQUENCE_ID, CONVERT_SEQUENCE);
  char *data = p = pb_begin(p, PACKET_INTERNED_DATA);
  char *entry = p = pb_begin(p, fields[what]);
  p = pb_uint(p, INTERNED_IID, *iid);
  p = pb_end(data, pb_end(entry, pb_text(p, INTERNED_TEXT, text, length, SIZE_MAX)));
  put_packet(c, bytes, (size_t)(p - bytes));
  free(bytes);
  return INK_OK;
}

enum { HEAD_ROOM = 64 }; /* for what stands before an event's fields, its length last */

/* The event's packet up to its arguments into c->packet, from c->packet_from on; the arguments follow it as they are. */
static ink_status build(convert *c, const conv_event *e, uint64_t uuid, uint32_t slice) {
  size_t args = e->args ? e->args->size : 0, flows = 0;
  while (slice != UINT32_MAX && c->next_point + flows < c->point_count &&
         c->points[c->next_point + flows].slice == slice)
    flows++;
  c->packet.size = 0;
  char *bytes = text_buffer_room(&c->packet, HEAD_ROOM + 16 * flows + 112);
  if (!bytes || (e->args && e->args->failed))
    return INK_ERROR_MEMORY;
  char head[HEAD_ROOM], *fields = bytes + HEAD_ROOM;
  char *p = pb_uint(fields, EVENT_TYPE, e->type);
  p = put_track(c, p, uuid);
  if (e->category)
    p = pb_uint_wide(p, EVENT_CATEGORY, e->category);
  if (e->name)
    p = pb_uint_wide(p, EVENT_NAME_IID, e->name);
  if (e->type == TYPE_COUNTER)
    p = pb_double(p, EVENT_COUNTER_DOUBLE, e->value);
  if (e->flow)
    p = pb_fixed64(p, e->flow_starts ? EVENT_FLOWS : EVENT_FLOW_ENDS, e->flow);
  for (; flows; flows--, c->next_point++) {
    const conv_point *point = &c->points[c->next_point];
    p = pb_fixed64(p, point->starts ? EVENT_FLOWS : EVENT_FLOW_ENDS, point->id);
  }
  char *h = pb_varint(packet_head(head, e->ns), PACKET_TRACK_EVENT << 3 | 2);
  h = pb_varint(h, (size_t)(p - fields) + args);
  const size_t before = (size_t)(h - head);
  memcpy(fields - before, head, before);
  c->packet_from = HEAD_ROOM - before;
  c->packet.size = (size_t)(p - bytes);
  return INK_OK;
}

static void put_built(convert *c, const conv_event *e) {
  put_parts(c, c->packet.bytes + c->packet_from, c->packet.size - c->packet_from, e->args ? e->args->bytes : NULL,
            e->args ? e->args->size : 0);
}

/* The slice that waited for this one (a lane has one at most), and the one that waited for that. */
static void release(convert *c, uint32_t outer) {
  for (;;) {
    size_t low = 0, high = c->wait_count;
    while (low < high) {
      size_t middle = (low + high) / 2;
      if (c->waits[middle].outer < outer)
        low = middle + 1;
      else
        high = middle;
    }
    if (low == c->wait_count || c->waits[low].outer != outer || !c->waits[low].bytes)
      return;
    conv_wait *w = &c->waits[low];
    put_packet(c, w->bytes, w->size);
    if (w->ends)
      convert_end(c, w->uuid, w->ns);
    free(w->bytes);
    w->bytes = NULL;
    outer = w->inner;
  }
}

static ink_status hold(convert *c, uint32_t inner, const conv_event *e, uint64_t uuid) {
  size_t low = 0, high = c->wait_count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (c->waits[c->waits_by_inner[middle]].inner < inner)
      low = middle + 1;
    else
      high = middle;
  }
  conv_wait *w = &c->waits[c->waits_by_inner[low]];
  const size_t size = c->packet.size - c->packet_from, args = e->args ? e->args->size : 0;
  w->bytes = malloc(size + args);
  if (!w->bytes)
    return INK_ERROR_MEMORY;
  memcpy(w->bytes, c->packet.bytes + c->packet_from, size);
  if (args)
    memcpy(w->bytes + size, e->args->bytes, args);
  w->size = size + args;
  w->uuid = uuid;
  w->ns = e->ns;
  w->ends = e->end_ns <= e->ns;
  return INK_OK;
}

ink_status convert_slice(convert *c, const conv_event *e) {
  if (c->next_slice >= c->slice_count)
    return INK_ERROR_IO; /* the file changed between the passes */
  uint32_t index = (uint32_t)c->next_slice++;
  unsigned placed = c->placed[index], lane = placed & CONV_LANE;
  c->written_sum =
      convert_sum(c->written_sum, e->track, e->ns - c->base_ns, e->end_ns - c->base_ns);
  if (lane >= c->tracks[e->track].lane_count)
    return INK_ERROR_IO;
  uint64_t uuid = convert_uuid(c, e->track, lane);
  ink_status status = build(c, e, uuid, index);
  if (status != INK_OK)
    return status;
  if (placed & CONV_WAITS)
    return hold(c, index, e, uuid);
  put_built(c, e);
  if (e->end_ns <= e->ns)
    convert_end(c, uuid, e->ns);
  if (placed & CONV_LEADS)
    release(c, index);
  return INK_OK;
}

ink_status convert_other(convert *c, const conv_event *e) {
  ink_status status = build(c, e, convert_uuid(c, e->track, 0), UINT32_MAX);
  if (status == INK_OK)
    put_built(c, e);
  return status;
}
