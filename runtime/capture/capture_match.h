/* SPDX-License-Identifier: MIT */
/* Private: which kernels and sections of a capture a pattern names. */
#ifndef INK_CAPTURE_MATCH_H
#define INK_CAPTURE_MATCH_H

#include "capture/capture_private.h"

/* (*out)[kernel], which the caller frees. `pattern`: POSIX extended; NULL: every kernel. INK_ERROR_ARGUMENT: it is bad. */
ink_status ink_match_kernels(const ink_capture *capture, const char *pattern, bool **out, ink_error *error);
/* (*out)[section]: those that wait, whatever the case; NULL: INK_WAITS_USUAL of table.h. */
ink_status ink_match_waits(const ink_capture *capture, const char *pattern, bool **out, ink_error *error);

#endif
