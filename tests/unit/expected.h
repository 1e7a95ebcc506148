/* SPDX-License-Identifier: MIT */
/* A test whose results are compared with a text that is kept: print them to `expected_out` between expected_begin and
 * expected_end. UPDATE_GOLDEN=1 writes the text instead: whoever does so says why the results are others. */
#ifndef INKMARK_TESTS_EXPECTED_H
#define INKMARK_TESTS_EXPECTED_H

#include "check.h"

#include <stdbool.h>
#include <string.h>

static FILE *expected_out;
static char *expected_now;
static size_t expected_bytes;

static inline void expected_begin(void) {
  expected_out = open_memstream(&expected_now, &expected_bytes);
  if (!expected_out)
    exit(1);
}

/* PATH is that of the text that is kept. */
static inline void expected_end(const char *path) {
  fclose(expected_out);
  FILE *file = fopen(path, getenv("UPDATE_GOLDEN") ? "w" : "r");
  if (!file) {
    CHECK(false, "%s cannot be opened", path);
  } else if (getenv("UPDATE_GOLDEN")) {
    fwrite(expected_now, 1, expected_bytes, file);
    CHECK(true, "written");
  } else {
    char kept[4096];
    const char *now = expected_now;
    for (int line = 1; fgets(kept, sizeof kept, file); line++) {
      const char *end = strchr(now, '\n');
      const size_t bytes = end ? (size_t)(end - now) + 1 : strlen(now);
      CHECK(bytes == strlen(kept) && !memcmp(now, kept, bytes), "%s:%d:\nwas %snow %.*s", path, line, kept, (int)bytes, now);
      now += bytes;
    }
    CHECK(!*now, "%s has no more lines: now %.200s", path, now);
  }
  if (file)
    fclose(file);
  free(expected_now);
}

#endif
