/* SPDX-License-Identifier: MIT */
/* Where the tracks stood that never closed: the list of all of them, from the same decoder as everything else. */
#include "decode_events.h"

#include <stdlib.h>

typedef struct lister {
  INK_I_LIST(ink_open_track) list;
  ink_line line;
  const ink_capture *capture;
  const bool *launches; /* [launches]: there are open tracks in it */
} lister;

static bool want_launch(void *user, uint32_t launch) { return ((lister *)user)->launches[launch]; }

static ink_status on_track_begin(void *user, const ink_decoded_track *track, const ink_line *line) {
  (void)track;
  ((lister *)user)->line = *line;
  return INK_OK;
}

static ink_status on_track_end(void *user, const ink_decoded_track *track) {
  lister *l = user;
  const ink_track *header = &track->stored->header;
  if (!INK_I_ROOM(l->list))
    return INK_ERROR_MEMORY;
  ink_open_track *out = &l->list.items[l->list.count++];
  *out = (ink_open_track){.track = track->index,
                          .launch = track->stored->launch,
                          .cut = header->flags & INK_TRACK_CUT,
                          .seen_known = header->close_global_ns > header->open_global_ns,
                          .seen_ns = track->close_ns,
                          .marks = track->marks_kept,
                          .place = track->place};
  if (out->place.inside != INK_SECTION_UNKNOWN)
    out->inside_ns = ink_line_span_ns(&l->line, out->place.begin_cycles, track->close_cycles);
  return INK_OK;
}

ink_status ink_open_tracks(const ink_capture *capture, const ink_clock_map *map, ink_open_track **out,
                           size_t *count, ink_error *error) {
  if (!capture || !map || !out || !count)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "no open tracks to list");
  lister l = {.capture = capture};
  bool *launches = calloc(capture->launches.count + 1, sizeof *launches);
  if (!launches)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the open tracks");
  ink_walk walk = {0};
  bool any = false;
  for (uint64_t i = 0; i < capture->tracks.count && capture->facts.open_tracks; i++) {
    ink_walk_track(&walk, capture, i);
    if (ink_track_at(capture, i)->header.state != INK_TRACK_CLOSED)
      any = launches[capture->tracks.items[i].launch] = true;
  }
  l.launches = launches;
  const ink_event_sink sink = {.user = &l, .only_open = true, .want_launch = want_launch,
                               .track_begin = on_track_begin, .track_end = on_track_end};
  const ink_status status = any ? ink_decode_events(capture, map, UINT32_MAX, &sink, error) : INK_OK;
  free(launches);
  if (status != INK_OK) {
    free(l.list.items);
    return status == INK_ERROR_MEMORY ? ink_error_set(error, status, "out of memory for the open tracks")
                                      : status;
  }
  *out = l.list.items;
  *count = l.list.count;
  return INK_OK;
}

void ink_open_tracks_free(ink_open_track *tracks) { free(tracks); }
