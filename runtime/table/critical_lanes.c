/* SPDX-License-Identifier: MIT */
/* Reads the tracks of a launch as stretches of their innermost sections. */
#include "critical.h"

#include <inttypes.h>
#include <stdlib.h>

enum { SLICES_MAX = 1 << 24 };

typedef struct slice {
  int64_t begin, end;
  ink_section_index section;
} slice;

typedef struct reader {
  ink_lanes *out;
  INK_I_LIST(slice) slices; /* of the track that is read */
  INK_I_LIST(size_t) open;  /* of these */
  bool closed;
  uint64_t told;
  uint32_t launch;
  ink_error *error;
} reader;

static ink_status no_memory(reader *r) {
  return ink_error_set(r->error, INK_ERROR_MEMORY, "out of memory for the critical path");
}

/* A time that damaged clocks do not give: two of them can be added. */
static bool is_sane(int64_t ns) { return ns > -(INT64_MAX / 2) && ns < INT64_MAX / 2; }

static ink_status on_track_begin(void *user, const ink_decoded_track *track) {
  reader *r = user;
  const ink_track *h = &track->stored->header;
  r->slices.count = 0;
  r->closed = h->state == INK_TRACK_CLOSED && track->close_ns >= track->open_ns && is_sane(track->open_ns) &&
              is_sane(track->close_ns);
  if (!r->closed)
    return INK_OK;
  if (!INK_I_ROOM(r->out->lanes))
    return no_memory(r);
  r->out->lanes.items[r->out->lanes.count++] =
      (ink_lane){.track = track->index, .block = ink_linear_block(h), .begin = track->open_ns, .end = track->close_ns,
                 .device = track->stored->device, .sm = h->sm_open};
  return INK_OK;
}

static ink_status on_slice(void *user, const ink_slice *s) {
  reader *r = user;
  if (!r->closed || s->called || s->cut || s->end_ns <= s->begin_ns || !is_sane(s->begin_ns) || !is_sane(s->end_ns))
    return INK_OK;
  if (r->told++ == SLICES_MAX)
    return ink_error_set(r->error, INK_ERROR_ARGUMENT, "launch %u has more than %d slices: no path is looked for in it",
                         r->launch, SLICES_MAX);
  if (!INK_I_ROOM(r->slices))
    return no_memory(r);
  r->slices.items[r->slices.count++] = (slice){s->begin_ns, s->end_ns, s->section};
  return INK_OK;
}

static int outer_first(const void *left, const void *right) {
  const slice *a = left, *b = right;
  if (a->begin != b->begin)
    return a->begin < b->begin ? -1 : 1;
  return a->end > b->end ? -1 : a->end < b->end;
}

static bool add(ink_lanes *out, int64_t *from, int64_t to, ink_section_index section) {
  if (to <= *from)
    return true;
  if (!INK_I_ROOM(out->stretches))
    return false;
  out->stretches.items[out->stretches.count++] =
      (ink_stretch){*from, to, section, section < out->section_count && out->waits[section]};
  *from = to;
  return true;
}

static ink_status on_track_end(void *user, const ink_decoded_track *track) {
  reader *r = user;
  if (!r->closed)
    return INK_OK;
  r->out->marks_dropped += track->marks_dropped;
  ink_lane *lane = &r->out->lanes.items[r->out->lanes.count - 1];
  int64_t at = lane->begin;
  lane->first = r->out->stretches.count;
  if (r->slices.count)
    qsort(r->slices.items, r->slices.count, sizeof *r->slices.items, outer_first);
  r->open.count = 0;
  for (size_t i = 0; i <= r->slices.count; i++) {
    const bool last = i == r->slices.count;
    const int64_t begin = last ? lane->end : r->slices.items[i].begin;
    while (r->open.count && (last || r->slices.items[r->open.items[r->open.count - 1]].end <= begin)) {
      const slice *over = &r->slices.items[r->open.items[--r->open.count]];
      if (!add(r->out, &at, over->end, over->section))
        return no_memory(r);
    }
    const ink_section_index around =
        r->open.count ? r->slices.items[r->open.items[r->open.count - 1]].section : INK_SECTION_UNKNOWN;
    if (!add(r->out, &at, begin, around) || (!last && !INK_I_ROOM(r->open)))
      return no_memory(r);
    if (!last)
      r->open.items[r->open.count++] = i;
  }
  lane->count = r->out->stretches.count - lane->first;
  return INK_OK;
}

static ink_status on_crossing(void *user, const ink_crossing *c) {
  reader *r = user;
  if (c->cut || c->from_track == c->to_track)
    return INK_OK;
  if (!INK_I_ROOM(r->out->arrivals))
    return no_memory(r);
  r->out->arrivals.items[r->out->arrivals.count++] = (ink_arrival){c->from_track, c->to_track, c->begin_ns, c->end_ns};
  return INK_OK;
}

static int by_track(const void *left, const void *right) {
  const ink_lane *a = left, *b = right;
  return a->track < b->track ? -1 : a->track > b->track;
}

static int by_block(const void *left, const void *right) {
  const ink_lane *a = left, *b = right;
  if (a->block != b->block)
    return a->block < b->block ? -1 : 1;
  return by_track(left, right);
}

static int by_end(const void *left, const void *right) {
  const ink_arrival *a = left, *b = right;
  if (a->to != b->to)
    return a->to < b->to ? -1 : 1;
  return a->end < b->end ? -1 : a->end > b->end;
}

/* The lane of a track; SIZE_MAX: it is not closed. */
static size_t lane_of(const ink_lane *by_tracks, const size_t *places, size_t n, uint64_t track) {
  const ink_lane wanted = {.track = track};
  const ink_lane *found = bsearch(&wanted, by_tracks, n, sizeof *by_tracks, by_track);
  return found ? places[found - by_tracks] : SIZE_MAX;
}

/* Blocks stand together, and ranges across threads name lanes instead of tracks. */
static ink_status arrange(ink_lanes *out, ink_error *error) {
  const size_t n = out->lanes.count;
  ink_lane *by_tracks = malloc((n + 1) * sizeof *by_tracks), *lanes = out->lanes.items;
  size_t *places = malloc((n + 1) * sizeof *places), kept = 0;
  if (!by_tracks || !places) {
    free(by_tracks);
    free(places);
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the critical path");
  }
  qsort(lanes, n, sizeof *lanes, by_block);
  for (size_t at = 0, end; at < n; at = end) {
    int64_t begin = lanes[at].begin;
    for (end = at; end < n && lanes[end].block == lanes[at].block; end++)
      begin = lanes[end].begin < begin ? lanes[end].begin : begin;
    for (size_t i = at; i < end; i++) {
      lanes[i].block_begin = begin;
      lanes[i].peers = at;
      lanes[i].peer_count = end - at;
    }
  }
  for (size_t i = 0; i < n; i++) {
    by_tracks[i] = lanes[i];
    by_tracks[i].first = i; /* its place, while the copy is sorted */
  }
  qsort(by_tracks, n, sizeof *by_tracks, by_track);
  for (size_t i = 0; i < n; i++)
    places[i] = by_tracks[i].first;
  for (size_t i = 0; i < out->arrivals.count; i++) {
    ink_arrival a = out->arrivals.items[i];
    const size_t from = lane_of(by_tracks, places, n, a.from), to = lane_of(by_tracks, places, n, a.to);
    if (from == SIZE_MAX || to == SIZE_MAX || a.begin < lanes[from].begin || a.begin > lanes[from].end)
      continue; /* of a damaged one the path would not go back in time */
    a.from = from;
    a.to = to;
    out->arrivals.items[kept++] = a;
  }
  out->arrivals.count = kept;
  if (kept)
    qsort(out->arrivals.items, kept, sizeof *out->arrivals.items, by_end);
  free(by_tracks);
  free(places);
  return INK_OK;
}

ink_status ink_lanes_read(const ink_capture *capture, const ink_clock_map *map, uint32_t launch, ink_lanes *out,
                          ink_error *error) {
  reader r = {.out = out, .launch = launch, .error = error};
  const ink_sink sink = {.user = &r, .track_begin = on_track_begin, .slice = on_slice, .crossing = on_crossing,
                         .track_end = on_track_end};
  ink_status status = ink_decode(capture, map, launch, &sink, error);
  free(r.slices.items);
  free(r.open.items);
  if (status == INK_OK && !out->lanes.count)
    status = ink_error_set(error, INK_ERROR_ARGUMENT, "launch %u has no track that was closed", launch);
  return status == INK_OK ? arrange(out, error) : status;
}

void ink_lanes_free(ink_lanes *lanes) {
  free(lanes->lanes.items);
  free(lanes->stretches.items);
  free(lanes->arrivals.items);
}

const ink_stretch *ink_lane_before(const ink_lanes *all, const ink_lane *lane, int64_t at) {
  const ink_stretch *stretches = all->stretches.items + lane->first;
  size_t low = 0, high = lane->count;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (stretches[middle].begin < at)
      low = middle + 1;
    else
      high = middle;
  }
  return low ? &stretches[low - 1] : NULL;
}
