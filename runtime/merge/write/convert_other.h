/* SPDX-License-Identifier: MIT */
/* The readers that feed a conversion, and what they say about it. */
#ifndef INK_CONVERT_OTHER_H
#define INK_CONVERT_OTHER_H

#include "convert.h"

#include <stdbool.h>

typedef struct convert_left { /* what has no counterpart, by its name */
  char what[64];
  uint64_t count;
} convert_left;

enum { CONVERT_LEFT_MAX = 32 };

typedef struct convert_report {
  uint64_t slices, instants, counter_values, asyncs;
  uint64_t bad_times, too_deep, cut_texts;
  convert_left left[CONVERT_LEFT_MAX];
  size_t left_count;
  char keys[512]; /* of the file's outermost object */
} convert_report;

ink_status convert_report_left(convert_report *report, const char *what, uint64_t count);
ink_status convert_report_key(convert_report *report, const char *key);

typedef struct convert_progress {
  ink_status (*progress)(void *user, uint64_t done, uint64_t total);
  void *user;
  uint64_t size; /* of one pass */
} convert_progress;
ink_status convert_tell(const convert_progress *progress, bool second, uint64_t at);

/* The second pass; the first is convert_notes.h's. */
ink_status convert_json(convert *c, const char *path, const convert_progress *progress,
                        convert_report *report, ink_error *error);
/* The whole file in the first or second pass. */
ink_status convert_nsight(convert *c, const char *path, int64_t base_ns, bool second,
                          const convert_progress *progress, convert_report *report,
                          ink_error *error);

#endif
