/* SPDX-License-Identifier: MIT */
/* `inkmark report --activity` as JSON (summaries and timeline) and as CSV (a row an activity). */
#include "report_activity.h"
#include "text_out.h"

#include <inttypes.h>
#include <string.h>

static bool has_work(const ink_activity *a) {
  return a->kind == INK_ACTIVITY_COPY || a->kind == INK_ACTIVITY_SET;
}

/* ---- JSON ---- */

static void json_dim(json_writer *json, const char *key, const uint32_t dim[3]) {
  json_open(json, key, '[');
  for (int i = 0; i < 3; i++)
    json_unsigned(json, NULL, dim[i]);
  json_close(json, ']');
}

static void json_occupancy(json_writer *json, const activity_view *view, const ink_activity *k) {
  const ink_occupancy o = ink_activity_occupancy(k, activity_device(view, k->device));
  if (o.limit == INK_LIMIT_UNKNOWN)
    return;
  json_double(json, "occupancy", o.share);
  json_string(json, "limited_by", activity_limit_word(o.limit));
  json_unsigned(json, "blocks_per_sm", o.blocks_per_sm);
}

static void json_group(json_writer *json, const activity_view *view, const activity_group *g) {
  const ink_activity *a = g->sample;
  char name[512];
  ink_activity_short_name(activity_name(view, a), name, sizeof name);
  json_open_flat(json, NULL);
  json_string(json, "kind", activity_kind_word(a->kind));
  json_string(json, "name", activity_name(view, a));
  json_string(json, "short_name", name);
  if (a->device >= 0)
    json_signed(json, "device", a->device);
  json_unsigned(json, "count", g->count);
  json_unsigned(json, "total_ns", g->total_ns);
  json_unsigned(json, "min_ns", g->min_ns);
  json_unsigned(json, "median_ns", g->median_ns);
  json_unsigned(json, "max_ns", g->max_ns);
  if (has_work(a))
    json_unsigned(json, "bytes", g->bytes);
  if (a->kind == INK_ACTIVITY_KERNEL) {
    json_dim(json, "block", a->block_dim);
    json_unsigned(json, "registers", a->registers);
    json_unsigned(json, "static_shared_bytes", a->static_shared_bytes);
    json_unsigned(json, "dynamic_shared_bytes", a->dynamic_shared_bytes);
    json_unsigned(json, "local_bytes", a->local_bytes);
    json_occupancy(json, view, a);
  }
  json_close(json, '}');
}

static void json_use(json_writer *json, const activity_use *u) {
  json_open_flat(json, NULL);
  json_signed(json, "device", u->device);
  json_unsigned(json, "kernels", u->kernels);
  json_unsigned(json, "copies", u->copies);
  json_unsigned(json, "sets", u->sets);
  json_unsigned(json, "copied_bytes", u->copied_bytes);
  json_unsigned(json, "span_ns", u->end_ns - u->begin_ns);
  json_unsigned(json, "kernel_busy_ns", u->kernel_busy_ns);
  json_unsigned(json, "copy_busy_ns", u->copy_busy_ns);
  json_unsigned(json, "busy_ns", u->busy_ns);
  json_close(json, '}');
}

static void json_item(json_writer *json, const activity_view *view, const activity_item *item) {
  const ink_activity *a = item->a;
  json_open_flat(json, NULL);
  json_string(json, "kind", activity_kind_word(a->kind));
  json_string(json, "name", activity_name(view, a));
  json_signed(json, "begin_ns", ink_activity_unix_ns(&view->clock, a->device, a->begin_ns));
  json_signed(json, "end_ns", ink_activity_unix_ns(&view->clock, a->device, a->end_ns));
  json_unsigned(json, "correlation", a->correlation);
  if (a->device >= 0) {
    json_signed(json, "device", a->device);
    json_unsigned(json, "context", a->context);
    json_unsigned(json, "stream", a->stream);
    json_unsigned(json, "graph", a->graph);
    json_unsigned(json, "graph_node", a->graph_node);
  } else {
    json_unsigned(json, "process", a->context);
    json_unsigned(json, "thread", a->stream);
    json_signed(json, "result", a->result);
  }
  if (has_work(a))
    json_unsigned(json, "bytes", a->bytes);
  if (a->kind == INK_ACTIVITY_KERNEL) {
    json_unsigned(json, "grid_id", a->grid_id);
    json_dim(json, "grid", a->grid_dim);
    json_dim(json, "block", a->block_dim);
    if (item->launch != ACTIVITY_NO_LAUNCH) {
      json_unsigned(json, "launch", item->launch);
      json_unsigned(json, "tracks", activity_tracks(view, item->launch));
    }
  }
  json_close(json, '}');
}

bool activity_json(const activity_view *view, json_writer *json) {
  const ink_capture *capture = view->loaded.capture;
  json_open(json, NULL, '{');
  json_string(json, "file", view->loaded.path);
  json_bool(json, "simulated", ink_capture_simulated(capture));
  json_string(json, "activity", ink_capture_fact(capture, "activity"));
  json_string(json, "cupti", ink_capture_fact(capture, "activity_cupti"));
  json_string(json, "missing", ink_capture_fact(capture, "activity_missing"));
  json_string(json, "dropped", ink_capture_fact(capture, "activity_dropped"));
  json_string(json, "left_out", ink_capture_fact(capture, "activity_left_out"));
  json_string(json, "without_time", ink_capture_fact(capture, "activity_without_time"));
  json_unsigned(json, "own", view->own);
  json_unsigned(json, "kernels", view->kernels);
  json_unsigned(json, "kernels_with_tracks", view->joined);
  json_unsigned(json, "outside_their_kernels", view->outside);
  json_signed(json, "early_ns", view->early_ns);
  json_signed(json, "late_ns", view->late_ns);
  json_bool(json, "unix_time", view->clock.known);
  json_signed(json, "clock_bound_ns", view->clock.bound_ns);
  json_open(json, "summary", '[');
  for (size_t i = 0; i < view->group_count; i++)
    json_group(json, view, &view->groups[i]);
  json_close(json, ']');
  json_open(json, "devices", '[');
  for (size_t i = 0; i < view->use_count; i++)
    json_use(json, &view->uses[i]);
  json_close(json, ']');
  json_open(json, "timeline", '[');
  for (size_t i = 0; i < view->count; i++)
    json_item(json, view, &view->items[i]);
  json_close(json, ']');
  json_close(json, '}');
  return true;
}

/* ---- CSV ---- */

void activity_csv_begin(FILE *to) {
  fputs(
      "file,kind,name,short_name,begin_ns,end_ns,duration_ns,device,stream,thread,correlation,"
      "grid_id,grid_x,grid_y,grid_z,block_x,block_y,block_z,registers,static_shared_bytes,"
      "dynamic_shared_bytes,local_bytes,occupancy,limited_by,bytes,graph,graph_node,result,launch,"
      "tracks\n",
      to);
}

static void csv_kernel(const activity_view *view, const ink_activity *a, FILE *to) {
  const ink_occupancy o = ink_activity_occupancy(a, activity_device(view, a->device));
  text_print(to, "%" PRIu64 ",%u,%u,%u,%u,%u,%u,%u,%u,%u,%u,", a->grid_id, a->grid_dim[0],
          a->grid_dim[1], a->grid_dim[2], a->block_dim[0], a->block_dim[1], a->block_dim[2],
          a->registers, a->static_shared_bytes, a->dynamic_shared_bytes, a->local_bytes);
  if (o.limit != INK_LIMIT_UNKNOWN)
    text_print(to, "%.6g,%s,", o.share, activity_limit_word(o.limit));
  else
    fputs(",,", to);
}

static void csv_item(const activity_view *view, const activity_item *item, FILE *to) {
  const ink_activity *a = item->a;
  char name[512];
  ink_activity_short_name(activity_name(view, a), name, sizeof name);
  csv_field(to, view->loaded.path);
  text_print(to, ",%s,", activity_kind_word(a->kind));
  csv_field(to, activity_name(view, a));
  fputc(',', to);
  csv_field(to, name);
  text_print(to, ",%" PRId64 ",%" PRId64 ",%" PRIu64 ",",
          ink_activity_unix_ns(&view->clock, a->device, a->begin_ns),
          ink_activity_unix_ns(&view->clock, a->device, a->end_ns), a->end_ns - a->begin_ns);
  if (a->device >= 0)
    text_print(to, "%d,%u,,%u,", a->device, a->stream, a->correlation);
  else
    text_print(to, ",,%u,%u,", a->stream, a->correlation);
  if (a->kind == INK_ACTIVITY_KERNEL)
    csv_kernel(view, a, to);
  else
    fputs(",,,,,,,,,,,,,", to);
  if (has_work(a))
    text_print(to, "%" PRIu64, a->bytes);
  if (a->device >= 0)
    text_print(to, ",%u,%" PRIu64 ",,", a->graph, a->graph_node);
  else
    text_print(to, ",,,%d,", a->result);
  if (item->launch != ACTIVITY_NO_LAUNCH)
    text_print(to, "%u,%" PRIu64, item->launch, activity_tracks(view, item->launch));
  else
    fputc(',', to);
  fputc('\n', to);
}

bool activity_csv(const activity_view *view, FILE *to) {
  for (size_t i = 0; i < view->count; i++)
    csv_item(view, &view->items[i], to);
  return true;
}
