/* SPDX-License-Identifier: MIT */
/* The times of slices, noted as they come and read back in order: runs that are in order by
 * themselves are kept as differences, and reading merges the runs. That is 4 to 9 bytes a slice
 * where slices come nearly in order, 25 where they come in none. */
#ifndef INK_SLICE_LOG_H
#define INK_SLICE_LOG_H

#include "inkmark/status.h"

#include <stdbool.h>

typedef struct slice_time {
  int64_t begin_ns, end_ns;
  uint32_t index;
} slice_time;

enum { SLICE_RUNS_OPEN = 16, SLICE_SIZES = 6 };

typedef struct slice_runs {                   /* of one track; zeroed at first */
  uint32_t first;                             /* of its runs, number + 1 */
  uint32_t open[SLICE_RUNS_OPEN], open_count; /* those that may grow, the last used first */
  uint32_t count, slices;
} slice_runs;

typedef struct slice_log {
  struct slice_run *runs;
  size_t run_count, run_room;
  uint32_t free_run;          /* number + 1 */
  struct slice_block *blocks; /* all memory of the runs */
  size_t block_left;
  struct slice_chunk *free_chunks[SLICE_SIZES]; /* by size */
} slice_log;

/* Indices must grow from call to call. */
ink_status slice_log_add(slice_log *log, slice_runs *runs, const slice_time *slice);
void slice_log_free(slice_log *log);

/* Reads by begin, then longest first, then index. */
typedef struct slice_reader {
  struct slice_cursor *heap;
  size_t count, room;
} slice_reader;

ink_status slice_reader_start(slice_reader *reader, const slice_log *log, const slice_runs *runs);
bool slice_reader_next(slice_reader *reader, slice_time *out);
void slice_reader_free(slice_reader *reader); /* once, after the last track */

#endif
