/* SPDX-License-Identifier: MIT */
/* The bytes of another profiler's trace: as they are, or out of gzip, zstd, xz, bzip2, UTF-16 or a zip with one
 * member, and out of one of these within another. What it is shows by its first bytes. */
#ifndef INK_TRACE_BYTES_H
#define INK_TRACE_BYTES_H

#include "unpack.h"

enum { TRACE_LAYERS_MAX = 4 }; /* a trace that is packed more often is refused */

typedef struct trace_bytes {
  const char *path;
  int fd;
  struct unpacker *layers[TRACE_LAYERS_MAX]; /* the outermost first */
  size_t layer_count;                        /* 0: plain */
  unsigned char head[UNPACK_HEAD_BYTES];     /* the first unpacked bytes, until they are handed out */
  size_t head_at, head_bytes;
  uint64_t size;    /* of the file; 0: not known */
  uint64_t taken;   /* bytes of the file read so far */
  char member[200]; /* of a zip: its name */
} trace_bytes;

/* INK_ERROR_UNSUPPORTED: a packing without its library, a zip with several members or of a kind that is not
 * read. Close also after a failure; a zeroed one with fd -1 is fine too. */
ink_status trace_bytes_open(trace_bytes *in, const char *path, ink_error *error);
/* At least one byte unless the end is reached: *got is 0 then. */
ink_status trace_bytes_read(trace_bytes *in, void *to, size_t room, size_t *got, ink_error *error);
void trace_bytes_close(trace_bytes *in);

#endif
