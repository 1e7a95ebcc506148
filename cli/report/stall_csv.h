/* SPDX-License-Identifier: MIT */
/* Samples of a kernel's machine instructions by the reason why warps waited, as Nsight Compute's source page has them in CSV. */
#ifndef INKMARK_CLI_STALL_CSV_H
#define INKMARK_CLI_STALL_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct stall_row {
  uint64_t address;
  const char *text;   /* of the instruction */
  double samples, executed;
  double *reasons;    /* [the table's reason_count] */
} stall_row;

typedef struct stall_table {
  const char *kernel; /* as the file has it, or "" */
  size_t reason_count;
  const char **reasons; /* "long_sb", without the "stall_" in front */
  bool counts;          /* the file has how often each instruction was executed */
  stall_row *rows;      /* by address */
  size_t row_count;
  const struct stall_function *sampled; /* of a capture: it has no rows before its map is known; or NULL */
} stall_table;

typedef struct stall_file {
  char *text;
  stall_table *tables;
  size_t table_count;
} stall_file;

/* False after a message. */
bool stall_csv_read(const char *path, stall_file *out);
void stall_csv_free(stall_file *file);

#endif
