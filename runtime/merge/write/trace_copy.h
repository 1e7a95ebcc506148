/* SPDX-License-Identifier: MIT */
/* The bytes of another profiler's trace, unpacked, for copying: as they are, or put right where they are no
 * JSON. */
#ifndef INK_TRACE_COPY_H
#define INK_TRACE_COPY_H

#include "output/output_file.h"
#include "merge/plan/placement.h"
#include "merge/read/json_scan.h"

typedef struct trace_copy {
  trace_bytes bytes;
  unsigned char *buffer;
  size_t at, filled;
  uint64_t position; /* of what was copied */
  json_edits edits;  /* those to come; none: as it is. Not owned. */
} trace_copy;

ink_status trace_copy_open(trace_copy *in, const char *path, ink_error *error);
/* Copies up to byte `to` (UINT64_MAX: the rest), telling progress; a file that ends before is one
 * that changed since it was read. */
ink_status trace_copy_copy(trace_copy *in, ink_file *out, uint64_t to, const placement *place,
                           ink_error *error);
void trace_copy_close(trace_copy *in);

#endif
