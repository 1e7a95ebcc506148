/* SPDX-License-Identifier: MIT */
/* Writes activity into a capture: two chunk types, one of them in four parts. */
#include "capture_format.h"
#include "inkmark/activity.h"

#include <string.h>

enum { BYTES_A_CHUNK = 60 << 10 }; /* that the smallest ring takes it */

static ink_status write_part(ink_writer *writer, uint32_t part, const void *items,
                             size_t item_bytes, size_t n, ink_error *error) {
  if (!writer || (!items && n))
    return ink_error_set(error, INK_ERROR_ARGUMENT, "no activity to write");
  if (!n)
    return INK_OK;
  ink_status status = INK_OK;
  const size_t most = BYTES_A_CHUNK / item_bytes;
  for (size_t at = 0; at < n && status == INK_OK; at += most) {
    const size_t count = n - at < most ? n - at : most;
    const ink_file_activity head = {
        .part = part, .item_bytes = (uint32_t)item_bytes, .count = count};
    status = ink_i_writer_chunk(writer, INK_CHUNK_ACTIVITY, &head, sizeof head,
                                (const char *)items + at * item_bytes, count * item_bytes, error);
  }
  return status;
}

ink_status ink_writer_activity_name(ink_writer *writer, uint32_t id, const char *name,
                                    ink_error *error) {
  if (!writer || !name || !id)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "an activity's name needs an id and a text");
  const uint64_t head = id;
  return ink_i_writer_chunk(writer, INK_CHUNK_ACTIVITY_NAME, &head, sizeof head, name,
                            strlen(name) + 1, error);
}

ink_status ink_writer_activities(ink_writer *writer, const ink_activity *items, size_t n,
                                 ink_error *error) {
  return write_part(writer, INK_ACTIVITY_PART_ITEMS, items, sizeof *items, n, error);
}

ink_status ink_writer_activity_reading(ink_writer *writer, const ink_activity_reading *reading,
                                       ink_error *error) {
  return write_part(writer, INK_ACTIVITY_PART_READINGS, reading, sizeof *reading, 1, error);
}

ink_status ink_writer_activity_device(ink_writer *writer, const ink_activity_device *device,
                                      ink_error *error) {
  return write_part(writer, INK_ACTIVITY_PART_DEVICES, device, sizeof *device, 1, error);
}

ink_status ink_writer_activity_own(ink_writer *writer, const uint32_t *correlations, size_t n,
                                   ink_error *error) {
  return write_part(writer, INK_ACTIVITY_PART_OWN, correlations, sizeof *correlations, n, error);
}
