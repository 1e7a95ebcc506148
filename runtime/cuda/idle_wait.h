/* SPDX-License-Identifier: MIT */
/* Private: waiting for devices, for no longer than a while. A kernel may go on until the program that waits for us tells it
 * to end, so a thread of our own makes the call that has no end, and stays in it if need be. */
#ifndef INK_CUDA_IDLE_WAIT_H
#define INK_CUDA_IDLE_WAIT_H

#include <stdbool.h>
#include <stdint.h>

/* Makes the thread: while the program may still make threads. Later on it is made where it is first needed. */
void ink_i_idle_prepare(void);
/* Bits of slots (driver_api.h). True: what was queued there has run. False: not within two seconds, or what was waited for
 * before that still runs, in which case nobody waits. */
bool ink_i_idle_wait(uint64_t slots);
/* In a forked child, which has no such thread. */
void ink_i_idle_after_fork(void);

#endif
