/* SPDX-License-Identifier: MIT */
/* What a filter lets through of the tracks and events of a selection. */
#ifndef INK_SELECTION_FILTER_H
#define INK_SELECTION_FILTER_H

#include "selection.h"

/* Whether a track is let through at all, by its block and, where its time is known, by that. */
bool ink_filter_has_track(const ink_selection *selection, const ink_track *header, int64_t open_ns, int64_t close_ns);
/* An error that says what there is, where no track passes, or, once all is `decoded`, nothing of the iterations. */
ink_status ink_filter_check(const ink_selection *selection, bool decoded, ink_error *error);
/* Puts the filter between the decoder and `sink`, whose callbacks stay those of the selection; the result is the
 * sink for the decoder. */
ink_sink ink_filter_before(ink_selection *selection, const ink_sink *sink);

#endif
