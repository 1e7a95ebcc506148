/* SPDX-License-Identifier: MIT */
/* Fuzzes what looks for an open track's words in a ring: the first bytes choose sizes, clocks and what is known, the
 * rest is the ring and its second copy. Whatever they hold, what is found lies in the ring, in whole records, and is
 * found again by a call that goes on from it. */
#include "decode/open_ring.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool fine) {
  if (!fine)
    abort();
}

static void check(const ink_open_ring *ring, const uint64_t *to, const ink_open_words *found) {
  must(found->count <= ring->records);
  must(!found->count || found->reached == found->first + found->count);
  must(found->count || found->reached == ring->reached);
  must(found->reached_clock >= (ring->reached ? ring->reached_clock : 0));
  for (uint64_t i = 0; i < found->count; i++)
    must(to[i] == ring->words[(found->first + i) & (ring->records - 1)]);
  must(!ring->keep_first || found->first + found->count <= ring->records || ring->reached);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uint64_t fixed[4] = {0};
  if (size < sizeof fixed)
    return 0;
  memcpy(fixed, data, sizeof fixed);
  data += sizeof fixed;
  size -= sizeof fixed;
  const uint32_t records = UINT32_C(1) << (fixed[0] & 7);
  uint64_t *words = malloc(records * sizeof *words), *again = malloc(records * sizeof *words);
  uint64_t *to = malloc(records * sizeof *to); /* exact, so that a store beyond it is seen */
  must(words && again && to);
  memset(words, 0xff, records * sizeof *words);
  const size_t bytes = size < records * sizeof *words ? size : records * sizeof *words;
  memcpy(words, data, bytes);
  memcpy(again, words, records * sizeof *words);
  for (size_t at = bytes; at + 1 < size; at += 2) /* what changed meanwhile: where, and to what */
    again[data[at] % records] ^= data[at + 1];
  ink_open_ring ring = {.words = words,
                        .again = fixed[0] & 8 ? again : NULL,
                        .records = records,
                        .open_clock = fixed[1],
                        .clock_most = fixed[0] & 16 ? fixed[1] + fixed[2] : UINT64_MAX,
                        .wiped = fixed[0] & 32,
                        .keep_first = fixed[0] & 64,
                        .called = fixed[0] & 128,
                        .sections = (uint32_t)(fixed[0] >> 8) & INK_SECTION_MASK,
                        .stale_clock_most = fixed[0] & 32 ? 0 : fixed[3]};
  ink_open_words found = {0};
  must(ink_i_open_ring_find(&ring, to, &found, NULL) == INK_OK);
  check(&ring, to, &found);
  ring.reached = found.reached;
  ring.reached_clock = found.reached_clock;
  ring.reached_exact = found.reached_exact;
  must(ink_i_open_ring_find(&ring, to, &found, NULL) == INK_OK);
  check(&ring, to, &found);
  free(words);
  free(again);
  free(to);
  return 0;
}
