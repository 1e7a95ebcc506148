/* SPDX-License-Identifier: MIT */
/* What the parts of `inkmark cost` share: the runs of a program with marks off, on and without, and
 * what was seen of each kernel in them. */
#ifndef INKMARK_CLI_COST_H
#define INKMARK_CLI_COST_H

#include "cost_code.h"
#include "options.h"

#include "inkmark/activity.h"

enum cost_mode { COST_OFF, COST_ON, COST_WITHOUT, COST_MODES };
enum { COST_RUNS_MAX = 1000 };

typedef struct cost_settings {
  cli_common common;
  const char *baseline, *kernels, *output;
  uint64_t runs;
  int device, format;
} cost_settings;

/* One kernel in one mode. */
typedef struct cost_seen {
  uint64_t launches;   /* of one run; the newest */
  double *run_ns;      /* [runs]: of all its launches in a run; NAN: it did not run */
  bool uneven;         /* runs launched it a different number of times */
  ink_activity sample; /* registers, shared memory, ... of a launch */
  ink_occupancy occupancy;
} cost_seen;

typedef struct cost_kernel {
  char *name;      /* mangled, as CUPTI has it */
  char label[256]; /* readable */
  cost_seen modes[COST_MODES];
} cost_kernel;

typedef struct cost_result {
  const cost_settings *settings;
  size_t runs;
  cost_kernel *kernels;
  size_t count;
  double *wall_ns[COST_MODES]; /* [runs]: from the start of `inkmark record` to its end */
  cost_codes code[2];          /* of the program, of the baseline */
  bool has_baseline, simulated;
  uint64_t untimed;         /* kernels that CUPTI has no times of */
  char why_no_kernels[512]; /* where CUPTI saw nothing */
  char left_out[16][128];   /* kernels that --kernel does not match */
  size_t left_out_count;
} cost_result;

/* Runs everything; CLI_OK, or the exit code after a message. */
int cost_measure(const cost_settings *settings, char **program, cost_result *out);
void cost_release(cost_result *result);

/* The ratio a / b of two modes in percent above 1, over the runs: its median, least and most. False
 * where a run is missing. */
typedef struct cost_percent {
  double median, least, most;
} cost_percent;
bool cost_compare(const double *a, const double *b, size_t runs, cost_percent *out);
double cost_median(const double *values, size_t n); /* NAN where one is */

bool cost_text(const cost_result *result, FILE *to);
void cost_json(const cost_result *result, FILE *to);
const char *cost_mode_name(int mode);
const char *cost_limit_name(const ink_occupancy *occupancy);

#endif
