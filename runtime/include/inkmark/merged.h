/* SPDX-License-Identifier: MIT */
/* Writes merged traces: captures and another profiler's trace in one file, or several captures in one file.
 * docs/merging.md says what is written where.
 *
 * Experimental: it may change with any version.
 *
 * Threads: any number of threads, each with a path of its own; captures and maps are only read.
 * Lifetime: the functions keep no argument after they return.
 *
 * @code{.c}
 * #include <inkmark/merged.h>
 * #include <stdio.h>
 *
 * int main(int argc, char **argv) {
 *   ink_capture *capture;
 *   ink_clock_map *map;
 *   ink_error error = {0};
 *   if (argc < 2 || ink_capture_open(argv[1], &capture, &error) || ink_clock_map_make(capture, &map, &error)) {
 *     fprintf(stderr, "%s\n", argc < 2 ? "which capture?" : error.message);
 *     return 1;
 *   }
 *   const ink_merged_capture all = {argv[1], capture, map}; // an array, of as many captures as there are ranks
 *   const ink_merged_options options = {.size = sizeof options, .launch = UINT32_MAX};
 *   if (ink_merged_write_captures(&all, 1, &options, "all.pftrace", &error))
 *     fprintf(stderr, "%s\n", error.message);
 *   else
 *     puts("all.pftrace is written");
 *   ink_clock_map_free(map);
 *   ink_capture_free(capture);
 *   return 0;
 * }
 * @endcode */
#ifndef INKMARK_MERGED_H
#define INKMARK_MERGED_H

#include "inkmark/merge.h"
#include "inkmark/output.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which of a launch's tracks (blocks or warps) are shown. */
enum ink_merged_tracks {
  INK_TRACKS_AUTO, /* all where the whole has at most 2,000, else representative */
  INK_TRACKS_ALL,
  INK_TRACKS_REPRESENTATIVE, /* of each launch the shortest, the median and the longest */
  INK_TRACKS_SLOWEST,        /* of each launch the `slowest` longest */
  INK_TRACKS_SM              /* none: counters of each SM instead */
};

typedef struct ink_merged_options {
  size_t size;              /* sizeof(ink_merged_options) */
  const char *kernel_regex; /* NULL: every kernel */
  uint32_t launch;          /* UINT32_MAX: every launch */
  enum ink_merged_tracks tracks;
  uint32_t slowest;
  bool align; /* takes the offset between the two clocks out, also where both are Unix
               * time; where theirs is not, it always is */
  ink_status (*progress)(void *user, uint64_t done,
                         uint64_t total); /* in bytes of the other file */
  /* What was joined, converted, left out: a line each, also when nothing could be written. */
  void (*remark)(void *user, const char *line);
  void *user, *remark_user;
  /* What makes the whole doubtful, as clocks so far apart that the trace is perhaps of another run;
   * also gets remark_user. NULL: goes to remark. */
  void (*warning)(void *user, const char *line);
} ink_merged_options;

/* Writes one capture with the trace of another profiler at `with` into `path`, whose ending says what is written:
 * .json or .json.gz (the other file, which must be JSON, byte for byte, with our events among its own), .zip (both
 * files and a manifest for Perfetto), .pftrace or .perfetto-trace, also with .gz (everything as one Perfetto trace),
 * .xplane.pb (an XLA profile, to which the other file must be one). The file appears when it is whole.
 * Returns: INK_OK, or an error.
 * Errors: INK_ERROR_NOT_FOUND (no launch could be joined, or only by clocks over 100 ms apart in a trace whose
 * kernels are at no time that of the launches, without `align`), INK_ERROR_UNSUPPORTED (no such ending, or not with
 * such a trace), INK_ERROR_IO, and those of ink_foreign_open. */
INK_API ink_status ink_merged_write(const ink_capture *capture, const ink_clock_map *map,
                                    const char *with, const ink_merged_options *options,
                                    const char *path, ink_error *error);

typedef struct ink_merged_capture {
  const char *name; /* of its file */
  const ink_capture *capture;
  const ink_clock_map *map;
} ink_merged_capture;

/* The same with several captures, of ranks or of one process: each is joined with the kernels of its own process if
 * the trace tells processes apart, and on its own.
 * Returns: INK_OK, or an error.
 * Errors: those of ink_merged_write; INK_ERROR_NOT_FOUND also if nothing of one of them could be joined, or two fit
 * the same kernels; INK_ERROR_UNSUPPORTED also if one is there twice. */
INK_API ink_status ink_merged_write_several(const ink_merged_capture *captures, size_t n,
                                            const char *with, const ink_merged_options *options,
                                            const char *path, ink_error *error);

/* Writes several captures on one timeline, by the host clock of each, as a Perfetto trace: a process for each
 * capture and GPU.
 * Returns: INK_OK, or an error.
 * Errors: INK_ERROR_UNSUPPORTED (a capture has no host clock, or is there twice), INK_ERROR_IO, INK_ERROR_MEMORY. */
INK_API ink_status ink_merged_write_captures(const ink_merged_capture *captures, size_t n,
                                             const ink_merged_options *options, const char *path,
                                             ink_error *error);

#ifdef __cplusplus
}
#endif
#endif
