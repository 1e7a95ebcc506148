/* SPDX-License-Identifier: MIT */
/* Decoded tracks in the other file's time, for whichever form the merged trace has. */
#include "merged_sink.h"

static bool want_launch(void *user, uint32_t launch) {
  return ((merged_sink *)user)->place.launches[launch].placed;
}

static ink_status on_launch(void *user, uint32_t launch, const ink_launch *info) {
  merged_sink *m = user;
  (void)info;
  ink_status status = m->end_launch(m);
  m->launch = launch;
  if (status == INK_OK)
    status = m->begin_launch(m, launch);
  return status == INK_OK ? ink_file_check(m->file, m->error) : status;
}

static int64_t moved(const merged_sink *m, int64_t ns) {
  return placement_ns(&m->place, m->launch, ns);
}

/* A damaged track can have stamps anywhere; what is shown lies inside the track. */
static int64_t inside(const merged_sink *m, int64_t ns) {
  ns = moved(m, ns);
  return ns < m->track.begin_ns ? m->track.begin_ns : ns > m->track.end_ns ? m->track.end_ns : ns;
}

static ink_status on_track_begin(void *user, const ink_decoded_track *track) {
  merged_sink *m = user;
  const ink_stored_track *stored = track->stored;
  uint32_t rank = m->place.order[track->index];
  int64_t begin = moved(m, track->open_ns), end = moved(m, track->close_ns);
  m->shown = rank != UINT32_MAX;
  m->track = (merged_track){.header = &stored->header,
                            .decoded = track,
                            .rank = rank,
                            .begin_ns = begin,
                            .end_ns = end > begin ? end : begin,
                            .bound_ns = placement_bound_ns(&m->place, m->launch),
                            .marks_dropped = track->marks_dropped};
  ink_status status = sm_counters_track(&m->counters, (uint32_t)m->launch, stored->device,
                                        &stored->header, begin, m->track.end_ns);
  return status == INK_OK && m->shown ? m->begin_track(m) : status;
}

static ink_status on_slice(void *user, const ink_slice *slice) {
  merged_sink *m = user;
  ink_slice there = *slice;
  there.begin_ns = inside(m, slice->begin_ns);
  there.end_ns = inside(m, slice->end_ns);
  if (there.end_ns < there.begin_ns)
    there.end_ns = there.begin_ns;
  ink_status status = INK_OK;
  if (!slice->depth)
    status = sm_counters_section(&m->counters, slice->section, there.begin_ns, there.end_ns);
  return status == INK_OK && m->shown ? ink_track_events_slice(m->events, &there) : status;
}

static ink_status on_point(void *user, const ink_point *point) {
  merged_sink *m = user;
  ink_point there = *point;
  there.ns = inside(m, point->ns);
  return m->shown ? ink_track_events_point(m->events, &there) : INK_OK;
}

static ink_status on_async(void *user, const ink_async *async) {
  merged_sink *m = user;
  ink_async there = *async;
  there.begin_ns = inside(m, async->begin_ns);
  there.end_ns = inside(m, async->end_ns);
  if (there.end_ns < there.begin_ns)
    there.end_ns = there.begin_ns;
  return m->shown ? ink_track_events_async(m->events, &there) : INK_OK;
}

/* Of those between tracks that are both shown. */
static ink_status on_crossing(void *user, const ink_crossing *crossing) {
  merged_sink *m = user;
  ink_crossing there = *crossing;
  uint64_t place;
  if (crossing->cut || !ink_crossings_find(m->crossings, crossing->from_track, &place) ||
      !ink_crossings_find(m->crossings, crossing->to_track, &place))
    return INK_OK;
  there.begin_ns = moved(m, crossing->begin_ns);
  there.end_ns = moved(m, crossing->end_ns);
  return ink_crossings_add(m->crossings, &there);
}

static ink_status on_track_end(void *user, const ink_decoded_track *track) {
  merged_sink *m = user;
  m->track.marks_dropped = track->marks_dropped;
  ink_status status = m->shown ? m->end_track(m) : INK_OK;
  return status == INK_OK ? ink_file_check(m->file, m->error) : status;
}

ink_status merged_sink_lanes(const merged_sink *m, const uint32_t *groups, int64_t apart_ns, track_lanes *tracks,
                             track_lanes *launches) {
  const placement *p = &m->place;
  const uint64_t count = ink_capture_track_count(p->selection.capture);
  ink_status status = INK_OK;
  for (uint64_t i = 0; i < count && status == INK_OK; i++) {
    ink_stored_track track;
    int64_t open, close;
    ink_capture_track(p->selection.capture, i, &track);
    if (p->order[i] == UINT32_MAX || track.launch >= p->selection.launch_count || !p->launches[track.launch].placed ||
        !ink_selection_track(&p->selection, &track, &open, &close))
      continue;
    open = placement_ns(p, track.launch, open);
    close = placement_ns(p, track.launch, close);
    status = track_lanes_add(tracks, &track, i, groups[track.launch], open, close > open ? close : open);
  }
  for (uint32_t i = 0; i < p->selection.launch_count && status == INK_OK; i++) {
    const placed_launch *l = &p->launches[i];
    if (l->placed)
      status = track_lanes_add_launch(launches, i, groups[i], l->begin_ns, l->end_ns > l->begin_ns ? l->end_ns : l->begin_ns);
  }
  if (status == INK_OK)
    status = track_lanes_arrange(tracks, apart_ns);
  return status == INK_OK ? track_lanes_arrange(launches, apart_ns) : status;
}

ink_status merged_sink_run(merged_sink *m) {
  const ink_sink sink = {.user = m,
                         .launch = on_launch,
                         .track_begin = on_track_begin,
                         .slice = on_slice,
                         .point = on_point,
                         .async = on_async,
                         .crossing = on_crossing,
                         .track_end = on_track_end,
                         .want_launch = want_launch};
  m->counters.sections = m->place.sections_of_sms;
  ink_status status =
      ink_decode(m->place.selection.capture, m->place.selection.map, UINT32_MAX, &sink, m->error);
  if (status == INK_OK)
    status = m->end_launch(m);
  if (status == INK_ERROR_MEMORY)
    ink_error_set(m->error, status, "out of memory");
  if (status == INK_OK && m->counters.full)
    placement_say(&m->place, "the counters of sections on each SM were left out: too many slices");
  return status;
}
