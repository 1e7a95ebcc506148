/* SPDX-License-Identifier: MIT */
/* The critical path of one launch: the chain of work, from track to track, that the end of the launch waited for,
 * back to the launch's begin. docs/answers.md says how the path is found and what counts as an edge.
 *
 * Experimental: it may change with any version.
 *
 * Threads: any number of threads; the capture and the map are only read.
 * Lifetime: a path and its members are valid until ink_critical_path_free. It does not need the capture.
 *
 * @code{.c}
 * #include <inkmark/critical.h>
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
 *   ink_critical_path *path;
 *   const ink_section *sections;
 *   ink_capture_sections(capture, &sections);
 *   if (!ink_critical_path_make(capture, map, 0, NULL, &path, &error)) { // of launch 0
 *     for (size_t i = 0; i < path->share_count; i++)
 *       if (path->shares[i].section < INK_PATH_BETWEEN) // not the unmarked time
 *         printf("%s: %.0f ns of the path\n", sections[path->shares[i].section].name, (double)path->shares[i].path_ns);
 *     ink_critical_path_free(path);
 *   }
 *   ink_clock_map_free(map);
 *   ink_capture_free(capture);
 *   return 0;
 * }
 * @endcode */
#ifndef INKMARK_CRITICAL_H
#define INKMARK_CRITICAL_H

#include "inkmark/decode.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Why a step could begin when it did. */
enum ink_path_edge {
  INK_PATH_ON,      /* the track itself went on; or the launch began */
  INK_PATH_MARKED,    /* a range across threads, which another track began, ended in this wait */
  INK_PATH_HAND_OVER, /* a wait ended while another track of the block was in the section that ends such waits */
  INK_PATH_TOGETHER,  /* several tracks of the block waited in one section; the last that came let all go on */
  INK_PATH_SLOT       /* a block ended on the SM, and this one began */
};

#define INK_PATH_BETWEEN (INK_SECTION_UNKNOWN - 1) /* the section of the time between two blocks of a slot */

/* Steps follow each other in time without a gap. The rest of a wait after what ended it is a step too. */
typedef struct ink_path_step {
  uint64_t track;             /* of ink_capture_track */
  ink_section_index section;  /* the innermost of the body; INK_SECTION_UNKNOWN: unmarked */
  uint8_t edge;               /* enum ink_path_edge: how the path came here from the step before */
  uint8_t reserved[3];
  int64_t begin_ns, end_ns;   /* clock map */
} ink_path_step;

/* One section on the path, and off it. */
typedef struct ink_path_share {
  ink_section_index section;
  bool waits;
  uint64_t steps;
  int64_t path_ns;            /* on the path */
  int64_t all_ns;             /* over all tracks of the launch; of INK_PATH_BETWEEN that of the path */
  int64_t slack_ns;           /* the median over its stretches of how much later one could have ended, all else as it
                               * was, before the launch ended later: at most this, where what a short wait finds there
                               * already is not marked. INT64_MAX: not known (waits, other paths,
                               * launches with more than about 10^9 places to look at) */
} ink_path_share;

/* Where another track is when a wait ends. */
enum ink_path_sign {
  INK_SIGN_IN,     /* in a section */
  INK_SIGN_LEAVES, /* at its end */
  INK_SIGN_COMES,  /* at its begin */
  INK_SIGN_LAST,   /* it waits in the same one, and came last */
  INK_SIGNS
};

/* What ends the waits of a section, and what that rests on. */
typedef struct ink_path_rule {
  ink_section_index wait, ends; /* of INK_SIGN_LAST `ends` is `wait`; INK_SECTION_UNKNOWN: nothing was found, such a
                                 * wait stays on the path */
  uint32_t sign;                /* enum ink_path_sign */
  uint64_t waits;               /* that lasted longer than one that finds what it waits for */
  double seen;                  /* share of these at whose end another track was in `ends` */
  double chance;                /* how often that would be seen at any moment */
} ink_path_rule;

enum { INK_PATHS = 3 };

typedef struct ink_critical_path {
  uint32_t launch;
  uint64_t marks_dropped;       /* by its tracks, whose rings were full: what the path was there is not known */
  uint64_t blocks, blocks_seen; /* of the grid, and those with a closed track: of the others the path knows nothing */
  int64_t begin_ns, end_ns;     /* of the launch's tracks; where the path begins may be later */
  ink_path_step *steps;         /* in the order of time */
  size_t step_count;
  ink_path_share *shares;       /* the most on the path first */
  size_t share_count;
  ink_path_rule *rules;
  size_t rule_count;
  uint64_t edges[INK_PATH_SLOT + 1];
  /* Of the first path: those to the ends of other blocks (of one block: of other tracks), the latest end first. Their
   * rules, marks_dropped and others are empty; end_ns is the end of the block. */
  struct ink_critical_path *others[INK_PATHS - 1];
  size_t other_count;
  int64_t parts_ns;             /* of another path: until here it is the first one */
} ink_critical_path;

/* The path of `launch`. Sections whose names match `waits_regex` (POSIX extended, whatever the case; NULL:
 * INK_WAITS_USUAL of table.h) wait. Marks of called functions are part of the body's section around them. The caller
 * frees *out with ink_critical_path_free.
 * Returns: INK_OK, or an error; then *out is as it was.
 * Errors: INK_ERROR_ARGUMENT (no such launch, a bad pattern, a launch without a closed track, or one of more than
 * 16,777,216 slices), INK_ERROR_MEMORY, and those of ink_decode. */
INK_API ink_status ink_critical_path_make(const ink_capture *capture, const ink_clock_map *map, uint32_t launch,
                                          const char *waits_regex, ink_critical_path **out, ink_error *error);
/* Frees a path. NULL is fine. */
INK_API void ink_critical_path_free(ink_critical_path *path);

#ifdef __cplusplus
}
#endif
#endif
