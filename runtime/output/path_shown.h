/* SPDX-License-Identifier: MIT */
/* The critical path that an output shows: that of the selection's longest launch. */
#ifndef INK_PATH_SHOWN_H
#define INK_PATH_SHOWN_H

#include "inkmark/critical.h"
#include "selection.h"

typedef struct ink_path_none { /* why there is no path to show */
  uint32_t launch; /* UINT32_MAX: there is no launch either */
  char why[192];
} ink_path_none;

/* NULL in *out where there is none to show: no launch of a size that is looked at, or one whose path is a single track.
 * Then *none, which may be NULL, says why. The caller frees the path with ink_critical_path_free. Fails only for want of
 * memory. */
ink_status ink_path_shown(const ink_selection *selection, ink_critical_path **out, ink_path_none *none);

#endif
