/* SPDX-License-Identifier: MIT */
/* Tracks that never closed, for report and info. */
#ifndef INKMARK_CLI_OPEN_TRACKS_H
#define INKMARK_CLI_OPEN_TRACKS_H

#include "grid.h"
#include "load.h"

/* False after a message. The caller frees the list with ink_open_tracks_free. */
bool open_tracks_list(const loaded_capture *loaded, ink_open_track **out, size_t *count);

/* "inside Wait (began 3.9 s before it was last seen), after Load, iteration 7"; without the details only what
 * tracks at the same place share. Returns `text`. */
enum { OPEN_WORDS_BYTES = 384 };
const char *open_tracks_words(const loaded_capture *loaded, const ink_open_track *track, bool details,
                              char *text);

/* A line for each, or, where they are many and not `all` are wanted, for each place. */
void open_tracks_print(const loaded_capture *loaded, const ink_open_track *tracks, size_t count, bool all,
                       FILE *to);

#endif
