/* SPDX-License-Identifier: MIT */
/* Writes activities into a Perfetto trace. A program's process is described where its first call
 * is; streams come before threads, so that devices stand above. */
#include "perfetto_activity.h"

#include <stdlib.h>

typedef struct extra_process { /* of a device without tracks, or of the program */
  bool device;
  uint32_t number;
  uint64_t uuid;
} extra_process;

enum { PROCESSES_MAX = 64 };

typedef struct activity_writer {
  perfetto *out;
  activity_lanes *lanes;
  perfetto_activity_place place;
  extra_process extra[PROCESSES_MAX];
  size_t extra_count;
} activity_writer;

uint64_t perfetto_activity_flow(const perfetto *out, uint32_t correlation) {
  return out->uuid_base | correlation;
}

uint64_t perfetto_activity_track(const activity_lanes *l, uint32_t launch) {
  const activity_shown *kernel = activity_of_launch(l, launch);
  return kernel ? l->lanes[kernel->lane].id : 0;
}

char *perfetto_activity_arguments(char *p, const perfetto *out, const activity_lanes *l,
                                  uint32_t launch, int64_t begin_ns, int64_t end_ns) {
  const activity_shown *kernel = activity_of_launch(l, launch);
  if (!kernel)
    return p;
  if (kernel->flows)
    p = pb_fixed64(p, EVENT_FLOWS, perfetto_activity_flow(out, kernel->a->correlation));
  if (begin_ns < kernel->begin_ns)
    p = perfetto_named_uint(p, "before_its_kernel_ns", (uint64_t)(kernel->begin_ns - begin_ns));
  if (end_ns > kernel->end_ns)
    p = perfetto_named_uint(p, "after_its_kernel_ns", (uint64_t)(end_ns - kernel->end_ns));
  return p;
}

static uint64_t new_process(activity_writer *w, bool device, uint32_t number) {
  char name[256];
  const ink_capture *capture = w->lanes->selection->capture;
  const char *command = ink_capture_fact(capture, "command");
  for (size_t i = 0; i < w->extra_count; i++)
    if (w->extra[i].device == device && w->extra[i].number == number)
      return w->extra[i].uuid;
  const char *who = w->place.who ? w->place.who : "", *comma = *who ? ", " : "";
  if (device)
    snprintf(name, sizeof name, "%.80s%sGPU %u%s", who, comma, number,
             ink_capture_simulated(capture) ? " (simulated clock)" : "");
  else
    snprintf(name, sizeof name, "%.80s%s%.*s", who, comma,
             (int)strcspn(command ? command : "program", " "), command ? command : "program");
  const uint64_t uuid = perfetto_new_uuid(w->out);
  perfetto_describe(
      w->out, &(perfetto_track){.uuid = uuid, .name = name, .pid = w->place.pids_from + number});
  if (w->extra_count < PROCESSES_MAX)
    w->extra[w->extra_count++] = (extra_process){device, number, uuid};
  return uuid;
}

static uint64_t parent_of(activity_writer *w, const activity_lane *lane) {
  const ink_selection *s = w->lanes->selection;
  for (size_t i = 0; i < s->device_count; i++)
    if (lane->device >= 0 && s->devices[i].index == lane->device)
      return w->place.device_parents[i];
  return new_process(w, lane->device >= 0,
                     lane->device >= 0 ? (uint32_t)lane->device : lane->process);
}

static ink_status describe_lanes(activity_writer *w) {
  const size_t n = w->lanes->lane_count;
  activity_lane **order = malloc((n + 1) * sizeof *order);
  char name[64];
  if (!order)
    return INK_ERROR_MEMORY;
  for (size_t i = 0; i < n; i++)
    order[i] = &w->lanes->lanes[i];
  if (n)
    qsort(order, n, sizeof *order, activity_lane_by_place);
  for (size_t i = 0; i < n; i++) {
    activity_lane_name(order[i], name, sizeof name);
    const uint64_t parent = parent_of(w, order[i]);
    order[i]->id = perfetto_new_uuid(w->out);
    perfetto_describe(
        w->out,
        &(perfetto_track){
            .uuid = order[i]->id, .parent = parent, .name = name, .rank = (int32_t)i, .pid = -1});
  }
  free(order);
  return INK_OK;
}

static char *put_dim(char *p, const char *name, const uint32_t dim[3]) {
  char text[64];
  snprintf(text, sizeof text, "%ux%ux%u", dim[0], dim[1], dim[2]);
  return perfetto_named_text(p, name, text);
}

static char *put_kernel(const activity_writer *w, char *p, const activity_shown *shown) {
  const ink_activity *a = shown->a;
  const ink_capture *capture = w->lanes->selection->capture;
  const ink_activity_device *devices, *device = NULL;
  const size_t n = ink_capture_activity_devices(capture, &devices);
  for (size_t i = 0; i < n && !device; i++)
    device = devices[i].index == a->device ? &devices[i] : NULL;
  const ink_occupancy o = ink_activity_occupancy(a, device);
  p = perfetto_named_text(p, "kernel", ink_capture_activity_name(capture, a->name));
  p = perfetto_named_uint(p, "grid_id", a->grid_id);
  p = put_dim(p, "grid", a->grid_dim);
  p = put_dim(p, "block", a->block_dim);
  p = perfetto_named_uint(p, "registers", a->registers);
  p = perfetto_named_uint(p, "static_shared_bytes", a->static_shared_bytes);
  p = perfetto_named_uint(p, "dynamic_shared_bytes", a->dynamic_shared_bytes);
  if (o.limit != INK_LIMIT_UNKNOWN)
    p = perfetto_named_double(p, "occupancy", o.share);
  return shown->launch == UINT32_MAX ? p : perfetto_named_uint(p, "launch", shown->launch);
}

static void put_shown(const activity_writer *w, const activity_shown *shown) {
  const ink_activity *a = shown->a;
  const uint64_t track = w->lanes->lanes[shown->lane].id;
  char name[PERFETTO_NAME_BYTES];
  activity_shown_name(w->lanes, a, name, sizeof name);
  char *p = perfetto_event(w->out, shown->begin_ns, TYPE_BEGIN, track);
  p = pb_string(p, EVENT_CATEGORY_NAME, activity_category(a));
  p = perfetto_text(p, EVENT_NAME, name);
  if (shown->flows)
    p = pb_fixed64(p, EVENT_FLOWS, perfetto_activity_flow(w->out, a->correlation));
  p = perfetto_named_uint(p, "correlation", a->correlation);
  if (a->kind == INK_ACTIVITY_KERNEL)
    p = put_kernel(w, p, shown);
  else if (a->kind == INK_ACTIVITY_COPY || a->kind == INK_ACTIVITY_SET)
    p = perfetto_named_uint(p, "bytes", a->bytes);
  else
    p = perfetto_named_uint(p, "result", (uint32_t)a->result);
  if (a->graph) {
    p = perfetto_named_uint(p, "graph", a->graph);
    p = perfetto_named_uint(p, "graph_node", a->graph_node);
  }
  perfetto_event_end(w->out, p);
  perfetto_event_end(w->out, perfetto_event(w->out, shown->end_ns, TYPE_END, track));
}

ink_status perfetto_activity_write(perfetto *out, activity_lanes *lanes,
                                   const perfetto_activity_place *place, ink_error *error) {
  activity_writer w = {.out = out, .lanes = lanes, .place = *place};
  ink_status status = lanes->count ? describe_lanes(&w) : INK_OK;
  if (status == INK_ERROR_MEMORY)
    ink_error_set(error, status, "out of memory");
  for (size_t i = 0; i < lanes->count && status == INK_OK; i++) {
    put_shown(&w, &lanes->shown[i]);
    if (i % 1024 == 0)
      status = ink_file_check(out->file, error);
  }
  return status;
}
