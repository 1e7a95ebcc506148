/* SPDX-License-Identifier: MIT */
/* Builds a plane of an XLA profile in memory, since the length of a message stands before it. */
#include "xplane_lines.h"

#include "merge/try.h"
#include "output/pb_write.h"
#include "output/track_events.h"

#include <stdlib.h>

enum { PLANES = 1, PLANE_ID = 1, PLANE_NAME = 2, PLANE_LINE = 3, PLANE_EVENT_NAME = 4, PLANE_STAT_NAME = 5 };
enum { LINE_ID = 1, LINE_NAME = 2, LINE_NS = 3, LINE_EVENT = 4, LINE_DISPLAY_ID = 10 };
enum { EVENT_NAME = 1, EVENT_PS = 2, EVENT_LENGTH_PS = 3, EVENT_STAT = 4 };
enum { STAT_NAME = 1, STAT_DOUBLE = 2, STAT_INT = 4, STAT_TEXT = 5 };
enum { ENTRY_KEY = 1, ENTRY_VALUE = 2, METADATA_ID = 1, METADATA_NAME = 2 };
enum { TEXT_MOST = 400, ROOM = 4 * TEXT_MOST };

void xplane_lines_free(xplane_lines *x) {
  for (size_t i = 0; i < x->count; i++) {
    free(x->lines[i].name);
    free(x->lines[i].events.bytes);
  }
  free(x->lines);
  free(x->event.bytes);
  text_table_free(&x->events);
  text_table_free(&x->stats);
  *x = (xplane_lines){0};
}

ink_status xplane_line_add(xplane_lines *x, const char *name, size_t *out) {
  void *lines = x->lines;
  const ink_status status = ink_grow(&lines, x->count, &x->room, sizeof *x->lines);
  x->lines = lines;
  char *copy = status == INK_OK ? strdup(name) : NULL;
  if (!copy)
    return INK_ERROR_MEMORY;
  x->lines[x->count] = (xplane_line){.name = copy};
  *out = x->count++;
  return INK_OK;
}

/* The number of a name, from 1 on; 0 without memory, which the write will tell. */
static uint64_t number_of(xplane_lines *x, text_table *table, const char *name) {
  uint32_t index;
  if (text_table_add(table, name, strlen(name), &index, NULL) == INK_OK)
    return (uint64_t)index + 1;
  x->event.failed = true;
  return 0;
}

static int64_t to_ps(int64_t ns) {
  int64_t ps;
  return __builtin_mul_overflow(ns, 1000, &ps) ? INT64_MAX : ps;
}

void xplane_begin(xplane_lines *x, size_t line, const char *name, int64_t begin_ns, int64_t end_ns) {
  const uint64_t number = number_of(x, &x->events, name);
  x->event.size = 0;
  x->line = line;
  char *p = text_buffer_room(&x->event, ROOM), *start = p;
  if (!p)
    return;
  p = pb_uint(p, EVENT_NAME, number);
  p = pb_int(p, EVENT_PS, to_ps(begin_ns - x->begin_ns));
  p = pb_int(p, EVENT_LENGTH_PS, to_ps(end_ns - begin_ns));
  x->event.size += (size_t)(p - start);
}

/* The value is a field of the stat, written by `put`. */
static char *begin_stat(xplane_lines *x, const char *name, char **fields) {
  const uint64_t number = number_of(x, &x->stats, name);
  char *p = text_buffer_room(&x->event, ROOM);
  if (!p)
    return NULL;
  *fields = p = pb_begin(p, EVENT_STAT);
  return pb_uint(p, STAT_NAME, number);
}

static void end_stat(xplane_lines *x, char *fields, char *p) {
  p = pb_end(fields, p);
  x->event.size = (size_t)(p - x->event.bytes);
}

void xplane_int(xplane_lines *x, const char *name, int64_t value) {
  char *fields, *p = begin_stat(x, name, &fields);
  if (p)
    end_stat(x, fields, pb_int(p, STAT_INT, value));
}

void xplane_double(xplane_lines *x, const char *name, double value) {
  char *fields, *p = begin_stat(x, name, &fields);
  if (p)
    end_stat(x, fields, pb_double(p, STAT_DOUBLE, value));
}

void xplane_text(xplane_lines *x, const char *name, const char *value) {
  char *fields, *p = begin_stat(x, name, &fields);
  if (p)
    end_stat(x, fields, pb_text(p, STAT_TEXT, value, strnlen(value, TEXT_MOST), TEXT_MOST));
}

void xplane_end(xplane_lines *x) {
  text_buffer *to = &x->lines[x->line].events;
  char *p = x->event.failed ? NULL : text_buffer_room(to, x->event.size + 16);
  if (!p)
    return;
  p = pb_bytes(p, LINE_EVENT, x->event.bytes, x->event.size);
  to->size = (size_t)(p - to->bytes);
}

/* ---- the plane ---------------------------------------------------------------------------------
 */

static void put_bytes(text_buffer *to, uint32_t field, const char *bytes, size_t size) {
  char *p = text_buffer_room(to, size + 16);
  if (p)
    to->size = (size_t)(pb_bytes(p, field, bytes, size) - to->bytes);
}

static void put_line(text_buffer *plane, const xplane_line *line, size_t index, int64_t begin_ns) {
  char head[ROOM], *p = head;
  p = pb_uint(p, LINE_ID, index + 1);
  p = pb_text(p, LINE_NAME, line->name, strnlen(line->name, TEXT_MOST), TEXT_MOST);
  p = pb_int(p, LINE_NS, begin_ns);
  p = pb_uint(p, LINE_DISPLAY_ID, index + 1); /* the order in which they are shown */
  const size_t head_bytes = (size_t)(p - head), size = head_bytes + line->events.size;
  char *to = text_buffer_room(plane, size + 16);
  if (!to)
    return;
  to = pb_varint(pb_varint(to, PLANE_LINE << 3 | 2), size);
  memcpy(to, head, head_bytes);
  if (line->events.size)
    memcpy(to + head_bytes, line->events.bytes, line->events.size);
  plane->size = (size_t)(to + size - plane->bytes);
}

static void put_names(text_buffer *plane, uint32_t field, const text_table *names) {
  for (size_t i = 0; i < names->count; i++) {
    char entry[ROOM], *p = entry, *value;
    p = pb_uint(p, ENTRY_KEY, i + 1);
    value = p = pb_begin(p, ENTRY_VALUE);
    p = pb_uint(p, METADATA_ID, i + 1);
    p = pb_text(p, METADATA_NAME, names->texts[i], strnlen(names->texts[i], TEXT_MOST), TEXT_MOST);
    p = pb_end(value, p);
    put_bytes(plane, field, entry, (size_t)(p - entry));
  }
}

ink_status xplane_write(xplane_lines *x, ink_file *file, int64_t id, const char *name) {
  text_buffer plane = {0};
  char head[ROOM], *p = head;
  bool failed = x->event.failed;
  p = pb_int(p, PLANE_ID, id);
  p = pb_text(p, PLANE_NAME, name, strnlen(name, TEXT_MOST), TEXT_MOST);
  char *to = text_buffer_room(&plane, ROOM);
  if (to) {
    memcpy(to, head, (size_t)(p - head));
    plane.size = (size_t)(p - head);
  }
  for (size_t i = 0; i < x->count; i++) {
    put_line(&plane, &x->lines[i], i, x->begin_ns);
    failed |= x->lines[i].events.failed;
  }
  put_names(&plane, PLANE_EVENT_NAME, &x->events);
  put_names(&plane, PLANE_STAT_NAME, &x->stats);
  failed |= plane.failed;
  if (!failed) {
    p = pb_varint(pb_varint(head, PLANES << 3 | 2), plane.size);
    ink_file_write(file, head, (size_t)(p - head));
    ink_file_write(file, plane.bytes, plane.size);
  }
  free(plane.bytes);
  return failed ? INK_ERROR_MEMORY : INK_OK;
}
