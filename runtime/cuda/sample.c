/* SPDX-License-Identifier: MIT */
/* Samples of a grid's blocks. One block of each S in a row, chosen at random, so that no period of the grid's own falls on
 * it: whatever the blocks do, each of them had the same chance. */
#include "cuda/sample.h"

#include "id_map.h"

#include <stdlib.h>
#include <string.h>

enum { TO_DEVICE = 1, LEVEL_BYTES = INK_I_SAMPLE_BLOCKS / 8 };

size_t ink_i_sample_bytes(const ink_i_options *options) { return options->sample ? (size_t)INK_I_SAMPLES * LEVEL_BYTES : 0; }

/* The same blocks in every run. */
static uint32_t *make_bits(uint32_t distance, uint32_t blocks) {
  uint32_t *bits = calloc(LEVEL_BYTES, 1);
  for (uint32_t group = 0; bits && group * (uint64_t)distance < blocks; group++) {
    const uint64_t block = group * (uint64_t)distance + ink_mix64((uint64_t)distance << 32 | group) % distance;
    if (block < blocks)
      bits[block / 32] |= 1u << block % 32;
  }
  return bits;
}

/* Where the bits of a distance are, made when they are first asked for; SIZE_MAX: there is no room for more. */
static size_t find(ink_i_device *d, uint32_t distance, int *code) {
  size_t at = 0;
  while (at < INK_I_SAMPLES && d->samples[at] && d->samples[at] != distance)
    at++;
  if (at == INK_I_SAMPLES)
    return SIZE_MAX;
  if (d->samples[at])
    return at;
  uint32_t *bits = make_bits(distance, INK_I_SAMPLE_BLOCKS);
  if (!bits)
    return SIZE_MAX;
  *code = d->cuda->copy_async((char *)(uintptr_t)d->samples_at + at * LEVEL_BYTES, bits, LEVEL_BYTES, TO_DEVICE, d->stream);
  if (!*code)
    *code = d->cuda->stream_synchronize(d->stream);
  free(bits);
  if (!*code)
    d->samples[at] = distance;
  return *code ? SIZE_MAX : at;
}

int ink_i_sample_choose(ink_i_device *d, uint64_t blocks, uint64_t tracks, void *stream, bool *changed, uint32_t *distance) {
  const uint64_t room = d->layout.tracks_mask + UINT64_C(1), wanted = (tracks + room - 1) / room;
  bool whole = wanted <= 1 || blocks > INK_I_SAMPLE_BLOCKS || wanted > INK_I_SAMPLE_BLOCKS;
  int code = 0;
  *distance = whole ? 1 : (uint32_t)wanted;
  d->sample_streams |= d->sample_distance && stream != d->sample_stream;
  d->sample_stream = stream;
  *changed = *distance != (d->sample_distance ? d->sample_distance : 1) || d->sample_streams;
  if (!*changed)
    return 0;
  size_t at = whole ? 0 : find(d, *distance, &code);
  if (at == SIZE_MAX) { /* no room for it: all blocks are recorded, as for small grids */
    whole = true;
    at = 0;
    *distance = 1;
    *changed = d->sample_distance > 1 || d->sample_streams;
    if (!*changed)
      return code;
  }
  ink_buffer layout = d->layout; /* of all blocks */
  if (!whole) {
    layout.last_block = INK_I_SAMPLE_BLOCKS - 1;
    layout.block_bits_at = d->samples_at + at * LEVEL_BYTES;
  }
  /* Pageable memory: read before the call returns. A kernel of another stream that reads one field old and one new finds a bit
   * all the same: samples lie behind the bit of all blocks. */
  const size_t from = offsetof(ink_buffer, last_block), bytes = offsetof(ink_buffer, rings_end) - from;
  const int copied = d->cuda->copy_async((char *)d->buffer + from, (char *)&layout + from, bytes, TO_DEVICE, stream);
  if (!copied)
    d->sample_distance = *distance;
  else
    *distance = 1; /* what the device has now is not known to be a sample of this launch */
  return copied ? copied : code;
}
