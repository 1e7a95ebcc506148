/* SPDX-License-Identifier: MIT */
/* Reads the rings of tracks that are open. Kernels go on storing to them, so each is copied twice, and what is the
 * same both times stood there in between; and the track must still be open after that. */
#include "cuda/drain_open.h"

#include "cuda/drain_parts.h"
#include "cuda/flight.h"
#include "monotonic.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static size_t rings_bytes(const ink_i_device *d) { return (size_t)d->info.records_per_track * 16; }

/* ---- following ---- */

ink_i_follow *ink_i_follow_of(ink_i_device *d, uint32_t slot, uint64_t ticket) {
  ink_i_follow *f = d->follows[slot];
  if (!f)
    f = d->follows[slot] = calloc(1, sizeof *f);
  if (f && f->ticket != ticket + 1)
    *f = (ink_i_follow){.ticket = ticket + 1, .due = 2, .seen_ns = ink_i_monotonic_ns(), .changed_ns = ink_i_monotonic_ns()};
  return f;
}

void ink_i_follow_end(ink_i_device *d, uint32_t slot) {
  free(d->follows[slot]);
  d->follows[slot] = NULL;
}

void ink_i_follows_free(ink_i_device *d) {
  for (uint32_t i = 0; i < d->info.track_count && d->follows; i++)
    free(d->follows[i]);
  free(d->follows);
  d->follows = NULL;
}

/* ---- copying ---- */

/* The rings of `rows` slots in a row to `to`, waited for. A cudaError_t. */
static int copy_rings(ink_i_device *d, unsigned char *to, uint32_t first, uint32_t rows) {
  const size_t width = rings_bytes(d);
  for (uint32_t i = 0; i < rows && d->flight; i++)
    memcpy(to + i * width, ink_i_flight_ring(d->flight, first + i), width);
  if (d->flight)
    return 0;
  const int code = d->cuda->copy_2d_async(to, width, (const void *)(uintptr_t)ink_i_device_ring_at(d, first),
                                          d->layout.stride, width, rows, INK_I_TO_HOST, d->stream);
  return code ? code : d->cuda->stream_synchronize(d->stream);
}

/* Whether the slots' tracks are those of d->headers still, and open. */
static int check_headers(ink_i_device *d, uint32_t first, uint32_t rows, ink_device_track *room) {
  int code = 0;
  for (uint32_t i = 0; i < rows && d->flight; i++)
    room[i] = *ink_i_flight_header(d->flight->head, first + i);
  if (!d->flight)
    code = d->cuda->copy_2d_async(room, sizeof *room, (const void *)(uintptr_t)ink_i_device_header_at(d, first),
                                  d->layout.stride, sizeof *room, rows, INK_I_TO_HOST, d->stream);
  if (!code)
    code = ink_i_drain_copy_states(d, first, first + rows);
  if (!code)
    code = d->cuda->stream_synchronize(d->stream);
  for (uint32_t i = 0; i < rows && !code; i++) {
    room[i].closing = d->states[first + i].word;
    if (room[i].ticket != d->headers[first + i].ticket || ink_i_state_of(&room[i]) != INK_TRACK_OPEN)
      room[i].ticket = INK_UNWRITTEN;
  }
  return code;
}

/* ---- what is certain ---- */

/* Words of a ring that was lapped have the least index that their place in it allows: behind what was stored of it
 * before. None is from before the first word stored then, so that what is stored later comes later. */
static void place_behind(const ink_i_device *d, const ink_i_follow *follow, int which, uint64_t *words,
                         ink_open_words *out) {
  const uint64_t first = follow->ring[which].first, reached = follow->ring[which].reached;
  const uint64_t records = d->info.records_per_track;
  uint64_t end = reached + ((out->first + out->count - reached) & (records - 1));
  if (end == reached && out->reached_clock != follow->ring[which].reached_clock)
    end += records;
  if (end < first + out->count) {
    const uint64_t cut = first + out->count - end;
    out->count -= cut;
    memmove(words, words + cut, out->count * sizeof *words);
  }
  out->first = end - out->count;
  out->reached = end;
}

static ink_status find(const ink_i_device *d, ink_i_open_view *view, const uint64_t *words, const uint64_t *again,
                       int which, bool news, uint64_t *to, ink_error *error) {
  ink_open_words *out = &view->found[which];
  const bool wiped = d->held || view->track.ticket < d->clean_below[view->slot];
  ink_open_ring ring = {.words = words,
                              .again = again,
                              .records = d->info.records_per_track,
                              .open_clock = view->track.open_clock1,
                              .clock_most = UINT64_MAX,
                              .stale_clock_most = wiped ? 0 : UINT64_MAX,
                              .wiped = wiped,
                              .keep_first = d->info.flags & INK_BUFFER_KEEP_FIRST,
                              .rows = which ? 0 : INK_TRACK_ROWS(&view->track),
                              .called = which == 1};
  if (news) {
    ring.reached = view->follow->ring[which].reached;
    ring.reached_clock = view->follow->ring[which].reached_clock;
    ring.reached_exact = view->follow->ring[which].exact;
  }
  *out = (ink_open_words){0};
  const ink_status status = ink_i_open_ring_find(&ring, to, out, error);
  if (!news && !status && out->count && !out->exact && view->follow->ring[which].reached)
    place_behind(d, view->follow, which, to, out);
  view->fresh[which] = out->count && (news || out->reached_clock != view->follow->ring[which].reached_clock);
  return status;
}

/* Whether the track got records since it was looked at last. Copies that differ say so too: of a ring that was lapped
 * between them nothing is certain. */
static bool has_moved(const ink_i_device *d, ink_i_open_view *view, const uint64_t *a, const uint64_t *b) {
  bool moved = b && memcmp(a, b, rings_bytes(d)) != 0;
  for (int i = 0; i < 2; i++) {
    uint64_t *seen = &view->follow->ring[i].seen_clock;
    if (!view->found[i].count || view->found[i].reached_clock == *seen)
      continue;
    *seen = view->found[i].reached_clock;
    moved = true;
  }
  return moved;
}

/* One slot; a and b are the two copies, room for both rings at `to`. */
static ink_status view_one(ink_session *s, ink_i_device *d, uint32_t slot, const uint64_t *a, const uint64_t *b,
                           bool ended, bool news, uint64_t seen_ns, uint64_t *to, ink_i_open_sink *sink, void *user,
                           ink_error *error) {
  const uint32_t records = d->info.records_per_track;
  ink_i_open_view view = {.track = ink_i_host_track(d, &d->headers[slot]),
                          .follow = ink_i_follow_of(d, slot, d->headers[slot].ticket),
                          .words = {to, to + records},
                          .slot = slot};
  if (!view.follow)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for an open track");
  ink_status status = find(d, &view, a, b, 0, news, to, error);
  if (!status)
    status = find(d, &view, a + records, b ? b + records : NULL, 1, news, to + records, error);
  if (status)
    return status;
  const ink_open_words *body = &view.found[0], *aux = &view.found[1];
  view.track.words = body->reached;
  view.track.aux_words = aux->reached;
  view.track.flags |= (body->exact && aux->exact ? 0u : INK_TRACK_LOST_OLDER) | (ended ? INK_TRACK_CUT : 0u) |
                     (body->newest && aux->newest ? INK_TRACK_NEWEST : 0u);
  if (has_moved(d, &view, a, b))
    view.follow->changed_ns = ink_i_monotonic_ns();
  if (!ended && seen_ns > view.track.open_global_ns)
    view.track.close_global_ns = seen_ns;
  return sink(s, d, &view, user, error);
}

ink_status ink_i_open_view_each(ink_session *s, ink_i_device *d, uint32_t n, bool ended, bool news,
                                ink_i_open_sink *sink, void *user, ink_error *error) {
  const size_t one = rings_bytes(d), both = 2 * one + sizeof(ink_device_track);
  const uint32_t most = d->staging_bytes / both > 1 ? (uint32_t)(d->staging_bytes / both) : 1;
  uint64_t *room = malloc(one);
  ink_status status = room ? INK_OK : ink_error_set(error, INK_ERROR_MEMORY, "out of memory for open tracks");
  for (uint32_t i = 0, rows = 0; i < n && !status; i += rows) {
    const uint32_t first = d->wanted[i].slot;
    for (rows = 1; rows < most && i + rows < n && d->wanted[i + rows].slot == first + rows;)
      rows++;
    unsigned char *b = d->staging + rows * one;
    ink_device_track *headers = (ink_device_track *)(void *)(b + rows * one);
    int code = copy_rings(d, d->staging, first, rows);
    if (!code && !ended)
      code = copy_rings(d, b, first, rows);
    const uint64_t seen_ns = ink_i_device_global_ns(d);
    if (!code)
      code = check_headers(d, first, rows, headers);
    if (code)
      status = ink_i_cuda_failed(d, code, "read its open tracks", error);
    for (uint32_t row = 0; row < rows && !status; row++)
      if (headers[row].ticket != INK_UNWRITTEN)
        status = view_one(s, d, first + row, (uint64_t *)(void *)(d->staging + row * one),
                          ended ? NULL : (uint64_t *)(void *)(b + row * one), ended, news, seen_ns, room, sink, user,
                          error);
  }
  free(room);
  return status;
}

/* ---- storing ---- */

static ink_status store_part(ink_session *s, ink_i_device *d, const ink_i_open_view *view, uint32_t which,
                             ink_error *error) {
  const ink_open_words *found = &view->found[which];
  if (!found->count)
    return INK_OK;
  const ink_part part = {.device = d->index,
                         .ring = which,
                         .flags = found->joined ? 0 : INK_PART_LOST,
                         .ticket = view->track.ticket,
                         .open_clock0 = view->track.open_clock0,
                         .first = found->first,
                         .words = view->words[which],
                         .count = found->count};
  return ink_writer_part(s->writer, &part, error);
}

static void note_stored(const ink_i_open_view *view) {
  for (int i = 0; i < 2; i++) {
    view->follow->ring[i].first = view->found[i].first;
    view->follow->ring[i].reached = view->found[i].reached;
    view->follow->ring[i].reached_clock = view->found[i].reached_clock;
    view->follow->ring[i].exact = view->found[i].reached_exact;
  }
}

static ink_status store_one(ink_session *s, ink_i_device *d, const ink_i_open_view *view, void *user,
                            ink_error *error) {
  const bool last = *(bool *)user, parts = s->options.live;
  const bool fresh = view->fresh[0] || view->fresh[1];
  /* In live mode their closings are to fit as well, whatever comes of the reader. */
  const size_t closings = parts ? d->open_count * sizeof(ink_file_track) : 0;
  if (!ink_i_drain_has_room(
          s, d, sizeof(ink_file_track) + (view->found[0].count + view->found[1].count) * 8 + closings))
    return INK_OK; /* the next drain finds them again, or says what was lost */
  ink_status status = ink_i_session_writer(s, error);
  if (!status)
    status = ink_i_instance_note(s, d, &d->headers[view->slot], error);
  for (uint32_t which = 0; which < 2 && parts && !status; which++)
    status = store_part(s, d, view, which, error);
  if (!status && parts)
    note_stored(view);
  if (!status && (!view->follow->stored || last || (!parts && fresh)))
    status = ink_writer_open_track(s->writer, d->index, &view->track, view->words[0],
                                   parts ? 0 : view->found[0].count, view->words[1],
                                   parts ? 0 : view->found[1].count, error);
  if (status)
    return status;
  if (fresh)
    note_stored(view);
  view->follow->stored = true;
  view->follow->whole = view->track.flags & INK_TRACK_CUT;
  view->follow->due = 2 * view->follow->drains; /* so a track that runs for long is stored some dozen times in all */
  return INK_OK;
}

ink_status ink_i_open_store(ink_session *s, ink_i_device *d, uint32_t n, bool last, bool ended, ink_error *error) {
  uint32_t due = 0;
  for (uint32_t i = 0; i < n; i++) {
    const uint32_t slot = d->wanted[i].slot;
    ink_i_follow *f = ink_i_follow_of(d, slot, d->headers[slot].ticket);
    if (!f)
      return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for an open track");
    f->drains++;
    if (!last && !s->options.live && f->drains < f->due)
      continue;
    d->wanted[due++] = d->wanted[i];
  }
  return ink_i_open_view_each(s, d, due, ended, s->options.live, store_one, &last, error);
}
