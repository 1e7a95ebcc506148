/* SPDX-License-Identifier: MIT */
/* One gzip member, packed in pieces by several threads: a piece begins with what is before it as its dictionary and
 * ends at a byte, so the pieces behind each other are one stream. The bytes do not depend on how many threads there
 * are. */
#ifndef INK_GZIP_WRITE_H
#define INK_GZIP_WRITE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct ink_gzip ink_gzip;

/* Gets packed bytes, in order, in the thread that calls put or end. */
typedef void ink_i_gzip_sink(void *user, const unsigned char *bytes, size_t size);

/* NULL: out of memory. `threads` 0: as many as this process may use, at most 8. None is made before there is more than
 * one piece (256 KiB), and none where one thread is all there is. */
ink_gzip *ink_i_gzip_new(unsigned threads);
/* Both: false where memory ran out, then or earlier; what the sink got is not whole. */
bool ink_i_gzip_put(ink_gzip *gzip, const void *bytes, size_t size, ink_i_gzip_sink *sink, void *user);
bool ink_i_gzip_end(ink_gzip *gzip, ink_i_gzip_sink *sink, void *user);
/* Ends its threads, also in the middle. NULL is fine. */
void ink_i_gzip_free(ink_gzip *gzip);

#endif
