/* SPDX-License-Identifier: MIT */
/* Private: how a recorded process ends. See ends.c; what is exported is in record_mode.h. */
#ifndef INK_CUDA_ENDS_H
#define INK_CUDA_ENDS_H

#include <stdbool.h>

/* Called before main, in its thread. */
void ink_i_ends_watch_main(void);
/* Starts the thread that ends the recording, once; where something is recorded. */
void ink_i_ends_start(void);
/* In a forked child: no thread but this one is there, and no end has begun. */
void ink_i_ends_after_fork(void);

/* ---- what ends.c asks of record_mode.c ---- */

/* This process is the one whose recording it is: false in a child that shares this memory. */
bool ink_i_record_is_mine(void);
/* This thread is inside of a call of the recording. */
bool ink_i_record_is_inside(void);
/* It waits for kernels to end, which may take any time. */
bool ink_i_record_waits(void);
/* Ends the session. `leaves`: the process ends at once, nothing is freed. `signal`: what ends it, or 0;
 * `at_once`: nothing is waited for. */
void ink_i_record_end(bool leaves, int signal, bool at_once);
/* The thread that ends the recording will not return: nobody is to wait for a lock of it. From signal handlers. */
void ink_i_record_give_up(void);
/* Takes what is there and goes on; `becomes`: as another program. */
void ink_i_record_keep(bool becomes);

#endif
