/* SPDX-License-Identifier: MIT */
/* Private: `--blocks auto`. In front of the launch of a grid that has more blocks than the buffer has tracks, the device is
 * told to record a sample of them: a random one of each S in a row. */
#ifndef INK_CUDA_SAMPLE_H
#define INK_CUDA_SAMPLE_H

#include "cuda/device.h"

enum {
  INK_I_SAMPLES = 12,             /* distances that a device may have */
  INK_I_SAMPLE_BLOCKS = 1 << 22   /* of a grid, at most: 512 KiB of bits each */
};

/* Bytes behind the block bits in which the samples lie. */
size_t ink_i_sample_bytes(const ink_i_options *options);
/* In the order of the stream that the launch goes to, in front of it; nobody waits but for the copy of a sample's bits, the
 * first time. `tracks`: what the grid needs. The cudaError_t of a call that failed. *changed: another distance than before,
 * *distance. */
int ink_i_sample_choose(ink_i_device *device, uint64_t blocks, uint64_t tracks, void *stream, bool *changed, uint32_t *distance);

#endif
