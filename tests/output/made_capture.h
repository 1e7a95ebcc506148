/* SPDX-License-Identifier: MIT */
/* Captures made up for the tests of the outputs; see made_capture.c for what is in each. */
#ifndef INKMARK_TESTS_MADE_CAPTURE_H
#define INKMARK_TESTS_MADE_CAPTURE_H

#include "inkmark/capture.h"

/* `kind`: "mixed", "one", "many:BLOCKS:ITERATIONS" or "garbage:SEED". False, with a line on stderr, when it fails.
 */
bool make_capture(const char *kind, const char *path);

#endif
