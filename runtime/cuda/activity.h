/* SPDX-License-Identifier: MIT */
/* Private: what CUPTI tells of a recorded process, collected into the session's capture. CUPTI's
 * absence or refusal is a sentence, never a failure. Functions take NULL where activity was not asked
 * for, and do nothing. */
#ifndef INK_CUDA_ACTIVITY_H
#define INK_CUDA_ACTIVITY_H

#include "inkmark/activity.h"

typedef struct ink_i_activity ink_i_activity;

/* Loads CUPTI and starts; never NULL but when out of memory. Call it before the first context of the
 * process is made, or in its first CUDA call: CUPTI then sees all that happens. */
ink_i_activity *ink_i_activity_start(void);
/* What it subscribed to CUPTI with, with ink_i_cupti_called. False: it has not. */
struct ink_i_cupti;
bool ink_i_activity_subscriber(const ink_i_activity *activity, struct ink_i_cupti *cupti, void **subscriber);
/* Why nothing is collected, or NULL. */
const char *ink_i_activity_refusal(const ink_i_activity *activity);
/* Around inkmark's own CUDA calls on this thread, so that they can be told from the program's. CUPTI
 * may start or end between the two. */
void ink_i_activity_own_begin(void);
void ink_i_activity_own_end(void);
/* Has CUPTI hand over what is complete; *wanted: there is work of the program's own to be written. */
void ink_i_activity_flush(ink_i_activity *activity, bool last, bool *wanted);
/* Writes what was collected. */
ink_status ink_i_activity_write(ink_i_activity *activity, ink_writer *writer, ink_error *error);
/* Flushes for the last time and lets go of CUPTI; what it collected can still be written. */
void ink_i_activity_stop(ink_i_activity *activity);
void ink_i_activity_free(ink_i_activity *activity);
/* In a forked child, where CUPTI does not work. */
void ink_i_activity_after_fork(ink_i_activity *activity);

#endif
