/* SPDX-License-Identifier: MIT */
/* Writes activities into Chrome's JSON, with the flows from calls to their work that PyTorch's
 * traces have as well. */
#include "chrome_activity.h"

#include <stdlib.h>
#include <string.h>

static void set_pid(chrome_events *w, const activity_lane *lane, char pid[16]) {
  if (lane->device >= 0)
    snprintf(pid, 16, "%d", lane->device);
  else
    snprintf(pid, 16, "%u", lane->process);
  w->pid = pid;
}

/* Devices with tracks have their names already. */
static void name_process(chrome_events *w, const activity_lane *lane) {
  const ink_capture *capture = w->selection->capture;
  const char *command = ink_capture_fact(capture, "command");
  char name[160];
  if (lane->device >= 0 && ink_selection_device(w->selection, lane->device))
    return;
  if (lane->device >= 0)
    snprintf(name, sizeof name, "GPU %d%s", lane->device,
             ink_capture_simulated(capture) ? " (simulated clock)" : "");
  else
    snprintf(name, sizeof name, "%.*s", (int)strcspn(command ? command : "program", " "),
             command ? command : "program");
  chrome_metadata(w, "process_name", 0, "name");
  ink_file_json_string(w->file, name);
  ink_file_text(w->file, "}}");
}

static ink_status name_lanes(chrome_events *w, activity_lanes *l) {
  activity_lane **order = malloc((l->lane_count + 1) * sizeof *order);
  const activity_lane *before = NULL;
  char name[64], pid[16];
  if (!order)
    return INK_ERROR_MEMORY;
  for (size_t i = 0; i < l->lane_count; i++)
    order[i] = &l->lanes[i];
  if (l->lane_count)
    qsort(order, l->lane_count, sizeof *order, activity_lane_by_place);
  for (size_t i = 0; i < l->lane_count; i++) {
    set_pid(w, order[i], pid);
    if (!before || before->device != order[i]->device || before->process != order[i]->process)
      name_process(w, order[i]);
    activity_lane_name(order[i], name, sizeof name);
    order[i]->id = chrome_new_lane(w, name);
    before = order[i];
  }
  free(order);
  return INK_OK;
}

static void put_arguments(chrome_events *w, const activity_shown *shown) {
  const ink_activity *a = shown->a;
  chrome_argument(w, "correlation", a->correlation, true);
  if (a->kind == INK_ACTIVITY_KERNEL) {
    ink_file_text(w->file, ",\"kernel\":");
    ink_file_json_string(w->file, ink_capture_activity_name(w->selection->capture, a->name));
    chrome_argument(w, "grid_id", a->grid_id, false);
    ink_file_print(w->file, ",\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u]", a->grid_dim[0],
                   a->grid_dim[1], a->grid_dim[2], a->block_dim[0], a->block_dim[1],
                   a->block_dim[2]);
    chrome_argument(w, "registers", a->registers, false);
    chrome_argument(w, "static_shared_bytes", a->static_shared_bytes, false);
    chrome_argument(w, "dynamic_shared_bytes", a->dynamic_shared_bytes, false);
    if (shown->launch != UINT32_MAX)
      chrome_argument(w, "launch", shown->launch, false);
  } else if (a->kind == INK_ACTIVITY_COPY || a->kind == INK_ACTIVITY_SET) {
    chrome_argument(w, "bytes", a->bytes, false);
  } else {
    chrome_argument(w, "result", (uint32_t)a->result, false);
  }
  if (a->graph) {
    chrome_argument(w, "graph", a->graph, false);
    chrome_argument(w, "graph_node", a->graph_node, false);
  }
}

static void put_flow(chrome_events *w, const activity_shown *shown, uint32_t tid) {
  const bool call = shown->a->device < 0;
  chrome_begin_event(w, call ? "s" : "f", "launch", "launch", tid, shown->begin_ns,
                     shown->begin_ns);
  ink_file_print(w->file, "},\"id\":%u%s}", shown->a->correlation, call ? "" : ",\"bp\":\"e\"");
}

ink_status chrome_activity_write(chrome_events *w, activity_lanes *l, ink_error *error) {
  char name[400], pid[16];
  ink_status status = l->count ? name_lanes(w, l) : INK_OK;
  if (status == INK_ERROR_MEMORY)
    ink_error_set(error, status, "out of memory");
  for (size_t i = 0; i < l->count && status == INK_OK; i++) {
    const activity_shown *shown = &l->shown[i];
    const activity_lane *lane = &l->lanes[shown->lane];
    set_pid(w, lane, pid);
    activity_shown_name(l, shown->a, name, sizeof name);
    chrome_begin_event(w, "X", activity_category(shown->a), name, (uint32_t)lane->id,
                       shown->begin_ns, shown->end_ns);
    put_arguments(w, shown);
    chrome_end_event(w);
    if (shown->flows)
      put_flow(w, shown, (uint32_t)lane->id);
    if (i % 1024 == 0)
      status = ink_file_check(w->file, error);
  }
  w->pid = "0"; /* ours was on this stack */
  return status;
}
