/* SPDX-License-Identifier: MIT */
/* The memory of `record --flight`: made, registered with the CUDA runtime, kept up to date for whoever reads it
 * after the program. */
#include "cuda/flight.h"

#include "shm/link.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { NO_MEMORY = 2 }; /* cudaErrorMemoryAllocation */

/* The new head is there last: a writer that finds it finds nothing of an earlier use. */
static void publish(ink_i_flight_head *to, const ink_i_flight_head *head, size_t bytes) {
  unsigned char *at = (unsigned char *)to + head->rings_at - sizeof(ink_device_track);
  memset(at, 0xff, (size_t)((unsigned char *)to + bytes - at));
  atomic_signal_fence(memory_order_seq_cst);
  *to = *head;
}

/* ---- areas that the writer process has too ---- */

/* It has them until this process is gone: what a device that was reset does not need any more is used again. With the
 * session's lock. */
static struct {
  ink_i_flight_head *head;
  size_t bytes;
  pid_t pid; /* no child has the mapping */
} idle[64];

/* Nothing is left there to be written, and no kernel stores there any more. */
static void keep_idle(ink_i_flight_head *head, size_t bytes) {
  for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
    if (!idle[i].head || idle[i].pid != getpid()) {
      idle[i].head = head;
      idle[i].bytes = bytes;
      idle[i].pid = getpid();
      return;
    }
}

/* As the writer process hands it over; until there is a new head it has ended. */
static ink_i_flight_head *take_idle(size_t bytes) {
  for (size_t i = 0; i < sizeof idle / sizeof *idle; i++) {
    ink_i_flight_head *head = idle[i].head;
    if (!head || idle[i].pid != getpid() || idle[i].bytes != bytes)
      continue;
    idle[i].head = NULL;
    memset(head + 1, 0, bytes - sizeof *head);
    return head;
  }
  return NULL;
}

/* Asks the writer process for it, so that it outlives this one; else it is this process's own. */
static ink_i_flight_head *map_area(ink_i_flight *f) {
  ink_i_flight_head *shared = ink_i_link_current() ? take_idle(f->bytes) : NULL;
  if (!shared && ink_i_link_current())
    shared = ink_i_link_area(f->bytes, INK_I_AREA_FLIGHT, NULL);
  if (shared)
    return shared;
  void *at = mmap(NULL, f->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  f->owned = true;
  return at == MAP_FAILED ? NULL : at;
}

static void unmap_area(ink_i_flight *f) {
  if (f->owned && f->head)
    munmap(f->head, f->bytes);
  else if (f->head && f->head->ended)
    keep_idle(f->head, f->bytes);
  f->head = NULL;
}

void ink_i_flight_reset(ink_i_device *d) {
  if (d->flight)
    unmap_area(d->flight);
}

static ink_i_flight_head describe(const ink_i_device *d, uint32_t tracks) {
  ink_i_flight_head head = {.magic = INK_I_FLIGHT_MAGIC, .version = INK_I_FLIGHT_VERSION,
                            .layout = INK_LAYOUT_VERSION, .info = d->info, .slot_count = d->slot_count};
  head.info.track_count = tracks;
  head.info.name = NULL;
  return head;
}

int ink_i_flight_make(ink_i_device *d, uint32_t tracks, uint64_t stride, uint64_t *rings_at) {
  ink_i_flight *f = calloc(1, sizeof *f);
  if (!f)
    return NO_MEMORY;
  ink_i_flight_head head = describe(d, tracks);
  /* Where the device finds it is known only when it is there: room for any. */
  f->bytes = (size_t)ink_i_flight_place(&head, 0, stride) + 4096;
  f->head = map_area(f);
  d->flight = f;
  if (!f->head)
    return NO_MEMORY;
  int code = d->cuda->host_register(f->head, f->bytes);
  f->registered = !code;
  void *device = NULL;
  if (!code)
    code = d->cuda->host_device_pointer(&device, f->head);
  if (code)
    return code;
  ink_i_flight_place(&head, (uint64_t)(uintptr_t)device, stride);
  head.bytes = f->bytes;
  publish(f->head, &head, f->bytes);
  *rings_at = (uint64_t)(uintptr_t)device + head.rings_at;
  return 0;
}

void ink_i_flight_free(ink_i_device *d, bool with_cuda) {
  if (!d->flight)
    return;
  if (with_cuda && d->flight->registered && d->flight->head)
    d->cuda->host_unregister(d->flight->head);
  if (with_cuda || !d->flight->registered) /* else kernels might still store there */
    unmap_area(d->flight);
  free(d->flight);
  d->flight = NULL;
}

void ink_i_flight_note(ink_i_device *d) {
  if (!d->flight)
    return;
  ink_i_flight_kernel *kernels = ink_i_flight_kernels(d->flight->head);
  d->flight->head->buffer_at = (uint64_t)(uintptr_t)d->buffer;
  d->flight->head->claims = d->claims;
  d->flight->head->unknown = d->unknown;
  d->flight->head->seen_ns = ink_i_device_global_ns(d);
  for (uint32_t i = 0; i < d->kernel_count; i++) {
    const uint32_t slot = d->kernels[i];
    kernels[slot].key = d->slots[slot].key;
    const ink_kernel_counts counts = ink_i_counts_of(d, slot);
    kernels[slot].missed = counts.missed;
    kernels[slot].counted_tracks = counts.tracks;
    kernels[slot].counted_marks = counts.marks;
    kernels[slot].counted_words = counts.words;
  }
}

void ink_i_flight_note_written(ink_i_device *d, uint32_t track, const ink_device_track *h, uint32_t kernel) {
  if (!d->flight || kernel >= d->slot_count)
    return;
  ink_i_flight_kernel *k = &ink_i_flight_kernels(d->flight->head)[kernel];
  ink_i_flight_written(d->flight->head)[track] = h->ticket + 1;
  k->tracks++;
  k->words += (h->bytes + h->aux_bytes) / 8;
  k->extra += h->extra + h->aux_extra;
}

/* The child's kernels store to the same addresses, where the writer process's memory is not inherited. Those of the
 * simulated device, which see the host's addresses: on a GPU there are none, and what is there is the parent's. */
void ink_i_flight_after_fork(ink_i_device *d) {
  ink_i_flight *f = d->flight;
  if (!f || !f->head)
    return;
  if (!f->owned && !d->dead) {
    void *at = mmap(f->head, f->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    f->owned = at != MAP_FAILED;
    d->dead = !f->owned;
    if (f->owned) {
      ink_i_flight_head head = describe(d, d->info.track_count);
      ink_i_flight_place(&head, (uint64_t)(uintptr_t)f->head, d->layout.stride);
      head.bytes = f->bytes;
      publish(f->head, &head, f->bytes);
    }
  }
  if (d->dead)
    f->head = NULL;
  else
    memset(ink_i_flight_kernels(f->head), 0, d->slot_count * sizeof(ink_i_flight_kernel));
}

ink_status ink_i_flight_salvage(ink_session *s, ink_i_device *d, ink_error *error) {
  if (!d->flight || !d->flight->head || d->flight->head->ended)
    return INK_OK;
  uint64_t tracks = 0;
  ink_status status = ink_i_session_writer(s, error);
  if (!status)
    status = ink_i_flight_write_rest(d->flight->head, d->flight->bytes, true, s->writer, &tracks, error);
  if (!status)
    d->flight->head->ended = 1;
  s->tracks_written += tracks;
  return status;
}
