/* SPDX-License-Identifier: MIT */
/* What is told of a device without making, filling or draining its buffer. */
#include "cuda/device.h"

#include "monotonic.h"

ink_status ink_i_cuda_failed(ink_i_device *device, int code, const char *what, ink_error *error) {
  device->cuda->get_last_error(); /* ours, not the program's */
  ink_error_set(error, INK_ERROR_CUDA, "device %d: cannot %s: %s", device->index, what,
                device->cuda->error_string(code));
  if (error)
    error->code = code;
  return INK_ERROR_CUDA;
}

uint64_t ink_i_device_global_ns(const ink_i_device *d) {
  const int64_t since_ns = ink_i_monotonic_ns() - d->start.monotonic_before_ns;
  return d->has_start && since_ns >= 0 ? d->start.global_ns + (uint64_t)since_ns : 0;
}

/* Kernels add the slot's address once a track (INK_I_CLOSE), so the count is the sum divided by it, modulo 2^64: shifted by the
 * address's lowest bits, times the inverse of the rest. */
static uint64_t closed_tracks(uint64_t sum, uint64_t address) {
  const int zeros = __builtin_ctzll(address);
  const uint64_t odd = address >> zeros;
  uint64_t inverse = odd; /* right in 3 bits, and in twice as many after each turn */
  for (int i = 0; i < 5; i++)
    inverse *= 2 - odd * inverse;
  return (sum >> zeros) * inverse & UINT64_MAX >> zeros;
}

ink_kernel_counts ink_i_counts_of(const ink_i_device *d, uint32_t i) {
  const ink_kernel_slot *slot = &d->slots[i], *before = &d->before[i];
  const uint64_t words = (slot->bytes - before->bytes) / 8;
  return (ink_kernel_counts){.device = d->index, .slot = i, .key = slot->key,
                             .missed = slot->missed - before->missed,
                             .tracks = closed_tracks(slot->closed - before->closed, ink_i_slot_address(d, i)),
                             .marks = words - (slot->extra - before->extra), .words = words};
}
