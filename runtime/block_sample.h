/* SPDX-License-Identifier: MIT */
/* Private: the sample of a grid's blocks that record.h defines, as the host has it: what a buffer is to say of it, and of
 * which blocks a launch has tracks then. */
#ifndef INK_BLOCK_SAMPLE_H
#define INK_BLOCK_SAMPLE_H

#include "inkmark/record.h"

#include <stdbool.h>

/* Of a buffer that has `tracks`, a power of two: its sample_warps and sample_rate. */
static inline void ink_sample_fields(uint32_t flags, uint32_t tracks, uint32_t *warps, uint32_t *rate) {
  const uint32_t room = tracks >> INK_BUFFER_SAMPLED_LOG2(flags);
  *warps = flags & INK_BUFFER_SAMPLED_WARPS ? INK_SAMPLE_WARPS : 0;
  *rate = flags & INK_BUFFER_SAMPLED ? (uint32_t)((UINT64_C(1) << 32) / (room ? room : 1) - 1) : 0;
}

/* Of a grid with fewer blocks none is left out; 0: that takes a look at its blocks. */
static inline uint32_t ink_sample_blocks_limit(uint32_t warps, uint32_t rate) {
  return warps ? 0 : rate > 1 ? UINT32_MAX / rate + 1 : UINT32_MAX;
}

/* log2 of S, as the kernels work it out: one block of each S in a row records. 0: all of them do. */
static inline uint32_t ink_sample_log2(uint32_t flags, uint32_t tracks, const uint32_t grid_dim[3], const uint32_t block_dim[3]) {
  uint32_t warps, rate, log2 = 0;
  ink_sample_fields(flags, tracks, &warps, &rate);
  const uint32_t more_warps = (uint32_t)((uint64_t)(block_dim[0] * block_dim[1] * block_dim[2]) * warps >> 32);
  const uint32_t blocks = grid_dim[0] * grid_dim[1] * grid_dim[2];
  for (uint32_t more = (uint32_t)((uint64_t)(more_warps * blocks + blocks) * rate >> 32); more; more >>= 1)
    log2++;
  return log2;
}

static inline bool ink_sample_has(uint32_t log2, uint32_t linear_block) {
  uint32_t reversed = 0;
  for (uint32_t i = 0; i < 32; i++)
    reversed |= (linear_block >> i & 1) << (31 - i);
  return !log2 || reversed * INK_SAMPLE_FACTOR >> (32 - log2) == 0;
}

#endif
