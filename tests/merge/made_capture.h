/* SPDX-License-Identifier: MIT */
/* What made-up captures have in common: one section table, devices whose cycles are exact, tracks
 * of three sections of the same length. */
#ifndef INK_MADE_CAPTURE_H
#define INK_MADE_CAPTURE_H

#include "inkmark/capture.h"

enum { MADE_RECORDS = 16, MADE_SECTIONS = 3, MADE_DEVICES = 8 };

/* The host's clock at the begin of `span_ns` and at its end; 0: none. */
typedef struct made_clock {
  int64_t unix_ns, global_ns, span_ns;
} made_clock;

/* Sections Load, Mma, Store and the kernels' names. */
ink_status made_table(ink_writer *writer, const char *table, const char *file, char *const *kernels,
                      size_t count, ink_error *error);
ink_status made_device(ink_writer *writer, int32_t index, uint32_t sm_count, size_t kernels,
                       const made_clock *clock, ink_error *error);
/* Writes a track of one block: from `open_ns` to `close_ns` of globaltimer, whose readings are in
 * steps. The rest of `track` is filled in. */
ink_status made_track(ink_writer *writer, int32_t device, ink_track *track, int64_t open_ns,
                      int64_t close_ns, int64_t step_ns, ink_error *error);

#endif
