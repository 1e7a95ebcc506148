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

ink_kernel_counts ink_i_counts_of(const ink_i_device *d, uint32_t i) {
  const ink_kernel_slot *slot = &d->slots[i], *before = &d->before[i];
  const uint64_t words = (slot->bytes - before->bytes) / 8;
  return (ink_kernel_counts){.device = d->index, .slot = i, .key = slot->key,
                             .missed = slot->missed - before->missed,
                             .tracks = (slot->closed - before->closed) / d->layout.ring_mask,
                             .marks = words - (slot->extra - before->extra), .words = words};
}
