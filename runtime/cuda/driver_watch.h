/* SPDX-License-Identifier: MIT */
/* Private: the driver's calls as CUPTI tells of them, for a session that begins in a running process, where nothing can be
 * preloaded any more. Modules that are loaded from then on are armed with their names; one that was there already is found
 * when a kernel of it is launched, and has the names that the program registers. */
#ifndef INK_CUDA_DRIVER_WATCH_H
#define INK_CUDA_DRIVER_WATCH_H

#include "inkmark/session.h"

#include <stdint.h>

/* With the subscriber of the session's activity, where it has one; else with one of its own, beside another profiler's where
 * CUPTI allows that. INK_ERROR_NOT_FOUND: there is no CUPTI; INK_ERROR_CUDA: it refuses. */
ink_status ink_i_watch_start(ink_session *session, ink_error *error);
/* A session is watched. */
bool ink_i_watch_runs(void);
/* No callback is in the session any more when it returns: without the session's lock, which a callback may want. True: it
 * was watched. */
bool ink_i_watch_stop(void);
/* No callback begins any more; one that is in the session may stay there, as the session does. */
void ink_i_watch_abandon(void);
/* In a forked child, where CUPTI does not work. */
void ink_i_watch_after_fork(void);

#endif
