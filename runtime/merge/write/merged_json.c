/* SPDX-License-Identifier: MIT */
/* The merged JSON trace: the other file byte for byte, and our events before the bracket that
 * closes its own. Ours are lanes (threads) of the process that holds the kernel: for each stream those of its
 * launches, then those of the slots of SMs. */
#include "merge/write/trace_copy.h"
#include "merged_host.h"
#include "merged_private.h"
#include "merged_sink.h"

#include "output/chrome_host.h"
#include "merge/read/text_table.h"

#include <stdlib.h>
#include <string.h>

typedef struct merged_json {
  merged_sink sink; /* first: the callbacks get it */
  ink_file file;
  chrome_events events;
  host_lanes host;
  chrome_host_place host_place;
  uint32_t hosts; /* captures that were there before */
  char pid[FOREIGN_ID_BYTES];
  uint32_t flow, first_flow, launch_tid, tids_used;
  char counter[320]; /* the name of the one being written */
} merged_json;

/* The process of a launch: that of its kernel, or of any kernel of its GPU. */
static void set_pid(merged_json *w, int32_t device, size_t kernel) {
  const placement *p = &w->sink.place;
  if (kernel == SIZE_MAX)
    kernel = placement_any_kernel(p, device);
  if (kernel == SIZE_MAX)
    snprintf(w->pid, sizeof w->pid, "%d", device);
  else
    foreign_pid_json(p->foreign, &p->kernels[kernel], w->pid);
  w->events.pid = w->pid;
}

static void put_text(merged_json *w, const char *key, const char *text) {
  ink_file_print(&w->file, ",\"%s\":", key);
  ink_file_json_string(&w->file, text);
}

static void put_joined(merged_json *w, const placed_launch *l) {
  const placement *p = &w->sink.place;
  const char *method = placement_method(l->method);
  put_text(w, "joined_by", *method ? method : "nothing: the trace has no kernel for it");
  if (l->kernel != SIZE_MAX) {
    const ink_foreign_kernel *k = &p->kernels[l->kernel];
    put_text(w, "kernel", ink_foreign_name(p->foreign, k->type->name));
    if (k->correlation >= 0)
      ink_file_print(&w->file, ",\"kernel_correlation\":%lld", (long long)k->correlation);
    ink_file_print(&w->file, ",\"confidence\":%.3f,\"residual_ns\":%lld,\"outside_ns\":%lld",
                   l->confidence, (long long)l->residual_ns,
                   (long long)(l->early_ns > l->late_ns ? l->early_ns : l->late_ns));
    if (l->uncertain)
      put_text(w, "uncertain", PLACEMENT_UNCERTAIN);
  }
  if (l->clock)
    ink_file_print(&w->file, ",\"offset_taken_out_ns\":%lld", (long long)l->clock->offset_ns);
  if (ink_selection_simulated(&p->selection, p->selection.launches[w->sink.launch].device))
    put_text(w, "clock", "simulated clock");
}

/* From the kernel to the launch, and from there to its tracks. A kernel of no length has no inside
 * that an arrow could leave. */
static void put_arrows(merged_json *w, const placed_launch *l) {
  const placement *p = &w->sink.place;
  char lane[16], stream[FOREIGN_ID_BYTES];
  snprintf(lane, sizeof lane, "%u", w->launch_tid);
  w->first_flow = w->flow + 1;
  for (uint64_t i = 0; i < l->shown && i < FLOWS_MAX; i++)
    chrome_flow(&w->events, "s", lane, l->begin_ns, ++w->flow);
  if (l->kernel == SIZE_MAX)
    return;
  const ink_foreign_kernel *k = &p->kernels[l->kernel];
  if (k->end_ns - k->begin_ns < 2)
    return;
  foreign_tid_json(p->foreign, k, stream);
  chrome_flow(&w->events, "s", stream, k->begin_ns + 1, ++w->flow);
  chrome_flow(&w->events, "f", lane, l->begin_ns, w->flow);
}

static ink_status begin_launch(void *user, size_t launch) {
  merged_json *w = user;
  const placement *p = &w->sink.place;
  const placed_launch *l = &p->launches[launch];
  const ink_launch *info = &p->selection.launches[launch];
  chrome_events *e = &w->events;
  char named[PLACEMENT_NAME_BYTES];
  const char *name = placement_launch_name(p, launch, named);
  set_pid(w, info->device, l->kernel);
  w->launch_tid = chrome_launch_lane(e, (uint32_t)launch);
  chrome_begin_event(e, "B", "inkmark", name, w->launch_tid, l->begin_ns, 0);
  chrome_argument(e, "launch", launch, true);
  chrome_argument(e, "device", (uint64_t)info->device, false);
  chrome_argument(e, "grid_id", info->grid_id, false);
  ink_file_print(&w->file, ",\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u]", info->grid_dim[0],
                 info->grid_dim[1], info->grid_dim[2], info->block_dim[0], info->block_dim[1],
                 info->block_dim[2]);
  chrome_argument(e, "tracks", p->selection.spans[launch].track_count, false);
  chrome_argument(e, "tracks_shown", l->shown, false);
  int64_t bound = placement_bound_ns(p, launch);
  if (bound != INT64_MAX)
    chrome_argument(e, "bound_ns", (uint64_t)bound, false);
  put_joined(w, l);
  chrome_end_event(e);
  put_arrows(w, l);
  chrome_host_arrow(e, &w->host, &w->host_place, (uint32_t)launch, w->launch_tid, l->begin_ns, l->end_ns);
  chrome_end_slice(e, w->launch_tid, l->end_ns);
  return INK_OK;
}

static ink_status begin_track(void *user) {
  merged_json *w = user;
  const merged_track *t = &w->sink.track;
  chrome_events *e = &w->events;
  const ink_status status = chrome_track_begin(e, t->decoded);
  e->body.bound_ns = t->bound_ns;
  e->body.flow = t->rank < FLOWS_MAX ? w->first_flow + t->rank : 0;
  return status;
}

static ink_status end_launch(void *user) {
  merged_json *w = user;
  return w->sink.launch == SIZE_MAX ? INK_OK : chrome_launch_end(&w->events, (uint32_t)w->sink.launch);
}

static ink_status end_track(void *user) {
  merged_json *w = user;
  w->events.body.marks_dropped = w->sink.track.marks_dropped;
  return chrome_track_end(&w->events);
}

/* ---- counters ----------------------------------------------------------------------------------
 */

static void begin_counter(void *user, const counter_edge *of) {
  merged_json *w = user;
  char plain[160];
  set_pid(w, of->device, SIZE_MAX);
  const char *who = w->sink.place.who;
  sm_counters_name(of, ink_selection_section(&w->sink.place.selection, of->section), plain, sizeof plain);
  snprintf(w->counter, sizeof w->counter, "%s%s%s", who, *who ? " " : "", plain);
}

static void counter_value(void *user, int64_t ns, int64_t value) {
  merged_json *w = user;
  chrome_begin_event(&w->events, "C", "inkmark", w->counter, 0, ns, 0);
  ink_file_print(&w->file, "\"n\":%lld", (long long)value);
  chrome_end_event(&w->events);
}

/* ---- the file ----------------------------------------------------------------------------------
 */

/* Launches of one stream share their lanes; what has no kernel, those of its device. */
static uint32_t group_of(merged_json *w, size_t launch, text_table *seen) {
  const placement *p = &w->sink.place;
  const placed_launch *l = &p->launches[launch];
  char key[2 * FOREIGN_ID_BYTES + 40], tid[FOREIGN_ID_BYTES] = "";
  set_pid(w, p->selection.launches[launch].device, l->kernel);
  if (l->kernel != SIZE_MAX)
    foreign_tid_json(p->foreign, &p->kernels[l->kernel], tid);
  const int n = snprintf(key, sizeof key, "%s\t%s", w->pid, tid);
  uint32_t group;
  return text_table_add(seen, key, (size_t)n, &group, NULL) == INK_OK ? group : UINT32_MAX;
}

static char *prefix_of(const placement *p, size_t launch) {
  const placed_launch *l = &p->launches[launch];
  char text[240];
  const int n = snprintf(text, sizeof text, "%s%sinkmark ", p->who, *p->who ? " " : "");
  if (l->kernel != SIZE_MAX)
    snprintf(text + n, sizeof text - (size_t)n, "stream %lld ", (long long)p->kernels[l->kernel].type->stream);
  return strdup(text);
}

/* One process's SM 0 is not another's: `prefixes` has one for each group. */
static ink_status arrange(merged_json *w, char **prefixes, uint32_t *groups) {
  const placement *p = &w->sink.place;
  text_table seen = {0};
  ink_status status = INK_OK;
  for (size_t i = 0; i < p->selection.launch_count && status == INK_OK; i++) {
    if (!p->launches[i].placed)
      continue;
    groups[i] = group_of(w, i, &seen);
    if (groups[i] != UINT32_MAX && !prefixes[groups[i]])
      prefixes[groups[i]] = prefix_of(p, i);
    status = groups[i] != UINT32_MAX && prefixes[groups[i]] ? INK_OK : INK_ERROR_MEMORY;
  }
  text_table_free(&seen);
  w->events.prefixes = prefixes;
  /* Times of theirs are in microseconds of Unix time, which readers round to their doubles' steps of 250 ns. */
  return status == INK_OK
             ? merged_sink_lanes(&w->sink, groups, 1000, &w->events.lanes, &w->events.launches)
             : status;
}

/* In front of all else: a process of its own, whose threads are none of theirs. */
static ink_status put_host(merged_json *w) {
  const placement *p = &w->sink.place;
  char who[200];
  merged_host_who(p, p->who, who, sizeof who);
  w->host_place = (chrome_host_place){.who = who, .pids_from = MERGED_HOST_PIDS_APART * (w->hosts % 256 + 1),
                                      .arrows_from = (w->events.next_tid >> 20) + 4096 * w->hosts};
  w->hosts++;
  ink_status status = merged_host_make(&w->host, p, w->sink.error);
  if (status == INK_OK)
    status = chrome_host_write(&w->events, &w->host, &w->host_place, w->sink.error);
  w->host_place.who = NULL;
  return status;
}

static ink_status put_ours(merged_json *w) {
  const size_t launches = w->sink.place.selection.launch_count;
  char **prefixes = calloc(launches + 1, sizeof *prefixes);
  uint32_t *groups = calloc(launches + 1, sizeof *groups);
  ink_status status = prefixes && groups ? put_host(w) : INK_ERROR_MEMORY;
  if (status == INK_OK)
    status = arrange(w, prefixes, groups);
  if (status == INK_ERROR_MEMORY)
    ink_error_set(w->sink.error, status, "out of memory");
  free(groups);
  if (status == INK_OK)
    status = merged_sink_run(&w->sink);
  w->events.lanes_sort += (uint32_t)(w->events.lanes.lane_count + w->events.launches.lane_count + 2) * 16;
  chrome_lanes_end(&w->events);
  for (size_t i = 0; prefixes && i < launches; i++)
    free(prefixes[i]);
  free(prefixes);
  host_lanes_free(&w->host);
  if (status != INK_OK)
    return status;
  const counter_user user = {begin_counter, counter_value, w};
  return sm_counters_end(&w->sink.counters, &user);
}

/* Threads of ours must not be threads of theirs, nor of an earlier merge into this file: numbers
 * that no system gives, from one of 255 ranges by the capture's own start. */
static uint32_t first_tid(const ink_capture *capture) {
  static const char *const keys[] = {"host", "pid", "started_ns"};
  uint32_t h = 2166136261u; /* FNV-1a */
  for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
    const char *text = ink_capture_fact(capture, keys[k]);
    for (text = text ? text : "?"; *text; text++)
      h = (h ^ (unsigned char)*text) * 16777619u;
  }
  return (UINT32_C(1) << 30) + (h % 255 << 22);
}

/* The next of several captures. */
static ink_status put_capture(merged_json *w, merged_whole *whole, size_t index, ink_error *error) {
  w->sink = whole->sinks[index];
  w->sink.file = &w->file;
  w->sink.error = error;
  w->sink.events = &w->events.events;
  w->sink.begin_launch = begin_launch;
  w->sink.begin_track = begin_track;
  w->sink.end_track = end_track;
  w->sink.end_launch = end_launch;
  w->sink.crossings = &w->events.crossings;
  w->sink.launch = SIZE_MAX;
  w->events.selection = &w->sink.place.selection;
  w->events.next_tid = first_tid(w->sink.place.selection.capture);
  for (size_t i = 0; i < index; i++) /* one after the other, should their ranges be the same */
    if (first_tid(whole->sinks[i].place.selection.capture) >> 22 == w->events.next_tid >> 22)
      w->events.next_tid += w->tids_used;
  uint32_t first = w->events.next_tid;
  if (!index)
    w->flow = first; /* nor are arrows those of an earlier merge */
  ink_status status = put_ours(w);
  w->tids_used += w->events.next_tid - first;
  whole->sinks[index].counters = w->sink.counters; /* the caller frees what it holds */
  return status;
}

ink_status merged_write_json(merged_whole *whole, const char *path, ink_error *error) {
  const placement *p = &whole->sinks[0].place;
  if (p->facts->kind == INK_FOREIGN_NSIGHT)
    return ink_error_set(error, INK_ERROR_UNSUPPORTED,
                         "cannot write JSON with '%s', which is SQLite: use a name that ends in "
                         ".pftrace",
                         p->with);
  if (p->facts->kind == INK_FOREIGN_PERFETTO)
    return ink_error_set(error, INK_ERROR_UNSUPPORTED,
                         "cannot write JSON with '%s', which is a Perfetto trace: use a name that ends in .pftrace",
                         p->with);
  merged_json *w = calloc(1, sizeof *w);
  trace_copy in = {0};
  if (!w)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  w->file.fd = -1;
  ink_status status = trace_copy_open(&in, p->with, error);
  if (status == INK_OK)
    status = ink_file_open_utf8(&w->file, path, error);
  if (status != INK_OK)
    goto cleanup;
  w->events = (chrome_events){.file = &w->file,
                              .base_ns = p->facts->base_ns,
                              .some = true, /* the last of theirs needs a comma behind it */
                              .merged = true};
  w->events.lanes_sort = 1 << 26;
  in.edits = foreign_edits(p->foreign);
  status = trace_copy_copy(&in, &w->file, foreign_events_end(p->foreign), p, error);
  for (size_t i = 0; i < whole->count && status == INK_OK; i++)
    status = put_capture(w, whole, i, error);
  if (status == INK_OK)
    status = trace_copy_copy(&in, &w->file, UINT64_MAX, p, error);
  if (status == INK_OK)
    status = ink_file_close(&w->file, error);
cleanup:
  trace_copy_close(&in);
  ink_file_abandon(&w->file);
  chrome_events_free(&w->events);
  free(w);
  return status;
}
