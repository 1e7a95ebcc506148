/* SPDX-License-Identifier: MIT */
/* The critical path as Perfetto packets. Steps of one section on one track that follow each other are one slice, which
 * says where it ran if that is elsewhere than before it. */
#include "perfetto_path.h"

#include "capture/capture_private.h"

#include <stdlib.h>

static const char *const edges[] = {NULL, "marked", "hand-over", "last of several", "slot"};

/* Names by section; behind them that of no section, and of the time between blocks. */
static size_t name_slot(const perfetto_tracks *t, ink_section_index section) {
  const size_t n = t->selection->section_count;
  return section < n ? section : n + (section == INK_PATH_BETWEEN);
}

static const char **names_of(const perfetto_tracks *t) {
  const size_t n = t->selection->section_count;
  const char **names = malloc((n + 2) * sizeof *names);
  for (size_t i = 0; names && i <= n; i++)
    names[i] = ink_selection_section(t->selection, i < n ? (ink_section_index)i : INK_SECTION_UNKNOWN);
  if (names)
    names[n + 1] = "(between blocks)";
  return names;
}

static void put_slice(const perfetto_tracks *t, const ink_path_step *s, int64_t end_ns, bool elsewhere) {
  ink_stored_track stored;
  char *p = perfetto_event(t->out, s->begin_ns, TYPE_BEGIN, 0);
  p = pb_uint(p, EVENT_CATEGORY, CATEGORY_PATH);
  p = pb_uint(p, EVENT_NAME_IID, name_slot(t, s->section) + 1);
  if (s->edge)
    p = perfetto_named_text(p, "came_by", edges[s->edge]);
  if (elsewhere) {
    ink_capture_track(t->selection->capture, s->track, &stored);
    p = pb_uint(p, ARG_SM, stored.header.sm_open);
    p = pb_uint(p, ARG_BLOCK, ink_linear_block(&stored.header));
    p = pb_uint(p, ARG_WARP, stored.header.thread / 32);
  }
  perfetto_event_end(t->out, p);
  perfetto_event_end(t->out, perfetto_event(t->out, end_ns, TYPE_END, 0));
}

/* From the track that the path leaves to the one that it comes to. */
static void put_arrow(const perfetto_tracks *t, const ink_path_step *from, const ink_path_step *to) {
  const lane_item *ends[] = {track_lanes_find(&t->lanes, from->track), track_lanes_find(&t->lanes, to->track)};
  const uint64_t flow = perfetto_new_uuid(t->out);
  for (int end = 0; end < 2 && ends[0] && ends[1]; end++) {
    char *p = perfetto_event(t->out, end ? to->begin_ns : from->end_ns, TYPE_INSTANT, t->lanes.lanes[ends[end]->lane].id);
    p = pb_uint(p, EVENT_CATEGORY, CATEGORY_PATH);
    p = perfetto_text(p, EVENT_NAME, to->edge ? edges[to->edge] : "critical path");
    perfetto_event_end(t->out, pb_fixed64(p, end ? EVENT_FLOW_ENDS : EVENT_FLOWS, flow));
  }
}

ink_status perfetto_path_write(const perfetto_tracks *t, const ink_critical_path *path, uint64_t parent) {
  const uint64_t uuid = perfetto_new_uuid(t->out);
  const char **names = names_of(t);
  char name[64];
  if (!names)
    return INK_ERROR_MEMORY;
  snprintf(name, sizeof name, "critical path of launch %u", path->launch);
  perfetto_describe(t->out, &(perfetto_track){.uuid = uuid, .parent = parent, .name = name, .rank = -1, .pid = -1});
  perfetto_open_track(t->out, uuid, names, t->selection->section_count + 2, 1u << CATEGORY_PATH);
  for (size_t i = 0, first = 0; i < path->step_count; i++) {
    const ink_path_step *s = &path->steps[i], *next = s + 1;
    const bool last = i + 1 == path->step_count;
    if (!last && next->track == s->track && next->section == s->section)
      continue;
    put_slice(t, &path->steps[first], s->end_ns, !first || path->steps[first - 1].track != s->track);
    if (!last && next->track != s->track)
      put_arrow(t, s, next);
    first = i + 1;
  }
  free(names);
  return INK_OK;
}
