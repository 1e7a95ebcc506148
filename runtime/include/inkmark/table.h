/* SPDX-License-Identifier: MIT */
/* Makes tables and statistics of a capture in one pass of the decoder.
 *
 * Threads: any number of threads may make tables of one capture, and read one table.
 * Lifetime: returned arrays are valid until ink_table_free. Names in them belong to the capture, so free the capture
 * after the table.
 *
 * @code{.c}
 * #include <inkmark/table.h>
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
 *   ink_table *table;
 *   const ink_table_options options = {.size = sizeof options, .launch = UINT32_MAX, .without_marking = true};
 *   if (!ink_table_make(capture, map, &options, &table, &error)) {
 *     const ink_table_row *rows; // they belong to the table
 *     const ink_section *sections;
 *     const size_t count = ink_table_rows(table, &rows);
 *     ink_capture_sections(capture, &sections);
 *     for (size_t i = 0; i < count; i++)
 *       printf("%s: %.0f ns\n", rows[i].section == INK_SECTION_UNKNOWN ? "(unmarked)" : sections[rows[i].section].name,
 *              rows[i].total_ns);
 *     ink_table_free(table);
 *   }
 *   ink_clock_map_free(map);
 *   ink_capture_free(capture);
 *   return 0;
 * }
 * @endcode */
#ifndef INKMARK_TABLE_H
#define INKMARK_TABLE_H

#include "inkmark/decode.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ink_group_by {
  INK_BY_SECTION,
  INK_BY_ITERATION,
  INK_BY_BLOCK,
  INK_BY_SM,
  INK_BY_LAUNCH,
  INK_BY_WARP,     /* of its block */
  INK_BY_DEVICE,   /* a kernel's devices in one part */
  INK_BY_INSTANCE, /* a kernel's template instances in one part; the group is ink_table_instance's */
  INK_BY_ROLE      /* of PROF_ROLE: an index into ink_capture_sections, or INK_NO_ROLE */
};

#define INK_NO_ROLE (-1)

typedef struct ink_table_options {
  size_t size;               /* sizeof(ink_table_options) */
  enum ink_group_by by;
  const char *kernel_regex;  /* POSIX extended, NULL: every kernel */
  uint32_t launch;           /* UINT32_MAX: every launch */
  ink_status (*progress)(void *user, uint64_t done, uint64_t total);
  void *user;
  /* Takes the marks' own cost out of all times, if the capture has a measure of it. Each stretch loses the cost of
   * the marks that it contains, but for each mark at most the time to the next. The ranges of PROF_SUM lose the part
   * of the cost that lies inside of them. The time around them keeps their cost. */
  bool without_marking;
  /* BY_SECTION: findings are made too (ink_table_findings). Sections whose names match `waits_regex` (POSIX
   * extended, case does not matter; NULL: INK_WAITS_USUAL) are those that wait. */
  bool findings;
  const char *waits_regex;
} ink_table_options;

#define INK_WAITS_USUAL "wait|barrier|sync|acquire|stall"

enum { INK_ROW_INSIDE_MAX = 4, INK_HISTOGRAM_BINS = 24 };

/* One row: a section of a part of a kernel, in a group (iteration, block, SM, launch, warp, device or instance; 0 for
 * BY_SECTION). A part is one kernel on one device, as one template instance if the capture knows instances. Devices
 * and instances are never added up, unless they are the groups.
 *
 * Rows are sorted by part, group, section, with "(unmarked)" last. Rows of nested and of called sections lie inside
 * the time of other rows: only rows of depth 0 and "(unmarked)" add up. A kernel's total is the time from the openings
 * to the closings of its tracks. "(unmarked)" counts the gaps. It leaves out time that is unknown because marks were
 * overwritten.
 *
 * Slices whose begin was cut off, and slices that never ended, are counted in `cut` and not in the times. If ranges of
 * a section lie inside each other, as those of a recursive function, the times are those of the outermost range: total,
 * share and imbalance count no moment twice. Times of single slices are those of every slice. There is one exception:
 * if a MARK of the body stands around called functions that mark the same section, that time counts twice, and `twice`
 * is 1.
 *
 * median and p99 are exact (nearest rank) up to 32 values, and within 1/128 of the true value beyond. Their ns are the
 * cycles at the row's mean rate; if an SM of the capture changed its rate, they are those of the ns. All other values
 * are exact. If a rate changed inside a track, each stretch has the ns of its own stamps. The ranges of PROF_SUM have no
 * stamps, so they have the rate at their row's end.
 *
 * Self is the total without the time of slices that lay directly inside. If it is not known, self_known is 0: so it is
 * by iteration, because a slice is in the row of its end, and if slices of the section were cut. Its ns are the cycles
 * at the row's mean rate. */
typedef struct ink_table_row {
  uint32_t part;             /* index into ink_table_kernels */
  uint32_t kernel;           /* index into ink_capture_kernels */
  ink_section_index section; /* INK_SECTION_UNKNOWN: the "(unmarked)" row */
  int64_t group;             /* iteration row (INK_ROW_NONE, INK_ROW_UNKNOWN), linear block, SM, ... */
  uint32_t depth;            /* least depth at which it was seen */
  uint8_t called, summed;    /* summed: from PROF_SUM, no quantiles */
  uint8_t twice;             /* total and share count some time of it twice */
  uint8_t self_known;
  uint8_t inside_count;      /* BY_SECTION only; more than INK_ROW_INSIDE_MAX are not told of */
  ink_section_index inside[INK_ROW_INSIDE_MAX]; /* whose slices its own lay directly in, first come first;
                              * INK_SECTION_UNKNOWN: none, they lay in the kernel's body */
  uint64_t count, cut;
  uint64_t nested;           /* of count: inside of another slice of the section; their times are not added */
  uint64_t passes;           /* BY_ITERATION: how often the group's PROF_ITER was passed, over all tracks */
  uint64_t tracks;           /* that passed it; one that came back to the group counts again */
  uint64_t total_cycles, self_cycles, min_cycles, p1_cycles, median_cycles, p99_cycles, max_cycles;
  double total_ns, self_ns, min_ns, p1_ns, median_ns, p99_ns, max_ns;
  uint64_t max_track;        /* where the longest slice was: index of ink_capture_track; UINT64_MAX: none */
  int64_t max_iteration;     /* and its row */
  double share;              /* of the part's total track time */
  double imbalance;          /* largest total of a track / mean total of the tracks that passed it, of each
                              * launch; its mean over the launches, weighted by their totals */
  uint64_t marking_cycles;   /* taken out of total_cycles: the raw total is the sum of the two */
  double marking_bound_cycles; /* by how much total_cycles may be wrong for that, at most */
  double bound_ns;           /* by how much total_ns may be wrong for what is known of the clocks, at most: of
                              * each slice the rate's part and one cycle, since stamps are whole cycles.
                              * INFINITY: nothing is known */
} ink_table_row;

/* Of one part of a kernel. What is known of a kernel only, missed and lost tracks, its first part has. */
typedef struct ink_kernel_total {
  uint32_t kernel;
  int32_t device;            /* BY_DEVICE: that of the first launch */
  const char *instance;      /* the kernel function's full name, the capture's; NULL: not known, or BY_INSTANCE */
  uint64_t iterations;       /* PROF_ITERs among marks_kept */
  uint64_t tracks, launches, marks_executed, marks_kept, marks_dropped, missed;
  uint64_t tracks_partial, tracks_lost, marks_lost;
  uint64_t total_cycles, unmarked_cycles;
  double total_ns, unmarked_ns;
  uint64_t unknown_cycles;     /* of the total, the parts whose marks were overwritten or dropped */
  bool without_marking;        /* the marks' cost is taken out, in all of its tracks */
  uint64_t marking_cycles;     /* taken out of total_cycles */
  double marking_bound_cycles;
  double bound_ns;             /* as a row's, of total_ns */
  double outside_cycles;       /* opening and closing of the tracks, passes of PROF_SUM: not taken out */
  uint64_t async_ranges, instants, values; /* of PROF_ASYNC (also without an end), PROF_EVENT, PROF_VALUE: in no row */
  uint64_t marks_dropped_open; /* of marks_dropped, those of tracks that never closed; where there are any, dropped and
                                * executed are at least what is said */
  uint64_t rows_executed;      /* of marks_executed, those that stand for a row of a track of rows (PROF_KERNEL_ROWS), not
                                * for a mark */
} ink_kernel_total;

enum { INK_FINDING_NUMBERS = 12 };
/* Something that stands out: docs/answers.md has the ids and the thresholds. */
typedef struct ink_finding {
  const char *id;            /* "tail", "wait", "late", "outlier", "first-launch" */
  uint32_t part;             /* index into ink_table_kernels */
  double cost_cycles;        /* about what it costs, in cycles of tracks: findings are sorted by it */
  char text[480];
  struct {
    const char *name;
    double value;
  } numbers[INK_FINDING_NUMBERS]; /* what the text rests on */
  size_t number_count;
} ink_finding;

/* Ranges across threads of one section and scope, from tracks of one role to those of another. Times are of those
 * with both ends; one that ended before it began counts as 0. Sorted by kernel, section, scope, roles. */
typedef struct ink_crossing_total {
  uint32_t kernel;             /* of the tracks that begin them */
  ink_section_index section;
  uint32_t from_role, to_role; /* indices into ink_capture_sections; UINT32_MAX: none */
  uint8_t scope;               /* enum ink_scope */
  uint8_t exact;               /* 1: all are between tracks of one SM, so cycles hold */
  uint8_t reserved[6];
  uint64_t count, backwards, without_end, without_begin;
  uint64_t min_cycles, median_cycles, max_cycles;
  double total_ns, min_ns, median_ns, max_ns;
  double bound_ns;             /* what any of them is good to; 0: they are exact; INFINITY: not known */
  /* How many had begun and not ended at a time, in one block (of scope cluster and grid: in one launch): on average from
   * the first begin to the last end, and at most. */
  double mean_in_flight;
  uint64_t most_in_flight;
} ink_crossing_total;

typedef struct ink_table ink_table;

/* Makes the tables of a capture, in one pass of the decoder. The caller frees *out with ink_table_free.
 * Returns: INK_OK, or an error; then *out is as it was.
 * Errors: INK_ERROR_ARGUMENT (the options' size, a pattern), INK_ERROR_UNSUPPORTED (an option that this library does
 * not know), INK_ERROR_STOPPED (`progress` asked for it), INK_ERROR_MEMORY. */
INK_API ink_status ink_table_make(const ink_capture *capture, const ink_clock_map *map,
                                  const ink_table_options *options, ink_table **out,
                                  ink_error *error);
/* Frees a table, and all that it handed out. NULL is fine. */
INK_API void ink_table_free(ink_table *table);
/* The rows, by part, group and section.
 * Returns: how many there are; *out is their array. */
INK_API size_t ink_table_rows(const ink_table *table, const ink_table_row **out);
/* BY_SECTION: [INK_HISTOGRAM_BINS] slices of one of these rows by their cycles. Bin i begins at min * (max / min)^(i
 * / INK_HISTOGRAM_BINS) (a min of 0 counts as 1). Of more than 32 values one within 1/128 of a bin's end may stand
 * in its neighbour.
 * Returns: the table's array; NULL: the row has no single slices. */
INK_API const uint64_t *ink_table_histogram(const ink_table *table, const ink_table_row *row);
/* Whether a row's total is less than what the clocks are known to, so that nothing but that can be said of it.
 * Returns: true if it is; false also if no bound is known at all, which then holds for every row. */
INK_API bool ink_table_row_below_bound(const ink_table_row *row);
/* Whether less is left of a row than what the marks' cost, which was taken out of it, is known to.
 * Returns: true if it is so. */
INK_API bool ink_table_row_below_marking_bound(const ink_table_row *row);
/* The parts: what of a kernel ran on one device as one instance.
 * Returns: how many there are; *out is their array. */
INK_API size_t ink_table_kernels(const ink_table *table, const ink_kernel_total **out);
/* The part that a launch is in.
 * Returns: an index into ink_table_kernels; UINT32_MAX: the table has none of it. */
INK_API uint32_t ink_table_part_of(const ink_table *table, uint32_t launch, uint32_t kernel);
/* The full name of the function that a group BY_INSTANCE is of.
 * Returns: the capture's text; NULL: it is not known. */
INK_API const char *ink_table_instance(const ink_table *table, int64_t group);
/* What stands out, what costs most first.
 * Returns: how many there are; *out is their array; 0 if findings were not asked for. */
INK_API size_t ink_table_findings(const ink_table *table, const ink_finding **out);
/* Sections of a seen kernel's table that no recording thread passed, of whichever of the decoded kernels; the names
 * of kernels are left out.
 * Returns: how many there are; *out is their array. */
INK_API size_t ink_table_unseen(const ink_table *table, uint32_t kernel,
                                const ink_section_index **out);
/* Ranges across threads, by kernel, section, scope and roles.
 * Returns: how many there are; *out is their array. */
INK_API size_t ink_table_crossings(const ink_table *table, const ink_crossing_total **out);
/* The first of each kernel, kind, section and ring, with how often it came: the first 100 such. *total counts them
 * all.
 * Returns: how many there are; *out is their array. */
INK_API size_t ink_table_problems(const ink_table *table, const ink_problem **out,
                                  uint64_t *total);

#ifdef __cplusplus
}
#endif
#endif
