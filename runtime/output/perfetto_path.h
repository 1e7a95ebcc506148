/* SPDX-License-Identifier: MIT */
/* The critical path of the longest launch as Perfetto packets: a track of its own, arrows between the tracks it runs over. */
#ifndef INK_PERFETTO_PATH_H
#define INK_PERFETTO_PATH_H

#include "inkmark/critical.h"
#include "perfetto_tracks.h"

/* Below `parent`, when the tracks of the launch are written. Fails only for want of memory. */
ink_status perfetto_path_write(const perfetto_tracks *tracks, const ink_critical_path *path, uint64_t parent);

#endif
