/* SPDX-License-Identifier: MIT */
/* Private: what the writer process does with an area of a process that is gone. */
#ifndef INK_SHM_SALVAGE_H
#define INK_SHM_SALVAGE_H

#include "inkmark/capture.h"

/* Called once for each area (ink_i_link_area) when its process is gone, after the last chunk of its ring
 * was written and before the end of the file, in the writer process. `area` may hold anything: the
 * program's heap may have been ruined. A process that put its end into the ring may have left something too, where
 * the ring was full. The writer knows the devices whose DEVICE chunks went
 * through it. A failure leaves out what was not written yet. Not called where the process wrote no chunk at all: put the facts before kernels run. */
ink_status ink_i_salvage(const void *area, size_t bytes, uint32_t area_kind, ink_writer *writer,
                         ink_error *error);

#endif
