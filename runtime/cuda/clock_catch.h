/* SPDX-License-Identifier: MIT */
/* Private: catches edges of globaltimer on every SM of a device. */
#ifndef INK_CUDA_CLOCK_CATCH_H
#define INK_CUDA_CLOCK_CATCH_H

#include "cuda/device.h"

/* What waits to be written: all of it in one allocation, to be freed. */
typedef struct ink_i_caught {
  ink_clock_edges edges;
  char note[200];
} ink_i_caught;

/* Of the device memory that it needs, which is allocated with the device's buffer. */
size_t ink_i_edges_bytes(uint32_t sm_count);

/* Runs the kernel on the device's own stream and waits for it; NULL where memory ran out. A CUDA error
 * is one of ours, taken back and told in the note: nothing else is lost by it. */
ink_i_caught *ink_i_catch_edges(ink_i_device *device, enum ink_edges_when when);

#endif
