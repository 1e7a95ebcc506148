/* SPDX-License-Identifier: MIT */
/* What the clocks of the simulated device are set to in one run, as its variables, and as the truth
 * that follows: the device time of each clock64 of each SM, in whole femtoseconds. The truth is
 * computed here from what was set, by its own arithmetic, not by the simulator's code. */
#ifndef INKMARK_TESTS_SET_CLOCK_H
#define INKMARK_TESTS_SET_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { SET_SMS = 6, SET_CHANGES = 3, SET_VARIABLES = 12, SET_TEXT = 2048 };

typedef struct set_kind {
  const char *name;
  uint32_t step_ns;
  int launches, blocks, rounds;
  uint32_t rest_ns;
  int clocks;         /* clock triples in the kernel */
  int changes;        /* of the rate, on each SM at a moment of its own */
  double change_from_ns, change_to_ns;
  int pause_ms;       /* between launches */
  bool short_sm;      /* the last SM sees one short block only */
  bool wraps;         /* the lower 48 bits of clock64 wrap while kernels run */
  bool drawn;         /* skew and drift are drawn by the device, from INKMARK_SIM_SEED */
  bool short_tracks;  /* under 1 ms: nothing is asked of slopes */
} set_kind;

typedef struct set_rate {
  uint64_t cycle, fs, hz; /* from this cycle on, counted from device time 0 */
} set_rate;

typedef struct set_sm {
  uint64_t start_cycles;
  int count;
  set_rate rates[SET_CHANGES + 1];
} set_sm;

typedef struct set_clock {
  const set_kind *kind;
  uint64_t random, seed, epoch_ns;
  set_sm sms[SET_SMS];
  char variables[SET_VARIABLES][SET_TEXT];
  int variable_count;
} set_clock;

/* Draws a run; `log` is where the device says what it drew itself (kinds that are `drawn`). */
void set_clock_make(set_clock *set, const set_kind *kind, uint64_t seed, const char *log);
/* Of a `drawn` kind, after the run: reads what was drawn, and holds every clock read of the log
 * against the truth that follows from it. False: the log says otherwise, which is told on stderr. */
bool set_clock_read_log(set_clock *set, const char *log);
/* Device time at which clock64 of an SM became `cycles`. */
uint64_t set_clock_fs(const set_clock *set, uint32_t sm, uint64_t cycles);

#endif
