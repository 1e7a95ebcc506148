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

/* Describes the track, with the names that its events are about to use. */
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
  if (w->body.name)
    categories |= 1u << CATEGORY_BODY;
  const perfetto_track track = {.uuid = w->track_uuid,
                                .parent = w->parent_uuid,
                                .name = w->label,
                                .rank = w->track_rank,
                                .pid = -1};
  perfetto_open_track(w->out, &track, w->names, w->name_count, categories);
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

/* Where a track ran, on its slices: in a merged trace few look at the names of tracks. */
static char *put_place(const perfetto_tracks *w, char *p) {
  const perfetto_body *body = &w->body;
  if (!body->name)
    return p;
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
  perfetto_event_end(w->out, put_place(w, p));
}

static void begin_body(perfetto_tracks *w) {
  const perfetto_body *body = &w->body;
  char *p = perfetto_event(w->out, body->begin_ns, TYPE_BEGIN, 0);
  p = pb_uint(p, EVENT_CATEGORY, CATEGORY_BODY);
  p = perfetto_text(p, EVENT_NAME, body->name);
  if (body->flow)
    p = pb_fixed64(p, EVENT_FLOW_ENDS, body->flow);
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
  if (w->body.name)
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
  if (w->body.name)
    end_slice(w, w->body.end_ns, 0);
  return INK_OK;
}

/* ---- values and asynchronous ranges: tracks of their own ------------------------------------- */

static ink_status value_uuid(perfetto_tracks *w, ink_section_index section, uint64_t *uuid) {
  for (size_t i = 0; i < w->value_count; i++) {
    if (w->values[i].section == section) {
      *uuid = w->values[i].uuid;
      return INK_OK;
    }
  }
  void *values = w->values;
  ink_status status = ink_grow(&values, w->value_count, &w->value_room, sizeof *w->values);
  w->values = values;
  if (status != INK_OK)
    return status;
  *uuid = perfetto_new_uuid(w->out);
  w->values[w->value_count++] = (value_track){section, *uuid};
  perfetto_describe(w->out, &(perfetto_track){.uuid = *uuid,
                                              .parent = w->track_uuid,
                                              .name = ink_selection_section(w->selection, section),
                                              .rank = (int32_t)w->value_count,
                                              .pid = -1,
                                              .counter = true});
  return INK_OK;
}

static ink_status put_values(perfetto_tracks *w) {
  w->value_count = 0;
  for (size_t i = 0; i < w->events.point_count; i++) {
    const ink_point *point = &w->events.points[i];
    if (point->kind != INK_KIND_ESCAPE || point->escape < INK_ESCAPE_VALUE_I64 ||
        point->escape > INK_ESCAPE_VALUE_F64)
      continue;
    uint64_t uuid;
    ink_status status = value_uuid(w, point->section, &uuid);
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

static ink_status new_lane(perfetto_tracks *w) {
  void *uuids = w->lane_uuids;
  ink_status status = ink_grow(&uuids, w->lane_count, &w->lane_room, sizeof *w->lane_uuids);
  w->lane_uuids = uuids;
  if (status != INK_OK)
    return status;
  char name[200];
  snprintf(name, sizeof name, "%s async %zu", w->label, w->lane_count);
  w->lane_uuids[w->lane_count] = perfetto_new_uuid(w->out);
  perfetto_describe(w->out, &(perfetto_track){.uuid = w->lane_uuids[w->lane_count],
                                              .parent = w->track_uuid,
                                              .name = name,
                                              .rank = (int32_t)w->lane_count,
                                              .pid = -1});
  w->lane_count++;
  return INK_OK;
}

static ink_status put_asyncs(perfetto_tracks *w) {
  w->lane_count = 0;
  ink_status status = ink_track_events_lanes(&w->events);
  while (status == INK_OK && w->lane_count < w->events.lane_count)
    status = new_lane(w);
  if (status != INK_OK)
    return status;
  for (size_t i = 0; i < w->events.async_count; i++) {
    const ink_async *a = &w->events.asyncs[i];
    size_t lane = w->events.lanes[i];
    char *p = perfetto_event(w->out, a->begin_ns, TYPE_BEGIN, w->lane_uuids[lane]);
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
    end_slice(w, a->end_ns, w->lane_uuids[lane]);
  }
  return INK_OK;
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
  free(w->values);
  free(w->lane_uuids);
  free(w->sms);
  ink_crossings_free(&w->crossings);
}

/* ---- ranges across threads: lanes of the launch's own, and arrows between its tracks ------------ */

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

ink_status perfetto_tracks_launch_end(perfetto_tracks *w) {
  ink_crossings *c = &w->crossings;
  const ink_status status = ink_crossings_lanes(c);
  if (status != INK_OK)
    return status;
  const uint64_t first = c->lane_count ? perfetto_new_uuid(w->out) : 0;
  for (size_t i = 0; i < c->lane_count; i++) {
    char name[40];
    snprintf(name, sizeof name, "across threads %zu", i);
    perfetto_describe(w->out, &(perfetto_track){.uuid = i ? perfetto_new_uuid(w->out) : first,
                                                .parent = w->launch_uuid, .name = name, .rank = -1, .pid = -1});
  }
  const uint64_t flows = c->count ? perfetto_new_uuid(w->out) : 0;
  for (size_t i = 1; i < c->count; i++)
    perfetto_new_uuid(w->out);
  for (size_t i = 0; i < c->count; i++) {
    uint64_t from, to;
    put_crossing(w, &c->items[i], first + c->lanes[i]);
    if (ink_crossings_find(c, c->items[i].from_track, &from) && ink_crossings_find(c, c->items[i].to_track, &to))
      put_arrow(w, &c->items[i], from, to, flows + i);
  }
  ink_crossings_clear(c);
  return INK_OK;
}

void perfetto_tracks_launch(perfetto_tracks *w, uint64_t launch_uuid) {
  w->launch_uuid = launch_uuid;
  w->sm_count = 0;
}

ink_status perfetto_tracks_sm(perfetto_tracks *w, uint32_t sm, uint64_t *uuid) {
  for (size_t i = 0; i < w->sm_count; i++) {
    if (w->sms[i].sm == sm) {
      *uuid = w->sms[i].uuid;
      return INK_OK;
    }
  }
  void *sms = w->sms;
  ink_status status = ink_grow(&sms, w->sm_count, &w->sm_room, sizeof *w->sms);
  w->sms = sms;
  if (status != INK_OK)
    return status;
  char name[32];
  snprintf(name, sizeof name, "SM %u", sm);
  *uuid = perfetto_new_uuid(w->out);
  w->sms[w->sm_count++] = (sm_track){sm, *uuid};
  perfetto_describe(
      w->out,
      &(perfetto_track){
          .uuid = *uuid, .parent = w->launch_uuid, .name = name, .rank = (int32_t)sm, .pid = -1});
  return INK_OK;
}

ink_status perfetto_tracks_begin(perfetto_tracks *w, uint64_t parent, int32_t rank,
                                 const ink_stored_track *track, uint64_t index) {
  ink_track_events_clear(&w->events);
  w->track_uuid = perfetto_new_uuid(w->out);
  w->parent_uuid = parent;
  w->track_rank = rank;
  ink_track_label(track, w->label, sizeof w->label);
  return ink_crossings_track(&w->crossings, index, w->track_uuid);
}

ink_status perfetto_tracks_end(perfetto_tracks *w) {
  open_track(w);
  ink_status status = put_slices(w);
  if (status == INK_OK)
    status = put_values(w);
  return status == INK_OK ? put_asyncs(w) : status;
}
