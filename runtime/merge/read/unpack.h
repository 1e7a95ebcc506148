/* SPDX-License-Identifier: MIT */
/* Streams of packed bytes: zlib's and zstd's, behind one face. */
#ifndef INK_UNPACK_H
#define INK_UNPACK_H

#include "inkmark/status.h"

#include <stdbool.h>

enum unpack_kind { UNPACK_STORED, UNPACK_DEFLATE, UNPACK_GZIP, UNPACK_ZSTD };
enum unpacked { UNPACK_MORE, UNPACK_ENDED, UNPACK_DAMAGED, UNPACK_NO_MEMORY };

typedef struct unpack unpack;

/* NULL with *status: INK_ERROR_MEMORY, or INK_ERROR_UNSUPPORTED where libzstd.so.1 is not there. */
unpack *unpack_new(enum unpack_kind kind, ink_status *status);
void unpack_free(unpack *u); /* NULL is fine */
/* Moves bytes from *in to *out. UNPACK_ENDED: a whole stream ended, which does not mean that the
 * input did: another call starts with the next stream. */
enum unpacked unpack_run(unpack *u, const unsigned char **in, size_t *in_bytes, unsigned char **out,
                         size_t *out_bytes);

#endif
