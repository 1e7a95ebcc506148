/* SPDX-License-Identifier: MIT */
/* The activity of one of several captures: streams, threads, and our launches under their kernels.
 */
#ifndef INK_MERGED_ACTIVITY_H
#define INK_MERGED_ACTIVITY_H

#include "merged_perfetto.h"

/* Before merged_perfetto_put. `who`: "rank 3, node7"; `pids_from`: process ids of the program are
 * shown this much higher, so that those of several hosts stay apart. Nothing where there is no
 * activity. */
ink_status merged_activity_put(merged_perfetto *w, const char *who, int64_t pids_from,
                               ink_error *error);

#endif
