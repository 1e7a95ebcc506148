/* SPDX-License-Identifier: MIT */
/* How often the loops of loop.cu go round: input of the kernel and of its model. */
#ifndef INKMARK_TRUTH_LOOP_H
#define INKMARK_TRUTH_LOOP_H

enum { LOOP_BLOCKS = 12, LOOP_THREADS = 64 };

static inline int loop_rounds(int block) {
  return (block * 7 + 3) % 6;
}
static inline int loop_inner(int block, int round) {
  return (block + round) % 3;
}

#endif
