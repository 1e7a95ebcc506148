/* SPDX-License-Identifier: MIT */
/* The Perfetto output: a process for each device, a track for each launch with the kernel's slice,
 * under it a track for each SM, under that one for each block or warp. docs/outputs.md describes
 * what a reader finds in it.
 *
 * A track's events are kept until it ends, because the decoder gives a slice when it ends and a
 * trace wants it where it begins. */
#include "perfetto.h"
#include "outputs.h"
#include "track_events.h"

#include <stdlib.h>

typedef struct sm_track {
  uint32_t sm;
  uint64_t uuid;
} sm_track;

typedef struct launch_counts {
  uint64_t executed, kept, dropped, partial, problems;
} launch_counts;

typedef struct open_slice {
  uint32_t depth;
  int64_t end_ns;
} open_slice;

typedef struct value_track { /* the counter of a section on the current track */
  ink_section_index section;
  uint64_t uuid;
} value_track;

typedef struct writer {
  ink_selection selection; /* first: see ink_selection_decode */
  perfetto out;
  ink_error *error;
  uint64_t *launches_uuids; /* [device_count]: the track above a device's launches */
  size_t launch;            /* SIZE_MAX: none begun */
  uint64_t launch_uuid;
  launch_counts counts;
  sm_track *sms;
  size_t sm_count, sm_room;
  uint64_t track_uuid, parent_uuid;
  int32_t track_rank;
  char label[96];
  uint32_t *name_iids;      /* [section_count + 1] on the current track; 0: not used yet */
  ink_section_index *named; /* the sections that have one, in the order of their iids */
  const char **names;       /* their names */
  size_t name_count;
  ink_track_events events;
  open_slice *stack;
  size_t stack_count, stack_room;
  value_track *values;
  size_t value_count, value_room;
  uint64_t *lane_uuids; /* async lanes of the current track */
  size_t lane_count, lane_room;
} writer;

/* ---- one track's events ---------------------------------------------------------------------- */

/* The last place is for sections that no table names. */
static size_t name_slot(const writer *w, ink_section_index section) {
  return section < w->selection.section_count ? section : w->selection.section_count;
}

static void use_name(writer *w, ink_section_index section) {
  size_t slot = name_slot(w, section);
  if (w->name_iids[slot])
    return;
  w->named[w->name_count] = (ink_section_index)slot;
  w->names[w->name_count++] = ink_selection_section(&w->selection, section);
  w->name_iids[slot] = (uint32_t)w->name_count;
}

/* Describes the track, with the names that its events are about to use. */
static void open_track(writer *w) {
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
  const perfetto_track track = {.uuid = w->track_uuid,
                                .parent = w->parent_uuid,
                                .name = w->label,
                                .rank = w->track_rank,
                                .pid = -1};
  perfetto_open_track(&w->out, &track, w->names, w->name_count, categories);
}

static char *put_name(const writer *w, char *p, ink_section_index section) {
  return pb_uint(p, EVENT_NAME_IID, w->name_iids[name_slot(w, section)]);
}

static char *put_row(char *p, int64_t row) {
  if (row == INK_ROW_NONE)
    return p;
  if (row == INK_ROW_UNKNOWN)
    return pb_uint(p, ARG_ITERATION_UNKNOWN, 1);
  return pb_int(p, ARG_ITERATION, row);
}

static void begin_slice(writer *w, const ink_slice *slice) {
  char *p = perfetto_event(&w->out, slice->begin_ns, TYPE_BEGIN, 0);
  p = put_name(w, p, slice->section);
  p = put_row(p, slice->row);
  p = pb_uint(p, ARG_CYCLES, slice->end_cycles - slice->begin_cycles);
  if (slice->cut)
    p = pb_uint(p, ARG_CUT, slice->cut);
  if (slice->called)
    p = pb_uint(p, ARG_CALLED, 1);
  perfetto_event_end(&w->out, p);
}

static void end_slice(writer *w, int64_t ns, uint64_t track) {
  perfetto_event_end(&w->out, perfetto_event(&w->out, ns, TYPE_END, track));
}

static void put_sum(writer *w, const ink_point *point) {
  char *p = perfetto_event(&w->out, point->ns, TYPE_INSTANT, 0);
  p = pb_uint(p, EVENT_CATEGORY, CATEGORY_SUM);
  p = put_name(w, p, point->section);
  p = put_row(p, point->row);
  p = perfetto_named_uint(p, "count", point->value.sum.count);
  p = perfetto_named_uint(p, "total_cycles", point->value.sum.total_cycles);
  p = perfetto_named_uint(p, "min_cycles", point->value.sum.min_cycles);
  p = perfetto_named_uint(p, "max_cycles", point->value.sum.max_cycles);
  perfetto_event_end(&w->out, p);
}

static void put_instant(writer *w, const ink_point *point) {
  char *p = perfetto_event(&w->out, point->ns, TYPE_INSTANT, 0);
  p = pb_uint(p, EVENT_CATEGORY, CATEGORY_INSTANT);
  p = put_name(w, p, point->section);
  p = put_row(p, point->row);
  perfetto_event_end(&w->out, p);
}

static void close_top(writer *w, int64_t not_after_ns) {
  int64_t end = w->stack[--w->stack_count].end_ns;
  end_slice(w, end < not_after_ns ? end : not_after_ns, 0);
}

/* Points go between the slices; at a shared ns they come after a begin and after an end. */
static void put_points_before(writer *w, size_t *next, int64_t ns) {
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

static ink_status put_slices(writer *w) {
  size_t next_point = 0;
  w->stack_count = 0;
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
  return INK_OK;
}

/* ---- values and asynchronous ranges: tracks of their own ------------------------------------- */

static ink_status value_uuid(writer *w, ink_section_index section, uint64_t *uuid) {
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
  *uuid = perfetto_new_uuid(&w->out);
  w->values[w->value_count++] = (value_track){section, *uuid};
  perfetto_describe(&w->out,
                    &(perfetto_track){.uuid = *uuid,
                                      .parent = w->track_uuid,
                                      .name = ink_selection_section(&w->selection, section),
                                      .rank = (int32_t)w->value_count,
                                      .pid = -1,
                                      .counter = true});
  return INK_OK;
}

static ink_status put_values(writer *w) {
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
    char *p = perfetto_event(&w->out, point->ns, TYPE_COUNTER, uuid);
    if (point->escape == INK_ESCAPE_VALUE_I64)
      p = pb_int(p, EVENT_COUNTER, point->value.i64);
    else
      p = pb_double(p, EVENT_COUNTER_DOUBLE,
                    point->escape == INK_ESCAPE_VALUE_F64 ? point->value.f64
                                                          : (double)point->value.u64);
    perfetto_event_end(&w->out, p);
  }
  return INK_OK;
}

static ink_status new_lane(writer *w) {
  void *uuids = w->lane_uuids;
  ink_status status = ink_grow(&uuids, w->lane_count, &w->lane_room, sizeof *w->lane_uuids);
  w->lane_uuids = uuids;
  if (status != INK_OK)
    return status;
  char name[128];
  snprintf(name, sizeof name, "%s async %zu", w->label, w->lane_count);
  w->lane_uuids[w->lane_count] = perfetto_new_uuid(&w->out);
  perfetto_describe(&w->out, &(perfetto_track){.uuid = w->lane_uuids[w->lane_count],
                                               .parent = w->track_uuid,
                                               .name = name,
                                               .rank = (int32_t)w->lane_count,
                                               .pid = -1});
  w->lane_count++;
  return INK_OK;
}

static ink_status put_asyncs(writer *w) {
  w->lane_count = 0;
  ink_status status = ink_track_events_lanes(&w->events);
  while (status == INK_OK && w->lane_count < w->events.lane_count)
    status = new_lane(w);
  if (status != INK_OK)
    return status;
  for (size_t i = 0; i < w->events.async_count; i++) {
    const ink_async *a = &w->events.asyncs[i];
    size_t lane = w->events.lanes[i];
    char *p = perfetto_event(&w->out, a->begin_ns, TYPE_BEGIN, w->lane_uuids[lane]);
    p = pb_uint(p, EVENT_CATEGORY, CATEGORY_ASYNC);
    p = put_name(w, p, a->section);
    p = put_row(p, a->row);
    p = pb_uint(p, ARG_KEY, a->key);
    p = pb_uint(p, ARG_CYCLES, a->end_cycles - a->begin_cycles);
    if (a->cut)
      p = pb_uint(p, ARG_CUT, a->cut);
    perfetto_event_end(&w->out, p);
    end_slice(w, a->end_ns, w->lane_uuids[lane]);
  }
  return INK_OK;
}

/* ---- devices and launches -------------------------------------------------------------------- */

static uint64_t launches_uuid(const writer *w, int32_t device) {
  for (size_t i = 0; i < w->selection.device_count; i++)
    if (w->selection.devices[i].index == device)
      return w->launches_uuids[i];
  return 0;
}

/* What a reader must know about a device's data, as an instant at the very start. */
static void put_note(writer *w, const ink_device_info *device, uint64_t parent) {
  const ink_selection *s = &w->selection;
  const ink_clock_quality *q = ink_selection_quality(s, device->index);
  const ink_capture_facts *facts = ink_capture_get_facts(s->capture);
  uint64_t uuid = perfetto_new_uuid(&w->out), missed = 0, lost = 0;
  for (size_t i = 0; i < s->kernel_count; i++) {
    missed += s->kernels[i].missed;
    lost += s->kernels[i].tracks_lost;
  }
  perfetto_describe(
      &w->out,
      &(perfetto_track){.uuid = uuid, .parent = parent, .name = "inkmark", .rank = -1, .pid = -1});
  char *p = perfetto_event(&w->out, s->begin_ns, TYPE_INSTANT, uuid);
  p = pb_string(p, EVENT_CATEGORY_NAME, "note");
  p = pb_string(p, EVENT_NAME, device->simulated ? "simulated clock" : "about this capture");
  p = perfetto_named_text(p, "device", device->name ? device->name : "?");
  p = perfetto_named_text(p, "clock", device->simulated ? "simulated clock" : "GPU clock");
  if (q) {
    p = perfetto_named_text(p, "time",
                            q->has_host ? "unix time" : "raw globaltimer, not unix time");
    p = perfetto_named_uint(p, "bound_ns", (uint64_t)(q->bound_ns > 0 ? q->bound_ns : 0));
    p = perfetto_named_uint(p, "timer_step_ns", q->timer_step_ns);
    p = perfetto_named_double(p, "residual_max_ns", q->residual_max_ns);
  }
  p = perfetto_named_uint(p, "entries_missed", missed);
  p = perfetto_named_uint(p, "tracks_lost", lost);
  p = perfetto_named_uint(p, "open_tracks", facts->open_tracks);
  p = perfetto_named_text(p, "capture",
                          facts->complete ? "complete" : "the program did not end normally");
  if (facts->note[0])
    p = perfetto_named_text(p, "left_out", facts->note);
  perfetto_event_end(&w->out, p);
}

static void describe_devices(writer *w) {
  for (size_t i = 0; i < w->selection.device_count; i++) {
    const ink_device_info *device = &w->selection.devices[i];
    char name[64];
    snprintf(name, sizeof name, "GPU %d%s", device->index,
             device->simulated ? " (simulated clock)" : "");
    uint64_t process = perfetto_new_uuid(&w->out);
    perfetto_describe(&w->out, &(perfetto_track){.uuid = process,
                                                 .name = name,
                                                 .description = device->name,
                                                 .pid = device->index < 0 ? 0 : device->index});
    put_note(w, device, process);
    /* A process does not order its children, a plain track does. */
    w->launches_uuids[i] = perfetto_new_uuid(&w->out);
    perfetto_describe(&w->out, &(perfetto_track){.uuid = w->launches_uuids[i],
                                                 .parent = process,
                                                 .name = "launches",
                                                 .pid = -1});
  }
}

/* The kernel's own slice, written when all of its tracks are counted. */
static void end_launch(writer *w) {
  if (w->launch == SIZE_MAX)
    return;
  const ink_launch *l = &w->selection.launches[w->launch];
  const ink_launch_span *span = &w->selection.spans[w->launch];
  char text[96];
  char *p = perfetto_event(&w->out, span->begin_ns, TYPE_BEGIN, w->launch_uuid);
  p = pb_string(p, EVENT_CATEGORY_NAME, "kernel");
  const char *name = ink_selection_kernel(&w->selection, w->launch);
  p = pb_bytes(p, EVENT_NAME, name, strnlen(name, PERFETTO_NAME_BYTES));
  p = perfetto_named_uint(p, "launch", w->launch);
  p = perfetto_named_uint(p, "grid_id", l->grid_id);
  snprintf(text, sizeof text, "%ux%ux%u", l->grid_dim[0], l->grid_dim[1], l->grid_dim[2]);
  p = perfetto_named_text(p, "grid", text);
  snprintf(text, sizeof text, "%ux%ux%u", l->block_dim[0], l->block_dim[1], l->block_dim[2]);
  p = perfetto_named_text(p, "block", text);
  p = perfetto_named_uint(p, "tracks", span->track_count);
  p = perfetto_named_uint(p, "marks_executed", w->counts.executed);
  p = perfetto_named_uint(p, "marks_kept", w->counts.kept);
  p = perfetto_named_uint(p, "marks_dropped", w->counts.dropped);
  p = perfetto_named_uint(p, "tracks_partial", w->counts.partial);
  p = perfetto_named_uint(p, "problems", w->counts.problems);
  perfetto_event_end(&w->out, p);
  end_slice(w, span->end_ns, w->launch_uuid);
}

static ink_status sm_uuid(writer *w, uint32_t sm, uint64_t *uuid) {
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
  *uuid = perfetto_new_uuid(&w->out);
  w->sms[w->sm_count++] = (sm_track){sm, *uuid};
  perfetto_describe(
      &w->out,
      &(perfetto_track){
          .uuid = *uuid, .parent = w->launch_uuid, .name = name, .rank = (int32_t)sm, .pid = -1});
  return INK_OK;
}

/* ---- the sink -------------------------------------------------------------------------------- */

static ink_status on_launch(void *user, uint32_t launch, const ink_launch *info) {
  writer *w = user;
  end_launch(w);
  w->launch = launch;
  w->counts = (launch_counts){0};
  w->sm_count = 0;
  w->launch_uuid = perfetto_new_uuid(&w->out);
  char name[PERFETTO_NAME_BYTES];
  snprintf(name, sizeof name, "%u %.300s grid %llu", launch,
           ink_selection_kernel(&w->selection, launch), (unsigned long long)info->grid_id);
  perfetto_describe(&w->out, &(perfetto_track){.uuid = w->launch_uuid,
                                               .parent = launches_uuid(w, info->device),
                                               .name = name,
                                               .rank = (int32_t)launch,
                                               .pid = -1});
  return ink_file_check(&w->out.file, w->error);
}

static ink_status on_track_begin(void *user, const ink_decoded_track *track) {
  writer *w = user;
  const ink_track *h = &track->stored->header;
  uint64_t parent;
  ink_status status = sm_uuid(w, h->sm_open, &parent);
  if (status != INK_OK)
    return status;
  ink_track_events_clear(&w->events);
  w->track_uuid = perfetto_new_uuid(&w->out);
  w->parent_uuid = parent;
  w->track_rank = (int32_t)(track->index - w->selection.spans[w->launch].first_track);
  ink_track_label(h, w->label, sizeof w->label);
  return INK_OK;
}

static ink_status on_slice(void *user, const ink_slice *slice) {
  return ink_track_events_slice(&((writer *)user)->events, slice);
}

static ink_status on_point(void *user, const ink_point *point) {
  return ink_track_events_point(&((writer *)user)->events, point);
}

static ink_status on_async(void *user, const ink_async *async) {
  return ink_track_events_async(&((writer *)user)->events, async);
}

static ink_status on_track_end(void *user, const ink_decoded_track *track) {
  writer *w = user;
  w->counts.executed += track->marks_executed;
  w->counts.kept += track->marks_kept;
  w->counts.dropped += track->marks_dropped;
  w->counts.partial +=
      track->partial_before_cycles != 0 || track->partial_after_cycles != UINT64_MAX;
  w->counts.problems += track->problems;
  open_track(w);
  ink_status status = put_slices(w);
  if (status == INK_OK)
    status = put_values(w);
  if (status == INK_OK)
    status = put_asyncs(w);
  return status == INK_OK ? ink_file_check(&w->out.file, w->error) : status;
}

/* ---- the output ------------------------------------------------------------------------------ */

/* CLOCK_MONOTONIC at `base_ns`, by the host clock pair nearest to it; 0: not known. */
static int64_t monotonic_at(const ink_capture *capture, int64_t base_ns) {
  const ink_host_clock *pairs;
  size_t count = ink_capture_host_clocks(capture, &pairs);
  int64_t best = 0, distance = INT64_MAX;
  for (size_t i = 0; i < count; i++) {
    int64_t away = ink_ns_between(base_ns, pairs[i].realtime_before_ns);
    int64_t apart = away < 0 ? ink_ns_between(away, 0) : away;
    if (apart >= 0 && apart < distance) {
      distance = apart;
      best = ink_ns_between(away, pairs[i].monotonic_before_ns);
    }
  }
  return best > 0 ? best : 0;
}

static void free_writer(writer *w) {
  ink_file_abandon(&w->out.file);
  ink_selection_free(&w->selection);
  free(w->launches_uuids);
  free(w->name_iids);
  free(w->named);
  free(w->names);
  free(w->sms);
  ink_track_events_free(&w->events);
  free(w->stack);
  free(w->values);
  free(w->lane_uuids);
}

ink_status ink_write_perfetto(const ink_capture *capture, const ink_clock_map *map,
                              const ink_output_options *options, const char *path,
                              ink_error *error) {
  writer w = {.error = error, .launch = SIZE_MAX, .out.file.fd = -1};
  ink_status status = ink_selection_make(&w.selection, capture, map, options, error);
  if (status != INK_OK)
    goto cleanup;
  size_t names = w.selection.section_count + 1;
  w.launches_uuids = calloc(w.selection.device_count + 1, sizeof *w.launches_uuids);
  w.name_iids = calloc(names, sizeof *w.name_iids);
  w.named = calloc(names, sizeof *w.named);
  w.names = calloc(names, sizeof *w.names);
  if (!w.launches_uuids || !w.name_iids || !w.named || !w.names) {
    status = ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
    goto cleanup;
  }
  status = ink_file_open(&w.out.file, path, error);
  if (status != INK_OK)
    goto cleanup;
  perfetto_start(&w.out, capture, w.selection.begin_ns,
                 monotonic_at(capture, w.selection.begin_ns));
  describe_devices(&w);
  const ink_sink sink = {.launch = on_launch,
                         .track_begin = on_track_begin,
                         .slice = on_slice,
                         .point = on_point,
                         .async = on_async,
                         .track_end = on_track_end};
  status = ink_selection_decode(&w.selection, &sink, error);
  if (status == INK_OK) {
    end_launch(&w);
    status = ink_file_close(&w.out.file, error);
  } else if (status == INK_ERROR_MEMORY) {
    ink_error_set(error, status, "out of memory");
  }
cleanup:
  free_writer(&w);
  return status;
}
