/* SPDX-License-Identifier: MIT */
/* The counters of a device's buffer: how many tracks were claimed, and what each kernel closed and missed. */
#include "cuda/drain_parts.h"
#include "cuda/drain_runs.h"
#include "cuda/passed_kernels.h"

#include <string.h>

int ink_i_counts_read_claims(ink_i_device *d, uint64_t *claims) {
  int code = ink_i_drain_copy(d, d->staging, (uint64_t)(uintptr_t)&d->buffer->claim, sizeof *claims);
  if (!code)
    code = d->cuda->stream_synchronize(d->stream);
  if (!code)
    memcpy(claims, d->staging, sizeof *claims);
  return code;
}

/* The kernels of one section table lie close together, so a table is one copy or few. */
static int queue_range(ink_i_device *d, uint32_t first, uint32_t end) {
  return ink_i_drain_copy(d, d->staging + first * sizeof *d->slots,
                          (uint64_t)(uintptr_t)(ink_i_device_slots(d) + first),
                          (end - first) * sizeof *d->slots);
}

int ink_i_counts_queue(ink_i_device *d, bool all) {
  const uint32_t gap = INK_I_CALL_BYTES / sizeof *d->slots;
  if (all || !d->kernel_count)
    return queue_range(d, 0, all ? d->slot_count : 0);
  int code = 0;
  uint32_t first = d->kernels[0];
  for (uint32_t i = 0; i + 1 < d->kernel_count && !code; i++)
    if (d->kernels[i + 1] - d->kernels[i] > gap) {
      code = queue_range(d, first, d->kernels[i] + 1);
      first = d->kernels[i + 1];
    }
  return code ? code : queue_range(d, first, d->kernels[d->kernel_count - 1] + 1);
}

void ink_i_counts_take(ink_i_device *d, bool all) {
  const ink_kernel_slot *read = (const ink_kernel_slot *)(const void *)d->staging;
  for (uint32_t i = 0; i < d->kernel_count; i++)
    d->slots[d->kernels[i]] = read[d->kernels[i]];
  if (!all)
    return;
  d->unknown = d->unknown_before;
  for (uint32_t i = 0; i < d->slot_count; i++)
    if (d->slots[i].key == 0) {
      d->slots[i].missed = read[i].missed;
      d->unknown += ink_i_passed_unknown(d, i);
    }
  ink_i_passed_note(d);
}

static bool differ(const ink_kernel_slot *a, const ink_kernel_slot *b) {
  return a->closed != b->closed || a->missed != b->missed || a->bytes != b->bytes || a->extra != b->extra;
}

ink_status ink_i_counts_write(ink_session *s, ink_i_device *d, bool all, ink_error *error) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < d->kernel_count; k++) {
    const uint32_t i = d->kernels[k];
    const bool ran = differ(&d->slots[i], &d->before[i]);
    if ((ran && (all || differ(&d->slots[i], &d->written[i]))) || (d->touched[i] && !d->named[i]))
      d->counts[n++] = ink_i_counts_of(d, i);
  }
  if (!n && d->unknown == d->unknown_written)
    return INK_OK;
  ink_status status = ink_i_session_writer(s, error);
  if (!status)
    status = ink_writer_counts(s->writer, d->counts, n, d->claims, d->unknown, d->index, error);
  for (uint32_t k = 0; k < n && !status; k++) {
    d->written[d->counts[k].slot] = d->slots[d->counts[k].slot];
    d->named[d->counts[k].slot] = true;
  }
  if (!status)
    d->unknown_written = d->unknown;
  return status;
}
