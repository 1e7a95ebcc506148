/* SPDX-License-Identifier: MIT */
/* A drain of one device: reads the headers that may have changed, tells closed tracks that are new and open
 * ones, and has the capture written: what ended, the counters, the tracks. */
#include "cuda/drain_parts.h"
#include "cuda/drain_open.h"
#include "cuda/drain_runs.h"
#include "cuda/flight.h"
#include "cuda/passed_kernels.h"

#include <string.h>

/* ---- which headers may have changed ---- */

/* The newest ticket that names the slot, of `claims`; false: none does. */
static bool newest_ticket(const ink_i_device *d, uint64_t claims, uint32_t slot, uint64_t *ticket) {
  if (claims <= slot)
    return false;
  *ticket = claims - 1 - ((claims - 1 - slot) & d->layout.tracks_mask);
  return true;
}

/* A slot changes hands by a claim, and an open track closes. What was first claimed is kept for good
 * with "keep first". */
static bool may_have_changed(const ink_i_device *d, uint64_t claims, uint32_t slot) {
  uint64_t ticket;
  if ((d->info.flags & INK_BUFFER_KEEP_FIRST) && d->seen[slot])
    return false;
  return d->open[slot] || (newest_ticket(d, claims, slot, &ticket) && ticket >= d->settled);
}

/* The states first: a header that is found as it was belongs to the state that was read before it. */
static int read_headers(ink_i_device *d, uint32_t first, uint32_t end) {
  const int code = ink_i_drain_copy_states(d, first, end);
  return code ? code
              : d->cuda->copy_2d_async(d->headers + first, sizeof *d->headers,
                                       (const void *)(uintptr_t)ink_i_device_header_at(d, first),
                                       d->layout.stride, sizeof *d->headers, end - first, INK_I_TO_HOST,
                                       d->stream);
}

/* Notes in d->wanted which slots' headers are read, ascending; how many. */
static uint32_t list_changed(ink_i_device *d, uint64_t claims, bool all) {
  uint32_t n = 0;
  for (uint32_t slot = 0; slot < d->info.track_count; slot++)
    if (all || may_have_changed(d, claims, slot))
      d->wanted[n++].slot = slot;
  return n;
}

static int queue_headers(ink_i_device *d, uint32_t count) {
  const uint32_t gap = INK_I_CALL_BYTES / (sizeof *d->headers + INK_I_ROW_BYTES);
  int code = 0;
  for (uint32_t i = 0, first = 0; i < count && !code; i++)
    if (i + 1 == count || d->wanted[i + 1].slot - d->wanted[i].slot > gap) {
      code = read_headers(d, d->wanted[first].slot, d->wanted[i].slot + 1);
      first = i + 1;
    }
  return code;
}

/* ---- what they say ---- */

static uint32_t used_bytes(uint64_t bytes, uint32_t records) {
  return (uint32_t)(bytes < (uint64_t)records * 8 ? bytes : (uint64_t)records * 8);
}

/* What a drain found. */
typedef struct findings {
  uint32_t wanted;
  uint64_t settled;       /* tickets below it have come to their slots, or were refused there */
} findings;

/* Whether the thread that took the slot has written all of the opening and nothing of the closing: rows of the
 * track before it would be taken for this one's, or it for open though the counters have it. A clock pair of two
 * tracks is far apart, and a closing that is older than the opening is of the track before. */
static bool is_whole_opening(const ink_i_device *d, const ink_device_track *h) {
  const uint32_t cycles = h->open_clock1 - (uint32_t)h->open_clock0;
  return ink_i_kernel_of(d, h) < d->slot_count && cycles < 1u << 24 &&
         (h->close_global_ns == INK_UNWRITTEN || h->open_global_ns >= h->close_global_ns);
}

/* An open track, from one drain to the next: d->open. One that was stored so ends once. */
static void follow_open(ink_i_device *d, uint32_t slot) {
  const ink_device_track *h = &d->headers[slot];
  const uint64_t before = d->open[slot], ticket = h->ticket + 1;
  uint64_t now = 0;
  if (ink_i_state_of(h) == INK_TRACK_OPEN) {
    const bool whole = d->seen[slot] != ticket && is_whole_opening(d, h);
    now = !whole ? INK_I_OPEN_AGAIN : (before & INK_I_OPEN_TICKET) == ticket ? before : ticket;
  }
  if ((before & INK_I_OPEN_STORED) && !(now & INK_I_OPEN_STORED))
    d->ended[d->ended_count++] = (before & INK_I_OPEN_TICKET) - 1;
  d->open_count -= before != 0;
  d->open_count += now != 0;
  d->open[slot] = now;
}

/* A claim is a ticket first and the taking of its slot then: between the two the slot's header is of an older
 * ticket, as it stays where the slot was refused since it was taken. */
static void settle(const ink_i_device *d, uint64_t claims, uint32_t slot, findings *f) {
  const ink_device_track *h = &d->headers[slot];
  const bool free_slot = ink_i_state_of(h) == INK_TRACK_FREE;
  uint64_t newest;
  if (!newest_ticket(d, claims, slot, &newest) || newest < d->settled || newest >= f->settled)
    return;
  if (!free_slot && (h->ticket >= newest || d->open[slot] || (d->info.flags & INK_BUFFER_KEEP_FIRST)))
    return;
  f->settled = newest;
}

static void classify(ink_i_device *d, uint64_t claims, uint32_t read, findings *f) {
  *f = (findings){.settled = claims};
  for (uint32_t i = 0; i < read; i++) {
    const uint32_t slot = d->wanted[i].slot; /* what is wanted takes no more room than what was read */
    const ink_device_track *h = &d->headers[slot];
    follow_open(d, slot);
    settle(d, claims, slot, f);
    const uint32_t state = ink_i_state_of(h), kernel = ink_i_kernel_of(d, h);
    if (state == INK_TRACK_FREE || d->seen[slot] == h->ticket + 1)
      continue;
    if (kernel < d->slot_count)
      d->touched[kernel] = true;
    if (state == INK_TRACK_CLOSED)
      d->wanted[f->wanted++] =
          (ink_i_wanted){slot, used_bytes(h->bytes, d->info.records_per_track),
                         used_bytes(ink_i_header_aux_bytes(h), d->info.aux_records_per_track)};
  }
}

/* ---- tracks that are open ---- */

/* Stores tracks that are open, with what is certain of their words: from the drain after the one that saw them first
 * on, or at the `last` one. So those of a kernel that hangs are there when the program is killed. */
static ink_status store_open(ink_session *s, ink_i_device *d, bool last, bool ended, ink_error *error) {
  uint32_t n = 0;
  for (uint32_t slot = 0; slot < d->info.track_count && d->open_count; slot++)
    if ((d->open[slot] & INK_I_OPEN_TICKET) && !(d->open[slot] & INK_I_OPEN_FOREIGN))
      d->wanted[n++].slot = slot;
  const ink_status status = n ? ink_i_open_store(s, d, n, last, ended, error) : INK_OK;
  for (uint32_t slot = 0; slot < d->info.track_count && n && !status; slot++)
    if (d->open[slot] && d->follows[slot] && d->follows[slot]->stored &&
        d->follows[slot]->ticket == (d->open[slot] & INK_I_OPEN_TICKET))
      d->open[slot] |= INK_I_OPEN_STORED;
  return status;
}

/* Of tracks that wait for a drain the parent's are the parent's to write: here their slots are free again. */
static void free_held(ink_i_device *d) {
  for (uint32_t slot = 0; slot < d->info.track_count; slot++) {
    ink_device_state *state = (ink_device_state *)(uintptr_t)ink_i_device_state_at(d, slot);
    if (state->word == INK_STATE_FREE)
      continue;
    memset((void *)(uintptr_t)ink_i_device_header_at(d, slot), 0xff,
           sizeof(ink_device_track) + (size_t)d->info.records_per_track * 16);
    state->word = INK_STATE_FREE;
    state->aux_bytes = state->aux_extra = 0;
    ink_i_follow_end(d, slot);
  }
}

/* In a child only the simulated device works, whose memory is the process's: it is read as it is, without a
 * call. What kernels did since the parent's last drain is in the parent too, and the parent's. */
void ink_i_drain_after_fork(ink_i_device *d) {
  uint64_t unknown = 0;
  ink_i_flight_after_fork(d);
  if (d->dead)
    return;
  if (d->held)
    free_held(d);
  memcpy(d->slots, ink_i_device_slots(d), d->slot_count * sizeof *d->slots);
  memcpy(d->before, d->slots, d->slot_count * sizeof *d->slots);
  memcpy(d->written, d->slots, d->slot_count * sizeof *d->slots);
  memset(d->named, 0, d->slot_count * sizeof *d->named);
  ink_i_passed_after_fork(d);
  for (uint32_t i = 0; i < d->slot_count; i++)
    unknown += d->slots[i].key ? 0 : ink_i_passed_unknown(d, i);
  d->unknown_before = 0 - unknown; /* counted modulo 2^64 */
  d->unknown = d->unknown_written = 0;
  d->open_count = d->ended_count = 0;
  for (uint32_t slot = 0; slot < d->info.track_count; slot++) {
    ink_device_track *h = &d->headers[slot];
    memcpy(h, (const void *)(uintptr_t)ink_i_device_header_at(d, slot), sizeof *h);
    h->closing = ((const ink_device_state *)(uintptr_t)ink_i_device_state_at(d, slot))->word;
    const bool is_open = ink_i_state_of(h) == INK_TRACK_OPEN;
    const bool whole = d->seen[slot] != h->ticket + 1 && is_whole_opening(d, h);
    d->open[slot] = !is_open ? 0 : !whole ? INK_I_OPEN_AGAIN : (h->ticket + 1) | INK_I_OPEN_FOREIGN;
    d->open_count += is_open;
    if (ink_i_state_of(h) == INK_TRACK_CLOSED)
      d->seen[slot] = h->ticket + 1;
  }
  ink_i_flight_note(d);
  d->sweep = true;
}

static ink_status write_ended(ink_session *s, ink_i_device *d, ink_error *error) {
  if (!d->ended_count)
    return INK_OK;
  ink_status status = ink_i_session_writer(s, error);
  if (!status)
    status = ink_writer_ended(s->writer, d->index, d->ended, d->ended_count, error);
  if (!status)
    d->ended_count = 0;
  return status;
}

/* ---- all of it ---- */

/* Reads what may have changed. The counters first: a track that closes between the two readings is in the
 * tracks and not yet in the counters, which the next drain mends, instead of counted as lost. */
static ink_status read_device(ink_i_device *d, uint64_t claims, bool all, uint32_t *read, ink_error *error) {
  *read = list_changed(d, claims, all);
  int code = ink_i_counts_queue(d, all);
  if (!code)
    code = queue_headers(d, *read);
  if (!code)
    code = d->cuda->stream_synchronize(d->stream);
  if (code)
    return ink_i_cuda_failed(d, code, "read its tracks", error);
  for (uint32_t i = 0; i < *read; i++)
    d->headers[d->wanted[i].slot].closing = d->states[d->wanted[i].slot].word;
  ink_i_counts_take(d, all);
  return INK_OK;
}

/* What ended comes before the counters that have it: so a file that is cut off after any chunk has no track
 * twice. */
static ink_status write_device(ink_session *s, ink_i_device *d, const findings *f, bool all,
                               ink_error *error) {
  if (!ink_i_drain_has_room(s, d, sizeof(ink_file_track)))
    return INK_OK;
  ink_status status = write_ended(s, d, error);
  if (!status)
    status = ink_i_counts_write(s, d, all, error);
  if (!status)
    status = ink_i_drain_wanted(s, d, f->wanted, error);
  return status;
}

static void note_settled(ink_i_device *d, uint64_t claims, const findings *f) {
  enum { TRIES = 8 }; /* then the slot was refused: the last drain reads all of them anyway */
  d->settle_tries = f->settled == d->settled ? d->settle_tries + 1 : 0;
  d->settled = d->settle_tries < TRIES ? f->settled : claims;
}

static void read_again(ink_i_device *d, uint32_t slot) {
  d->open_count += !d->open[slot];
  d->open[slot] = d->open[slot] ? d->open[slot] : INK_I_OPEN_AGAIN;
}

static ink_status drain_device(ink_session *s, ink_i_device *d, ink_error *error) {
  if (!d->made || d->dead)
    return INK_OK;
  d->cuda->set_device(d->index);
  if (d->held)
    return ink_i_drain_held(s, d, error);
  uint64_t claims = 0;
  const int code = ink_i_counts_read_claims(d, &claims);
  if (code)
    return ink_i_cuda_failed(d, code, "read its counters", error);
  const bool all = d->sweep || d->until_full == 0;
  if (!all && claims == d->claims && d->settled == claims && !d->open_count) {
    d->until_full--;
    return INK_OK;
  }
  findings f;
  uint32_t read;
  ink_status status = read_device(d, claims, all, &read, error);
  if (status)
    return status;
  d->claims = claims;
  memset(d->touched, 0, d->slot_count * sizeof *d->touched);
  classify(d, claims, read, &f);
  note_settled(d, claims, &f);
  d->until_full = all ? INK_I_DRAINS_PER_FULL - 1 : d->until_full - 1;
  status = write_device(s, d, &f, d->sweep, error);
  d->sweep = d->sweep && status;
  for (uint32_t i = 0; i < f.wanted; i++) /* torn, taken again, or not written: the next drain looks */
    if (d->seen[d->wanted[i].slot] != d->headers[d->wanted[i].slot].ticket + 1)
      read_again(d, d->wanted[i].slot);
  if (!status && d->open_count && s->writer) /* what closed goes out before rings are copied */
    status = ink_writer_flush(s->writer, error);
  if (!status && d->open_count) /* what is wanted is lost with this */
    status = ink_i_drain_left(s, d, error);
  if (!status)
    status = store_open(s, d, false, false, error);
  return status || !s->writer ? status : ink_writer_flush(s->writer, error);
}

/* The next drain tries again, but what is used again until then is lost: the capture is to say why. */
ink_status ink_i_drain_device(ink_session *s, ink_i_device *d, ink_error *error) {
  ink_error why = {0};
  d->left = false;
  const ink_status status = drain_device(s, d, &why);
  if (status == INK_ERROR_CUDA) {
    d->dead = true;
    ink_i_flight_salvage(s, d, NULL);
  }
  ink_i_session_note_failure(s, status, &why);
  if (status && error)
    *error = why;
  return status;
}

ink_status ink_i_drain_open(ink_session *s, ink_i_device *d, bool ended, ink_error *error) {
  if (!d->made || d->dead)
    return INK_OK;
  ink_status status = store_open(s, d, true, ended, error);
  if (!status && s->writer)
    status = ink_writer_flush(s->writer, error);
  if (!status && d->flight && !d->left)
    d->flight->head->ended = 1;
  return status;
}
