/* SPDX-License-Identifier: MIT */
/* Writes a capture's launches under the kernels of another trace: for each stream a track with their slices, below it
 * lanes of the SMs with the shown blocks or warps; and the counters. */
#include "merged_host.h"
#include "merged_perfetto.h"

#include <stdlib.h>

static size_t device_index(const merged_perfetto *w, int32_t device) {
  const ink_selection *s = &w->sink.place.selection;
  for (size_t i = 0; i < s->device_count; i++)
    if (s->devices[i].index == device)
      return i;
  return s->device_count; /* one more place, for what no chunk describes */
}

static uint64_t process_of(merged_perfetto *w, int32_t device) {
  size_t i = device_index(w, device);
  if (!w->processes[i]) {
    char name[64];
    snprintf(name, sizeof name, "GPU %d%s", device,
             ink_selection_simulated(&w->sink.place.selection, device) ? " (simulated clock)" : "");
    w->processes[i] = perfetto_new_uuid(&w->out);
    perfetto_describe(
        &w->out, &(perfetto_track){.uuid = w->processes[i],
                                   .name = w->process_names[i] ? w->process_names[i] : name,
                                   .pid = w->process_pids[i] >= 0 ? w->process_pids[i] : device});
  }
  return w->processes[i];
}

static uint64_t parent_of(merged_perfetto *w, size_t launch) {
  const placement *p = &w->sink.place;
  if (w->parents[launch])
    return w->parents[launch];
  int32_t device = p->selection.launches[launch].device;
  size_t i = device_index(w, device);
  if (!w->devices[i]) {
    uint64_t process = process_of(w, device);
    w->devices[i] = perfetto_new_uuid(&w->out);
    perfetto_describe(
        &w->out, &(perfetto_track){.uuid = w->devices[i],
                                   .parent = process,
                                   .name = p->foreign ? "launches without a kernel" : "launches",
                                   .pid = -1});
  }
  return w->devices[i];
}

uint64_t merged_perfetto_stream(merged_perfetto *w, int32_t device, int64_t stream) {
  uint64_t process = process_of(w, device), uuid = perfetto_new_uuid(&w->out);
  char name[64];
  snprintf(name, sizeof name, "inkmark, stream %lld", (long long)stream);
  perfetto_describe(&w->out,
                    &(perfetto_track){.uuid = uuid, .parent = process, .name = name, .pid = -1});
  return uuid;
}

static char *put_joined(const placement *p, const placed_launch *l, char *q) {
  const char *method = placement_method(l->method);
  if (!p->foreign)
    return q;
  q = perfetto_named_text(q, "joined_by",
                          *method ? method : "nothing: the trace has no kernel for it");
  if (l->kernel != SIZE_MAX) {
    q = perfetto_named_text(q, "kernel",
                            ink_foreign_name(p->foreign, p->kernels[l->kernel].type->name));
    if (p->kernels[l->kernel].correlation >= 0)
      q = perfetto_named_int(q, "kernel_correlation", p->kernels[l->kernel].correlation);
    q = perfetto_named_double(q, "confidence", l->confidence);
    if (l->uncertain)
      q = perfetto_named_text(q, "uncertain", PLACEMENT_UNCERTAIN);
    q = perfetto_named_int(q, "residual_ns", l->residual_ns);
    q = perfetto_named_int(q, "outside_ns", l->early_ns > l->late_ns ? l->early_ns : l->late_ns);
  }
  return l->clock ? perfetto_named_int(q, "offset_taken_out_ns", l->clock->offset_ns) : q;
}

static void put_launch(merged_perfetto *w, size_t launch) {
  const placement *p = &w->sink.place;
  const placed_launch *l = &p->launches[launch];
  const ink_launch *info = &p->selection.launches[launch];
  char text[96], named[PLACEMENT_NAME_BYTES];
  const char *name = placement_launch_name(p, launch, named);
  char *q = perfetto_event(&w->out, l->begin_ns, TYPE_BEGIN, perfetto_tracks_launch(&w->tracks, (uint32_t)launch));
  q = pb_string(q, EVENT_CATEGORY_NAME, "inkmark");
  q = perfetto_text(q, EVENT_NAME, name);
  if (w->flows[launch])
    q = pb_fixed64(q, EVENT_FLOW_ENDS, w->flows[launch]);
  for (uint64_t i = 0; i < l->shown && i < FLOWS_MAX; i++)
    q = pb_fixed64(q, EVENT_FLOWS, w->first_flow + i);
  q = perfetto_host_arguments(q, &w->out, &w->host, (uint32_t)launch);
  q = perfetto_named_uint(q, "launch", launch);
  q = perfetto_named_int(q, "device", info->device);
  q = perfetto_named_uint(q, "grid_id", info->grid_id);
  snprintf(text, sizeof text, "%ux%ux%u", info->grid_dim[0], info->grid_dim[1], info->grid_dim[2]);
  q = perfetto_named_text(q, "grid", text);
  snprintf(text, sizeof text, "%ux%ux%u", info->block_dim[0], info->block_dim[1],
           info->block_dim[2]);
  q = perfetto_named_text(q, "block", text);
  q = perfetto_named_uint(q, "tracks", p->selection.spans[launch].track_count);
  q = perfetto_named_uint(q, "tracks_shown", l->shown);
  int64_t bound = placement_bound_ns(p, launch);
  if (bound != INT64_MAX)
    q = perfetto_named_int(q, "bound_ns", bound);
  if (ink_selection_simulated(&p->selection, info->device))
    q = perfetto_named_text(q, "clock", "simulated clock");
  perfetto_event_end(&w->out, put_joined(p, l, q));
  perfetto_event_end(&w->out, perfetto_event(&w->out, l->end_ns, TYPE_END, perfetto_tracks_launch(&w->tracks, (uint32_t)launch)));
}

static ink_status begin_launch(void *user, size_t launch) {
  merged_perfetto *w = user;
  const placement *p = &w->sink.place;
  uint64_t flows = p->launches[launch].shown < FLOWS_MAX ? p->launches[launch].shown : FLOWS_MAX;
  w->first_flow = perfetto_new_uuid(&w->out);
  for (uint64_t i = 1; i < flows; i++)
    perfetto_new_uuid(&w->out);
  put_launch(w, launch);
  return INK_OK;
}

static ink_status begin_track(void *user) {
  merged_perfetto *w = user;
  const merged_track *t = &w->sink.track;
  const ink_status status = perfetto_tracks_begin(&w->tracks, t->decoded);
  w->tracks.body.bound_ns = t->bound_ns;
  w->tracks.body.flow = t->rank < FLOWS_MAX ? w->first_flow + t->rank : 0;
  return status;
}

static ink_status end_launch(void *user) {
  merged_perfetto *w = user;
  return w->sink.launch == SIZE_MAX ? INK_OK : perfetto_tracks_launch_end(&w->tracks, (uint32_t)w->sink.launch);
}

static ink_status end_track(void *user) {
  merged_perfetto *w = user;
  w->tracks.body.marks_dropped = w->sink.track.marks_dropped;
  return perfetto_tracks_end(&w->tracks);
}

/* ---- counters ----------------------------------------------------------------------------------
 */

static void begin_counter(void *user, const counter_edge *of) {
  merged_perfetto *w = user;
  char name[320], plain[160];
  if (!w->counters_uuid || w->counters_device != of->device) {
    uint64_t process = process_of(w, of->device);
    w->counters_device = of->device;
    w->counters_uuid = perfetto_new_uuid(&w->out);
    perfetto_describe(&w->out, &(perfetto_track){.uuid = w->counters_uuid,
                                                 .parent = process,
                                                 .name = "inkmark counters",
                                                 .pid = -1});
  }
  const char *who = w->sink.place.who;
  sm_counters_name(of, ink_selection_section(&w->sink.place.selection, of->section), plain, sizeof plain);
  snprintf(name, sizeof name, "%s%s%s", who, *who ? " " : "", plain);
  w->counter_uuid = perfetto_new_uuid(&w->out);
  uint32_t rank = (of->sm + 1) * 0x10000u + of->section + 1;
  perfetto_describe(&w->out, &(perfetto_track){.uuid = w->counter_uuid,
                                               .parent = w->counters_uuid,
                                               .name = name,
                                               .rank = (int32_t)(rank & INT32_MAX),
                                               .pid = -1,
                                               .counter = true});
}

static void counter_value(void *user, int64_t ns, int64_t value) {
  merged_perfetto *w = user;
  char *p = perfetto_event(&w->out, ns, TYPE_COUNTER, w->counter_uuid);
  perfetto_event_end(&w->out, pb_int(p, EVENT_COUNTER, value));
}

/* ---- the whole ---------------------------------------------------------------------------------
 */

ink_status merged_perfetto_init(merged_perfetto *w, merged_sink *sink, ink_file *file, unsigned index,
                                const merged_home *home) {
  *w = (merged_perfetto){.sink = *sink};
  const ink_selection *s = &w->sink.place.selection;
  w->parents = calloc(s->launch_count + 1, sizeof *w->parents);
  w->flows = calloc(s->launch_count + 1, sizeof *w->flows);
  w->devices = calloc(s->device_count + 1, sizeof *w->devices);
  w->processes = calloc(s->device_count + 1, sizeof *w->processes);
  w->process_names = calloc(s->device_count + 1, sizeof *w->process_names);
  w->process_pids = calloc(s->device_count + 1, sizeof *w->process_pids);
  if (!w->parents || !w->flows || !w->devices || !w->processes || !w->process_names ||
      !w->process_pids)
    return INK_ERROR_MEMORY;
  for (size_t i = 0; i <= s->device_count; i++)
    w->process_pids[i] = -1;
  w->sink.file = file;
  w->sink.begin_launch = begin_launch;
  w->sink.begin_track = begin_track;
  w->sink.end_track = end_track;
  w->sink.end_launch = end_launch;
  w->sink.launch = SIZE_MAX;
  w->sink.crossings = &w->tracks.crossings;
  w->sink.events = &w->tracks.events;
  ink_status status = perfetto_tracks_init(&w->tracks, &w->out, s);
  if (status == INK_OK)
    status = merged_host_make(&w->host, &w->sink.place, sink->error);
  merged_host_who(&w->sink.place, w->sink.place.who, w->host_who, sizeof w->host_who);
  w->host_place = (perfetto_host_place){.who = w->host_who, .no_process = w->sink.place.foreign != NULL};
  w->tracks.places = true;
  w->sink.events = &w->tracks.events;
  if (home)
    perfetto_start_on(&w->out, file, home->sequence, s->capture, home->ns, home->clock, home->clock_ns);
  else
    perfetto_start(&w->out, file, index + 1, s->capture, host_lanes_begin(&w->host, s->begin_ns, true));
  w->out.uuid_base += (uint64_t)index << 56; /* captures of one file never share an id */
  return status;
}

/* Launches below one track share their lanes. */
static ink_status describe_lanes(merged_perfetto *w) {
  const placement *p = &w->sink.place;
  const size_t launches = p->selection.launch_count;
  uint32_t *groups = calloc(launches + 1, sizeof *groups), count = 0;
  uint64_t *parents = calloc(launches + 1, sizeof *parents);
  id_map seen = {0};
  char prefix[200];
  ink_status status = groups && parents ? INK_OK : INK_ERROR_MEMORY;
  for (size_t i = 0; i < launches && status == INK_OK; i++) {
    if (!p->launches[i].placed)
      continue;
    const uint64_t parent = parent_of(w, i);
    groups[i] = id_map_get(&seen, parent);
    if (groups[i] != INK_ID_NONE)
      continue;
    groups[i] = count++;
    parents[groups[i]] = parent;
    status = id_map_put(&seen, parent, groups[i]) ? INK_OK : INK_ERROR_MEMORY;
  }
  if (status == INK_OK)
    status = merged_sink_lanes(&w->sink, groups, 0, &w->tracks.lanes, &w->tracks.launches);
  snprintf(prefix, sizeof prefix, "%s%sinkmark ", p->foreign ? p->who : "", p->foreign && *p->who ? " " : "");
  if (status == INK_OK) /* behind the lanes of the stream */
    perfetto_tracks_describe(&w->tracks, parents, prefix, 1 << 17);
  free(groups);
  free(parents);
  id_map_free(&seen);
  return status;
}

ink_status merged_perfetto_put(merged_perfetto *w) {
  ink_status status = perfetto_host_write(&w->out, &w->host, &w->host_place, w->sink.error);
  if (status == INK_OK)
    status = describe_lanes(w);
  if (status == INK_OK)
    status = merged_sink_run(&w->sink);
  if (status != INK_OK)
    return status;
  const counter_user user = {begin_counter, counter_value, w};
  return sm_counters_end(&w->sink.counters, &user);
}

void merged_perfetto_free(merged_perfetto *w, merged_sink *sink) {
  sink->counters = w->sink.counters;
  for (size_t i = 0; w->process_names && i <= w->sink.place.selection.device_count; i++)
    free(w->process_names[i]);
  free(w->parents);
  free(w->flows);
  free(w->devices);
  free(w->processes);
  free(w->process_names);
  free(w->process_pids);
  host_lanes_free(&w->host);
  perfetto_tracks_free(&w->tracks);
}
