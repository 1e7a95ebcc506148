/* SPDX-License-Identifier: MIT */
/* The results of runs, kept in the folder of options->cache: an unchanged source is not parsed again. */
#ifndef INK_KEPT_RESULT_H
#define INK_KEPT_RESULT_H

#include "unit.h"

#include <time.h>

/* True: *block is the result of a run with these options, as a run would give it now. */
bool ink_kept_result_read(const ink_instrument_options *options, ink_bytes *block);
/* `begun` is when the run began: what changed since is not kept. */
void ink_kept_result_write(ink_unit *unit, const ink_bytes *block, const struct timespec *begun);
#endif
