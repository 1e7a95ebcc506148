/* SPDX-License-Identifier: MIT */
/* What is taken out of the areas of processes that are gone. */
#include "shm/salvage.h"

#include "shm/flight_area.h"
#include "shm/link.h"

ink_status ink_i_salvage(const void *area, size_t bytes, uint32_t area_kind, ink_writer *writer,
                         ink_error *error) {
  uint64_t tracks;
  if (area_kind != INK_I_AREA_FLIGHT)
    return INK_OK;
  return ink_i_flight_write_rest(area, bytes, false, writer, &tracks, error);
}
