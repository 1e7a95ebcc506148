/* SPDX-License-Identifier: MIT */
/* The Perfetto output: a process for each device, in it a track of the launches with the kernels' slices, below it
 * lanes of the SMs with the blocks of all launches. docs/outputs.md describes what a reader finds in it. */
#include "outputs.h"
#include "path_shown.h"
#include "perfetto_activity.h"
#include "perfetto_host.h"
#include "perfetto_path.h"
#include "perfetto_tracks.h"
#include "sm_counters.h"

#include <stdlib.h>

typedef struct launch_counts {
  uint64_t executed, kept, dropped, partial, problems;
} launch_counts;

typedef struct writer {
  ink_selection selection; /* first: see ink_selection_decode */
  perfetto out;
  ink_file file;
  ink_error *error;
  uint64_t *parents; /* [device_count + streams]: what the launches of a device, or of its stream, are below */
  size_t launch;            /* SIZE_MAX: none begun */
  launch_counts counts;
  perfetto_tracks tracks;
  activity_lanes activity;
  host_lanes host;
  sm_counters counters;
  uint64_t *processes, *counters_uuids, counter_uuid; /* [device_count]: the device's, its track above counters */
} writer;

/* ---- devices and launches -------------------------------------------------------------------- */

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
                          facts->complete                                 ? "complete"
                          : ink_capture_fact(s->capture, "write_failure") ? "a write failed"
                          : ink_capture_fact(s->capture, "unfinished") ? "the recording did not end"
                                                                       : "the end is missing");
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
    w->processes[i] = w->parents[i] = process;
    if (!w->activity.count)
      continue;
    /* A process does not order its children, a plain track does. */
    w->parents[i] = perfetto_new_uuid(&w->out);
    perfetto_describe(&w->out, &(perfetto_track){.uuid = w->parents[i],
                                                 .parent = process,
                                                 .name = "streams",
                                                 .pid = -1});
  }
}

/* The launches of a device share their lanes; those whose kernels are known, by their stream. */
static ink_status arrange(writer *w) {
  const ink_selection *s = &w->selection;
  uint32_t *groups = calloc(s->launch_count + 1, sizeof *groups);
  if (!groups)
    return INK_ERROR_MEMORY;
  for (uint32_t i = 0; i < s->launch_count; i++) {
    const activity_shown *kernel = activity_of_launch(&w->activity, i);
    for (size_t d = 0; d < s->device_count; d++)
      if (s->devices[d].index == s->launches[i].device)
        groups[i] = (uint32_t)d;
    if (kernel)
      groups[i] = (uint32_t)s->device_count + kernel->lane;
  }
  const ink_status status = track_lanes_fill(&w->tracks.lanes, &w->tracks.launches, s, groups);
  free(groups);
  return status;
}

static void describe_lanes(writer *w) {
  for (size_t i = 0; i < w->activity.lane_count; i++)
    w->parents[w->selection.device_count + i] = w->activity.lanes[i].id;
  perfetto_tracks_describe(&w->tracks, w->parents, "", 0);
}

/* The kernel's own slice, written when all of its tracks are counted. */
static ink_status end_launch(writer *w) {
  if (w->launch == SIZE_MAX)
    return INK_OK;
  const ink_launch *l = &w->selection.launches[w->launch];
  const ink_launch_span *span = &w->selection.spans[w->launch];
  const uint64_t lane = perfetto_tracks_launch(&w->tracks, (uint32_t)w->launch);
  char text[96];
  char *p = perfetto_event(&w->out, span->begin_ns, TYPE_BEGIN, lane);
  p = pb_string(p, EVENT_CATEGORY_NAME, "kernel");
  const char *name = ink_selection_kernel(&w->selection, w->launch);
  p = perfetto_text(p, EVENT_NAME, name);
  p = perfetto_named_uint(p, "launch", w->launch);
  p = perfetto_named_uint(p, "grid_id", l->grid_id);
  const uint32_t *place = w->selection.graph_places[w->launch];
  if (place[0]) {
    p = perfetto_named_uint(p, "graph", place[0]);
    p = perfetto_named_uint(p, "graph_node", place[1]);
    p = perfetto_named_uint(p, "graph_replay", place[2]);
  }
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
  p = perfetto_activity_arguments(p, &w->out, &w->activity, (uint32_t)w->launch, span->begin_ns,
                                  span->end_ns);
  p = perfetto_host_arguments(p, &w->out, &w->host, (uint32_t)w->launch);
  perfetto_event_end(&w->out, p);
  perfetto_event_end(&w->out, perfetto_event(&w->out, span->end_ns, TYPE_END, lane));
  return perfetto_tracks_launch_end(&w->tracks, (uint32_t)w->launch);
}

/* ---- the sink -------------------------------------------------------------------------------- */

static ink_status on_launch(void *user, uint32_t launch, const ink_launch *info) {
  writer *w = user;
  (void)info;
  const ink_status ended = end_launch(w);
  if (ended != INK_OK)
    return ended;
  w->launch = launch;
  w->counts = (launch_counts){0};
  return ink_file_check(&w->file, w->error);
}

static ink_status on_track_begin(void *user, const ink_decoded_track *track) {
  writer *w = user;
  const ink_status status = perfetto_tracks_begin(&w->tracks, track);
  if (status != INK_OK)
    return status;
  return sm_counters_track(&w->counters, (uint32_t)w->launch, track->stored->device, &track->stored->header,
                           track->open_ns, track->close_ns > track->open_ns ? track->close_ns : track->open_ns);
}

static ink_status on_slice(void *user, const ink_slice *slice) {
  return ink_track_events_slice(&((writer *)user)->tracks.events, slice);
}

static ink_status on_point(void *user, const ink_point *point) {
  return ink_track_events_point(&((writer *)user)->tracks.events, point);
}

static ink_status on_crossing(void *user, const ink_crossing *crossing) {
  return ink_crossings_add(&((writer *)user)->tracks.crossings, crossing);
}

static ink_status on_async(void *user, const ink_async *async) {
  return ink_track_events_async(&((writer *)user)->tracks.events, async);
}

static ink_status on_track_end(void *user, const ink_decoded_track *track) {
  writer *w = user;
  w->counts.executed += track->marks_executed;
  w->counts.kept += track->marks_kept;
  w->counts.dropped += track->marks_dropped;
  w->counts.partial +=
      track->partial_before_cycles != 0 || track->partial_after_cycles != UINT64_MAX;
  w->counts.problems += track->problems;
  w->tracks.body.marks_dropped = track->marks_dropped;
  ink_status status = perfetto_tracks_end(&w->tracks);
  return status == INK_OK ? ink_file_check(&w->file, w->error) : status;
}

/* ---- active blocks --------------------------------------------------------------------------- */

static void begin_counter(void *user, const counter_edge *of) {
  writer *w = user;
  char name[160];
  size_t i = 0;
  while (i < w->selection.device_count && w->selection.devices[i].index != of->device)
    i++;
  if (!w->counters_uuids[i]) {
    w->counters_uuids[i] = perfetto_new_uuid(&w->out);
    perfetto_describe(&w->out, &(perfetto_track){.uuid = w->counters_uuids[i],
                                                 .parent = w->processes[i],
                                                 .name = "active blocks",
                                                 .pid = -1});
  }
  sm_counters_name(of, "", name, sizeof name);
  w->counter_uuid = perfetto_new_uuid(&w->out);
  perfetto_describe(&w->out, &(perfetto_track){.uuid = w->counter_uuid,
                                               .parent = w->counters_uuids[i],
                                               .name = name,
                                               .rank = (int32_t)((of->sm + 1) & INT32_MAX),
                                               .pid = -1,
                                               .counter = true});
}

static void counter_value(void *user, int64_t ns, int64_t value) {
  writer *w = user;
  char *p = perfetto_event(&w->out, ns, TYPE_COUNTER, w->counter_uuid);
  perfetto_event_end(&w->out, pb_int(p, EVENT_COUNTER, value));
}

/* ---- the critical path ----------------------------------------------------------------------- */

/* Of tracks that were chosen by time or place the path would lead through what is not shown. */
static ink_status put_path(writer *w) {
  const ink_selection *s = &w->selection;
  ink_critical_path *path = NULL;
  ink_status status = s->options.filter ? INK_OK : ink_path_shown(s, &path, NULL);
  for (size_t i = 0; path && i < s->device_count; i++)
    if (s->devices[i].index == s->launches[path->launch].device)
      status = perfetto_path_write(&w->tracks, path, w->processes[i]);
  ink_critical_path_free(path);
  return status;
}

/* ---- the output ------------------------------------------------------------------------------ */

static void free_writer(writer *w) {
  ink_file_abandon(&w->file);
  ink_selection_free(&w->selection);
  free(w->parents);
  free(w->processes);
  free(w->counters_uuids);
  sm_counters_free(&w->counters);
  perfetto_tracks_free(&w->tracks);
  activity_lanes_free(&w->activity);
  host_lanes_free(&w->host);
}

ink_status ink_write_perfetto(const ink_capture *capture, const ink_clock_map *map,
                              const ink_output_options *options, const char *path,
                              ink_error *error) {
  writer w = {.error = error, .launch = SIZE_MAX, .file.fd = -1};
  ink_status status = ink_selection_make(&w.selection, capture, map, options, error);
  if (status != INK_OK)
    goto cleanup;
  w.processes = calloc(w.selection.device_count + 1, sizeof *w.processes);
  w.counters_uuids = calloc(w.selection.device_count + 1, sizeof *w.counters_uuids);
  status = perfetto_tracks_init(&w.tracks, &w.out, &w.selection);
  if (status == INK_OK)
    status = activity_lanes_make(&w.activity, &w.selection, error);
  if (status == INK_OK)
    status = host_lanes_make(&w.host, &w.selection, error);
  if (status == INK_OK)
    status = arrange(&w);
  w.parents = calloc(w.selection.device_count + w.activity.lane_count + 1, sizeof *w.parents);
  if (!w.parents || !w.processes || !w.counters_uuids || status != INK_OK) {
    status = ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
    goto cleanup;
  }
  status = ink_file_open(&w.file, path, error);
  if (status != INK_OK)
    goto cleanup;
  w.selection.begin_ns = activity_lanes_begin(&w.activity, w.selection.begin_ns);
  w.selection.begin_ns =
      host_lanes_begin(&w.host, w.selection.begin_ns, w.selection.chosen_launches || w.activity.count);
  perfetto_start(&w.out, &w.file, 1, capture, w.selection.begin_ns);
  status = perfetto_host_write(&w.out, &w.host, &(perfetto_host_place){0}, error);
  describe_devices(&w);
  if (status == INK_OK)
    status = perfetto_activity_write(
        &w.out, &w.activity, &(perfetto_activity_place){.device_parents = w.parents}, error);
  if (status != INK_OK)
    goto cleanup;
  describe_lanes(&w);
  const ink_sink sink = {.launch = on_launch,
                         .track_begin = on_track_begin,
                         .slice = on_slice,
                         .point = on_point,
                         .async = on_async,
                         .crossing = on_crossing,
                         .track_end = on_track_end};
  status = ink_selection_decode(&w.selection, &sink, error);
  if (status == INK_OK)
    status = end_launch(&w);
  if (status == INK_OK)
    status = put_path(&w);
  if (status == INK_OK) {
    status = sm_counters_end(&w.counters, &(counter_user){begin_counter, counter_value, &w});
  }
  if (status == INK_OK) {
    status = ink_file_close(&w.file, error);
  } else if (status == INK_ERROR_MEMORY) {
    ink_error_set(error, status, "out of memory");
  }
cleanup:
  free_writer(&w);
  return status;
}
