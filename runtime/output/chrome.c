/* SPDX-License-Identifier: MIT */
/* The Chrome JSON output: complete events whose times count from a base that is kept at full
 * precision beside them. A process for each device, a lane (thread) for each track; what may
 * overlap (kernels, asynchronous ranges) is spread over lanes so that no two events of a lane
 * overlap unless one encloses the other.
 *
 * displayTimeUnit is left out on purpose: with "ns" there, Perfetto's trace processor takes ts for
 * ns, every other reader for us. */
#include "outputs.h"
#include "selection.h"
#include "text_write.h"
#include "track_events.h"

#include <stdlib.h>

typedef struct chrome {
  ink_selection selection; /* first: see ink_selection_decode */
  ink_file file;
  ink_error *error;
  ink_track_events events;
  bool some; /* an event was written: the next needs a comma */
  uint32_t next_tid, next_sort;
  int64_t *kernel_ends; /* kernel lanes of the current device */
  uint32_t *kernel_tids;
  size_t kernel_lanes, kernel_room, tid_room;
  int32_t device; /* of the current launch */
  size_t launch;
  uint32_t tid;
  uint64_t marks_dropped;
  char label[128];
} chrome;

static void comma(chrome *w) {
  ink_file_text(&w->file, w->some ? ",\n" : "\n");
  w->some = true;
}

/* {"ph":"M","name":...,"pid":..,"tid":..,"args":{"KEY": and the value is to follow */
static void metadata(chrome *w, const char *name, int32_t pid, uint32_t tid, const char *key) {
  comma(w);
  ink_file_print(&w->file,
                 "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%d,\"tid\":%u,\"args\":{\"%s\":", name, pid,
                 tid, key);
}

static uint32_t new_lane(chrome *w, const char *name) {
  uint32_t tid = ++w->next_tid;
  metadata(w, "thread_name", w->device, tid, "name");
  ink_file_json_string(&w->file, name);
  ink_file_text(&w->file, "}}");
  metadata(w, "thread_sort_index", w->device, tid, "sort_index");
  ink_file_print(&w->file, "%u}}", ++w->next_sort);
  return tid;
}

/* The head of an event, up to and with "args":{ ; end_event closes it. */
static void begin_event(chrome *w, const char *phase, const char *category, const char *name,
                        uint32_t tid, int64_t begin_ns, int64_t end_ns) {
  comma(w);
  ink_file_print(&w->file, "{\"ph\":\"%s\",\"cat\":\"%s\",\"name\":", phase, category);
  ink_file_json_string(&w->file, name);
  char *p = ink_file_room(&w->file, 256);
  p = text_bytes(p, ",\"pid\":", 7);
  p = text_i64(p, w->device);
  p = text_bytes(p, ",\"tid\":", 7);
  p = text_u64(p, tid);
  p = text_bytes(p, ",\"ts\":", 6);
  p = text_us(p, ink_ns_between(w->selection.begin_ns, begin_ns));
  if (*phase == 'X') {
    p = text_bytes(p, ",\"dur\":", 7);
    p = text_us(p, end_ns > begin_ns ? ink_ns_between(begin_ns, end_ns) : 0);
  } else if (*phase == 'i') {
    p = text_bytes(p, ",\"s\":\"t\"", 8);
  }
  p = text_bytes(p, ",\"args\":{", 9);
  ink_file_took(&w->file, p);
}

static void end_event(chrome *w) {
  ink_file_text(&w->file, "}}");
}

static void argument(chrome *w, const char *name, uint64_t value, bool first) {
  char *p = ink_file_room(&w->file, 128);
  if (!first)
    *p++ = ',';
  *p++ = '"';
  p = text_bytes(p, name, strlen(name));
  *p++ = '"';
  *p++ = ':';
  ink_file_took(&w->file, text_u64(p, value));
}

static void row_argument(chrome *w, int64_t row) {
  if (row == INK_ROW_NONE)
    return;
  char *p = ink_file_room(&w->file, 128);
  if (row == INK_ROW_UNKNOWN) {
    p = text_bytes(p, ",\"iteration\":\"unknown\"", 22);
  } else {
    p = text_bytes(p, ",\"iteration\":", 13);
    p = text_i64(p, row);
  }
  ink_file_took(&w->file, p);
}

static void put_slice(chrome *w, const ink_slice *slice) {
  begin_event(w, "X", "section", ink_selection_section(&w->selection, slice->section), w->tid,
              slice->begin_ns, slice->end_ns);
  argument(w, "cycles", slice->end_cycles - slice->begin_cycles, true);
  row_argument(w, slice->row);
  if (slice->cut)
    argument(w, "cut", slice->cut, false);
  if (slice->called)
    argument(w, "called", 1, false);
  end_event(w);
}

static void put_point(chrome *w, const ink_point *point) {
  const char *name = ink_selection_section(&w->selection, point->section);
  if (point->kind == INK_KIND_ESCAPE && point->escape != INK_ESCAPE_SUM) {
    char counter[256]; /* counters are told apart by their name within a process */
    snprintf(counter, sizeof counter, "%.100s %s", name, w->label);
    begin_event(w, "C", "value", counter, w->tid, point->ns, 0);
    char *p = text_bytes(ink_file_room(&w->file, 64), "\"value\":", 8);
    if (point->escape == INK_ESCAPE_VALUE_I64)
      p = text_i64(p, point->value.i64);
    else if (point->escape == INK_ESCAPE_VALUE_U64)
      p = text_u64(p, point->value.u64);
    else
      p = text_double(p, point->value.f64);
    ink_file_took(&w->file, p);
  } else if (point->escape == INK_ESCAPE_SUM) {
    begin_event(w, "i", "sum", name, w->tid, point->ns, 0);
    argument(w, "count", point->value.sum.count, true);
    argument(w, "total_cycles", point->value.sum.total_cycles, false);
    argument(w, "min_cycles", point->value.sum.min_cycles, false);
    argument(w, "max_cycles", point->value.sum.max_cycles, false);
    row_argument(w, point->row);
  } else {
    begin_event(w, "i", "instant", name, w->tid, point->ns, 0);
    argument(w, "cycles", point->cycles, true);
    row_argument(w, point->row);
  }
  end_event(w);
}

static ink_status put_asyncs(chrome *w) {
  ink_status status = ink_track_events_lanes(&w->events);
  if (status != INK_OK)
    return status;
  uint32_t first = w->next_tid + 1;
  for (size_t i = 0; i < w->events.lane_count; i++) {
    char name[192];
    snprintf(name, sizeof name, "%s async %zu", w->label, i);
    new_lane(w, name);
  }
  for (size_t i = 0; i < w->events.async_count; i++) {
    const ink_async *a = &w->events.asyncs[i];
    begin_event(w, "X", "async", ink_selection_section(&w->selection, a->section),
                first + (uint32_t)w->events.lanes[i], a->begin_ns, a->end_ns);
    argument(w, "cycles", a->end_cycles - a->begin_cycles, true);
    argument(w, "key", a->key, false);
    row_argument(w, a->row);
    if (a->cut)
      argument(w, "cut", a->cut, false);
    end_event(w);
  }
  return INK_OK;
}

/* ---- the sink -------------------------------------------------------------------------------- */

static ink_status put_kernel(chrome *w, const ink_launch *info) {
  const ink_launch_span *span = &w->selection.spans[w->launch];
  size_t before = w->kernel_lanes, lane;
  ink_status status = ink_lane_take(&w->kernel_ends, &w->kernel_lanes, &w->kernel_room,
                                    span->begin_ns, span->end_ns, &lane);
  void *tids = w->kernel_tids;
  if (status == INK_OK)
    status = ink_grow(&tids, lane, &w->tid_room, sizeof *w->kernel_tids);
  w->kernel_tids = tids;
  if (status != INK_OK)
    return status;
  if (w->kernel_lanes > before) {
    char name[32];
    snprintf(name, sizeof name, lane ? "kernels %zu" : "kernels", lane);
    w->kernel_tids[lane] = new_lane(w, name);
  }
  begin_event(w, "X", "kernel", ink_selection_kernel(&w->selection, w->launch),
              w->kernel_tids[lane], span->begin_ns, span->end_ns);
  argument(w, "launch", w->launch, true);
  argument(w, "grid_id", info->grid_id, false);
  ink_file_print(&w->file, ",\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u]", info->grid_dim[0],
                 info->grid_dim[1], info->grid_dim[2], info->block_dim[0], info->block_dim[1],
                 info->block_dim[2]);
  argument(w, "tracks", span->track_count, false);
  end_event(w);
  return INK_OK;
}

static ink_status on_launch(void *user, uint32_t launch, const ink_launch *info) {
  chrome *w = user;
  if (info->device != w->device)
    w->kernel_lanes = 0;
  w->device = info->device;
  w->launch = launch;
  ink_status status = put_kernel(w, info);
  return status == INK_OK ? ink_file_check(&w->file, w->error) : status;
}

static ink_status on_track_begin(void *user, const ink_decoded_track *track) {
  chrome *w = user;
  const ink_track *h = &track->stored->header;
  char label[96];
  ink_track_label(h, label, sizeof label);
  snprintf(w->label, sizeof w->label, "launch %zu SM %u %s", w->launch, h->sm_open, label);
  w->tid = new_lane(w, w->label);
  ink_track_events_clear(&w->events);
  return INK_OK;
}

static ink_status on_slice(void *user, const ink_slice *slice) {
  return ink_track_events_slice(&((chrome *)user)->events, slice);
}

static ink_status on_point(void *user, const ink_point *point) {
  return ink_track_events_point(&((chrome *)user)->events, point);
}

static ink_status on_async(void *user, const ink_async *async) {
  return ink_track_events_async(&((chrome *)user)->events, async);
}

static ink_status on_track_end(void *user, const ink_decoded_track *track) {
  chrome *w = user;
  w->marks_dropped += track->marks_dropped;
  for (size_t i = 0; i < w->events.slice_count; i++)
    put_slice(w, &w->events.slices[i]);
  for (size_t i = 0; i < w->events.point_count; i++)
    put_point(w, &w->events.points[i]);
  ink_status status = put_asyncs(w);
  return status == INK_OK ? ink_file_check(&w->file, w->error) : status;
}

/* ---- the output ------------------------------------------------------------------------------ */

static void put_processes(chrome *w) {
  for (size_t i = 0; i < w->selection.device_count; i++) {
    const ink_device_info *device = &w->selection.devices[i];
    metadata(w, "process_name", device->index, 0, "name");
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
  chrome w = {.error = error, .device = -1, .file.fd = -1};
  ink_status status = ink_selection_make(&w.selection, capture, map, options, error);
  if (status == INK_OK)
    status = ink_file_open(&w.file, path, error);
  if (status != INK_OK)
    goto cleanup;
  ink_file_text(&w.file, "{\"traceEvents\":[");
  put_processes(&w);
  const ink_sink sink = {.launch = on_launch,
                         .track_begin = on_track_begin,
                         .slice = on_slice,
                         .point = on_point,
                         .async = on_async,
                         .track_end = on_track_end};
  status = ink_selection_decode(&w.selection, &sink, error);
  if (status == INK_OK) {
    put_rest(&w);
    status = ink_file_close(&w.file, error);
  } else if (status == INK_ERROR_MEMORY) {
    ink_error_set(error, status, "out of memory");
  }
cleanup:
  ink_file_abandon(&w.file);
  ink_selection_free(&w.selection);
  ink_track_events_free(&w.events);
  free(w.kernel_ends);
  free(w.kernel_tids);
  return status;
}
