/* SPDX-License-Identifier: MIT */
/* The bytes of another profiler's trace: as they are, or out of gzip, zstd or a zip with one
 * member. What it is shows by its first bytes. */
#ifndef INK_TRACE_BYTES_H
#define INK_TRACE_BYTES_H

#include "inkmark/status.h"

#include <stdbool.h>

enum trace_packing { TRACE_PLAIN, TRACE_GZIP, TRACE_ZSTD, TRACE_ZIP };

typedef struct trace_bytes {
  const char *path;
  int fd;
  enum trace_packing packing;
  struct unpacker *unpacker; /* NULL: plain */
  uint64_t size;             /* of the file; 0: not known */
  uint64_t taken;            /* bytes of the file read so far */
  uint64_t given;            /* unpacked bytes handed out */
  char member[200];          /* of a zip: its name */
} trace_bytes;

/* INK_ERROR_UNSUPPORTED: zstd without libzstd.so.1, a zip with several members or of a kind that is
 * not read. Close also after a failure; a zeroed one with fd -1 is fine too. */
ink_status trace_bytes_open(trace_bytes *in, const char *path, ink_error *error);
/* At least one byte unless the end is reached: *got is 0 then. */
ink_status trace_bytes_read(trace_bytes *in, void *to, size_t room, size_t *got, ink_error *error);
void trace_bytes_close(trace_bytes *in);

#endif
