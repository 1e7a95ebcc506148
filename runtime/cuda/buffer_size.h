/* SPDX-License-Identifier: MIT */
/* Private: how large a device's buffer is where the user did not say. */
#ifndef INK_CUDA_BUFFER_SIZE_H
#define INK_CUDA_BUFFER_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INK_I_RECORDS_USUAL 1024u /* of a ring, or fewer where there is little memory */

typedef struct ink_i_buffer_size {
  uint32_t records, tracks; /* powers of two */
  uint32_t tracks_wanted;   /* more than `tracks`: large rings left no room for so many */
} ink_i_buffer_size;

/* What a track takes on the device: its ring, the ring of called functions, and the header of the track behind
 * it. Both rings are aligned to their size, so up to a third is never used: that closing finds the header by
 * the ring alone is worth it. */
size_t ink_i_track_bytes(uint32_t records);

/* records, tracks: 0 where they were not given. free_bytes: 0 where it is not known. */
ink_i_buffer_size ink_i_size_buffer(uint32_t records, uint32_t tracks, size_t free_bytes, bool simulated);

#endif
