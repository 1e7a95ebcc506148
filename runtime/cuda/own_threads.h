/* SPDX-License-Identifier: MIT */
/* Private: threads of the recording in a process that is not its own. */
#ifndef INK_CUDA_OWN_THREADS_H
#define INK_CUDA_OWN_THREADS_H

#include <pthread.h>
#include <stdbool.h>

/* A thread of ours is none of the program's: a signal that the program's threads block, to wait for it,
 * must not come here and end the process, nor run a handler here. What a fault raises is left alone. */
bool ink_i_make_thread(pthread_t *thread, void *(*body)(void *), void *user);
/* The calling thread is one of them. A handler may ask. */
bool ink_i_is_own_thread(void);
/* How many of them run; for a moment less than there are, never more. */
long ink_i_own_threads(void);
/* In a forked child, where there are none. */
void ink_i_own_threads_after_fork(void);

#endif
