/* SPDX-License-Identifier: MIT */
/* Events of Chrome's JSON. In a file of our own slices are complete events (ph X); in another
 * tool's file they are begin and end events, because readers keep time in doubles: absolute
 * microseconds step by 250 ns there, and a begin that is rounded and a length that is not no longer
 * nest. */
#include "chrome_events.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

void chrome_comma(chrome_events *w) {
  ink_file_text(w->file, w->some ? ",\n" : "\n");
  w->some = true;
}

void chrome_metadata(chrome_events *w, const char *name, uint32_t tid, const char *key) {
  chrome_comma(w);
  ink_file_print(w->file,
                 "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%s,\"tid\":%u,\"args\":{\"%s\":", name,
                 w->pid, tid, key);
}

static uint32_t new_lane(chrome_events *w, const char *name, uint32_t sort) {
  uint32_t tid = ++w->next_tid;
  chrome_metadata(w, "thread_name", tid, "name");
  ink_file_json_string(w->file, name);
  ink_file_text(w->file, "}}");
  chrome_metadata(w, "thread_sort_index", tid, "sort_index");
  ink_file_print(w->file, "%u}}", sort);
  return tid;
}

uint32_t chrome_new_lane(chrome_events *w, const char *name) {
  return new_lane(w, name, ++w->next_sort);
}

/* ---- lanes: named when they are first used, sorted as they are listed ------------------------- */

enum { SORTS_A_LANE = 16 }; /* what is below a lane follows it */

static uint32_t sort_of(const chrome_events *w, const track_lanes *lanes, const track_lane *lane, uint32_t below) {
  const size_t before = lanes == &w->lanes ? w->launches.lane_count : 0;
  const uint32_t after = below < SORTS_A_LANE - 1 ? below : SORTS_A_LANE - 1;
  return w->lanes_sort + (uint32_t)(before + (size_t)(lane - lanes->lanes)) * SORTS_A_LANE + after;
}

static void lane_name(const chrome_events *w, const track_lane *lane, char *text, size_t size) {
  const char *prefix = w->prefixes ? w->prefixes[lane->group] : "";
  const int n = snprintf(text, size, "%s", prefix);
  if (n >= 0 && (size_t)n < size)
    track_lane_name(lane, text + n, size - (size_t)n);
}

static uint32_t lane_tid(chrome_events *w, const track_lanes *lanes, track_lane *lane) {
  char name[300];
  if (!lane->begun) {
    lane_name(w, lane, name, sizeof name);
    lane->id = new_lane(w, name, sort_of(w, lanes, lane, 0));
    lane->begun = true;
  }
  return (uint32_t)lane->id;
}

uint32_t chrome_launch_lane(chrome_events *w, uint32_t launch) {
  const lane_item *item = track_lanes_find(&w->launches, launch);
  return item ? lane_tid(w, &w->launches, &w->launches.lanes[item->lane]) : 0;
}

/* The number-th lane of asynchronous ranges below that of the current track. */
static ink_status async_tid(chrome_events *w, size_t number, uint32_t *tid) {
  const uint64_t key = (uint64_t)(w->lane - w->lanes.lanes) << 32 | number;
  char name[340];
  *tid = id_map_get(&w->asyncs, key);
  if (*tid != INK_ID_NONE)
    return INK_OK;
  snprintf(name, sizeof name, "%s async %zu", w->label, number);
  *tid = new_lane(w, name, sort_of(w, &w->lanes, w->lane, (uint32_t)number + 1));
  return id_map_put(&w->asyncs, key, *tid) ? INK_OK : INK_ERROR_MEMORY;
}

static void put_time(chrome_events *w, const char *key, int64_t ns) {
  char *p = ink_file_room(w->file, 64);
  p = text_bytes(p, key, strlen(key));
  ink_file_took(w->file, w->merged ? text_us_exact(p, ns) : text_us(p, ns));
}

void chrome_begin_event(chrome_events *w, const char *phase, const char *category, const char *name,
                        uint32_t tid, int64_t begin_ns, int64_t end_ns) {
  chrome_comma(w);
  ink_file_print(w->file, "{\"ph\":\"%s\",\"cat\":\"%s\",\"name\":", phase, category);
  ink_file_json_string(w->file, name);
  ink_file_text(w->file, ",\"pid\":");
  ink_file_text(w->file, w->pid);
  ink_file_text(w->file, ",\"tid\":");
  char *p = ink_file_room(w->file, 64);
  ink_file_took(w->file, text_u64(p, tid));
  put_time(w, ",\"ts\":", ink_ns_between(w->base_ns, begin_ns));
  if (*phase == 'X')
    put_time(w, ",\"dur\":", end_ns > begin_ns ? ink_ns_between(begin_ns, end_ns) : 0);
  else if (*phase == 'i')
    ink_file_text(w->file, ",\"s\":\"t\"");
  ink_file_text(w->file, ",\"args\":{");
}

void chrome_end_event(chrome_events *w) {
  ink_file_text(w->file, "}}");
}

void chrome_argument(chrome_events *w, const char *name, uint64_t value, bool first) {
  char *p = ink_file_room(w->file, 128);
  if (!first)
    *p++ = ',';
  *p++ = '"';
  p = text_bytes(p, name, strlen(name));
  *p++ = '"';
  *p++ = ':';
  ink_file_took(w->file, text_u64(p, value));
}

static void row_argument(chrome_events *w, int64_t row) {
  if (row == INK_ROW_NONE)
    return;
  char *p = ink_file_room(w->file, 128);
  if (row == INK_ROW_UNKNOWN) {
    p = text_bytes(p, ",\"iteration\":\"unknown\"", 22);
  } else {
    p = text_bytes(p, ",\"iteration\":", 13);
    p = text_i64(p, row);
  }
  ink_file_took(w->file, p);
}

/* Where a track ran: see put_place of perfetto_tracks.c. */
static void put_place(chrome_events *w) {
  const track_body *body = &w->body;
  chrome_argument(w, "sm", body->sm, false);
  chrome_argument(w, "block", body->block, false);
  chrome_argument(w, "warp", body->warp, false);
  if (body->bound_ns != INT64_MAX)
    chrome_argument(w, "bound_ns", (uint64_t)body->bound_ns, false);
}

void chrome_end_slice(chrome_events *w, uint32_t tid, int64_t ns) {
  chrome_comma(w);
  ink_file_text(w->file, "{\"ph\":\"E\",\"pid\":");
  ink_file_text(w->file, w->pid);
  ink_file_text(w->file, ",\"tid\":");
  char *p = ink_file_room(w->file, 64);
  ink_file_took(w->file, text_u64(p, tid));
  put_time(w, ",\"ts\":", ink_ns_between(w->base_ns, ns));
  ink_file_text(w->file, "}");
}

void chrome_flow(chrome_events *w, const char *phase, const char *tid, int64_t ns, uint64_t id) {
  chrome_comma(w);
  ink_file_print(
      w->file,
      "{\"ph\":\"%s\",\"cat\":\"inkmark\",\"name\":\"inkmark\",\"id\":%" PRIu64 ",\"pid\":%s,\"tid\":%s%s",
      phase, id, w->pid, tid, *phase == 'f' ? ",\"bp\":\"e\"" : "");
  put_time(w, ",\"ts\":", ink_ns_between(w->base_ns, ns));
  ink_file_text(w->file, "}");
}

static void put_slice(chrome_events *w, const ink_slice *slice) {
  chrome_begin_event(w, w->merged ? "B" : "X", "section",
                     ink_selection_section(w->selection, slice->section), w->tid, slice->begin_ns,
                     slice->end_ns);
  chrome_argument(w, "cycles", slice->end_cycles - slice->begin_cycles, true);
  if (w->selection->without_marking && !slice->cut) {
    const int64_t whole_ns = ink_ns_between(slice->begin_ns, slice->end_ns);
    chrome_argument(w, "marking_cycles", slice->marking_cycles, false);
    chrome_argument(w, "net_ns", (uint64_t)ink_ns_between(slice->marking_ns, whole_ns), false);
  }
  row_argument(w, slice->row);
  if (slice->cut == INK_CUT_OPEN)
    chrome_argument(w, "open", 1, false);
  else if (slice->cut)
    chrome_argument(w, "cut", slice->cut, false);
  if (slice->called)
    chrome_argument(w, "called", 1, false);
  if (slice->escape) {
    char *p = text_bytes(ink_file_room(w->file, 64), ",\"value\":", 9);
    ink_file_took(w->file, slice->escape == INK_ESCAPE_VALUE_I64   ? text_i64(p, slice->value.i64)
                           : slice->escape == INK_ESCAPE_VALUE_U64 ? text_u64(p, slice->value.u64)
                                                                   : text_double(p, slice->value.f64));
  }
  if (w->merged)
    put_place(w);
  chrome_end_event(w);
}

static void put_point(chrome_events *w, const ink_point *point) {
  const char *name = ink_selection_section(w->selection, point->section);
  if (point->kind == INK_KIND_ESCAPE && point->escape != INK_ESCAPE_SUM) {
    char counter[440]; /* counters are told apart by their name within a process */
    snprintf(counter, sizeof counter, "%.100s %s", name, w->label);
    if (w->merged) /* the process is another tool's: no thousand counters in it */
      chrome_begin_event(w, "i", "value", name, w->tid, point->ns, 0);
    else
      chrome_begin_event(w, "C", "value", counter, w->tid, point->ns, 0);
    char *p = text_bytes(ink_file_room(w->file, 64), "\"value\":", 8);
    if (point->escape == INK_ESCAPE_VALUE_I64)
      p = text_i64(p, point->value.i64);
    else if (point->escape == INK_ESCAPE_VALUE_U64)
      p = text_u64(p, point->value.u64);
    else
      p = text_double(p, point->value.f64);
    ink_file_took(w->file, p);
  } else if (point->escape == INK_ESCAPE_SUM) {
    chrome_begin_event(w, "i", "sum", name, w->tid, point->ns, 0);
    chrome_argument(w, "count", point->value.sum.count, true);
    chrome_argument(w, "total_cycles", point->value.sum.total_cycles, false);
    chrome_argument(w, "min_cycles", point->value.sum.min_cycles, false);
    chrome_argument(w, "max_cycles", point->value.sum.max_cycles, false);
    row_argument(w, point->row);
  } else {
    chrome_begin_event(w, "i", "instant", name, w->tid, point->ns, 0);
    chrome_argument(w, "cycles", point->cycles, true);
    row_argument(w, point->row);
  }
  chrome_end_event(w);
}

static ink_status put_asyncs(chrome_events *w) {
  ink_status status = ink_track_events_lanes(&w->events);
  if (status != INK_OK)
    return status;
  for (size_t i = 0; i < w->events.async_count; i++) {
    const ink_async *a = &w->events.asyncs[i];
    uint32_t tid;
    status = async_tid(w, w->events.lanes[i], &tid);
    if (status != INK_OK)
      return status;
    chrome_begin_event(w, w->merged ? "B" : "X", "async",
                       ink_selection_section(w->selection, a->section), tid, a->begin_ns,
                       a->end_ns);
    chrome_argument(w, "cycles", a->end_cycles - a->begin_cycles, true);
    chrome_argument(w, "key", a->key, false);
    row_argument(w, a->row);
    if (a->cut == INK_CUT_OPEN)
      chrome_argument(w, "open", 1, false);
    else if (a->cut)
      chrome_argument(w, "cut", a->cut, false);
    if (w->merged)
      put_place(w);
    chrome_end_event(w);
    if (w->merged)
      chrome_end_slice(w, tid, a->end_ns);
  }
  return INK_OK;
}

/* ---- nested slices as begin and end events --------------------------------------------------- */

static void close_top(chrome_events *w, int64_t not_after_ns) {
  int64_t end = w->stack[--w->stack_count].end_ns;
  chrome_end_slice(w, w->tid, end < not_after_ns ? end : not_after_ns);
}

static ink_status put_nested(chrome_events *w, const ink_slice *slice) {
  while (w->stack_count) {
    const chrome_open *top = &w->stack[w->stack_count - 1];
    if (top->depth < slice->depth && top->end_ns >= slice->begin_ns &&
        (top->end_ns != slice->begin_ns || slice->end_ns <= top->end_ns))
      break;
    close_top(w, slice->begin_ns);
  }
  int64_t end = slice->end_ns;
  if (w->stack_count && w->stack[w->stack_count - 1].end_ns < end)
    end = w->stack[w->stack_count - 1].end_ns;
  put_slice(w, slice);
  void *stack = w->stack;
  ink_status status = ink_grow(&stack, w->stack_count, &w->stack_room, sizeof *w->stack);
  w->stack = stack;
  if (status == INK_OK)
    w->stack[w->stack_count++] = (chrome_open){slice->depth, end};
  return status;
}

static void begin_body(chrome_events *w) {
  const track_body *body = &w->body;
  chrome_begin_event(w, w->merged ? "B" : "X", "track", body->name, w->tid, body->begin_ns, body->end_ns);
  chrome_argument(w, "launch", body->launch, true);
  ink_file_text(w->file, ",\"track\":");
  ink_file_json_string(w->file, body->label);
  chrome_argument(w, "marks_dropped", body->marks_dropped, false);
  put_place(w);
  chrome_end_event(w);
  if (body->flow) {
    char tid[16];
    snprintf(tid, sizeof tid, "%u", w->tid);
    chrome_flow(w, "f", tid, body->begin_ns, body->flow);
  }
}

/* ---- a track -----------------------------------------------------------------------------------
 */

ink_status chrome_track_begin(chrome_events *w, const ink_decoded_track *track) {
  const lane_item *item = track_lanes_find(&w->lanes, track->index);
  ink_track_events_clear(&w->events);
  if (!item)
    return INK_ERROR_ARGUMENT;
  w->lane = &w->lanes.lanes[item->lane];
  w->tid = lane_tid(w, &w->lanes, w->lane);
  lane_name(w, w->lane, w->label, sizeof w->label);
  w->body = track_body_of(w->selection, track, item);
  return ink_crossings_track(&w->crossings, track->index, w->tid);
}

/* An arrow from one track to the other; it needs something on each that it can be fixed to. */
static void put_arrow(chrome_events *w, const ink_crossing *c, uint64_t from, uint64_t to) {
  const char *name = ink_selection_section(w->selection, c->section);
  char tid[24];
  const uint32_t id = 0x40000000u + w->arrows++;
  for (int end = 0; end < 2; end++) {
    chrome_begin_event(w, "i", end ? "shared_end" : "shared_begin", name, (uint32_t)(end ? to : from),
                       end ? c->end_ns : c->begin_ns, 0);
    chrome_argument(w, "key", c->key, true);
    row_argument(w, end ? c->to_row : c->from_row);
    chrome_end_event(w);
  }
  snprintf(tid, sizeof tid, "%llu", (unsigned long long)from);
  chrome_flow(w, "s", tid, c->begin_ns, id);
  snprintf(tid, sizeof tid, "%llu", (unsigned long long)to);
  chrome_flow(w, "f", tid, c->end_ns, id);
}

static void put_crossing(chrome_events *w, const ink_crossing *c, uint32_t tid) {
  const int64_t end = c->end_ns > c->begin_ns ? c->end_ns : c->begin_ns;
  chrome_begin_event(w, w->merged ? "B" : "X", "shared", ink_selection_section(w->selection, c->section), tid,
                     c->begin_ns, end);
  chrome_argument(w, "key", c->key, true);
  ink_file_print(w->file, ",\"scope\":\"%s\"", ink_scope_name(c->scope));
  if (c->exact)
    chrome_argument(w, "cycles", c->cycles, false);
  else if (c->bound_ns < 1e15)
    chrome_argument(w, "bound_ns", (uint64_t)ceil(c->bound_ns), false);
  if (c->backwards)
    chrome_argument(w, "backwards_ns", (uint64_t)ink_ns_between(c->end_ns, c->begin_ns), false);
  row_argument(w, c->from_row);
  chrome_end_event(w);
  if (w->merged)
    chrome_end_slice(w, tid, end);
}

static uint32_t across_tid(chrome_events *w, crossing_lane *lane) {
  char name[300];
  if (!lane->begun) {
    snprintf(name, sizeof name, "%.200sacross threads %u", w->prefixes ? w->prefixes[lane->group] : "", lane->number);
    const uint32_t before = w->lanes_sort - 1; /* of all lanes: they stand above them */
    lane->id = new_lane(w, name, before);
    lane->begun = true;
  }
  return (uint32_t)lane->id;
}

ink_status chrome_launch_end(chrome_events *w, uint32_t launch) {
  ink_crossings *c = &w->crossings;
  const lane_item *item = track_lanes_find(&w->launches, launch);
  const ink_status status = ink_crossings_lanes(c, item ? item->group : 0);
  if (status != INK_OK)
    return status;
  for (size_t i = 0; i < c->count; i++) {
    uint64_t from, to;
    put_crossing(w, &c->items[i], across_tid(w, &c->table[c->lanes[i]]));
    if (ink_crossings_find(c, c->items[i].from_track, &from) && ink_crossings_find(c, c->items[i].to_track, &to))
      put_arrow(w, &c->items[i], from, to);
  }
  ink_crossings_clear(c);
  return INK_OK;
}

ink_status chrome_track_end(chrome_events *w) {
  ink_status status = INK_OK;
  ink_track_events_within(&w->events, w->body.begin_ns, w->body.end_ns);
  begin_body(w);
  w->stack_count = 0;
  for (size_t i = 0; i < w->events.slice_count && status == INK_OK; i++) {
    if (w->merged)
      status = put_nested(w, &w->events.slices[i]);
    else
      put_slice(w, &w->events.slices[i]);
  }
  if (status != INK_OK)
    return status;
  while (w->stack_count)
    close_top(w, INT64_MAX);
  if (w->merged)
    chrome_end_slice(w, w->tid, w->body.end_ns);
  for (size_t i = 0; i < w->events.point_count; i++)
    put_point(w, &w->events.points[i]);
  return put_asyncs(w);
}

void chrome_lanes_end(chrome_events *w) {
  track_lanes_free(&w->lanes);
  track_lanes_free(&w->launches);
  id_map_free(&w->asyncs);
  ink_crossings_free(&w->crossings);
  w->prefixes = NULL;
}

void chrome_events_free(chrome_events *w) {
  ink_track_events_free(&w->events);
  chrome_lanes_end(w);
  free(w->stack);
}
