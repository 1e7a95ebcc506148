/* SPDX-License-Identifier: MIT */
/* Clock snapshots of a Perfetto trace, as points at which a clock meets the trace's own. */
#include "packet_clocks.h"

#include "merge/try.h"
#include "output/track_events.h"

#include <stdlib.h>

enum { SNAPSHOT_CLOCKS = 1, SNAPSHOT_PRIMARY = 2, CLOCK_ID = 1, CLOCK_TIME = 2, CLOCK_INCREMENTAL = 3, CLOCK_UNIT = 4 };
enum { READINGS_MAX = 32 };

typedef struct reading {
  uint64_t key;
  int64_t ns;
  uint64_t unit_ns;
  bool incremental;
} reading;

void packet_clocks_free(packet_clocks *c) {
  for (size_t i = 0; i < c->count; i++)
    free(c->list[i].points);
  free(c->list);
  id_map_free(&c->index);
  *c = (packet_clocks){0};
}

/* Clocks from 64 to 127 are each sequence's own. */
static uint64_t key_of(uint32_t sequence, uint64_t clock) {
  return clock >= 64 && clock < 128 ? (uint64_t)sequence << 32 | clock : clock & UINT32_MAX;
}

static packet_clock *find(const packet_clocks *c, uint64_t key) {
  const uint32_t i = id_map_get(&c->index, key);
  return i == INK_ID_NONE ? NULL : &c->list[i];
}

static ink_status find_or_add(packet_clocks *c, uint64_t key, packet_clock **out) {
  *out = find(c, key);
  if (*out)
    return INK_OK;
  void *list = c->list;
  const ink_status status = ink_grow(&list, c->count, &c->room, sizeof *c->list);
  c->list = list;
  if (status != INK_OK || !id_map_put(&c->index, key, (uint32_t)c->count))
    return INK_ERROR_MEMORY;
  c->list[c->count] = (packet_clock){.unit_ns = 1};
  *out = &c->list[c->count++];
  return INK_OK;
}

static bool to_trace(const packet_clocks *c, uint64_t key, int64_t ns, int64_t *out) {
  if (key == (c->trace_clock ? c->trace_clock : CLOCK_BOOTTIME_ID)) {
    *out = ns;
    return true;
  }
  const packet_clock *clock = find(c, key);
  if (!clock || !clock->count)
    return false;
  size_t low = 0, high = clock->count;
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    *(clock->points[middle].ours <= ns ? &low : &high) = middle;
  }
  const clock_point *p = &clock->points[low];
  return !__builtin_add_overflow(ns - p->ours, p->traces, out) && *out >= 0; /* no time is negative */
}

/* A clock that was set back begins anew. */
static ink_status add_point(packet_clock *clock, int64_t ours, int64_t traces) {
  if (clock->count && clock->points[clock->count - 1].ours >= ours)
    clock->count = 0;
  void *points = clock->points;
  const ink_status status = ink_grow(&points, clock->count, &clock->room, sizeof *clock->points);
  clock->points = points;
  if (status == INK_OK)
    clock->points[clock->count++] = (clock_point){ours, traces};
  return status;
}

static bool read_clock(pb_message m, uint32_t sequence, reading *out) {
  uint64_t clock = 0, time = 0, ns;
  pb_field f;
  *out = (reading){.unit_ns = 1};
  while (pb_scan(&m, &f)) {
    if (f.number == CLOCK_ID)
      clock = f.value;
    else if (f.number == CLOCK_TIME)
      time = f.value;
    else if (f.number == CLOCK_INCREMENTAL)
      out->incremental = f.value;
    else if (f.number == CLOCK_UNIT && f.value)
      out->unit_ns = f.value;
  }
  if (__builtin_mul_overflow(time, out->unit_ns, &ns) || ns > INT64_MAX / 2 || !clock)
    return false;
  out->key = key_of(sequence, clock);
  out->ns = (int64_t)ns;
  return true;
}

ink_status packet_clocks_snapshot(packet_clocks *c, uint32_t sequence, pb_message m) {
  reading readings[READINGS_MAX];
  size_t n = 0;
  unsigned primary = CLOCK_BOOTTIME_ID;
  pb_field f;
  while (pb_scan(&m, &f)) {
    if (f.number == SNAPSHOT_PRIMARY && f.value && f.value < 64)
      primary = (unsigned)f.value;
    else if (f.number == SNAPSHOT_CLOCKS && n < READINGS_MAX)
      n += read_clock(pb_inside(&f), sequence, &readings[n]);
  }
  if (!c->trace_clock)
    c->trace_clock = primary;
  bool known = false;
  int64_t now = 0; /* of the trace's clock */
  for (size_t i = 0; i < n && !known; i++)
    if (readings[i].key == c->trace_clock)
      known = to_trace(c, readings[i].key, readings[i].ns, &now);
  for (size_t i = 0; i < n && !known; i++)
    known = to_trace(c, readings[i].key, readings[i].ns, &now);
  for (size_t i = 0; i < n; i++) {
    packet_clock *clock;
    TRY(find_or_add(c, readings[i].key, &clock));
    clock->unit_ns = readings[i].unit_ns;
    clock->incremental = readings[i].incremental;
    clock->last_ns = (uint64_t)readings[i].ns;
    if (known)
      TRY(add_point(clock, readings[i].ns, now));
    if (known && readings[i].key == CLOCK_REALTIME_ID && !c->unix_known) {
      c->unix_known = true;
      c->unix_ns = readings[i].ns - now;
    }
  }
  return INK_OK;
}

bool packet_clocks_ns(packet_clocks *c, uint32_t sequence, unsigned id, uint64_t time, int64_t *out) {
  const uint64_t key = key_of(sequence, id ? id : c->trace_clock ? c->trace_clock : CLOCK_BOOTTIME_ID);
  packet_clock *clock = find(c, key);
  if (clock && __builtin_mul_overflow(time, clock->unit_ns, &time))
    return false;
  if (clock && clock->incremental) /* negative steps wrap, as in the trace processor */
    time = clock->last_ns += time;
  return time <= INT64_MAX / 2 && to_trace(c, key, (int64_t)time, out);
}
