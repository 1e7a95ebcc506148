/* SPDX-License-Identifier: MIT */
/* What the parts of `inkmark time` share: the repeats of a program, and what each section took in them. */
#ifndef INKMARK_CLI_REPEAT_H
#define INKMARK_CLI_REPEAT_H

#include "options.h"

#include <stddef.h>
#include <stdio.h>

enum { REPEAT_MAX = 10000 };
#define REPEAT_UNITS(X) X("auto", REPEAT_AUTO) X("cycles", REPEAT_CYCLES) X("us", REPEAT_US)
enum repeat_unit { REPEAT_UNITS(CHOICE_CONSTANT) };

typedef struct repeat_settings {
  cli_common common;
  uint64_t repeat, warmup;
  int device, format, granularity; /* enum cli_device, cli_format, cli_granularity */
  int unit;                        /* enum repeat_unit; auto: us, on the simulated device cycles */
  const char *kernels, *output;
} repeat_settings;

typedef struct repeat_row {
  char *kernel, *section; /* section NULL: the kernel's tracks as wholes */
  uint64_t count;         /* slices, or tracks, of a repeat; the newest */
  bool uneven;            /* not the same in all repeats */
  double *cycles, *ns;    /* [repeats]: the mean of one slice; NAN: there was none */
} repeat_row;

typedef struct repeat_result {
  const repeat_settings *settings;
  repeat_row *rows;
  size_t count, repeats;
  bool simulated;
  double *slowest_hz, *fastest_hz; /* [repeats]: of the SMs' clocks; NAN: not known */
  uint64_t lost;                   /* tracks and marks that a repeat lost, the worst */
  uint32_t one_block_of;           /* of some launch one block of each so many in a row was recorded; 1: all */
} repeat_result;

/* Runs the program; CLI_OK or an exit code after a message. repeat_free in any case. */
int repeat_measure(const repeat_settings *settings, char **program, repeat_result *out);
void repeat_free(repeat_result *result);
/* False after a message. */
bool repeat_text(const repeat_result *result, FILE *to);
void repeat_json(const repeat_result *result, FILE *to);

#endif
