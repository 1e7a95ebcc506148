/* SPDX-License-Identifier: MIT */
/* Writes the host's ranges, marks and calls into Chrome's JSON. */
#include "chrome_host.h"

#include "inkmark/text.h"

#include <inttypes.h>
#include <stdlib.h>

static void put_text(chrome_events *w, const char *name, const char *value, bool *first) {
  ink_file_print(w->file, "%s\"%s\":", *first ? "" : ",", name);
  ink_file_json_string(w->file, value);
  *first = false;
}

static void put_number(chrome_events *w, const char *name, uint64_t value, bool *first) {
  chrome_argument(w, name, value, *first);
  *first = false;
}

static void put_range(chrome_events *w, const ink_host_range *r) {
  bool first = true;
  char text[64];
  if (*r->domain)
    put_text(w, "domain", r->domain, &first);
  if (r->category)
    put_number(w, "category", r->category, &first);
  if (*r->category_name)
    put_text(w, "category_name", r->category_name, &first);
  if (r->color) {
    snprintf(text, sizeof text, "#%06x", r->color & 0xffffff);
    put_text(w, "color", text, &first);
  }
  ink_host_payload_text(r->payload_type, r->payload, text, sizeof text);
  if (*text) /* as text: JSON's numbers lose those beyond 2^53 */
    put_text(w, "payload", text, &first);
  if (r->kind == INK_HOST_START)
    put_number(w, "thread", r->thread, &first);
  if (r->launches)
    put_number(w, "calls", r->launches, &first);
  if (r->kernels) {
    put_number(w, "kernels", r->kernels, &first);
    put_number(w, "kernels_ns", (uint64_t)r->kernels_ns, &first);
  }
  if (r->open)
    put_text(w, "end", "not seen", &first);
}

static void put_call(chrome_events *w, const ink_host_launch *call) {
  bool first = true;
  if (*call->function)
    put_text(w, "kernel", call->function, &first);
  put_number(w, "kernels", call->kernels, &first);
  if (call->flags & INK_HOST_OUTSIDE)
    put_text(w, "recorded", "no, outside of the window", &first);
}

static void put_arrow(chrome_events *w, const chrome_host_place *place, const char *phase, uint32_t launch, uint32_t tid,
                      int64_t ns) {
  chrome_begin_event(w, phase, "host", "launch", tid, ns, ns);
  ink_file_print(w->file, "},\"id\":%llu%s}", (place->arrows_from + 1ull) << 32 | launch, *phase == 'f' ? ",\"bp\":\"e\"" : "");
}

void chrome_host_arrow(chrome_events *w, const host_lanes *l, const chrome_host_place *place, uint32_t launch, uint32_t tid,
                       int64_t begin_ns, int64_t end_ns) {
  const ink_host_launch *calls;
  ink_capture_host_launches(l->selection->capture, &calls);
  if (!host_has_call(l, launch))
    return;
  /* Readers drop an arrow that ends before it begins, as it would where the clocks' error has a kernel begin before its
   * call: there it leads into the kernel. */
  const int64_t call_ns = calls[ink_launch_call(l->selection->capture, launch)].begin_ns + l->shift_ns;
  const bool inside = call_ns > begin_ns && call_ns < end_ns;
  put_arrow(w, place, "f", launch, tid, inside ? call_ns : begin_ns);
}

static void name_lanes(chrome_events *w, host_lanes *l, const char *who) {
  char name[300];
  size_t n = (size_t)snprintf(name, sizeof name, "%.160s", who ? who : "");
  host_process_name(l->selection->capture, name + n, sizeof name - n);
  chrome_metadata(w, "process_name", 0, "name");
  ink_file_json_string(w->file, name);
  ink_file_text(w->file, "}}");
  chrome_metadata(w, "process_sort_index", 0, "sort_index"); /* above the devices */
  ink_file_text(w->file, "-1}}");
  for (size_t i = 0; i < l->lane_count; i++) {
    host_lane_name(l, &l->lanes[i], name, sizeof name);
    l->lanes[i].id = chrome_new_lane(w, name);
  }
}

static void put_item(chrome_events *w, const host_lanes *l, const host_item *item) {
  const uint32_t tid = (uint32_t)l->lanes[item->lane].id;
  const bool mark = item->range && item->range->kind == INK_HOST_MARK;
  char name[400];
  host_item_name(item, name, sizeof name);
  chrome_begin_event(w, mark ? "i" : "X", host_item_category(item), name, tid, item->begin_ns, item->end_ns);
  if (item->range)
    put_range(w, item->range);
  else
    put_call(w, item->call);
  chrome_end_event(w);
}

ink_status chrome_host_write(chrome_events *w, host_lanes *l, const chrome_host_place *place, ink_error *error) {
  const ink_selection *s = l->selection;
  const ink_host_launch *calls;
  char pid[16];
  ink_status status = INK_OK;
  const size_t call_count = ink_capture_host_launches(s->capture, &calls);
  if (!l->count)
    return INK_OK;
  uint32_t *lanes = malloc((call_count + 1) * sizeof *lanes); /* of each call: its tid, 0: not shown */
  if (!lanes)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  for (size_t i = 0; i < call_count; i++)
    lanes[i] = 0;
  snprintf(pid, sizeof pid, "%u", place->pids_from + host_process_id(s->capture));
  w->pid = pid;
  name_lanes(w, l, place->who);
  for (size_t i = 0; i < l->count && status == INK_OK; i++) {
    put_item(w, l, &l->items[i]);
    if (l->items[i].call)
      lanes[l->items[i].call - calls] = (uint32_t)l->lanes[l->items[i].lane].id;
    if (i % 1024 == 0)
      status = ink_file_check(w->file, error);
  }
  for (uint32_t i = 0; i < s->launch_count && status == INK_OK; i++) {
    const uint32_t call = ink_launch_call(s->capture, i);
    if (call != UINT32_MAX && lanes[call] && ink_selection_has(s, i))
      put_arrow(w, place, "s", i, lanes[call], calls[call].begin_ns + l->shift_ns);
  }
  free(lanes);
  w->pid = "0"; /* ours was on this stack */
  return status;
}
