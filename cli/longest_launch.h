/* SPDX-License-Identifier: MIT */
/* Which launch of a capture to look at first. */
#ifndef INKMARK_CLI_LONGEST_LAUNCH_H
#define INKMARK_CLI_LONGEST_LAUNCH_H

#include "load.h"

typedef struct longest_launch {
  uint32_t launch;           /* UINT32_MAX: no track was closed */
  int64_t begin_ns, end_ns;  /* of its tracks, by the clock map */
} longest_launch;

/* The launch that lasted longest, of kernels whose names match `regex` (NULL: all), or, with `costliest`, of the kernel
 * whose tracks lasted longest in all. False: out of memory. */
bool find_longest_launch(const loaded_capture *loaded, const char *regex, bool costliest, longest_launch *out);

#endif
