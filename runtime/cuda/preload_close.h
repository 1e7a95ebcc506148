/* SPDX-License-Identifier: MIT */
/* Private to the preloaded library: libraries that are closed while the program exits. See preload_close.c. */
#ifndef INK_CUDA_PRELOAD_CLOSE_H
#define INK_CUDA_PRELOAD_CLOSE_H

/* This thread is about to run the exit handlers. */
void ink_i_exit_begins(void);
/* In a forked child: no thread but this one is there. */
void ink_i_closings_after_fork(void);

#endif
