/* SPDX-License-Identifier: MIT */
/* Chooses activities, puts them on the host's clock, and gives each a lane. */
#include "activity_lanes.h"

#include "id_map.h"
#include "track_events.h"

#include <stdlib.h>
#include <string.h>

static bool is_call(const ink_activity *a) {
  return a->kind == INK_ACTIVITY_RUNTIME_CALL || a->kind == INK_ACTIVITY_DRIVER_CALL;
}

static bool is_filtered(const ink_selection *s) {
  return s->options.kernel_regex || s->options.launch != UINT32_MAX;
}

/* What a correlation has. */
enum { HAS_RUNTIME_CALL = 1, HAS_WORK = 2, HAS_DRIVER_CALL = 4 };

/* Correlations of calls and of the work that is shown. */
static ink_status collect(const ink_selection *s, const ink_activity *const *all, size_t n,
                          id_map *seen) {
  for (size_t i = 0; i < n; i++) {
    const uint32_t launch = ink_activity_launch(s->capture, all[i]);
    const bool shown = !is_filtered(s) || (launch != UINT32_MAX && ink_selection_has(s, launch));
    const uint32_t bit = all[i]->kind == INK_ACTIVITY_RUNTIME_CALL  ? HAS_RUNTIME_CALL
                         : all[i]->kind == INK_ACTIVITY_DRIVER_CALL ? HAS_DRIVER_CALL
                         : shown                                    ? HAS_WORK
                                                                    : 0;
    uint32_t bits = id_map_get(seen, all[i]->correlation);
    bits = bits == INK_ID_NONE ? 0 : bits;
    if (all[i]->correlation && (bits | bit) != bits &&
        !id_map_put(seen, all[i]->correlation, bits | bit))
      return INK_ERROR_MEMORY;
  }
  return INK_OK;
}

/* A flow begins at the runtime's call, or at the driver's where there is none. */
static bool has_flow(const ink_activity *a, uint32_t bits) {
  if (!(bits & HAS_WORK) || !(bits & (HAS_RUNTIME_CALL | HAS_DRIVER_CALL)))
    return false;
  return a->kind != INK_ACTIVITY_DRIVER_CALL || !(bits & HAS_RUNTIME_CALL);
}

static uint64_t stream_key(const ink_activity *a) {
  const uint64_t where = is_call(a) ? UINT64_C(1) << 63 | a->context : (uint32_t)a->device;
  return ink_mix64(where) + a->stream;
}

static bool is_of(const activity_lane *lane, const ink_activity *a) {
  return lane->stream == a->stream && lane->device == (is_call(a) ? -1 : a->device) &&
         (!is_call(a) || lane->process == a->context);
}

/* A free lane of the activity's stream, or a new one. */
static ink_status take_lane(activity_lanes *l, id_map *streams, const activity_shown *shown,
                            uint32_t *out) {
  const ink_activity *a = shown->a;
  const uint64_t key = stream_key(a);
  uint32_t at = id_map_get(streams, key), last = ACTIVITY_NO_LANE, number = 0;
  for (; at != ACTIVITY_NO_LANE; at = l->lanes[at].next) {
    last = at;
    if (!is_of(&l->lanes[at], a))
      continue;
    if (l->lanes[at].end_ns <= shown->begin_ns)
      break;
    number++;
  }
  if (at == ACTIVITY_NO_LANE) {
    void *lanes = l->lanes;
    ink_status status = ink_grow(&lanes, l->lane_count, &l->lane_room, sizeof *l->lanes);
    l->lanes = lanes;
    at = (uint32_t)l->lane_count;
    if (status == INK_OK && last == ACTIVITY_NO_LANE && !id_map_put(streams, key, at))
      status = INK_ERROR_MEMORY;
    if (status != INK_OK)
      return status;
    if (last != ACTIVITY_NO_LANE)
      l->lanes[last].next = at;
    l->lanes[l->lane_count++] = (activity_lane){.device = is_call(a) ? -1 : a->device,
                                                .process = is_call(a) ? a->context : 0,
                                                .stream = a->stream,
                                                .number = number,
                                                .next = ACTIVITY_NO_LANE};
  }
  l->lanes[at].end_ns = shown->end_ns;
  *out = at;
  return INK_OK;
}

static ink_status fill(activity_lanes *l, const ink_activity *const *all, size_t n,
                       const id_map *seen, id_map *streams) {
  const ink_selection *s = l->selection;
  const ink_activity_clock clock = ink_activity_clock_make(s->capture, s->map);
  for (size_t i = 0; i < n; i++) {
    const ink_activity *a = all[i];
    const uint32_t bits = a->correlation ? id_map_get(seen, a->correlation) : 0;
    activity_shown shown = {
        .a = a, .launch = ink_activity_launch(s->capture, a), .flows = has_flow(a, bits)};
    const bool ours = shown.launch != UINT32_MAX && ink_selection_has(s, shown.launch);
    if (is_filtered(s) && !ours && !(is_call(a) && bits & HAS_WORK))
      continue;
    shown.begin_ns = ink_activity_unix_ns(&clock, a->device, a->begin_ns);
    shown.end_ns = ink_activity_unix_ns(&clock, a->device, a->end_ns);
    const ink_status status = take_lane(l, streams, &shown, &shown.lane);
    if (status != INK_OK)
      return status;
    if (shown.launch != UINT32_MAX)
      l->launch_items[shown.launch] = (uint32_t)l->count;
    l->shown[l->count++] = shown;
  }
  return INK_OK;
}

ink_status activity_lanes_make(activity_lanes *l, const ink_selection *selection,
                               ink_error *error) {
  const ink_activity *const *all;
  const size_t n = ink_capture_activities(selection->capture, &all, NULL);
  id_map seen = {0}, streams = {0};
  *l = (activity_lanes){.selection = selection};
  if (!n)
    return INK_OK;
  l->shown = malloc(n * sizeof *l->shown);
  l->launch_items = malloc((selection->launch_count + 1) * sizeof *l->launch_items);
  ink_status status = l->shown && l->launch_items ? INK_OK : INK_ERROR_MEMORY;
  if (status == INK_OK) {
    memset(l->launch_items, 0xff, (selection->launch_count + 1) * sizeof *l->launch_items);
    status = collect(selection, all, n, &seen);
  }
  if (status == INK_OK)
    status = fill(l, all, n, &seen, &streams);
  id_map_free(&seen);
  id_map_free(&streams);
  if (status == INK_ERROR_MEMORY)
    ink_error_set(error, status, "out of memory");
  return status;
}

const activity_shown *activity_of_launch(const activity_lanes *l, uint32_t launch) {
  const uint32_t item =
      l->launch_items && launch < l->selection->launch_count ? l->launch_items[launch] : UINT32_MAX;
  return item < l->count ? &l->shown[item] : NULL;
}

int64_t activity_lanes_begin(const activity_lanes *l, int64_t begin_ns) {
  bool any = l->selection->chosen_launches != 0;
  for (size_t i = 0; i < l->count; i++) {
    if (!any || l->shown[i].begin_ns < begin_ns)
      begin_ns = l->shown[i].begin_ns;
    any = true;
  }
  return begin_ns;
}

void activity_lanes_free(activity_lanes *l) {
  free(l->shown);
  free(l->lanes);
  free(l->launch_items);
}

void activity_lane_name(const activity_lane *lane, char *text, size_t size) {
  const int n = snprintf(text, size, "%s %u", lane->device < 0 ? "thread" : "stream", lane->stream);
  if (lane->number && n > 0 && (size_t)n < size)
    snprintf(text + n, size - (size_t)n, ", %u", lane->number + 1);
}

void activity_shown_name(const activity_lanes *l, const ink_activity *a, char *text, size_t size) {
  if (a->kind == INK_ACTIVITY_COPY)
    snprintf(text, size, "copy %s", ink_activity_copy_words(a->copy));
  else if (a->kind == INK_ACTIVITY_SET)
    snprintf(text, size, "set");
  else
    ink_activity_short_name(ink_capture_activity_name(l->selection->capture, a->name), text, size);
  if (!text[0])
    snprintf(text, size, "?");
}

const char *activity_category(const ink_activity *a) {
  static const char *const words[] = {"?",        "cuda_kernel", "cuda_copy",
                                      "cuda_set", "cuda_call",   "cuda_call"};
  return words[a->kind < sizeof words / sizeof *words ? a->kind : 0];
}

int activity_lane_by_place(const void *left, const void *right) {
  const activity_lane *a = *(activity_lane *const *)left, *b = *(activity_lane *const *)right;
  if ((a->device < 0) != (b->device < 0))
    return a->device < 0 ? 1 : -1;
  if (a->device != b->device)
    return a->device < b->device ? -1 : 1;
  if (a->process != b->process)
    return a->process < b->process ? -1 : 1;
  if (a->stream != b->stream)
    return a->stream < b->stream ? -1 : 1;
  return (a->number > b->number) - (a->number < b->number);
}
