/* SPDX-License-Identifier: MIT */
/* `inkmark report --code PROGRAM [--stalls FILE]`: what each section is made of, and why warps waited there. */
#ifndef INKMARK_CLI_REPORT_CODE_H
#define INKMARK_CLI_REPORT_CODE_H

#include "report.h"
#include "stall_join.h"

/* One section of a kernel's machine code beside what was measured of it. */
typedef struct code_row {
  const ink_verify_row *row;
  uint32_t kinds[INK_INSTRUCTION_KINDS]; /* instructions, without the marks' own */
  uint32_t bytes, operations, matrix_operations; /* of one thread, each instruction once */
  uint64_t passes;                       /* measured; 0: not */
  double cycles_a_pass;
  const stall_sum *sum;                  /* or NULL */
} code_row;

typedef struct code_kernel {
  const ink_verify_map *map;
  code_row *rows; /* [map->row_count] */
  const char *kernel; /* the capture's name of it, or NULL */
  const stall_join *join; /* or NULL */
} code_kernel;

/* What a section's instructions would be bound by if each ran once: "memory", "tensor", "math" or "latency"; NULL: it has none. */
const char *code_static_bound(const code_row *row, const char *target);
/* The same by the reasons for which warps waited, also "shared", "barrier" and "issue"; NULL: there are too few samples. */
const char *code_sampled_bound(const code_row *row, const stall_table *table);

enum { CODE_SAMPLES_LEAST = 30 }; /* below these no share is told */

bool code_text(const code_kernel *kernel, FILE *to);
void code_json(const code_kernel *kernel, json_writer *json);

int report_code(const report_settings *settings, char **paths, size_t n); /* an exit code */

#endif
