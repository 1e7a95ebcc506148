/* SPDX-License-Identifier: MIT */
/* Opens a capture with its clock map, says what is damaged, and words what reports share. */
#ifndef INKMARK_CLI_LOAD_H
#define INKMARK_CLI_LOAD_H

#include "inkmark/decode.h"

typedef struct loaded_capture {
  const char *path;
  ink_capture *capture;
  ink_clock_map *map;
} loaded_capture;

/* False after a message on stderr. A damaged or cut file opens, with a remark. */
bool load_capture(const char *path, loaded_capture *out);
/* The same without what is amiss with a capture that can be read. */
bool load_capture_quietly(const char *path, loaded_capture *out);
/* The path of the newest capture (*.ink) in the working directory, which the caller frees; NULL after a message. */
char *load_newest(void);
void unload_capture(loaded_capture *loaded);

/* False after a message when the capture has no such launch (UINT64_MAX: every launch is meant). */
bool load_check_launch(const loaded_capture *loaded, uint64_t launch);

/* The same; also false when no kernel, or not that of the launch, has a name that the regular expression
 * matches (NULL: every kernel is meant). The message lists the kernels, the nearest first. */
bool load_check_choice(const loaded_capture *loaded, const char *regex, uint64_t launch);
/* That message for other names of kernels. */
void load_say_no_match(const char *path, const char *regex, const char *const *names, size_t n);

/* "kernel Step, launch 3, block 5", with device, warp and lane where these tell tracks apart. Returns
 * `text`. */
enum { LOAD_PLACE_BYTES = 400 };
const char *load_track_place(const loaded_capture *loaded, uint64_t track, char *text);
/* The first track that had not ended; false: all had. */
bool load_open_track(const loaded_capture *loaded, uint64_t *track);

/* "(unmarked)" for INK_SECTION_UNKNOWN. */
const char *load_section_name(const loaded_capture *loaded, ink_section_index section);

/* Why a capture is not complete, in short; NULL: it is. */
const char *load_incomplete(const ink_capture *capture);

#define LOAD_SIMULATED_LINE "simulated clock: cycles and ns are the simulator's, not a GPU's"

#endif
