/* SPDX-License-Identifier: MIT */
/* One track of a capture as Perfetto packets: its sections' slices, instants, counters for values
 * and lanes for asynchronous ranges. Who calls says where the track belongs.
 *
 * A track's events are kept until it ends, because the decoder gives a slice when it ends and a
 * trace wants it where it begins. */
#include "perfetto_tracks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The last place is for sections that no table names. */
static size_t name_slot(const perfetto_tracks *w, ink_section_index section) {
  return section < w->selection->section_count ? section : w->selection->section_count;
}

static void use_name(perfetto_tracks *w, ink_section_index section) {
  size_t slot = name_slot(w, section);
  if (w->name_iids[slot])
    return;
  w->named[w->name_count] = (ink_section_index)slot;
  w->names[w->name_count++] = ink_selection_section(w->selection, section);
  w->name_iids[slot] = (uint32_t)w->name_count;
}

/* With the names that the track's events are about to use. */
static void open_track(perfetto_tracks *w) {
  const ink_track_events *e = &w->events;
  uint32_t categories = 0;
  while (w->name_count)
    w->name_iids[w->named[--w->name_count]] = 0;
  for (size_t i = 0; i < e->slice_count; i++)
    use_name(w, e->slices[i].section);
  for (size_t i = 0; i < e->point_count; i++)
    use_name(w, e->points[i].section);
  for (size_t i = 0; i < e->async_count; i++)
    use_name(w, e->asyncs[i].section);
  if (e->point_count)
    categories |= 1u << CATEGORY_INSTANT | 1u << CATEGORY_SUM;
  if (e->async_count)
    categories |= 1u << CATEGORY_ASYNC;
  categories |= 1u << CATEGORY_BODY;
  perfetto_open_track(w->out, w->track_uuid, w->names, w->name_count, categories);
}

static char *put_name(const perfetto_tracks *w, char *p, ink_section_index section) {
  return pb_uint(p, EVENT_NAME_IID, w->name_iids[name_slot(w, section)]);
}

static char *put_row(char *p, int64_t row) {
  if (row == INK_ROW_NONE)
    return p;
  if (row == INK_ROW_UNKNOWN)
    return pb_uint(p, ARG_ITERATION_UNKNOWN, 1);
  return pb_int(p, ARG_ITERATION, row);
}

/* Where a track ran. */
static char *put_place(const perfetto_tracks *w, char *p) {
  const track_body *body = &w->body;
  p = pb_uint(p, ARG_SM, body->sm);
  p = pb_uint(p, ARG_BLOCK, body->block);
  p = pb_uint(p, ARG_WARP, body->warp);
  return body->bound_ns == INT64_MAX ? p : pb_int(p, ARG_BOUND_NS, body->bound_ns);
}

static void begin_slice(perfetto_tracks *w, const ink_slice *slice) {
  char *p = perfetto_event(w->out, slice->begin_ns, TYPE_BEGIN, 0);
  p = put_name(w, p, slice->section);
  p = put_row(p, slice->row);
  p = pb_uint(p, ARG_CYCLES, slice->end_cycles - slice->begin_cycles);
  if (w->selection->without_marking && !slice->cut) {
    const int64_t whole_ns = ink_ns_between(slice->begin_ns, slice->end_ns);
    p = pb_uint(p, ARG_MARKING_CYCLES, slice->marking_cycles);
    p = pb_int(p, ARG_NET_NS, ink_ns_between(slice->marking_ns, whole_ns));
  }
  if (slice->cut == INK_CUT_OPEN)
    p = pb_uint(p, ARG_OPEN, 1);
  else if (slice->cut)
    p = pb_uint(p, ARG_CUT, slice->cut);
  if (slice->called)
    p = pb_uint(p, ARG_CALLED, 1);
  if (slice->escape == INK_ESCAPE_VALUE_I64)
    p = perfetto_named_int(p, "value", slice->value.i64);
  else if (slice->escape == INK_ESCAPE_VALUE_U64)
    p = perfetto_named_uint(p, "value", slice->value.u64);
  else if (slice->escape)
    p = perfetto_named_double(p, "value", slice->value.f64);
  perfetto_event_end(w->out, w->places ? put_place(w, p) : p);
}

static void begin_body(perfetto_tracks *w) {
  const track_body *body = &w->body;
  char *p = perfetto_event(w->out, body->begin_ns, TYPE_BEGIN, 0);
  p = pb_uint(p, EVENT_CATEGORY, CATEGORY_BODY);
  p = perfetto_text(p, EVENT_NAME, body->name);
  if (body->flow)
    p = pb_fixed64(p, EVENT_FLOW_ENDS, body->flow);
  p = perfetto_named_uint(p, "launch", body->launch);
  p = perfetto_named_text(p, "track", body->label);
  p = perfetto_named_uint(p, "marks_dropped", body->marks_dropped);
  perfetto_event_end(w->out, put_place(w, p));
}

static void end_slice(perfetto_tracks *w, int64_t ns, uint64_t track) {
  perfetto_event_end(w->out, perfetto_event(w->out, ns, TYPE_END, track));
}

static void put_sum(perfetto_tracks *w, const ink_point *point) {
  char *p = perfetto_event(w->out, point->ns, TYPE_INSTANT, 0);
  p = pb_uint(p, EVENT_CATEGORY, CATEGORY_SUM);
  p = put_name(w, p, point->section);
  p = put_row(p, point->row);
  p = perfetto_named_uint(p, "count", point->value.sum.count);
  p = perfetto_named_uint(p, "total_cycles", point->value.sum.total_cycles);
  p = perfetto_named_uint(p, "min_cycles", point->value.sum.min_cycles);
  p = perfetto_named_uint(p, "max_cycles", point->value.sum.max_cycles);
  perfetto_event_end(w->out, p);
}

static void put_instant(perfetto_tracks *w, const ink_point *point) {
  char *p = perfetto_event(w->out, point->ns, TYPE_INSTANT, 0);
  p = pb_uint(p, EVENT_CATEGORY, CATEGORY_INSTANT);
  p = put_name(w, p, point->section);
  p = put_row(p, point->row);
  perfetto_event_end(w->out, p);
}

static void close_top(perfetto_tracks *w, int64_t not_after_ns) {
  int64_t end = w->stack[--w->stack_count].end_ns;
  end_slice(w, end < not_after_ns ? end : not_after_ns, 0);
}

/* Points go between the slices; at a shared ns they come after a begin and after an end. */
static void put_points_before(perfetto_tracks *w, size_t *next, int64_t ns) {
  for (; *next < w->events.point_count && w->events.points[*next].ns < ns; ++*next) {
    const ink_point *point = &w->events.points[*next];
    if (point->kind != INK_KIND_INSTANT && point->escape != INK_ESCAPE_SUM)
      continue;
    while (w->stack_count && w->stack[w->stack_count - 1].end_ns <= point->ns)
      close_top(w, point->ns);
    if (point->escape == INK_ESCAPE_SUM)
      put_sum(w, point);
    else
      put_instant(w, point);
  }
}

/* Whether the innermost open slice ends before this one; at the same ns a slice of no length may
 * still lie in it. */
static bool is_over(const open_slice *top, const ink_slice *slice) {
  return top->depth >= slice->depth || top->end_ns < slice->begin_ns ||
         (top->end_ns == slice->begin_ns && slice->end_ns > top->end_ns);
}

static ink_status put_slices(perfetto_tracks *w) {
  size_t next_point = 0;
  w->stack_count = 0;
  begin_body(w);
  for (size_t i = 0; i < w->events.slice_count; i++) {
    const ink_slice *slice = &w->events.slices[i];
    put_points_before(w, &next_point, slice->begin_ns);
    while (w->stack_count && is_over(&w->stack[w->stack_count - 1], slice))
      close_top(w, slice->begin_ns);
    int64_t end = slice->end_ns;
    if (w->stack_count && w->stack[w->stack_count - 1].end_ns < end)
      end = w->stack[w->stack_count - 1].end_ns;
    begin_slice(w, slice);
    void *stack = w->stack;
    ink_status status = ink_grow(&stack, w->stack_count, &w->stack_room, sizeof *w->stack);
    w->stack = stack;
    if (status != INK_OK)
      return status;
    w->stack[w->stack_count++] = (open_slice){slice->depth, end};
  }
  put_points_before(w, &next_point, INT64_MAX);
  while (w->stack_count)
    close_top(w, INT64_MAX);
  end_slice(w, w->body.end_ns, 0);
  return INK_OK;
}

/* ---- values and asynchronous ranges: tracks of their own ------------------------------------- */

/* A track below the current lane, described when it is first asked for. */
static ink_status below_lane(perfetto_tracks *w, id_map *map, uint32_t which, const char *name, bool counter,
                             uint64_t *uuid) {
  const uint64_t key = (uint64_t)(w->lane - w->lanes.lanes) << 32 | which;
  const uint32_t at = id_map_get(map, key);
  if (at != INK_ID_NONE) {
    *uuid = w->below[at];
    return INK_OK;
  }
  void *below = w->below;
  const ink_status status = ink_grow(&below, w->below_count, &w->below_room, sizeof *w->below);
  w->below = below;
  if (status != INK_OK || !id_map_put(map, key, (uint32_t)w->below_count))
    return INK_ERROR_MEMORY;
  *uuid = w->below[w->below_count++] = perfetto_new_uuid(w->out);
  perfetto_describe(w->out, &(perfetto_track){.uuid = *uuid,
                                              .parent = w->track_uuid,
                                              .name = name,
                                              .rank = (int32_t)++w->lane->below,
                                              .pid = -1,
                                              .counter = counter});
  return INK_OK;
}

static ink_status put_values(perfetto_tracks *w) {
  for (size_t i = 0; i < w->events.point_count; i++) {
    const ink_point *point = &w->events.points[i];
    if (point->kind != INK_KIND_ESCAPE || point->escape < INK_ESCAPE_VALUE_I64 ||
        point->escape > INK_ESCAPE_VALUE_F64)
      continue;
    uint64_t uuid;
    ink_status status = below_lane(w, &w->values, point->section,
                                   ink_selection_section(w->selection, point->section), true, &uuid);
    if (status != INK_OK)
      return status;
    char *p = perfetto_event(w->out, point->ns, TYPE_COUNTER, uuid);
    if (point->escape == INK_ESCAPE_VALUE_I64)
      p = pb_int(p, EVENT_COUNTER, point->value.i64);
    else
      p = pb_double(p, EVENT_COUNTER_DOUBLE,
                    point->escape == INK_ESCAPE_VALUE_F64 ? point->value.f64
                                                          : (double)point->value.u64);
    perfetto_event_end(w->out, p);
  }
  return INK_OK;
}

static ink_status put_asyncs(perfetto_tracks *w) {
  ink_status status = ink_track_events_lanes(&w->events);
  for (size_t i = 0; i < w->events.async_count && status == INK_OK; i++) {
    const ink_async *a = &w->events.asyncs[i];
    char place[160], name[200];
    uint64_t lane;
    track_lane_name(w->lane, place, sizeof place);
    snprintf(name, sizeof name, "%s async %zu", place, w->events.lanes[i]);
    status = below_lane(w, &w->asyncs, (uint32_t)w->events.lanes[i], name, false, &lane);
    if (status != INK_OK)
      return status;
    char *p = perfetto_event(w->out, a->begin_ns, TYPE_BEGIN, lane);
    p = pb_uint(p, EVENT_CATEGORY, CATEGORY_ASYNC);
    p = put_name(w, p, a->section);
    p = put_row(p, a->row);
    p = pb_uint(p, ARG_KEY, a->key);
    p = pb_uint(p, ARG_CYCLES, a->end_cycles - a->begin_cycles);
    if (a->cut == INK_CUT_OPEN)
      p = pb_uint(p, ARG_OPEN, 1);
    else if (a->cut)
      p = pb_uint(p, ARG_CUT, a->cut);
    perfetto_event_end(w->out, p);
    end_slice(w, a->end_ns, lane);
  }
  return status;
}

/* ---- the whole ---------------------------------------------------------------------------------
 */

ink_status perfetto_tracks_init(perfetto_tracks *w, perfetto *out, const ink_selection *selection) {
  *w = (perfetto_tracks){.out = out, .selection = selection};
  size_t names = selection->section_count + 1;
  w->name_iids = calloc(names, sizeof *w->name_iids);
  w->named = calloc(names, sizeof *w->named);
  w->names = calloc(names, sizeof *w->names);
  return w->name_iids && w->named && w->names ? INK_OK : INK_ERROR_MEMORY;
}

void perfetto_tracks_free(perfetto_tracks *w) {
  free(w->name_iids);
  free(w->named);
  free(w->names);
  ink_track_events_free(&w->events);
  free(w->stack);
  free(w->below);
  id_map_free(&w->values);
  id_map_free(&w->asyncs);
  track_lanes_free(&w->lanes);
  track_lanes_free(&w->launches);
  ink_crossings_free(&w->crossings);
}

/* ---- ranges across threads: lanes below launches, and arrows between its tracks ------------ */

static void put_arrow(perfetto_tracks *w, const ink_crossing *c, uint64_t from, uint64_t to, uint64_t flow) {
  for (int end = 0; end < 2; end++) {
    char *p = perfetto_event(w->out, end ? c->end_ns : c->begin_ns, TYPE_INSTANT, end ? to : from);
    p = pb_string(p, EVENT_CATEGORY_NAME, end ? "shared_end" : "shared_begin");
    p = perfetto_text(p, EVENT_NAME, ink_selection_section(w->selection, c->section));
    p = pb_fixed64(p, end ? EVENT_FLOW_ENDS : EVENT_FLOWS, flow);
    p = put_row(p, end ? c->to_row : c->from_row);
    perfetto_event_end(w->out, pb_uint(p, ARG_KEY, c->key));
  }
}

static void put_crossing(perfetto_tracks *w, const ink_crossing *c, uint64_t lane) {
  char *p = perfetto_event(w->out, c->begin_ns, TYPE_BEGIN, lane);
  p = pb_string(p, EVENT_CATEGORY_NAME, "shared");
  p = perfetto_text(p, EVENT_NAME, ink_selection_section(w->selection, c->section));
  p = put_row(p, c->from_row);
  p = pb_uint(p, ARG_KEY, c->key);
  p = perfetto_named_text(p, "scope", ink_scope_name(c->scope));
  if (c->exact)
    p = pb_uint(p, ARG_CYCLES, c->cycles);
  else if (c->bound_ns < 1e15)
    p = pb_int(p, ARG_BOUND_NS, (int64_t)ceil(c->bound_ns));
  if (c->backwards)
    p = perfetto_named_int(p, "backwards_ns", ink_ns_between(c->end_ns, c->begin_ns));
  perfetto_event_end(w->out, p);
  end_slice(w, c->end_ns > c->begin_ns ? c->end_ns : c->begin_ns, lane);
}

static uint64_t across_lane(perfetto_tracks *w, crossing_lane *lane, uint64_t launch) {
  char name[40];
  if (lane->begun)
    return lane->id;
  snprintf(name, sizeof name, "across threads %u", lane->number);
  lane->begun = true;
  lane->id = perfetto_new_uuid(w->out);
  perfetto_describe(w->out,
                    &(perfetto_track){.uuid = lane->id, .parent = launch, .name = name, .rank = -1, .pid = -1});
  return lane->id;
}

ink_status perfetto_tracks_launch_end(perfetto_tracks *w, uint32_t launch) {
  ink_crossings *c = &w->crossings;
  const lane_item *item = track_lanes_find(&w->launches, launch);
  const ink_status status = ink_crossings_lanes(c, item ? item->group : 0);
  if (status != INK_OK)
    return status;
  const uint64_t below = perfetto_tracks_launch(w, launch);
  const uint64_t flows = c->count ? perfetto_new_uuid(w->out) : 0;
  for (size_t i = 1; i < c->count; i++)
    perfetto_new_uuid(w->out);
  for (size_t i = 0; i < c->count; i++) {
    uint64_t from, to;
    put_crossing(w, &c->items[i], across_lane(w, &c->table[c->lanes[i]], below));
    if (ink_crossings_find(c, c->items[i].from_track, &from) && ink_crossings_find(c, c->items[i].to_track, &to))
      put_arrow(w, &c->items[i], from, to, flows + i);
  }
  ink_crossings_clear(c);
  return INK_OK;
}

void perfetto_tracks_describe(perfetto_tracks *w, const uint64_t *parents, const char *prefix, int32_t rank) {
  char name[200], full[PERFETTO_NAME_BYTES];
  uint64_t head = 0;
  for (size_t i = 0, at = 0; i < w->launches.lane_count; i++) {
    track_lane *lane = &w->launches.lanes[i];
    const bool first = !i || lane[-1].group != lane->group;
    track_lane_name(lane, name, sizeof name);
    snprintf(full, sizeof full, "%s%s", prefix, name);
    lane->id = perfetto_new_uuid(w->out);
    perfetto_describe(w->out, &(perfetto_track){.uuid = lane->id,
                                                .parent = first ? parents[lane->group] : head,
                                                .name = full,
                                                .rank = first ? rank : (int32_t)(lane->slot & INT32_MAX) - INT32_MAX,
                                                .pid = -1});
    head = first ? lane->id : head;
    if (i + 1 < w->launches.lane_count && lane[1].group == lane->group)
      continue;
    for (; at < w->lanes.lane_count && w->lanes.lanes[at].group <= lane->group; at++) {
      track_lane_name(&w->lanes.lanes[at], name, sizeof name);
      w->lanes.lanes[at].id = perfetto_new_uuid(w->out);
      perfetto_describe(w->out, &(perfetto_track){.uuid = w->lanes.lanes[at].id,
                                                  .parent = head,
                                                  .name = name,
                                                  .rank = (int32_t)(at & INT32_MAX),
                                                  .pid = -1});
    }
  }
}

uint64_t perfetto_tracks_launch(const perfetto_tracks *w, uint32_t launch) {
  const lane_item *item = track_lanes_find(&w->launches, launch);
  return item ? w->launches.lanes[item->lane].id : 0;
}

ink_status perfetto_tracks_begin(perfetto_tracks *w, const ink_decoded_track *track) {
  const lane_item *item = track_lanes_find(&w->lanes, track->index);
  ink_track_events_clear(&w->events);
  if (!item)
    return INK_ERROR_ARGUMENT;
  w->lane = &w->lanes.lanes[item->lane];
  w->track_uuid = w->lane->id;
  w->body = track_body_of(w->selection, track, item);
  return ink_crossings_track(&w->crossings, track->index, w->track_uuid);
}

ink_status perfetto_tracks_end(perfetto_tracks *w) {
  ink_track_events_within(&w->events, w->body.begin_ns, w->body.end_ns);
  open_track(w);
  ink_status status = put_slices(w);
  if (status == INK_OK)
    status = put_values(w);
  return status == INK_OK ? put_asyncs(w) : status;
}
