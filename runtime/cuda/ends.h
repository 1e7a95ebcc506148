/* SPDX-License-Identifier: MIT */
/* Private: how a recorded process ends. See ends.c. */
#ifndef INK_CUDA_ENDS_H
#define INK_CUDA_ENDS_H

#include "inkmark/status.h"

#include <stdbool.h>

/* What the ender calls, in its own thread but where that is not there. */
typedef struct ink_i_end_calls {
  /* Ends the session. `leaves`: the process ends at once, nothing is freed. `signal`: what ends it, or 0; `at_once`:
   * nothing is waited for. */
  void (*end)(bool leaves, int signal, bool at_once);
  /* Takes what is there and goes on; `becomes`: as another program. */
  void (*keep)(bool becomes);
} ink_i_end_calls;

/* Called before main, in its thread. */
void ink_i_ends_watch_main(const ink_i_end_calls *calls);
/* Starts the thread that ends the recording, once; where something is recorded. */
void ink_i_ends_start(void);
/* In a forked child: no thread but this one is there, and no end has begun. */
void ink_i_ends_after_fork(void);

/* Ends the recording: from atexit. Does nothing the second time, or in a child that shares this memory
 * (vfork). */
INK_API void ink_record_finish(void);
/* The same from _exit and abort, where no lock of the calling thread may be needed. `signal`: what will end
 * the process, or 0. */
INK_API void ink_record_leave(int signal);
/* From the handler of a signal whose default action ends the process: keeps what has been recorded, within a
 * second. The caller then ends the process by the signal. */
INK_API void ink_record_signalled(int signal);
/* In front of exec, which may fail: keeps what has been recorded. */
INK_API void ink_record_before_exec(void);
/* In front of what may end the process, or not. */
INK_API void ink_record_keep(void);

#endif
