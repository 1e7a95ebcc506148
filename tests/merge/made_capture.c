/* SPDX-License-Identifier: MIT */
#include "made_capture.h"

#include <stdlib.h>
#include <string.h>

#define HASH UINT64_C(0x5a0000000001)

ink_status made_table(ink_writer *writer, const char *table, const char *file, char *const *kernels,
                      size_t count, ink_error *error) {
  size_t size = 64;
  for (size_t i = 0; i < count; i++)
    size += strlen(kernels[i]) + 2;
  char *sections = calloc(size, 1);
  if (!sections)
    return INK_ERROR_MEMORY;
  strcpy(sections, "Load, Mma, Store");
  for (size_t i = 0; i < count; i++)
    strcat(strcat(sections, ", "), kernels[i]);
  ink_status status = ink_writer_table(writer, table, sections, file, 1, HASH, error);
  free(sections);
  return status;
}

ink_status made_device(ink_writer *writer, int32_t index, uint32_t sm_count, size_t kernels,
                       const made_clock *clock, ink_error *error) {
  const ink_device_info info = {.index = index,
                                .simulated = 1,
                                .sm_count = sm_count,
                                .capability = 90,
                                .track_count = 1024,
                                .records_per_track = MADE_RECORDS,
                                .aux_records_per_track = MADE_RECORDS,
                                .name = "made up"};
  ink_status status = ink_writer_device(writer, &info, error);
  for (int64_t s = 0; s < 2 && clock->span_ns && status == INK_OK; s++) {
    int64_t later = s * clock->span_ns, at = clock->unix_ns + later;
    const ink_host_clock pair = {.device = index,
                                 .global_ns = (uint64_t)(clock->global_ns + later),
                                 .realtime_before_ns = at - 100,
                                 .realtime_after_ns = at + 100,
                                 .monotonic_before_ns = 1 + later};
    status = ink_writer_host_clock(writer, &pair, error);
  }
  for (uint32_t i = 0; i < kernels && status == INK_OK; i++) {
    const ink_kernel_counts counts = {
        .device = index, .slot = i, .key = INK_KERNEL_KEY(HASH, i + MADE_SECTIONS + 1)};
    status = ink_writer_counts(writer, &counts, 1, 0, 0, index, error);
  }
  return status;
}

static uint64_t clock_of(uint32_t sm, int64_t global_ns) {
  return sm * UINT64_C(1000007) + (uint64_t)global_ns * 3 / 2;
}

ink_status made_track(ink_writer *writer, int32_t device, ink_track *t, int64_t open_ns,
                      int64_t close_ns, int64_t step_ns, ink_error *error) {
  uint64_t ring[MADE_RECORDS];
  t->state = INK_TRACK_CLOSED;
  t->open_global_ns = (uint64_t)(open_ns / step_ns * step_ns);
  t->close_global_ns = (uint64_t)(close_ns / step_ns * step_ns);
  t->open_clock0 = t->open_clock1 = clock_of(t->sm_open, open_ns);
  t->close_clock0 = t->close_clock1 = clock_of(t->sm_close, close_ns);
  for (uint32_t s = 1; s <= MADE_SECTIONS; s++)
    ring[t->words++] = INK_HEAD(
        INK_KIND_MARK, s, t->open_clock0 + (t->close_clock0 - t->open_clock0) * s / MADE_SECTIONS);
  return ink_writer_track(writer, device, t, ring, NULL, error);
}
