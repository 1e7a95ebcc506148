/* SPDX-License-Identifier: MIT */
/* Private: headers and rings of one device in memory of the host, which stays when the device's is gone. */
#ifndef INK_CUDA_FLIGHT_H
#define INK_CUDA_FLIGHT_H

#include "cuda/session_private.h"
#include "shm/flight_area.h"

typedef struct ink_i_flight {
  ink_i_flight_head *head; /* in front of the area */
  size_t bytes;
  bool owned;              /* ours to unmap; else the writer process has it too */
  bool registered;
} ink_i_flight;

/* Makes and registers it, wiped; *rings_at: of the first ring, as the device sees it. A cudaError_t. */
int ink_i_flight_make(ink_i_device *device, uint32_t tracks, uint64_t stride, uint64_t *rings_at);
/* After a reset of the device, when what it left was taken: no kernel stores there any more. */
void ink_i_flight_reset(ink_i_device *device);
void ink_i_flight_free(ink_i_device *device, bool with_cuda);
/* After kernels got their slots, and after a drain read the counters. */
void ink_i_flight_note(ink_i_device *device);
/* A closed track is in the capture. */
void ink_i_flight_note_written(ink_i_device *device, uint32_t track, const ink_device_track *header, uint32_t kernel);
/* In a forked child, before anything reads there: memory of its own in the same place, or none if the device is dead. */
void ink_i_flight_after_fork(ink_i_device *device);
/* After the device failed for good: what it left. No call of the CUDA runtime. */
ink_status ink_i_flight_salvage(ink_session *session, ink_i_device *device, ink_error *error);

/* Where the host finds a track's ring. */
static inline uint64_t *ink_i_flight_ring(const ink_i_flight *flight, uint32_t track) {
  return (uint64_t *)(ink_i_flight_header(flight->head, track) + 1);
}

#endif
