/* SPDX-License-Identifier: MIT */
/* The bytes of another profiler's trace, unpacked, for copying: as they are, or put right where they are no
 * JSON. */
#ifndef INK_OTHER_FILE_H
#define INK_OTHER_FILE_H

#include "output/output_file.h"
#include "merge/join/placement.h"
#include "json_scan.h"

typedef struct other_file {
  trace_bytes bytes;
  unsigned char *buffer;
  size_t at, filled;
  uint64_t position; /* of what was copied */
  json_edits edits;  /* those to come; none: as it is. Not owned. */
} other_file;

ink_status other_file_open(other_file *in, const char *path, ink_error *error);
/* Copies up to byte `to` (UINT64_MAX: the rest), telling progress; a file that ends before is one
 * that changed since it was read. */
ink_status other_file_copy(other_file *in, ink_file *out, uint64_t to, const placement *place,
                           ink_error *error);
void other_file_close(other_file *in);

#endif
