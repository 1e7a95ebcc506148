/* SPDX-License-Identifier: MIT */
/* A merged XLA profile: the planes of an .xplane.pb byte for byte, and for each capture and GPU one of ours behind
 * them, "/device:GPU:0 inkmark", with lines of launches and of the slots of SMs. */
#include "merge/read/foreign_private.h"
#include "merge/write/trace_copy.h"
#include "merged_private.h"
#include "merged_sink.h"
#include "xplane_lines.h"

#include "merge/try.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct merged_xplane {
  merged_sink sink; /* first: the callbacks get it */
  track_lanes lanes, launches;
  ink_track_events events;
  ink_crossings crossings;
  xplane_lines *planes; /* [device_count + 1] */
  xplane_lines *plane;  /* of the current launch */
  track_body body;
  size_t line;
  int64_t base_ns;
  uint64_t left_out; /* ranges across threads */
} merged_xplane;

static size_t device_of(const merged_xplane *w, size_t launch) {
  const ink_selection *s = &w->sink.place.selection;
  for (size_t i = 0; i < s->device_count; i++)
    if (s->devices[i].index == s->launches[launch].device)
      return i;
  return s->device_count;
}

static void begin(merged_xplane *w, size_t line, const char *name, int64_t begin_ns, int64_t end_ns) {
  xplane_begin(w->plane, line, name, begin_ns - w->base_ns, end_ns - w->base_ns);
}

static void put_joined(xplane_lines *x, const placement *p, const placed_launch *l) {
  const char *method = placement_method(l->method);
  xplane_text(x, "joined_by", *method ? method : "nothing: the trace has no kernel for it");
  if (l->clock)
    xplane_int(x, "offset_taken_out_ns", l->clock->offset_ns);
  if (l->kernel == SIZE_MAX)
    return;
  const ink_foreign_kernel *k = &p->kernels[l->kernel];
  xplane_text(x, "kernel", ink_foreign_name(p->foreign, k->type->name));
  if (k->correlation >= 0)
    xplane_int(x, "kernel_correlation", k->correlation);
  xplane_double(x, "confidence", l->confidence);
  if (l->uncertain)
    xplane_text(x, "uncertain", PLACEMENT_UNCERTAIN);
  xplane_int(x, "residual_ns", l->residual_ns);
  xplane_int(x, "outside_ns", l->early_ns > l->late_ns ? l->early_ns : l->late_ns);
}

static ink_status begin_launch(void *user, size_t launch) {
  merged_xplane *w = user;
  const placement *p = &w->sink.place;
  const placed_launch *l = &p->launches[launch];
  const ink_launch *info = &p->selection.launches[launch];
  const lane_item *item = track_lanes_find(&w->launches, launch);
  char text[96], named[PLACEMENT_NAME_BYTES];
  w->plane = &w->planes[device_of(w, launch)];
  if (!item)
    return INK_OK;
  begin(w, (size_t)w->launches.lanes[item->lane].id, placement_launch_name(p, launch, named), l->begin_ns,
        l->end_ns > l->begin_ns ? l->end_ns : l->begin_ns);
  xplane_int(w->plane, "launch", (int64_t)launch);
  snprintf(text, sizeof text, "%ux%ux%u", info->grid_dim[0], info->grid_dim[1], info->grid_dim[2]);
  xplane_text(w->plane, "grid", text);
  snprintf(text, sizeof text, "%ux%ux%u", info->block_dim[0], info->block_dim[1], info->block_dim[2]);
  xplane_text(w->plane, "block", text);
  xplane_int(w->plane, "tracks", (int64_t)p->selection.spans[launch].track_count);
  xplane_int(w->plane, "tracks_shown", (int64_t)l->shown);
  if (ink_selection_simulated(&p->selection, info->device))
    xplane_text(w->plane, "clock", "simulated clock");
  put_joined(w->plane, p, l);
  xplane_end(w->plane);
  return INK_OK;
}

static ink_status end_launch(void *user) {
  merged_xplane *w = user;
  w->left_out += w->crossings.count;
  ink_crossings_clear(&w->crossings);
  return INK_OK;
}

static ink_status begin_track(void *user) {
  merged_xplane *w = user;
  const ink_decoded_track *track = w->sink.track.decoded;
  const lane_item *item = track_lanes_find(&w->lanes, track->index);
  ink_track_events_clear(&w->events);
  if (!item)
    return INK_ERROR_ARGUMENT;
  w->line = (size_t)w->lanes.lanes[item->lane].id;
  w->body = track_body_of(&w->sink.place.selection, track, item);
  return ink_crossings_track(&w->crossings, track->index, w->line);
}

static void put_row(xplane_lines *x, int64_t row) {
  if (row == INK_ROW_UNKNOWN)
    xplane_text(x, "iteration", "unknown");
  else if (row != INK_ROW_NONE)
    xplane_int(x, "iteration", row);
}

static void put_point(merged_xplane *w, const ink_point *point) {
  if (point->kind != INK_KIND_INSTANT && point->kind != INK_KIND_ESCAPE)
    return;
  begin(w, w->line, ink_selection_section(&w->sink.place.selection, point->section), point->ns, point->ns);
  put_row(w->plane, point->row);
  if (point->kind == INK_KIND_ESCAPE && point->escape == INK_ESCAPE_SUM) {
    xplane_int(w->plane, "count", (int64_t)point->value.sum.count);
    xplane_int(w->plane, "total_cycles", (int64_t)point->value.sum.total_cycles);
  } else if (point->kind == INK_KIND_ESCAPE && point->escape == INK_ESCAPE_VALUE_F64) {
    xplane_double(w->plane, "value", point->value.f64);
  } else if (point->kind == INK_KIND_ESCAPE) {
    xplane_int(w->plane, "value", point->value.i64);
  }
  xplane_end(w->plane);
}

/* Ranges that may overlap what is on the track have lines of their own below it. */
static ink_status put_asyncs(merged_xplane *w) {
  TRY(ink_track_events_lanes(&w->events));
  for (size_t i = 0; i < w->events.async_count; i++) {
    const ink_async *a = &w->events.asyncs[i];
    char name[300];
    size_t line = 0;
    snprintf(name, sizeof name, "%.200s async %zu", w->plane->lines[w->line].name, w->events.lanes[i]);
    while (line < w->plane->count && strcmp(w->plane->lines[line].name, name))
      line++;
    if (line == w->plane->count)
      TRY(xplane_line_add(w->plane, name, &line));
    begin(w, line, ink_selection_section(&w->sink.place.selection, a->section), a->begin_ns, a->end_ns);
    put_row(w->plane, a->row);
    xplane_int(w->plane, "key", (int64_t)a->key);
    xplane_end(w->plane);
  }
  return INK_OK;
}

static ink_status end_track(void *user) {
  merged_xplane *w = user;
  const track_body *b = &w->body;
  ink_track_events_within(&w->events, b->begin_ns, b->end_ns);
  begin(w, w->line, b->name, b->begin_ns, b->end_ns);
  xplane_int(w->plane, "launch", b->launch);
  xplane_text(w->plane, "track", b->label);
  xplane_int(w->plane, "sm", b->sm);
  xplane_int(w->plane, "marks_dropped", (int64_t)w->sink.track.marks_dropped);
  if (w->sink.track.bound_ns != INT64_MAX)
    xplane_int(w->plane, "bound_ns", w->sink.track.bound_ns);
  xplane_end(w->plane);
  for (size_t i = 0; i < w->events.slice_count; i++) {
    const ink_slice *slice = &w->events.slices[i];
    begin(w, w->line, ink_selection_section(&w->sink.place.selection, slice->section), slice->begin_ns, slice->end_ns);
    put_row(w->plane, slice->row);
    xplane_int(w->plane, "cycles", (int64_t)(slice->end_cycles - slice->begin_cycles));
    if (slice->cut)
      xplane_text(w->plane, "cut", "its begin or end was not recorded");
    xplane_end(w->plane);
  }
  for (size_t i = 0; i < w->events.point_count; i++)
    put_point(w, &w->events.points[i]);
  return put_asyncs(w);
}

/* ---- lines ---- */

static ink_status add_lines(merged_xplane *w, track_lanes *lanes, const size_t *planes, const int64_t *streams) {
  for (size_t i = 0; i < lanes->lane_count; i++) {
    track_lane *lane = &lanes->lanes[i];
    char lane_name[200], name[300], stream[40] = "";
    size_t line;
    track_lane_name(lane, lane_name, sizeof lane_name);
    if (streams[lane->group] != INT64_MIN)
      snprintf(stream, sizeof stream, "stream %" PRId64 " ", streams[lane->group]);
    snprintf(name, sizeof name, "%s%s", stream, lane_name);
    TRY(xplane_line_add(&w->planes[planes[lane->group]], name, &line));
    lane->id = line;
  }
  return INK_OK;
}

/* A group of lanes for each stream of each GPU; launches without a kernel are one of their own. */
static ink_status arrange(merged_xplane *w, uint32_t *groups, size_t *planes, int64_t *streams) {
  const placement *p = &w->sink.place;
  uint32_t count = 0;
  int64_t first_ns = INT64_MAX;
  for (size_t i = 0; i < p->selection.launch_count; i++) {
    const placed_launch *l = &p->launches[i];
    uint32_t group = 0;
    if (!l->placed)
      continue;
    const int64_t stream = l->kernel == SIZE_MAX ? INT64_MIN : p->kernels[l->kernel].type->stream;
    while (group < count && (planes[group] != device_of(w, i) || streams[group] != stream))
      group++;
    groups[i] = group;
    planes[group] = device_of(w, i);
    streams[group] = stream;
    count += group == count;
    first_ns = l->begin_ns < first_ns ? l->begin_ns : first_ns;
  }
  for (size_t d = 0; d <= p->selection.device_count; d++)
    w->planes[d].begin_ns = first_ns == INT64_MAX ? 0 : first_ns - w->base_ns;
  TRY(merged_sink_lanes(&w->sink, groups, 0, &w->lanes, &w->launches));
  TRY(add_lines(w, &w->launches, planes, streams));
  return add_lines(w, &w->lanes, planes, streams);
}

static ink_status put_ours(merged_xplane *w, ink_file *file, int64_t *plane_id) {
  const placement *p = &w->sink.place;
  const size_t n = p->selection.launch_count;
  uint32_t *groups = calloc(n + 1, sizeof *groups);
  size_t *planes = calloc(n + 1, sizeof *planes);
  int64_t *streams = calloc(n + 1, sizeof *streams);
  ink_status status = groups && planes && streams ? arrange(w, groups, planes, streams) : INK_ERROR_MEMORY;
  free(groups);
  free(planes);
  free(streams);
  if (status == INK_OK)
    status = merged_sink_run(&w->sink);
  for (size_t d = 0; d < p->selection.device_count && status == INK_OK; d++) {
    char name[240];
    snprintf(name, sizeof name, "/device:GPU:%d inkmark%s%s", p->selection.devices[d].index, *p->who ? " " : "", p->who);
    if (w->planes[d].count)
      status = xplane_write(&w->planes[d], file, ++*plane_id, name);
  }
  return status;
}

static ink_status put_capture(merged_whole *whole, size_t index, ink_file *file, int64_t *plane_id, ink_error *error) {
  merged_xplane *w = calloc(1, sizeof *w);
  if (!w)
    return INK_ERROR_MEMORY;
  w->sink = whole->sinks[index];
  w->sink.file = file;
  w->sink.error = error;
  w->sink.events = &w->events;
  w->sink.crossings = &w->crossings;
  w->sink.begin_launch = begin_launch;
  w->sink.begin_track = begin_track;
  w->sink.end_track = end_track;
  w->sink.end_launch = end_launch;
  w->sink.launch = SIZE_MAX;
  w->base_ns = w->sink.place.facts->base_ns;
  const size_t devices = w->sink.place.selection.device_count;
  w->planes = calloc(devices + 1, sizeof *w->planes);
  const ink_status status = w->planes ? put_ours(w, file, plane_id) : INK_ERROR_MEMORY;
  whole->sinks[index].counters = w->sink.counters; /* the caller frees what it holds */
  if (status == INK_OK)
    placement_say(&w->sink.place, "a profile of XLA has no counters and arrows: those are left out%s",
                  w->left_out ? ", and ranges across threads" : "");
  for (size_t d = 0; w->planes && d <= devices; d++)
    xplane_lines_free(&w->planes[d]);
  free(w->planes);
  track_lanes_free(&w->lanes);
  track_lanes_free(&w->launches);
  ink_track_events_free(&w->events);
  ink_crossings_free(&w->crossings);
  free(w);
  return status;
}

ink_status merged_write_xplane(merged_whole *whole, const char *path, ink_error *error) {
  const placement *p = &whole->sinks[0].place;
  ink_file file = {.fd = -1};
  trace_copy in = {0};
  int64_t plane_id = whole->foreign->packets.plane_id;
  if (p->facts->kind != INK_FOREIGN_XPLANE)
    return ink_error_set(error, INK_ERROR_UNSUPPORTED,
                         "cannot write an XLA profile with '%s', which is none: use a name that ends in .pftrace", p->with);
  ink_status status = trace_copy_open(&in, p->with, error);
  if (status == INK_OK)
    status = ink_file_open(&file, path, error);
  if (status == INK_OK)
    status = trace_copy_copy(&in, &file, UINT64_MAX, p, error);
  for (size_t i = 0; i < whole->count && status == INK_OK; i++)
    status = put_capture(whole, i, &file, &plane_id, error);
  if (status == INK_OK)
    status = ink_file_close(&file, error);
  if (status == INK_ERROR_MEMORY)
    ink_error_set(error, status, "out of memory");
  trace_copy_close(&in);
  ink_file_abandon(&file);
  return status;
}
