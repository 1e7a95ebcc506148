/* SPDX-License-Identifier: MIT */
/* What is taken out of the areas of processes that are gone. No kind of area is read yet. */
#include "shm/salvage.h"

void ink_i_salvage(const void *area, size_t bytes, uint32_t area_kind, bool ended, ink_writer *writer) {
  (void)area, (void)bytes, (void)area_kind, (void)ended, (void)writer;
}
