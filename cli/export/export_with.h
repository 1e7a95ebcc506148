/* SPDX-License-Identifier: MIT */
/* The part of `inkmark export` that merges: with another profiler's trace, or several captures. */
#ifndef INKMARK_CLI_EXPORT_WITH_H
#define INKMARK_CLI_EXPORT_WITH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loaded_capture;

typedef struct export_merge {
  char **captures;
  size_t count;
  const char *with, *output, *kernel, *tracks; /* NULL: not given */
  uint64_t launch;                             /* UINT64_MAX: every launch */
  bool align, quiet, format_given;
} export_merge;

/* "wrote 'run.pftrace' (1.2 MiB): 3 launches, 12 tracks", on stderr; the counts are of what was
 * opened, so `whole` is false where a part was asked for. `as`: how several files of that name are
 * called; NULL: it is one. Nothing where it went to standard output. */
void export_say_written(const char *path, const char *as, const struct loaded_capture *loaded, size_t count,
                        bool whole);

/* Returns the exit code. */
int export_merged(const export_merge *merge);

#endif
