/* SPDX-License-Identifier: MIT */
/* Private: when a session records. Each window is a gate: launches by number, steps of a schedule, time, and what the
 * program itself says. Kernels record while all of them are open. */
#ifndef INK_CUDA_WINDOW_H
#define INK_CUDA_WINDOW_H

#include "inkmark/status.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { INK_I_WINDOW_RANGES_MAX = 32 };

enum ink_i_gate {
  INK_I_GATE_PROGRAM = 1,  /* ink_session_set_on, cudaProfilerStart and Stop */
  INK_I_GATE_LAUNCHES = 2,
  INK_I_GATE_STEPS = 4,
  INK_I_GATE_TIME = 8,
  INK_I_GATE_RANGE = 16    /* an NVTX range of the program */
};

typedef struct ink_i_window {
  struct {
    uint64_t first, last;
  } launches[INK_I_WINDOW_RANGES_MAX]; /* from 0 */
  uint32_t range_count;                /* 0: not asked for */
  uint32_t wait, warmup, active, repeat; /* active 0: no schedule; repeat 0: for ever */
  uint32_t delay_ms, duration_ms;      /* duration 0: to the end */
  bool by_time, start_off, by_range;   /* by_range with a schedule: a range is a step */
  char text[320];                      /* as it was asked for; empty: no window */

  pthread_mutex_t turning;             /* one gate at a time; taken before the session's lock */
  _Atomic unsigned closed;             /* of enum ink_i_gate; 0: kernels record */
  _Atomic uint64_t launches_seen, launches_inside, steps, starts, ranges;
  int64_t began_ns;                    /* ink_i_monotonic_ns */
} ink_i_window;

typedef struct ink_i_window_options {
  bool start_off;
  const char *launches, *schedule; /* "10-20,30", "wait=1,warmup=1,active=3,repeat=2"; NULL: not asked for */
  uint32_t delay_ms, duration_ms;  /* 0: not asked for */
  const char *range;               /* the name of NVTX ranges */
} ink_i_window_options;

/* INK_ERROR_ARGUMENT: what is asked for, in the message. Begins the windows. */
ink_status ink_i_window_make(const ink_i_window_options *options, ink_i_window *out, ink_error *error);
void ink_i_window_after_fork(ink_i_window *window);

bool ink_i_window_has_launch(const ink_i_window *window, uint64_t launch);
bool ink_i_window_has_step(const ink_i_window *window, uint64_t step);
/* Whether the time's gate is open after so many ms, and in how many us that changes; INT64_MAX: not any more. */
bool ink_i_window_has_time(const ink_i_window *window, int64_t since_ms, int64_t *changes_us);
/* "3 of 13": launches that were made while all gates were open. False: none was counted. */
bool ink_i_window_counts(const ink_i_window *window, char *text, size_t bytes);

#endif
