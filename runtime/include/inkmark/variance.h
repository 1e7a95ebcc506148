/* SPDX-License-Identifier: MIT */
/* Says how the slices of each section scatter, and what the scatter goes with: the launch, the SM, the block, the
 * warp, the iteration, or a number that PROF_VALUE gave in the same iteration. docs/answers.md says how.
 *
 * Experimental: it may change with any version.
 *
 * Threads: any number of threads; the capture and the map are only read.
 * Lifetime: the result and its members are valid until ink_variance_free. Names belong to the capture.
 *
 * @code{.c}
 * #include <inkmark/variance.h>
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
 *   ink_variance *all;
 *   const ink_section *sections;
 *   const ink_variance_options options = {.size = sizeof options, .launch = UINT32_MAX};
 *   ink_capture_sections(capture, &sections);
 *   if (!ink_variance_make(capture, map, &options, &all, &error)) {
 *     for (size_t i = 0; i < all->count; i++)
 *       printf("%s: p99 %.0f cycles\n", sections[all->rows[i].section].name, all->rows[i].p99_cycles);
 *     ink_variance_free(all);
 *   }
 *   ink_clock_map_free(map);
 *   ink_capture_free(capture);
 *   return 0;
 * }
 * @endcode */
#ifndef INKMARK_VARIANCE_H
#define INKMARK_VARIANCE_H

#include "inkmark/decode.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ink_variance_key { /* the coarser first */
  INK_VARIES_BY_LAUNCH,
  INK_VARIES_BY_SM,
  INK_VARIES_BY_WARP,
  INK_VARIES_BY_ITERATION,
  INK_VARIES_BY_VALUE,
  INK_VARIES_BY_BLOCK,
  INK_VARIES_BY_NOTHING
};

typedef struct ink_variance_options {
  size_t size;               /* sizeof(ink_variance_options) */
  uint32_t launch;           /* UINT32_MAX: every launch */
  bool without_marking;      /* slices without the marks' own cost, where the capture has a measure of it */
  const char *kernel_regex;  /* POSIX extended; NULL: every kernel */
  ink_status (*progress)(void *user, uint64_t done, uint64_t total);
  void *user;
} ink_variance_options;

/* One section of one kernel on one device. Cycles are those of the slices that are looked at: all of them, or, of more
 * than 16,384, so many that are drawn evenly (with a fixed seed). */
typedef struct ink_variance_row {
  uint32_t kernel;           /* index into ink_capture_kernels */
  int32_t device;
  ink_section_index section;
  uint64_t slices, looked_at;
  double p1_cycles, median_cycles, p99_cycles;
  /* What the scatter goes with: how much of the variance of the logarithms lies between the groups of `key`, corrected for
   * their number (epsilon squared: 1 - (SSW / (n - groups)) / (SST / (n - 1))). The coarsest key within 0.05 of the best. */
  uint32_t key;              /* enum ink_variance_key; INK_VARIES_BY_NOTHING: no key explains a fifth of it, or from p1
                              * to p99 it is at most 2 % of the median or 4 cycles */
  double explained;          /* 0..1 */
  uint64_t groups;
  /* The group whose mean lies farthest from the others', unless the key is a value. */
  int64_t group;             /* launch, SM, warp, iteration or block */
  double group_ratio;        /* its geometric mean by that of the others */
  ink_section_index value;   /* of INK_VARIES_BY_VALUE: the section that PROF_VALUE names */
  double value_correlation, cycles_per_value; /* of cycles with it: Pearson's, and the line of least squares */
  /* Over the launches, of medians: */
  uint64_t launches;
  uint64_t warm_up;          /* the first so many are slower than 1.1 times the median of the others; 0: none */
  double warm_up_ratio;      /* the first one's by that */
  double drift;              /* the last fourth by the first fourth behind the warm-up, less 1; NAN: not told, the order of
                              * launches and their medians do not go together (Spearman's below 0.7, or under 8 launches) */
} ink_variance_row;

typedef struct ink_variance {
  ink_variance_row *rows;    /* by kernel, device, section */
  size_t count;
} ink_variance;

/* Looks for what the time of each section goes with. Slices that are cut, and sums, are not looked at. The caller
 * frees *out with ink_variance_free.
 * Returns: INK_OK, or an error; then *out is as it was.
 * Errors: INK_ERROR_ARGUMENT (a bad size or pattern), INK_ERROR_MEMORY, and those of ink_decode. */
INK_API ink_status ink_variance_make(const ink_capture *capture, const ink_clock_map *map,
                                     const ink_variance_options *options, ink_variance **out, ink_error *error);
/* Frees the result. NULL is fine. */
INK_API void ink_variance_free(ink_variance *variance);

#ifdef __cplusplus
}
#endif
#endif
