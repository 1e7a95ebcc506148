/* SPDX-License-Identifier: MIT */
/* Copies closed tracks to the host while kernels go on. A track may be taken by another block at any moment, so
 * its state and header are read before and after its rings: what was copied counts only if they are the same
 * both times. */
#include "cuda/drain_parts.h"
#include "cuda/drain_runs.h"
#include "shm/flight_area.h"

#include <string.h>

/* What a track takes behind its rings: its header and its state. */
enum { RUNS_MAX = 64, TAIL_BYTES = sizeof(ink_device_track) + sizeof(ink_device_state) };

typedef struct placed_run {
  ink_i_run run;
  size_t at;                  /* bytes into the staging */
  const ink_i_wanted *wanted;
} placed_run;

typedef struct batch {
  placed_run runs[RUNS_MAX];
  uint32_t count;
  size_t used;
} batch;

static size_t ring_bytes_of(const ink_i_device *d) { return (size_t)d->info.records_per_track * 8; }

ink_track ink_i_host_track(const ink_i_device *d, const ink_device_track *h) {
  return ink_i_track_of_header(h, ink_i_kernel_of(d, h), ink_i_state_of(h));
}

static ink_status write_run(ink_session *s, ink_i_device *d, const placed_run *p, ink_error *error) {
  const ink_i_run *run = &p->run;
  const size_t ring_bytes = ring_bytes_of(d), pitch = ink_i_run_pitch(run, ring_bytes);
  const unsigned char *rings = d->staging + p->at;
  const unsigned char *others = run->joint ? rings + ring_bytes : rings + run->rows * pitch;
  const size_t others_pitch = run->joint ? pitch : run->aux_width;
  const unsigned char *headers = rings + ink_i_run_headers_at(run, ring_bytes);
  const ink_device_state *states = (const ink_device_state *)(const void *)(headers + run->rows * sizeof(ink_device_track));
  ink_status status = INK_OK;
  for (uint32_t i = 0; i < run->wanted && !status; i++) {
    const uint32_t slot = p->wanted[i].slot, row = slot - run->first;
    const ink_device_track *then = &d->headers[slot];
    if (!ink_i_drain_has_room(s, d, sizeof(ink_file_track) + p->wanted[i].ring_bytes + p->wanted[i].aux_bytes))
      break;
    ink_device_track now;
    memcpy(&now, headers + row * sizeof now, sizeof now);
    now.closing = states[row].word;
    if (memcmp(&now, then, sizeof now) != 0)
      continue; /* taken again, even in the midst of the first reading: lost, and counted so */
    const ink_track header = ink_i_host_track(d, then);
    status = ink_i_instance_note(s, d, then, error);
    if (!status)
      status = ink_writer_track(s->writer, d->index, &header,
                              (const uint64_t *)(const void *)(rings + row * pitch),
                              (const uint64_t *)(const void *)(others + row * others_pitch), error);
    if (status)
      break;
    d->seen[slot] = then->ticket + 1;
    s->tracks_written++;
  }
  return status;
}

static ink_status write_batch(ink_session *s, ink_i_device *d, batch *b, ink_error *error) {
  const int code = b->count ? d->cuda->stream_synchronize(d->stream) : 0;
  if (code)
    return ink_i_cuda_failed(d, code, "copy its tracks", error);
  ink_status status = b->count ? ink_i_session_writer(s, error) : INK_OK;
  for (uint32_t i = 0; i < b->count && !status; i++)
    status = write_run(s, d, &b->runs[i], error);
  b->count = 0;
  b->used = 0;
  return status;
}

static int copy_rows(ink_i_device *d, size_t to, size_t to_pitch, uint64_t from, size_t width, uint32_t rows) {
  return width ? d->cuda->copy_2d_async(d->staging + to, to_pitch, (const void *)(uintptr_t)from,
                                        d->layout.stride, width, rows, INK_I_TO_HOST, d->stream)
               : 0;
}

/* The states and the headers last: what they say then was true of the rings. */
static int queue_run(ink_i_device *d, const placed_run *p) {
  const ink_i_run *run = &p->run;
  const size_t ring_bytes = ring_bytes_of(d), pitch = ink_i_run_pitch(run, ring_bytes);
  const size_t headers_at = p->at + ink_i_run_headers_at(run, ring_bytes);
  const uint64_t from = ink_i_device_ring_at(d, run->first);
  int code = copy_rows(d, p->at, pitch, from, pitch, run->rows);
  if (!code && !run->joint)
    code = copy_rows(d, p->at + run->rows * pitch, run->aux_width, from + ring_bytes, run->aux_width,
                     run->rows);
  if (!code)
    code = ink_i_drain_copy(d, d->staging + headers_at + run->rows * sizeof(ink_device_track),
                            ink_i_device_state_at(d, run->first),
                            run->rows * sizeof *d->states);
  return code ? code
              : copy_rows(d, headers_at, sizeof(ink_device_track), ink_i_device_header_at(d, run->first),
                          sizeof(ink_device_track), run->rows);
}

ink_status ink_i_drain_wanted(ink_session *s, ink_i_device *d, uint32_t count, ink_error *error) {
  batch b = {.count = 0};
  ink_status status = INK_OK;
  for (uint32_t i = 0; i < count && !status;) {
    const ink_i_run run = ink_i_run_choose(&d->wanted[i], count - i, ring_bytes_of(d),
                                           TAIL_BYTES, d->staging_bytes);
    const size_t bytes = ink_i_run_bytes(&run, ring_bytes_of(d), TAIL_BYTES);
    if (b.count == RUNS_MAX || b.used + bytes > d->staging_bytes)
      status = write_batch(s, d, &b, error);
    if (status || !ink_i_drain_has_room(s, d, b.used + sizeof(ink_file_track)))
      break;
    placed_run *p = &b.runs[b.count++];
    *p = (placed_run){run, b.used, &d->wanted[i]};
    b.used += bytes;
    const int code = queue_run(d, p);
    if (code)
      status = ink_i_cuda_failed(d, code, "copy a track", error);
    i += run.wanted;
  }
  return status ? status : write_batch(s, d, &b, error);
}
