/* SPDX-License-Identifier: MIT */
/* What the machine code in a program says of its kernels, for `inkmark cost`. */
#ifndef INKMARK_CLI_COST_CODE_H
#define INKMARK_CLI_COST_CODE_H

#include "inkmark/activity.h"

typedef struct cost_code {
  char *function;  /* mangled */
  char label[256]; /* readable */
  uint32_t capability, registers;
  uint32_t stack_bytes;  /* of a thread: arrays, and what was spilled */
  uint32_t spills;       /* instructions that put a register there or fetch it back */
  uint32_t shared_bytes; /* of the block, without what the system takes */
} cost_code;

typedef struct cost_codes {
  cost_code *items;
  size_t count;
  char why_none[256]; /* where there are none */
} cost_codes;

/* All functions of all machine code in the file, as cuobjdump tells them. */
void cost_codes_read(const char *program, cost_codes *out);
void cost_codes_free(cost_codes *codes);

/* What an SM of that capability holds at once of a launch like `sample`, compiled like this. */
ink_occupancy cost_code_occupancy(const cost_code *code, const ink_activity *sample);

#endif
