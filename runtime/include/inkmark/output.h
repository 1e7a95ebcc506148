/* SPDX-License-Identifier: MIT */
/* Writes a capture as a trace, a table or arrays. Each output is one file under runtime/output/ that fills one
 * ink_output.
 *
 * Threads: any number of threads, each with a path of its own; the capture and the map are only read.
 * Lifetime: outputs are in static storage. A write keeps no argument after it returns.
 *
 * @code{.c}
 * #include <inkmark/output.h>
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
 *   const ink_output_options options = {.size = sizeof options, .launch = UINT32_MAX};
 *   if (ink_output_by_name("csv")->write(capture, map, &options, "-", &error)) // "-": stdout
 *     fprintf(stderr, "%s\n", error.message);
 *   ink_clock_map_free(map);
 *   ink_capture_free(capture);
 *   return 0;
 * }
 * @endcode */
#ifndef INKMARK_OUTPUT_H
#define INKMARK_OUTPUT_H

#include "inkmark/decode.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The marks' own cost, as it was measured when the capture was made: in the times, as they were
 * stamped, or taken out of them, as `inkmark report` does. Moments are always those of the stamps. */
enum ink_output_marking {
  INK_MARKING_USUAL, /* out in the tables of json and html, in everywhere else */
  INK_MARKING_IN,
  INK_MARKING_OUT
};

/* What is left in traces, csv and npy; json and html, which hold tables, refuse it. Each part asks for itself. */
typedef struct ink_output_filter {
  bool time;                 /* what overlaps [from_ns, to_ns], counted from the begin of the first chosen track */
  bool blocks;               /* tracks of the linear blocks [first_block, last_block] */
  bool iterations;           /* what is in these rows; what is in none is left out */
  int64_t from_ns, to_ns;
  uint64_t first_block, last_block;
  int64_t first_iteration, last_iteration;
  uint64_t shorter_ns;       /* slices shorter than this are left out; csv, which has records, refuses it. 0: none */
} ink_output_filter;

typedef struct ink_output_options {
  size_t size;              /* sizeof(ink_output_options) */
  const char *kernel_regex; /* NULL: every kernel */
  uint32_t launch;          /* UINT32_MAX: every launch */
  ink_status (*progress)(void *user, uint64_t done, uint64_t total);
  void *user;
  enum ink_output_marking marking;
  const ink_output_filter *filter; /* NULL: everything */
  const char *comparison;   /* of html: what 'inkmark diff --format json' says of another capture and this one, which the
                             * page then shows; NULL: nothing */
} ink_output_options;

/* Writes to `path` ("-": stdout). The file appears under its name only when it is whole: it is
 * written beside it and renamed, so a failure leaves what was there before. npy writes several
 * files, NAME.cycles.npy, NAME.ns.npy, NAME.counts.npy and NAME.axes.json with the axes. */
typedef ink_status ink_output_fn(const ink_capture *capture, const ink_clock_map *map,
                                 const ink_output_options *options, const char *path,
                                 ink_error *error);

typedef struct ink_output {
  const char *name;         /* "perfetto" */
  const char *endings;      /* ".pftrace .perfetto-trace" */
  const char *summary;      /* one line for --help */
  ink_output_fn *write;
} ink_output;

/* All outputs, in the order of --help.
 * Returns: how many there are; *out is their array, in static storage. */
INK_API size_t ink_outputs(const ink_output **out);
/* An output by its name.
 * Returns: the output, in static storage; NULL: there is none of that name. */
INK_API const ink_output *ink_output_by_name(const char *name);
/* An output by the ending of a file's name.
 * Returns: the output, in static storage; NULL: none has that ending. */
INK_API const ink_output *ink_output_by_path(const char *path);

#ifdef __cplusplus
}
#endif
#endif
