/* SPDX-License-Identifier: MIT */
/* Copies closed tracks from a device's buffer to the capture file while kernels go on. A track may be
 * taken by another block at any moment, so its header is read before and after its rings: what was
 * copied counts only if the header is the same both times. */
#include "cuda/session_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TO_HOST = 2 };

typedef struct batch_entry {
  uint32_t slot;
  size_t ring_at, aux_at; /* bytes into the staging */
} batch_entry;

typedef struct batch {
  batch_entry entries[512];
  uint32_t count;
  size_t used;
} batch;

static size_t used_bytes(uint64_t bytes, uint32_t records) {
  return (size_t)(bytes < (uint64_t)records * 8 ? bytes : (uint64_t)records * 8);
}

static int copy(ink_i_device *d, void *to, uint64_t from, size_t bytes) {
  return bytes ? d->cuda->copy_async(to, (const void *)(uintptr_t)from, bytes, TO_HOST, d->stream)
               : 0;
}

static int read_headers(ink_i_device *d, ink_device_track *to, uint32_t first, uint32_t count) {
  return d->cuda->copy_2d_async(to + first, sizeof *to,
                                (const void *)(uintptr_t)ink_i_device_header_at(d, first),
                                d->layout.stride, sizeof *to, count, TO_HOST, d->stream);
}

/* enum ink_track_state */
static uint32_t state_of(const ink_i_device *d, const ink_device_track *header) {
  const uint32_t low = header->state & INK_STATE_LOW;
  if (header->state == INK_STATE_FREE)
    return INK_TRACK_FREE;
  return low == (~d->layout.ring_mask & INK_STATE_LOW) ? INK_TRACK_CLOSED : INK_TRACK_OPEN;
}

static bool is_new(const ink_i_device *d, const ink_device_track *header, uint32_t slot) {
  return state_of(d, header) == INK_TRACK_CLOSED && d->seen[slot] != header->ticket + 1;
}

static uint32_t kernel_of(const ink_i_device *d, const ink_device_track *header) {
  return (uint32_t)((header->slot - (uint64_t)(uintptr_t)d->fixed) / sizeof(ink_kernel_slot));
}

/* The second reading of a clock, of whose lower half it is, soon after `clock0`. */
static uint64_t soon_after(uint64_t clock0, uint32_t low) {
  return clock0 + (uint32_t)(low - (uint32_t)clock0);
}

static ink_track host_track(const ink_i_device *d, const ink_device_track *h) {
  ink_track track = {.state = state_of(d, h),
                     .kernel = kernel_of(d, h),
                     .ticket = h->ticket,
                     .grid_id = h->grid_id,
                     .thread = h->thread,
                     .cluster_rank = h->cluster_rank,
                     .sm_open = h->sm_open,
                     .open_clock0 = h->open_clock0,
                     .open_global_ns = h->open_global_ns,
                     .open_clock1 = soon_after(h->open_clock0, h->open_clock1)};
  memcpy(track.grid_dim, h->grid_dim, sizeof track.grid_dim);
  memcpy(track.block_dim, h->block_dim, sizeof track.block_dim);
  memcpy(track.block_index, h->block_index, sizeof track.block_index);
  if (track.state != INK_TRACK_CLOSED)
    return track;
  track.sm_close = h->state >> INK_STATE_BITS;
  track.close_clock0 = h->close_clock0;
  track.close_global_ns = h->close_global_ns;
  track.close_clock1 = h->close_clock1;
  track.words = h->bytes / 8;
  track.extra = h->extra;
  track.aux_words = h->aux_bytes / 8;
  track.aux_extra = h->aux_extra;
  return track;
}

static ink_status write_batch(ink_session *s, ink_i_device *d, batch *b, ink_error *error) {
  if (!b->count)
    return INK_OK;
  uint32_t low = b->entries[0].slot, high = low;
  for (uint32_t i = 1; i < b->count; i++)
    high = b->entries[i].slot > high ? b->entries[i].slot : high;
  int code = read_headers(d, d->again, low, high - low + 1);
  if (!code)
    code = d->cuda->stream_synchronize(d->stream);
  if (code)
    return ink_i_cuda_failed(d, code, "copy its tracks", error);
  ink_status status = ink_i_session_writer(s, error);
  for (uint32_t i = 0; i < b->count && !status; i++) {
    const batch_entry *e = &b->entries[i];
    const ink_device_track *then = &d->headers[e->slot], *now = &d->again[e->slot];
    if (memcmp(now, then, sizeof *now) != 0)
      continue; /* taken again, even in the midst of the first reading: lost, and counted so */
    const ink_track header = host_track(d, then);
    status = ink_writer_track(s->writer, d->index, &header,
                              (const uint64_t *)(d->staging + e->ring_at),
                              (const uint64_t *)(d->staging + e->aux_at), error);
    if (status)
      break;
    d->seen[e->slot] = then->ticket + 1;
    s->tracks_written++;
  }
  b->count = 0;
  b->used = 0;
  return status;
}

/* Queues the copies of one track's rings; writes the batch first when it is full. */
static ink_status queue_track(ink_session *s, ink_i_device *d, batch *b, uint32_t slot,
                              ink_error *error) {
  const ink_device_track *header = &d->headers[slot];
  const size_t ring = used_bytes(header->bytes, d->info.records_per_track);
  const size_t aux = used_bytes(header->aux_bytes, d->info.aux_records_per_track);
  if (b->count == sizeof b->entries / sizeof *b->entries || b->used + ring + aux > d->staging_bytes) {
    const ink_status status = write_batch(s, d, b, error);
    if (status)
      return status;
  }
  batch_entry *e = &b->entries[b->count];
  *e = (batch_entry){slot, b->used, b->used + ring};
  const uint64_t at = ink_i_device_ring_at(d, slot);
  int code = copy(d, d->staging + e->ring_at, at, ring);
  if (!code)
    code = copy(d, d->staging + e->aux_at, at + (uint64_t)d->info.records_per_track * 8, aux);
  if (code)
    return ink_i_cuda_failed(d, code, "copy a track", error);
  b->used += ring + aux;
  b->count++;
  return INK_OK;
}

/* The counters of every kernel that was entered, less what a parent process counted. They stand before
 * the tracks in the file, since they name the kernels: also of a track that is still open. */
static ink_status write_counts(ink_session *s, ink_i_device *d, ink_error *error) {
  ink_kernel_counts *counts = calloc(d->slot_count, sizeof *counts);
  bool *entered = calloc(d->slot_count, sizeof *entered);
  if (!counts || !entered) {
    free(counts);
    free(entered);
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the kernels' counts");
  }
  for (uint32_t slot = 0; slot < d->info.track_count; slot++) {
    const ink_device_track *header = &d->headers[slot];
    if (state_of(d, header) != INK_TRACK_FREE && kernel_of(d, header) < d->slot_count &&
        d->seen[slot] != header->ticket + 1)
      entered[kernel_of(d, header)] = true;
  }
  uint32_t n = 0;
  for (uint32_t i = 0; i < d->slot_count; i++) {
    const ink_kernel_slot *slot = &d->slots[i], *before = &d->before[i];
    const uint64_t words = (slot->bytes - before->bytes) / 8;
    if (slot->key && (entered[i] || slot->closed != before->closed ||
                      slot->missed != before->missed))
      counts[n++] = (ink_kernel_counts){
          .device = d->index, .slot = i, .key = slot->key, .missed = slot->missed - before->missed,
          .tracks = (slot->closed - before->closed) / d->layout.ring_mask,
          .marks = words - (slot->extra - before->extra), .words = words};
  }
  ink_status status = INK_OK;
  if (n || d->unknown)
    status = ink_i_session_writer(s, error);
  if (!status && s->writer && (n || d->unknown))
    status = ink_writer_counts(s->writer, counts, n, d->claims, d->unknown, d->index, error);
  free(counts);
  free(entered);
  return status;
}

static ink_status read_counts(ink_i_device *d, ink_error *error) {
  ink_buffer header;
  int code = copy(d, d->slots, (uint64_t)(uintptr_t)ink_i_device_slots(d),
                  d->slot_count * sizeof *d->slots);
  if (!code)
    code = copy(d, &header, (uint64_t)(uintptr_t)d->buffer, sizeof header);
  if (!code)
    code = d->cuda->stream_synchronize(d->stream);
  if (code)
    return ink_i_cuda_failed(d, code, "read its counters", error);
  d->claims = header.claim;
  d->unknown = d->unknown_before;
  for (uint32_t i = 0; i < d->slot_count; i++)
    if (d->slots[i].key == 0)
      d->unknown += d->slots[i].missed;
  return INK_OK;
}

/* Stores the headers of tracks that are open: each once, at the drain after the one that saw it first, or
 * at the `last` one. So those of a kernel that hangs are there when the program is killed; when such a
 * track closes, it is stored whole, and takes the place of this. */
static ink_status store_open(ink_session *s, ink_i_device *d, bool last, ink_error *error) {
  ink_status status = INK_OK;
  for (uint32_t slot = 0; slot < d->info.track_count && !status; slot++) {
    const ink_device_track *h = &d->headers[slot];
    const uint64_t ticket = h->ticket + 1;
    if (state_of(d, h) != INK_TRACK_OPEN || d->seen[slot] == ticket ||
        d->open[slot] == (ticket | INK_I_OPEN_STORED))
      continue;
    if (kernel_of(d, h) >= d->slot_count)
      continue; /* claimed just now, the rest is not written yet */
    const bool stays = last || d->open[slot] == ticket;
    d->open[slot] = ticket;
    if (!stays)
      continue;
    const ink_track header = host_track(d, h);
    status = ink_i_session_writer(s, error);
    if (!status)
      status = ink_writer_track(s->writer, d->index, &header, NULL, NULL, error);
    d->open[slot] = ticket | INK_I_OPEN_STORED;
  }
  return status;
}

void ink_i_drain_disown_open(ink_i_device *d) {
  for (uint32_t slot = 0; slot < d->info.track_count; slot++)
    if (state_of(d, &d->headers[slot]) == INK_TRACK_OPEN)
      d->open[slot] = (d->headers[slot].ticket + 1) | INK_I_OPEN_STORED;
}

static ink_status drain_device(ink_session *s, ink_i_device *d, ink_error *error) {
  if (!d->made || d->dead)
    return INK_OK;
  d->cuda->set_device(d->index);
  const uint32_t tracks = d->info.track_count;
  /* The counters first: a track that closes between the two readings is in the tracks and not yet in
   * the counters, which the next drain mends, instead of counted as lost. */
  const uint64_t claims_before = d->claims, unknown_before = d->unknown;
  ink_status status = read_counts(d, error);
  if (!status && d->claims == claims_before && d->unknown == unknown_before && d->claims == 0)
    return INK_OK; /* nothing has run yet */
  int code = status ? 0 : read_headers(d, d->headers, 0, tracks);
  if (!status && !code)
    code = d->cuda->stream_synchronize(d->stream);
  if (code)
    status = ink_i_cuda_failed(d, code, "read its tracks", error);
  if (!status)
    status = write_counts(s, d, error);
  batch *b = status ? NULL : calloc(1, sizeof *b);
  if (!status && !b)
    status = ink_error_set(error, INK_ERROR_MEMORY, "out of memory for a drain");
  for (uint32_t slot = 0; slot < tracks && !status; slot++)
    if (is_new(d, &d->headers[slot], slot))
      status = queue_track(s, d, b, slot, error);
  if (!status)
    status = write_batch(s, d, b, error);
  free(b);
  if (!status)
    status = store_open(s, d, false, error);
  if (!status && s->writer)
    status = ink_writer_flush(s->writer, error);
  if (status == INK_ERROR_CUDA)
    d->dead = true;
  return status;
}

/* The next drain tries again, but what is used again until then is lost: the capture is to say why. */
ink_status ink_i_drain_device(ink_session *s, ink_i_device *d, ink_error *error) {
  ink_error why = {0};
  const ink_status status = drain_device(s, d, &why);
  ink_i_session_note_failure(s, status, &why);
  if (status && error)
    *error = why;
  return status;
}

ink_status ink_i_drain_open(ink_session *s, ink_i_device *d, ink_error *error) {
  return d->made && !d->dead ? store_open(s, d, true, error) : INK_OK;
}
