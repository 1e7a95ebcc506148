/* SPDX-License-Identifier: MIT */
/* A drain of a device whose closed tracks wait for it: each is copied, written, wiped and only then free again. So
 * no track is overwritten, and what a ring holds is of the track that is open on it or nothing. */
#include "capture/capture_write.h"
#include "cuda/drain_parts.h"
#include "cuda/drain_open.h"
#include "cuda/drain_runs.h"
#include "cuda/flight.h"
#include "cuda/hang.h"

#include <string.h>

static size_t ring_bytes_of(const ink_i_device *d) { return (size_t)d->info.records_per_track * 8; }

static uint32_t used_bytes(const ink_i_device *d, uint64_t bytes) {
  const uint64_t ring = ring_bytes_of(d);
  return (uint32_t)(bytes < ring ? bytes : ring);
}

/* ---- reading ---- */

/* Headers of all slots that are not free, to d->headers, and the slots to d->wanted. */
static int read_headers(ink_i_device *d, uint32_t *count) {
  uint32_t n = 0;
  int code = 0;
  for (uint32_t slot = 0; slot < d->info.track_count; slot++)
    if (d->states[slot].word != INK_STATE_FREE)
      d->wanted[n++].slot = slot;
  for (uint32_t i = 0, first = 0; i < n && !code; i++) {
    const uint32_t slot = d->wanted[i].slot;
    if (d->flight)
      d->headers[slot] = *ink_i_flight_header(d->flight->head, slot);
    else if (i + 1 == n || d->wanted[i + 1].slot != slot + 1) {
      const uint32_t from = d->wanted[first].slot;
      code = d->cuda->copy_2d_async(d->headers + from, sizeof *d->headers,
                                    (const void *)(uintptr_t)ink_i_device_header_at(d, from), d->layout.stride,
                                    sizeof *d->headers, slot + 1 - from, INK_I_TO_HOST, d->stream);
      first = i + 1;
    }
  }
  *count = n;
  return code ? code : d->cuda->stream_synchronize(d->stream);
}

/* The states before the headers: what closed until then has all of its header. */
static ink_status read_device(ink_i_device *d, bool all, uint32_t *count, ink_error *error) {
  int code = ink_i_counts_queue(d, all);
  if (!code)
    code = ink_i_drain_copy_states(d, 0, d->info.track_count);
  if (!code)
    code = d->cuda->stream_synchronize(d->stream);
  if (!code) {
    ink_i_counts_take(d, all);
    code = read_headers(d, count);
  }
  return code ? ink_i_cuda_failed(d, code, "read its tracks", error) : INK_OK;
}

/* Leaves the closed ones in d->wanted and says in d->open which are open; how many are closed. */
static uint32_t classify(ink_i_device *d, uint32_t read) {
  uint32_t closed = 0;
  for (uint32_t slot = 0; slot < d->info.track_count; slot++)
    if (d->states[slot].word == INK_STATE_FREE)
      d->open[slot] = 0;
  d->open_count = 0;
  for (uint32_t i = 0; i < read; i++) {
    const uint32_t slot = d->wanted[i].slot;
    ink_device_track *h = &d->headers[slot];
    const bool whole = !d->flight || ink_i_header_closed(h);
    const bool opened = ink_i_header_opened(h) && ink_i_kernel_of(d, h) < d->slot_count;
    h->closing = d->states[slot].word;
    d->open_count++;
    const uint64_t before = d->open[slot];
    d->open[slot] = 0;
    if (!opened)
      continue; /* claimed just now */
    d->touched[ink_i_kernel_of(d, h)] = true;
    if (ink_i_state_of(h) == INK_TRACK_CLOSED && whole)
      d->wanted[closed++] = (ink_i_wanted){slot, used_bytes(d, h->bytes), used_bytes(d, h->aux_bytes)};
    else if (ink_i_state_of(h) == INK_TRACK_OPEN)
      d->open[slot] = (before & INK_I_OPEN_TICKET) == h->ticket + 1 ? before : h->ticket + 1;
  }
  return closed;
}

uint32_t ink_i_drain_list_open(ink_i_device *d) {
  uint32_t n = 0;
  for (uint32_t slot = 0; slot < d->info.track_count; slot++)
    if ((d->open[slot] & INK_I_OPEN_TICKET) && !(d->open[slot] & INK_I_OPEN_FOREIGN))
      d->wanted[n++].slot = slot;
  return n;
}

/* ---- closed tracks ---- */

static int copy_rows(ink_i_device *d, unsigned char *to, uint32_t first, uint32_t rows, size_t at, size_t width) {
  for (uint32_t i = 0; i < rows && d->flight && width; i++)
    memcpy(to + i * width, (unsigned char *)ink_i_flight_ring(d->flight, first + i) + at, width);
  return d->flight || !width
             ? 0
             : d->cuda->copy_2d_async(to, width, (const void *)(uintptr_t)(ink_i_device_ring_at(d, first) + at),
                                      d->layout.stride, width, rows, INK_I_TO_HOST, d->stream);
}

static int wipe_rows(ink_i_device *d, uint32_t first, uint32_t rows, const ink_i_run *run) {
  const size_t header = sizeof(ink_device_track);
  for (uint32_t i = 0; i < rows && d->flight; i++) {
    unsigned char *ring = (unsigned char *)ink_i_flight_ring(d->flight, first + i);
    memset(ring - header, 0xff, header + run->ring_width);
    memset(ring + ring_bytes_of(d), 0xff, run->aux_width);
  }
  int code = 0;
  if (!d->flight)
    code = d->cuda->set_2d_async((void *)(uintptr_t)ink_i_device_header_at(d, first), d->layout.stride, 0xff,
                                 header + run->ring_width, rows, d->stream);
  if (!d->flight && !code && run->aux_width)
    code = d->cuda->set_2d_async((void *)(uintptr_t)(ink_i_device_ring_at(d, first) + ring_bytes_of(d)),
                                 d->layout.stride, 0xff, run->aux_width, rows, d->stream);
  if (!code)
    code = ink_i_drain_free_states(d, first, first + rows);
  return code;
}

/* Of a run only slots that are wanted: others may be open, or claimed at this moment. */
static int wipe_run(ink_i_device *d, const ink_i_wanted *wanted, const ink_i_run *run) {
  int code = 0;
  for (uint32_t i = 0, rows; i < run->wanted && !code; i += rows) {
    for (rows = 1; i + rows < run->wanted && wanted[i + rows].slot == wanted[i].slot + rows;)
      rows++;
    code = wipe_rows(d, wanted[i].slot, rows, run);
  }
  return code;
}

/* Copies a run and writes its tracks, as many as the writer has room for: *written. */
static ink_status write_run(ink_session *s, ink_i_device *d, const ink_i_wanted *wanted, const ink_i_run *run,
                            uint32_t *written, ink_error *error) {
  const size_t aux_at = run->rows * (size_t)run->ring_width;
  *written = 0;
  int code = copy_rows(d, d->staging, run->first, run->rows, 0, run->ring_width);
  if (!code)
    code = copy_rows(d, d->staging + aux_at, run->first, run->rows, ring_bytes_of(d), run->aux_width);
  if (!code)
    code = d->cuda->stream_synchronize(d->stream);
  if (code)
    return ink_i_cuda_failed(d, code, "copy its tracks", error);
  ink_status status = ink_i_session_writer(s, error);
  for (uint32_t i = 0; i < run->wanted && !status; i++) {
    const uint32_t row = wanted[i].slot - run->first;
    const uint64_t *ring = (const uint64_t *)(const void *)(d->staging + row * (size_t)run->ring_width);
    const uint64_t *aux = (const uint64_t *)(const void *)(d->staging + aux_at + row * (size_t)run->aux_width);
    const ink_track track = ink_i_host_track(d, &d->headers[wanted[i].slot]);
    const size_t bytes = sizeof(ink_file_track) + wanted[i].ring_bytes + wanted[i].aux_bytes;
    if (!ink_i_drain_has_room(s, d, bytes))
      break;
    /* Of one whose words were stored while it was open, else it would be there as open and count as lost too. */
    const ink_i_follow *follow = d->follows[wanted[i].slot];
    const bool told = s->options.live && follow && follow->stored && follow->ticket == track.ticket + 1;
    status = ink_i_instance_note(s, d, &d->headers[wanted[i].slot], error);
    if (!status)
      status = told && !ink_i_writer_wait(s->writer, bytes)
                   ? ink_i_writer_closing(s->writer, d->index, &track, error)
                   : ink_writer_track(s->writer, d->index, &track, ring, aux, error);
    *written += !status;
    if (s->options.hang_ms && !status)
      ink_i_hang_note_closed(d, &track, ring);
  }
  return status ? status : ink_writer_flush(s->writer, error);
}

static void note_written(ink_session *s, ink_i_device *d, uint32_t slot) {
  const ink_device_track *h = &d->headers[slot];
  d->seen[slot] = h->ticket + 1;
  s->tracks_written++;
  d->open_count--;
  ink_i_flight_note_written(d, slot, h, ink_i_kernel_of(d, h));
  ink_i_follow_end(d, slot);
}

/* Written before they are wiped: what a killed program leaves is in the capture, or in its place. What the writer
 * has no room for stays where it is. */
static ink_status write_closed(ink_session *s, ink_i_device *d, uint32_t closed, ink_error *error) {
  ink_status status = INK_OK;
  for (uint32_t i = 0, written; i < closed && !status; i += written) {
    const ink_i_wanted *wanted = &d->wanted[i];
    ink_i_run run = ink_i_run_choose(wanted, closed - i, ring_bytes_of(d), 0, d->staging_bytes);
    status = write_run(s, d, wanted, &run, &written, error);
    if (status || !written)
      break;
    run.wanted = written;
    for (uint32_t k = 0; k < written; k++)
      note_written(s, d, wanted[k].slot);
    const int code = wipe_run(d, wanted, &run);
    if (code)
      status = ink_i_cuda_failed(d, code, "free its tracks", error);
  }
  return status;
}

/* Of open tracks at once: a trap or a kill leaves their headers, and no device to ask. */
static ink_status note_open(ink_session *s, ink_i_device *d, ink_error *error) {
  ink_status status = INK_OK;
  for (uint32_t slot = 0; slot < d->info.track_count && d->flight && d->open_count && !status; slot++)
    if (d->open[slot])
      status = ink_i_instance_note(s, d, &d->headers[slot], error);
  return status;
}

/* ---- all of it ---- */

ink_status ink_i_drain_held(ink_session *s, ink_i_device *d, ink_error *error) {
  uint64_t claims = 0;
  uint32_t read = 0;
  const int code = ink_i_counts_read_claims(d, &claims);
  if (code)
    return ink_i_cuda_failed(d, code, "read its counters", error);
  const bool all = d->sweep || d->until_full == 0;
  d->until_full = all ? INK_I_DRAINS_PER_FULL - 1 : d->until_full - 1;
  if (!all && claims == d->claims && !d->open_count)
    return INK_OK;
  ink_status status = read_device(d, all, &read, error);
  if (status)
    return status;
  d->claims = claims;
  memset(d->touched, 0, d->slot_count * sizeof *d->touched);
  const uint32_t closed = classify(d, read);
  ink_i_flight_note(d);
  status = note_open(s, d, error);
  if (status)
    return status;
  if (!ink_i_drain_has_room(s, d, sizeof(ink_file_track)))
    return INK_OK;
  status = ink_i_counts_write(s, d, d->sweep, error);
  if (!status)
    status = write_closed(s, d, closed, error);
  if (!status && d->open_count && s->writer) /* what closed goes out before rings are copied */
    status = ink_writer_flush(s->writer, error);
  if (!status && d->open_count)
    status = ink_i_drain_left(s, d, error);
  if (!status && d->open_count)
    status = ink_i_open_store(s, d, ink_i_drain_list_open(d), false, false, error);
  if (!status && s->options.hang_ms)
    status = ink_i_hang_look(s, d, error);
  d->sweep = d->sweep && status;
  return status || !s->writer ? status : ink_writer_flush(s->writer, error);
}
