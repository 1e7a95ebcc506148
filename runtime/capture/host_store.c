/* SPDX-License-Identifier: MIT */
/* Writes what the host said of itself into a capture: events, and the texts that they name. */
#include "capture_format.h"
#include "inkmark/host_ranges.h"

#include <stdio.h>
#include <string.h>

enum { BYTES_A_CHUNK = 60 << 10 }; /* that the smallest ring takes it */

ink_status ink_writer_host_name(ink_writer *writer, uint32_t id, const char *name, ink_error *error) {
  if (!writer || !name || !id)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "a name of the host's needs an id and a text");
  const uint64_t head = id;
  return ink_i_writer_chunk(writer, INK_CHUNK_HOST_NAME, &head, sizeof head, name, strlen(name) + 1, error);
}

ink_status ink_writer_host_events(ink_writer *writer, const ink_host_event *events, size_t n, uint64_t lost,
                                  int64_t monotonic_ns, int64_t realtime_ns, ink_error *error) {
  const size_t most = BYTES_A_CHUNK / sizeof *events;
  ink_status status = INK_OK;
  if (!writer || (!events && n))
    return ink_error_set(error, INK_ERROR_ARGUMENT, "no events to write");
  for (size_t at = 0, count; status == INK_OK && (at < n || !at); at += count ? count : 1) {
    count = n - at < most ? n - at : most;
    const ink_file_host head = {.item_bytes = sizeof *events, .count = count, .lost = lost,
                                .monotonic_ns = monotonic_ns, .realtime_ns = realtime_ns};
    status = ink_i_writer_chunk(writer, INK_CHUNK_HOST, &head, sizeof head, events + at, count * sizeof *events, error);
  }
  return status;
}
