/* SPDX-License-Identifier: MIT */
/* Private: a capture file that chunks are appended to, in a process whose descriptors, signals and
 * limits are not ours. */
#ifndef INKMARK_CAPTURE_FILE_H
#define INKMARK_CAPTURE_FILE_H

#include "capture/capture_format.h"

typedef struct ink_i_file ink_i_file;

/* Creates the file with its header in it. `replace`: an old one is cut to nothing. INK_ERROR_IO with
 * code EWOULDBLOCK: another process is writing it. */
ink_status ink_i_file_open(const char *path, bool replace, ink_i_file **out, ink_error *error);
/* Appends one chunk, whole or not at all. The payload stands behind room for a chunk header, which is
 * filled in, and the buffer holds the padding too. */
ink_status ink_i_file_put(ink_i_file *file, unsigned char *chunk, uint32_t type, size_t payload_bytes,
                          ink_error *error);
/* TRACKS and PARTS hold many items, and may be written in pieces. */
bool ink_i_chunk_has_items(uint32_t type);
/* The same for these; where the disk is full as many of the items as there is room for. *left: the
 * payload of the chunk of all others, which is made in place; 0: none is left. */
ink_status ink_i_file_put_items(ink_i_file *file, unsigned char *chunk, uint32_t type,
                                size_t payload_bytes, size_t *left, ink_error *error);
/* Chunks in it. */
uint64_t ink_i_file_chunks(const ink_i_file *file);
/* How often its descriptor was gone and it was opened again. */
uint32_t ink_i_file_reopened(const ink_i_file *file);
/* Closes it, also when it fails. INK_ERROR_IO: also when it was deleted meanwhile. */
ink_status ink_i_file_close(ink_i_file *file, ink_error *error);
void ink_i_file_abandon(ink_i_file *file);

/* A write failed for want of room, or for a limit: another one may succeed later. */
bool ink_i_file_is_full(const ink_error *error);

/* Header fields and checksums of a chunk in place; the size with header and padding. */
size_t ink_i_chunk_seal(unsigned char *chunk, uint32_t type, size_t payload_bytes, uint64_t sequence);

#endif
