/* SPDX-License-Identifier: MIT */
/* Streams of packed bytes, zlib's, zstd's, xz's and bzip2's, and of UTF-16, which becomes UTF-8: behind one
 * face. */
#ifndef INK_UNPACK_H
#define INK_UNPACK_H

#include "inkmark/status.h"

#include <stdbool.h>
#include <stddef.h>

enum unpack_kind {
  UNPACK_STORED,
  UNPACK_DEFLATE,
  UNPACK_ZLIB, /* as Perfetto packs packets; nothing tells it by its first bytes */
  UNPACK_GZIP,
  UNPACK_ZSTD,
  UNPACK_XZ,
  UNPACK_BZIP2,
  UNPACK_UTF16 /* with its byte order mark */
};
enum unpacked { UNPACK_MORE, UNPACK_ENDED, UNPACK_DAMAGED, UNPACK_NO_MEMORY };

typedef struct unpack unpack;

/* How such bytes begin; UNPACK_STORED: in none of these ways. */
enum unpack_kind unpack_kind_of(const unsigned char *head, size_t bytes);
enum { UNPACK_HEAD_BYTES = 6 };
const char *unpack_name(enum unpack_kind kind); /* "gzip" */
/* What a machine lacks where unpack_new says INK_ERROR_UNSUPPORTED: "libzstd.so.1", and Debian's package. */
const char *unpack_library(enum unpack_kind kind);
const char *unpack_package(enum unpack_kind kind);

/* NULL with *status: INK_ERROR_MEMORY, or INK_ERROR_UNSUPPORTED where the library is not there. */
unpack *unpack_new(enum unpack_kind kind, ink_status *status);
void unpack_free(unpack *u); /* NULL is fine */
/* Moves bytes from *in to *out. UNPACK_ENDED: a whole stream ended, which does not mean that the
 * input did: another call starts with the next stream. */
enum unpacked unpack_run(unpack *u, const unsigned char **in, size_t *in_bytes, unsigned char **out,
                         size_t *out_bytes);

#endif
