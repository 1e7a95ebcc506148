/* SPDX-License-Identifier: MIT */
/* Private: what the writer process does with an area of a process that is gone. */
#ifndef INK_SHM_SALVAGE_H
#define INK_SHM_SALVAGE_H

#include "inkmark/capture.h"

/* Called once for each area (ink_i_link_area) when its process is gone, after the last chunk of its ring
 * was written and before the end of the file, in the writer process. `area` may hold anything: the
 * program's heap may have been ruined. `ended`: the process put its end into the ring, so there is
 * nothing to save that it did not write itself. The writer knows the devices whose DEVICE chunks went
 * through it. Not called where the process wrote no chunk at all: put the facts before kernels run. */
void ink_i_salvage(const void *area, size_t bytes, uint32_t area_kind, bool ended, ink_writer *writer);

#endif
