/* SPDX-License-Identifier: MIT */
/* Where each thread of early.cu leaves: input of the kernel and of its model. */
#ifndef INKMARK_TRUTH_EARLY_H
#define INKMARK_TRUTH_EARLY_H

enum { EARLY_BLOCKS = 8, EARLY_THREADS = 64 };

/* 0: at once; 1: from the loop; 2: from inside a range; 3: from a switch; 4: at the end. Thread 0
 * of a block leaves by other ways than the threads beside it. */
static inline int early_exit_of(int block, int thread) {
  return (block + thread % 5) % 5;
}
static inline int early_round_of(int block, int thread) {
  return (block * 3 + thread / 8) % 4;
}

#endif
