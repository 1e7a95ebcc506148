/* SPDX-License-Identifier: MIT */
/* The Chrome JSON output: complete events whose times count from a base that is kept at full
 * precision beside them. A process for each device, lanes (threads) for its launches and for the slots of
 * its SMs; no two events of a lane overlap unless one encloses the other.
 *
 * displayTimeUnit is left out on purpose: with "ns" there, Perfetto's trace processor takes ts for
 * ns, every other reader for us. */
#include "chrome_activity.h"
#include "chrome_host.h"
#include "chrome_events.h"
#include "outputs.h"
#include "sm_counters.h"

#include <stdlib.h>

typedef struct chrome {
  ink_selection selection; /* first: see ink_selection_decode */
  ink_file file;
  ink_error *error;
  chrome_events events;
  size_t launch; /* SIZE_MAX: none begun */
  char pid[16];
  uint64_t marks_dropped;
  activity_lanes activity;
  host_lanes host;
  sm_counters counters;
  char counter[160];
} chrome;

static void set_pid(chrome *w, int32_t device) {
  snprintf(w->pid, sizeof w->pid, "%d", device);
}

/* ---- the sink -------------------------------------------------------------------------------- */

static void put_kernel(chrome *w, const ink_launch *info) {
  const ink_launch_span *span = &w->selection.spans[w->launch];
  const uint32_t lane = chrome_launch_lane(&w->events, (uint32_t)w->launch);
  chrome_begin_event(&w->events, "X", "kernel", ink_selection_kernel(&w->selection, w->launch), lane, span->begin_ns,
                     span->end_ns);
  chrome_argument(&w->events, "launch", w->launch, true);
  chrome_argument(&w->events, "grid_id", info->grid_id, false);
  ink_file_print(&w->file, ",\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u]", info->grid_dim[0],
                 info->grid_dim[1], info->grid_dim[2], info->block_dim[0], info->block_dim[1],
                 info->block_dim[2]);
  chrome_argument(&w->events, "tracks", span->track_count, false);
  const uint32_t *place = w->selection.graph_places[w->launch];
  if (place[0]) {
    chrome_argument(&w->events, "graph", place[0], false);
    chrome_argument(&w->events, "graph_node", place[1], false);
    chrome_argument(&w->events, "graph_replay", place[2], false);
  }
  chrome_end_event(&w->events);
  chrome_host_arrow(&w->events, &w->host, &(chrome_host_place){0}, (uint32_t)w->launch, lane, span->begin_ns, span->end_ns);
}

static ink_status end_launch(chrome *w) {
  return w->launch == SIZE_MAX ? INK_OK : chrome_launch_end(&w->events, (uint32_t)w->launch);
}

static ink_status on_crossing(void *user, const ink_crossing *crossing) {
  return ink_crossings_add(&((chrome *)user)->events.crossings, crossing);
}

static ink_status on_launch(void *user, uint32_t launch, const ink_launch *info) {
  chrome *w = user;
  const ink_status ended = end_launch(w);
  if (ended != INK_OK)
    return ended;
  set_pid(w, info->device);
  w->launch = launch;
  put_kernel(w, info);
  return ink_file_check(&w->file, w->error);
}

static ink_status on_track_begin(void *user, const ink_decoded_track *track) {
  chrome *w = user;
  const ink_track *h = &track->stored->header;
  const ink_status status = chrome_track_begin(&w->events, track);
  if (status != INK_OK)
    return status;
  return sm_counters_track(&w->counters, (uint32_t)w->launch, track->stored->device, h, track->open_ns,
                           track->close_ns > track->open_ns ? track->close_ns : track->open_ns);
}

static ink_status on_slice(void *user, const ink_slice *slice) {
  return ink_track_events_slice(&((chrome *)user)->events.events, slice);
}

static ink_status on_point(void *user, const ink_point *point) {
  return ink_track_events_point(&((chrome *)user)->events.events, point);
}

static ink_status on_async(void *user, const ink_async *async) {
  return ink_track_events_async(&((chrome *)user)->events.events, async);
}

static ink_status on_track_end(void *user, const ink_decoded_track *track) {
  chrome *w = user;
  w->marks_dropped += track->marks_dropped;
  w->events.body.marks_dropped = track->marks_dropped;
  ink_status status = chrome_track_end(&w->events);
  return status == INK_OK ? ink_file_check(&w->file, w->error) : status;
}

/* ---- active blocks --------------------------------------------------------------------------- */

static void begin_counter(void *user, const counter_edge *of) {
  chrome *w = user;
  set_pid(w, of->device);
  sm_counters_name(of, "", w->counter, sizeof w->counter);
}

static void counter_value(void *user, int64_t ns, int64_t value) {
  chrome *w = user;
  chrome_begin_event(&w->events, "C", "inkmark", w->counter, 0, ns, 0);
  ink_file_print(&w->file, "\"n\":%lld", (long long)value);
  chrome_end_event(&w->events);
}

/* ---- the output ------------------------------------------------------------------------------ */

/* The launches of a device share their lanes. */
static ink_status arrange(chrome *w) {
  const ink_selection *s = &w->selection;
  uint32_t *groups = calloc(s->launch_count + 1, sizeof *groups);
  if (!groups)
    return INK_ERROR_MEMORY;
  for (size_t i = 0; i < s->launch_count; i++)
    for (uint32_t d = 0; d < s->device_count; d++)
      if (s->devices[d].index == s->launches[i].device)
        groups[i] = d;
  const ink_status status = track_lanes_fill(&w->events.lanes, &w->events.launches, s, groups);
  free(groups);
  w->events.lanes_sort = 1 << 20; /* behind streams and threads */
  return status;
}

static void put_processes(chrome *w) {
  for (size_t i = 0; i < w->selection.device_count; i++) {
    const ink_device_info *device = &w->selection.devices[i];
    set_pid(w, device->index);
    chrome_metadata(&w->events, "process_name", 0, "name");
    ink_file_print(&w->file, "\"GPU %d%s\"}}", device->index,
                   device->simulated ? " (simulated clock)" : "");
  }
}

/* After the events: Perfetto before 2023 stops reading at the first key that it does not know. */
static void put_rest(chrome *w) {
  const ink_selection *s = &w->selection;
  const ink_capture_facts *facts = ink_capture_get_facts(s->capture);
  uint64_t missed = 0, lost = 0;
  for (size_t i = 0; i < s->kernel_count; i++) {
    missed += s->kernels[i].missed;
    lost += s->kernels[i].tracks_lost;
  }
  ink_file_print(&w->file,
                 "\n],\n\"schemaVersion\":1,\"baseTimeNanoseconds\":%lld,\"otherData\":{"
                 "\"baseTimeNanoseconds\":\"%lld\",\"clock\":\"%s\",\"complete\":%s,"
                 "\"marks_dropped\":%llu,\"entries_missed\":%llu,\"tracks_lost\":%llu,"
                 "\"left_out\":",
                 (long long)s->begin_ns, (long long)s->begin_ns,
                 ink_capture_simulated(s->capture) ? "simulated clock" : "GPU clock",
                 facts->complete ? "true" : "false", (unsigned long long)w->marks_dropped,
                 (unsigned long long)missed, (unsigned long long)lost);
  ink_file_json_string(&w->file, facts->note);
  ink_file_text(&w->file, "}}\n");
}

ink_status ink_write_chrome(const ink_capture *capture, const ink_clock_map *map,
                            const ink_output_options *options, const char *path, ink_error *error) {
  chrome w = {.error = error, .launch = SIZE_MAX, .file.fd = -1};
  ink_status status = ink_selection_make(&w.selection, capture, map, options, error);
  if (status == INK_OK)
    status = activity_lanes_make(&w.activity, &w.selection, error);
  if (status == INK_OK)
    status = host_lanes_make(&w.host, &w.selection, error);
  if (status == INK_OK)
    status = ink_file_open_utf8(&w.file, path, error);
  if (status != INK_OK)
    goto cleanup;
  w.selection.begin_ns = activity_lanes_begin(&w.activity, w.selection.begin_ns);
  w.selection.begin_ns =
      host_lanes_begin(&w.host, w.selection.begin_ns, w.selection.chosen_launches || w.activity.count);
  w.events = (chrome_events){
      .file = &w.file, .selection = &w.selection, .base_ns = w.selection.begin_ns, .pid = w.pid};
  ink_file_text(&w.file, "{\"traceEvents\":[");
  status = chrome_host_write(&w.events, &w.host, &(chrome_host_place){0}, error);
  w.events.pid = w.pid;
  put_processes(&w);
  if (status == INK_OK)
    status = chrome_activity_write(&w.events, &w.activity, error);
  w.events.pid = w.pid;
  if (status == INK_OK && arrange(&w) != INK_OK)
    status = ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  if (status != INK_OK)
    goto cleanup;
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
    status = sm_counters_end(&w.counters, &(counter_user){begin_counter, counter_value, &w});
  if (status == INK_OK) {
    put_rest(&w);
    status = ink_file_close(&w.file, error);
  } else if (status == INK_ERROR_MEMORY) {
    ink_error_set(error, status, "out of memory");
  }
cleanup:
  ink_file_abandon(&w.file);
  ink_selection_free(&w.selection);
  chrome_events_free(&w.events);
  activity_lanes_free(&w.activity);
  host_lanes_free(&w.host);
  sm_counters_free(&w.counters);
  return status;
}
