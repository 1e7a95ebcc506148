/* SPDX-License-Identifier: MIT */
/* Writes activity into a capture: two chunk types, one of them in four parts. */
#include "capture_format.h"
#include "inkmark/activity.h"

#include <string.h>

static ink_status write_part(ink_writer *writer, uint32_t part, const void *items,
                             size_t item_bytes, size_t n, ink_error *error) {
  if (!writer || (!items && n))
    return ink_error_set(error, INK_ERROR_ARGUMENT, "no activity to write");
  if (!n)
    return INK_OK;
  if (n > (SIZE_MAX / 2) / item_bytes)
    return ink_error_set(error, INK_ERROR_LIMIT, "too many activities: %zu", n);
  const ink_file_activity head = {.part = part, .item_bytes = (uint32_t)item_bytes, .count = n};
  return ink_i_writer_chunk(writer, INK_CHUNK_ACTIVITY, &head, sizeof head, items, n * item_bytes,
                            error);
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
