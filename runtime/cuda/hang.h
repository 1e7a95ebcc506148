/* SPDX-License-Identifier: MIT */
/* Private: watches launches whose tracks are open, and says where they wait when nothing new comes from them. */
#ifndef INK_CUDA_HANG_H
#define INK_CUDA_HANG_H

#include "cuda/drain_open.h"

typedef struct ink_i_hang ink_i_hang;

/* A closed track was copied: `ring` is its body's, in the ring's own order. */
void ink_i_hang_note_closed(ink_i_device *device, const ink_track *track, const uint64_t *ring);
/* At the end of a drain, whose d->open is set. Every so often it copies the rings of open tracks; what it has to say goes
 * to `inkmark record` and into the capture. */
ink_status ink_i_hang_look(ink_session *session, ink_i_device *device, ink_error *error);

#endif
