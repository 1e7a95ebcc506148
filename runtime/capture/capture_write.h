/* SPDX-License-Identifier: MIT */
/* Private: the two places where a writer's chunks go, a file of this process or the ring to the writer
 * process, and what only one of them has. */
#ifndef INKMARK_CAPTURE_WRITE_H
#define INKMARK_CAPTURE_WRITE_H

#include "shm/link.h"

/* A writer whose chunks go into the ring of this process (ink_i_link_ring). Nothing fails for want of
 * room: it is waited for while the reader goes on, and a chunk that does not fit then is lost and counted.
 * `track_bytes`: the largest track; all memory that draining needs is taken now. */
ink_status ink_i_writer_open_ring(size_t track_bytes, ink_writer **out, ink_error *error);

/* Whether tracks of that many bytes more would fit now. Asked before tracks are taken from a device:
 * what is left there may be drained later, or is overwritten and counted. Always true of a file. */
bool ink_i_writer_has_room(const ink_writer *writer, size_t bytes);

/* How many records the device's rings have, which ink_writer_track reads; false: it was not told of. */
bool ink_i_writer_rings(const ink_writer *writer, int32_t device, uint32_t *records, uint32_t *aux_records);

/* The same for a track that is as good as lost else: waits for room as a write does. */
bool ink_i_writer_wait(ink_writer *writer, size_t bytes);
/* A closed track whose words are in parts, but for those that there was no room for: they count as lost. */
ink_status ink_i_writer_closing(ink_writer *writer, int32_t device, const ink_track *header, ink_error *error);

/* For how long a reader that does not go on is waited for, from here on. */
enum { INK_I_PATIENCE_MS = 100, INK_I_LAST_PATIENCE_MS = 800 };
void ink_i_writer_patience(ink_writer *writer, uint32_t ms);

/* A chunk that was taken out of a ring, into a file: renumbered, and devices noted, so that
 * ink_writer_track can be used after it. *left: as of ink_i_file_put_items. */
ink_status ink_i_writer_append(ink_writer *writer, unsigned char *chunk, uint32_t type,
                               size_t payload_bytes, size_t *left, ink_error *error);

#endif
