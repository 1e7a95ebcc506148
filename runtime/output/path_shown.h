/* SPDX-License-Identifier: MIT */
/* The critical path that an output shows: that of the selection's longest launch. */
#ifndef INK_PATH_SHOWN_H
#define INK_PATH_SHOWN_H

#include "inkmark/critical.h"
#include "selection.h"

/* NULL in *out where there is none to show: no launch of a size that is looked at, or one whose path is a single track.
 * The caller frees it with ink_critical_path_free. Fails only for want of memory. */
ink_status ink_path_shown(const ink_selection *selection, ink_critical_path **out);

#endif
