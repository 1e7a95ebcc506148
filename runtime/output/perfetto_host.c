/* SPDX-License-Identifier: MIT */
/* Writes the host's ranges, marks and calls into a Perfetto trace. */
#include "perfetto_host.h"

#include <stdlib.h>
#include <string.h>

enum { FLOWS_MOST = 64 }; /* of one call: an event has PERFETTO_EVENT_BYTES */

/* Beside those of activity, which have the low 32 bits; ids of tracks begin with the same bits. */
static uint64_t flow_of(const perfetto *out, uint32_t launch) { return (out->uuid_base ^ UINT64_C(1) << 62) | launch; }

char *perfetto_host_arguments(char *p, const perfetto *out, const host_lanes *l, uint32_t launch) {
  return host_has_call(l, launch) ? pb_fixed64(p, EVENT_FLOWS, flow_of(out, launch)) : p;
}

/* Launches by their calls: of call i those from begins[i] on, up to before begins[i + 1]. */
typedef struct by_call {
  uint32_t *begins, *launches;
} by_call;

static bool sort_launches(const host_lanes *l, by_call *b) {
  const ink_selection *s = l->selection;
  const ink_host_launch *calls;
  const size_t n = ink_capture_host_launches(s->capture, &calls);
  b->begins = calloc(n + 2, sizeof *b->begins);
  b->launches = malloc((s->launch_count + 1) * sizeof *b->launches);
  if (!b->begins || !b->launches)
    return false;
  for (uint32_t i = 0; i < s->launch_count; i++)
    if (ink_launch_call(s->capture, i) != UINT32_MAX && ink_selection_has(s, i))
      b->begins[ink_launch_call(s->capture, i) + 1]++;
  for (size_t i = 0; i <= n; i++)
    b->begins[i + 1] += b->begins[i];
  for (uint32_t i = (uint32_t)s->launch_count; i-- > 0;)
    if (ink_launch_call(s->capture, i) != UINT32_MAX && ink_selection_has(s, i))
      b->launches[--b->begins[ink_launch_call(s->capture, i) + 1]] = i;
  return true; /* begins[i + 1] now is where those of call i begin */
}

static void describe(perfetto *out, host_lanes *l, const perfetto_host_place *place) {
  const ink_capture *capture = l->selection->capture;
  char name[300], left_out[96] = "";
  const uint64_t process = perfetto_new_uuid(out);
  size_t n = (size_t)snprintf(name, sizeof name, "%.160s", place->who ? place->who : "");
  host_process_name(capture, name + n, sizeof name - n);
  if (l->left_out)
    snprintf(left_out, sizeof left_out, "%llu ranges that cross others are left out", (unsigned long long)l->left_out);
  perfetto_describe(out, &(perfetto_track){.uuid = process, .name = name, .description = *left_out ? left_out : NULL,
                                           .pid = place->no_process ? -1 : place->pids_from + host_process_id(capture),
                                           .rank = -2});
  for (size_t i = 0; i < l->lane_count; i++) {
    host_lane_name(l, &l->lanes[i], name, sizeof name);
    l->lanes[i].id = perfetto_new_uuid(out);
    perfetto_describe(out, &(perfetto_track){.uuid = l->lanes[i].id, .parent = process, .name = name, .rank = (int32_t)i,
                                             .pid = -1});
  }
}

static char *put_payload(char *p, const ink_host_range *r) {
  double wide;
  float narrow;
  const uint32_t low = (uint32_t)r->payload;
  memcpy(&wide, &r->payload, sizeof wide);
  memcpy(&narrow, &low, sizeof narrow);
  switch (r->payload_type) {
  case INK_PAYLOAD_U64:
    return perfetto_named_uint(p, "payload", r->payload);
  case INK_PAYLOAD_U32:
    return perfetto_named_uint(p, "payload", low);
  case INK_PAYLOAD_I64:
    return perfetto_named_int(p, "payload", (int64_t)r->payload);
  case INK_PAYLOAD_I32:
    return perfetto_named_int(p, "payload", (int32_t)low);
  case INK_PAYLOAD_F64:
    return perfetto_named_double(p, "payload", wide);
  case INK_PAYLOAD_F32:
    return perfetto_named_double(p, "payload", (double)narrow);
  default:
    return p;
  }
}

static char *put_range(char *p, const ink_host_range *r) {
  char color[16];
  if (*r->domain)
    p = perfetto_named_text(p, "domain", r->domain);
  if (r->category)
    p = perfetto_named_uint(p, "category", r->category);
  if (*r->category_name)
    p = perfetto_named_text(p, "category_name", r->category_name);
  if (r->color) {
    snprintf(color, sizeof color, "#%06x", r->color & 0xffffff);
    p = perfetto_named_text(p, "color", color);
  }
  p = put_payload(p, r);
  if (r->kind == INK_HOST_START)
    p = perfetto_named_uint(p, "thread", r->thread);
  if (r->launches)
    p = perfetto_named_uint(p, "calls", r->launches);
  if (r->kernels) {
    p = perfetto_named_uint(p, "kernels", r->kernels);
    p = perfetto_named_int(p, "kernels_ns", r->kernels_ns);
  }
  return r->open ? perfetto_named_text(p, "end", "not seen") : p;
}

static char *put_call(char *p, const perfetto *out, const host_lanes *l, const ink_host_launch *call, const by_call *b) {
  const ink_host_launch *calls;
  ink_capture_host_launches(l->selection->capture, &calls);
  const size_t at = (size_t)(call - calls);
  const uint32_t first = b->begins[at + 1], last = b->begins[at + 2];
  for (uint32_t i = first; i < last && i < first + FLOWS_MOST; i++)
    p = pb_fixed64(p, EVENT_FLOWS, flow_of(out, b->launches[i]));
  if (*call->function)
    p = perfetto_named_text(p, "kernel", call->function);
  if (first < last)
    p = perfetto_named_uint(p, "launch", b->launches[first]);
  return call->flags & INK_HOST_OUTSIDE ? perfetto_named_text(p, "recorded", "no, outside of the window") : p;
}

static void put_item(perfetto *out, const host_lanes *l, const host_item *item, const by_call *b) {
  const uint64_t track = l->lanes[item->lane].id;
  const bool mark = item->range && item->range->kind == INK_HOST_MARK;
  char name[PERFETTO_NAME_BYTES];
  host_item_name(item, name, sizeof name);
  char *p = perfetto_event(out, item->begin_ns, mark ? TYPE_INSTANT : TYPE_BEGIN, track);
  p = pb_string(p, EVENT_CATEGORY_NAME, host_item_category(item));
  p = perfetto_text(p, EVENT_NAME, name);
  perfetto_event_end(out, item->range ? put_range(p, item->range) : put_call(p, out, l, item->call, b));
  if (!mark)
    perfetto_event_end(out, perfetto_event(out, item->end_ns, TYPE_END, track));
}

ink_status perfetto_host_write(perfetto *out, host_lanes *l, const perfetto_host_place *place, ink_error *error) {
  by_call b = {0};
  ink_status status = INK_OK;
  if (!l->count)
    return INK_OK;
  if (!sort_launches(l, &b))
    status = ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  else
    describe(out, l, place);
  for (size_t i = 0; i < l->count && status == INK_OK; i++) {
    put_item(out, l, &l->items[i], &b);
    if (i % 1024 == 0)
      status = ink_file_check(out->file, error);
  }
  free(b.begins);
  free(b.launches);
  return status;
}
