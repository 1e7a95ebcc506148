/* SPDX-License-Identifier: MIT */
/* Writes a capture's activity into a trace of several captures. */
#include "merged_activity.h"

#include "output/perfetto_activity.h"

#include <stdlib.h>

/* The devices' processes, described before anybody needs them, and tracks below them for streams.
 */
static ink_status describe_devices(merged_perfetto *w, uint64_t **out) {
  const ink_selection *s = &w->sink.place.selection;
  uint64_t *parents = calloc(s->device_count + 1, sizeof *parents);
  if (!parents)
    return INK_ERROR_MEMORY;
  for (size_t i = 0; i < s->device_count; i++) {
    if (!w->processes[i]) {
      w->processes[i] = perfetto_new_uuid(&w->out);
      perfetto_describe(&w->out, &(perfetto_track){.uuid = w->processes[i],
                                                   .name = w->process_names[i],
                                                   .pid = w->process_pids[i]});
    }
    parents[i] = perfetto_new_uuid(&w->out);
    perfetto_describe(
        &w->out, &(perfetto_track){
                     .uuid = parents[i], .parent = w->processes[i], .name = "streams", .pid = -1});
  }
  *out = parents;
  return INK_OK;
}

ink_status merged_activity_put(merged_perfetto *w, const char *who, int64_t pids_from,
                               ink_error *error) {
  const ink_selection *s = &w->sink.place.selection;
  activity_lanes lanes;
  uint64_t *parents = NULL;
  ink_status status = activity_lanes_make(&lanes, s, error);
  if (status == INK_OK && lanes.count)
    status = describe_devices(w, &parents);
  if (status == INK_OK && lanes.count) {
    const perfetto_activity_place place = {
        .device_parents = parents, .who = who, .pids_from = pids_from};
    status = perfetto_activity_write(&w->out, &lanes, &place, error);
    for (uint32_t i = 0; i < s->launch_count; i++)
      w->parents[i] = perfetto_activity_track(&lanes, i);
  }
  free(parents);
  activity_lanes_free(&lanes);
  return status;
}
