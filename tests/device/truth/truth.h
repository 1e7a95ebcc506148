/* SPDX-License-Identifier: MIT */
/* Known truth: a kernel's marks, as a plain C model of it says they are executed, are held against
 * the simulator's own log of clock reads and against what inkmark recorded.
 *
 * A KIND is one marked program and the model of its kernels, NAME.cu and NAME.c. The model gives,
 * for every thread of every launch, the STEPS at which the thread reads the clock; the log gives
 * the cycle of each of these reads; record.h gives the words that must then be in the ring. */
#ifndef INKMARK_TRUTH_H
#define INKMARK_TRUTH_H

#include "inkmark/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- what a thread does -------------------------------------------------------------------- */

typedef struct truth_step {
  uint8_t kind, escape; /* enum ink_kind of the head; VALUE_*, SUM, CLOCKS or 0 */
  bool called;          /* in a function that the kernel calls */
  bool stored;          /* false: PROF_SUM_BEGIN and _END read the clock and store nothing */
  const char *section;  /* "Table::Section", NULL: none */
  uint64_t payload[4];  /* row, key or value; a SUM's count (its cycles come from the log) */
  uint64_t clock;       /* from the log: what the stamp must be */
  uint64_t before, ns;  /* from the log, CLOCKS only */
  uint64_t at;          /* its first word, counted from the track's opening, in its ring */
  uint32_t words;
  bool kept; /* all of its words are still in the ring */
} truth_step;

typedef struct truth_steps {
  truth_step *items;
  size_t count, capacity;
  bool called; /* the steps added from now on stand in a called function */
} truth_steps;

void step_mark(truth_steps *s, const char *section);
void step_begin(truth_steps *s, const char *section);
void step_end(truth_steps *s, const char *section);
void step_event(truth_steps *s, const char *section);
void step_iter(truth_steps *s, int64_t row);
void step_first_row(truth_steps *s); /* it begins at the opening, and no record tells of it */
void step_value_i64(truth_steps *s, const char *section, int64_t value);
void step_value_u64(truth_steps *s, const char *section, uint64_t value);
void step_value_f64(truth_steps *s, const char *section, double value);
void step_async_begin(truth_steps *s, const char *section, uint64_t key);
void step_async_end(truth_steps *s, const char *section, uint64_t key);
void step_sum_begin(truth_steps *s, const char *section);
void step_sum_end(truth_steps *s, const char *section);
void step_sum(truth_steps *s, const char *section, uint64_t count); /* the record of the above */
void step_clocks(truth_steps *s);

/* ---- what runs ----------------------------------------------------------------------------- */

typedef struct truth_launch {
  const char *function; /* the __global__ function's own name; "kernel<Ij": mangled arguments too */
  const char *kernel;   /* "Table::Section" of PROF_KERNEL; NULL: it opens no track */
  uint32_t grid[3], block[3];
  bool (*chosen)(uint32_t block, uint32_t thread); /* PROF_KERNEL_IF; NULL: the host chooses */
  void (*thread)(truth_steps *s, uint32_t block, uint32_t thread);
  bool leaves; /* without closing its track */
  uint32_t rows; /* INK_ROWS of a track of rows, whose first step is step_first_row; 0: of records */
} truth_launch;

/* One recording of the program. Zero is `inkmark record`'s default, but for records (1024) and
 * tracks (64). */
typedef struct truth_run {
  const char *name;
  uint32_t records, tracks;
  bool per_warp, keep_first;
  const char *kernels; /* a regular expression on the bare section name */
  const char *blocks;
  bool (*block_in)(uint32_t block); /* what `blocks` means */
  const char *warps;
  uint32_t warp_bits;         /* what `warps` means */
  const char *environment[4]; /* "NAME=VALUE" for the simulator */
  bool wraps;                 /* skew the clocks so that one passes 2^48 inside a track */
  bool must_miss;             /* some entries must find no free track */
} truth_run;

typedef struct truth_log truth_log;

typedef struct truth_kind {
  const char *name;
  const truth_launch *launches;
  size_t launch_count;
  const truth_run *runs;
  size_t run_count;
  bool holds;       /* marks name values: bits are compared with -fmad=false only */
  bool overlaps;    /* two of the grids must have run at the same time */
  bool own_session; /* the program opens its own session and writes to INKMARK_TRUTH_OUTPUT */
  uint64_t words_start, aux_words_start; /* what the program presets the counts to */
  /* More to check, of a kind alone, on the log of the first run; may be NULL. */
  bool (*extra)(const truth_log *log);
} truth_kind;

/* argv: the command inkmark, the folder of the programs, a folder to write to, the simulator's. */
int truth_main(int argc, char **argv, const truth_kind *kind);

/* ---- the simulator's log ------------------------------------------------------------------- */

typedef struct truth_read {
  uint64_t grid, value, order;
  uint32_t block[3], thread, sm;
  int device;
  bool globaltimer;
  double ns;
} truth_read;

typedef struct truth_grid {
  uint64_t grid;
  int device;
  char *function; /* mangled */
  uint32_t grid_dim[3], block_dim[3];
  double begin_ns, end_ns;
} truth_grid;

struct truth_log {
  truth_read *reads; /* by device, grid, block, thread; then in the order of execution */
  size_t read_count, read_capacity;
  truth_grid *grids; /* by device, grid id */
  size_t grid_count, grid_capacity;
  uint64_t sm_start[64]; /* of device 0 */
};

/* False after a message: a line that is not as sim_log.h says. */
bool truth_log_read(const char *path, truth_log *log);
void truth_log_free(truth_log *log);
/* The reads of one thread; NULL and 0 where it made none. */
const truth_read *truth_log_thread(const truth_log *log, int device, uint64_t grid,
                                   const uint32_t block[3], uint32_t thread, size_t *count);
/* The nth grid of that __global__ function, or NULL. */
const truth_grid *truth_log_grid(const truth_log *log, const char *function, size_t nth);

/* ---- checks -------------------------------------------------------------------------------- */

/* Holds a capture against model and log. Counts failures and says the first ones on stderr. */
void truth_check(const truth_kind *kind, const truth_run *run, const truth_log *log,
                 const char *capture_path);
/* A failed check; all of them print "KIND, RUN: ..." */
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
void truth_fail(const char *format, ...);
void truth_count(void); /* one more check was made */

#endif
