/* SPDX-License-Identifier: MIT */
/* Private: the parts of a drain. All run on the device's stream with the session's lock held, and neither
 * allocate nor make a system call of their own, but for what the writer does. */
#ifndef INK_CUDA_DRAIN_PARTS_H
#define INK_CUDA_DRAIN_PARTS_H

#include "capture/capture_format.h"
#include "capture/capture_write.h"
#include "cuda/flight.h"
#include "cuda/session_private.h"

enum { INK_I_TO_HOST = 2 }; /* cudaMemcpyDeviceToHost */

/* An idle drain reads the claims alone; every so many all counters, for kernel entries that no table names,
 * which claim nothing. */
enum { INK_I_DRAINS_PER_FULL = 16 };

static inline int ink_i_drain_copy(ink_i_device *d, void *to, uint64_t from, size_t bytes) {
  return bytes ? d->cuda->copy_async(to, (const void *)(uintptr_t)from, bytes, INK_I_TO_HOST, d->stream)
               : 0;
}

/* Whether the capture takes so many bytes of tracks more; what it does not take stays on the device for the next
 * drain. At the end, or where the device goes, they are written anyway: the writer waits for room then; but what
 * the writer process has in a flight's memory at the end, it takes from there. */
static inline bool ink_i_drain_has_room(const ink_session *s, ink_i_device *d, size_t bytes) {
  const bool must = s->takes_all || (s->stop && !(d->flight && !d->flight->owned));
  const bool has = must || !s->writer || ink_i_writer_has_room(s->writer, bytes);
  d->left = d->left || !has;
  return has;
}

/* ---- drain_counts.c: cudaError_t as int ---- */

/* How many tracks were claimed until now: one small block, waited for. */
int ink_i_counts_read_claims(ink_i_device *d, uint64_t *claims);
/* Queues the copies of the kernels' counters to the staging; `all`: of the empty slots' too. */
int ink_i_counts_queue(ink_i_device *d, bool all);
/* Once they are there. */
void ink_i_counts_take(ink_i_device *d, bool all);
/* Writes the counters that changed, and those of kernels in d->touched that this capture does not name yet.
 * `all`: every kernel's that ever ran. They stand before the tracks in the file, since they name the
 * kernels: also of a track that is still open. */
ink_status ink_i_counts_write(ink_session *s, ink_i_device *d, bool all, ink_error *error);

/* ---- drain_copy.c ---- */

/* Copies what is wanted to the host, and writes every track whose header is the same after that. */
ink_status ink_i_drain_wanted(ink_session *s, ink_i_device *d, uint32_t count, ink_error *error);

/* ---- drain_thread.c ---- */

/* When to look again how many tracks were claimed, if `claimed` were in the last `us`: before half of what a
 * drain is due at. */
int64_t ink_i_look_again_us(int64_t us, uint64_t claimed, uint32_t tracks, int64_t most_us);

/* ---- the header of a track: on the host its `closing` is the state that it was read with ---- */

/* Queues the copy of the states of the slots first to end - 1 to d->states. */
static inline int ink_i_drain_copy_states(ink_i_device *d, uint32_t first, uint32_t end) {
  return ink_i_drain_copy(d, d->states + first, ink_i_device_state_at(d, first),
                          (end - first) * sizeof *d->states);
}
/* Queues what makes the states of the slots first to end - 1 free. */
static inline int ink_i_drain_free_states(ink_i_device *d, uint32_t first, uint32_t end) {
  enum { FROM = offsetof(ink_device_state, word) };
  return d->cuda->set_2d_async((char *)(uintptr_t)ink_i_device_state_at(d, first) + FROM, sizeof *d->states, INK_STATE_FREE,
                               sizeof *d->states - FROM, end - first, d->stream);
}

static inline uint32_t ink_i_state_of(const ink_device_track *header) {
  if (header->closing == INK_STATE_FREE && header->ticket == INK_UNWRITTEN)
    return INK_TRACK_FREE;
  return header->closing & INK_STATE_TAKEN ? INK_TRACK_OPEN : INK_TRACK_CLOSED;
}

static inline uint32_t ink_i_kernel_of(const ink_i_device *d, const ink_device_track *header) {
  return (uint32_t)((header->slot - (uint64_t)(uintptr_t)d->buffer) / sizeof(ink_kernel_slot));
}

/* As the capture has it. */
/* instances.c: the name of the function that opened the track is in the capture, if it can be had. */
ink_status ink_i_instance_note(ink_session *session, ink_i_device *device, const ink_device_track *header,
                               ink_error *error);
ink_track ink_i_host_track(const ink_i_device *d, const ink_device_track *header);

#endif
