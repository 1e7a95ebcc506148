/* SPDX-License-Identifier: MIT */
/* Which tracks of each launch are shown, and in which order: a person cannot look at 70,000. */
#include "placement.h"

#include <stdlib.h>

enum { AUTO_TRACKS = 2000 };

typedef struct candidate {
  uint64_t index;
  int64_t duration_ns;
  uint32_t sm, thread;
  uint64_t block;
} candidate;

static int by_duration(const void *left, const void *right) {
  const candidate *a = left, *b = right;
  if (a->duration_ns != b->duration_ns)
    return a->duration_ns < b->duration_ns ? -1 : 1;
  return (a->index > b->index) - (a->index < b->index);
}

static int by_place(const void *left, const void *right) {
  const candidate *a = left, *b = right;
  if (a->sm != b->sm)
    return a->sm < b->sm ? -1 : 1;
  if (a->block != b->block)
    return a->block < b->block ? -1 : 1;
  if (a->thread != b->thread)
    return a->thread < b->thread ? -1 : 1;
  return (a->index > b->index) - (a->index < b->index);
}

static void read_track(const placement *p, uint64_t index, candidate *out) {
  ink_stored_track track;
  ink_capture_track(p->selection.capture, index, &track);
  const ink_track *h = &track.header;
  int64_t open = ink_clock_map_ns(p->selection.map, track.device, h->sm_open, h->open_clock1);
  int64_t close = open;
  if (h->state == INK_TRACK_CLOSED)
    close = ink_clock_map_ns(p->selection.map, track.device, h->sm_close, h->close_clock0);
  *out =
      (candidate){index, ink_ns_between(open, close), h->sm_open, h->thread, ink_block_linear(h)};
}

/* Moves those that are shown to the front, sorted by duration before. */
static size_t pick(const placement *p, enum ink_merged_tracks tracks, candidate *c, size_t n) {
  if (tracks == INK_TRACKS_SM)
    return 0;
  if (tracks == INK_TRACKS_SLOWEST) {
    size_t keep = p->options.slowest < n ? p->options.slowest : n;
    for (size_t i = 0; i < keep; i++)
      c[i] = c[n - keep + i];
    return keep;
  }
  if (tracks == INK_TRACKS_REPRESENTATIVE && n > 3) {
    c[1] = c[n / 2];
    c[2] = c[n - 1];
    return 3;
  }
  return n;
}

static ink_status choose(placement *p, enum ink_merged_tracks tracks, candidate *room) {
  for (size_t i = 0; i < p->selection.launch_count; i++) {
    const ink_launch_span *span = &p->selection.spans[i];
    placed_launch *launch = &p->launches[i];
    if (!launch->placed)
      continue;
    size_t n = 0;
    for (uint64_t t = 0; t < span->track_count; t++)
      read_track(p, span->first_track + t, &room[n++]);
    p->tracks += n;
    qsort(room, n, sizeof *room, by_duration);
    n = pick(p, tracks, room, n);
    qsort(room, n, sizeof *room, by_place);
    for (size_t k = 0; k < n; k++)
      p->order[room[k].index] = (uint32_t)k;
    launch->shown = n;
    p->shown += n;
  }
  return INK_OK;
}

ink_status placement_choose_tracks(placement *p, ink_error *error) {
  uint64_t all = ink_capture_track_count(p->selection.capture), most = 0;
  enum ink_merged_tracks tracks = p->options.tracks;
  if (tracks == INK_TRACKS_AUTO)
    tracks = p->selection.chosen_tracks <= AUTO_TRACKS ? INK_TRACKS_ALL : INK_TRACKS_REPRESENTATIVE;
  for (size_t i = 0; i < p->selection.launch_count; i++)
    if (p->selection.spans[i].track_count > most)
      most = p->selection.spans[i].track_count;
  candidate *room = calloc((size_t)most + 1, sizeof *room);
  p->order = malloc(((size_t)all + 1) * sizeof *p->order);
  if (!room || !p->order) {
    free(room);
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  }
  for (uint64_t i = 0; i < all; i++)
    p->order[i] = UINT32_MAX;
  ink_status status = choose(p, tracks, room);
  p->sections_of_sms = p->options.tracks == INK_TRACKS_SM;
  free(room);
  return status;
}
