/* SPDX-License-Identifier: MIT */
/* Private: why warps waited, as CUPTI samples it while a recorded process runs, and the code of its marked modules. CUPTI's
 * absence or refusal is a sentence, never a failure. Functions take NULL where it was not asked for, and do nothing. */
#ifndef INK_CUDA_STALL_SAMPLES_H
#define INK_CUDA_STALL_SAMPLES_H

#include "inkmark/stalls.h"

typedef struct ink_i_stalls ink_i_stalls;
struct ink_i_activity;

/* Loads CUPTI and waits for contexts; never NULL but when out of memory. What it returns stays until the process ends: a
 * callback of another thread may still be inside. Call it before the first context of the process is made. With the
 * subscriber of the activity, where there is one, which has to be stopped after this. */
ink_i_stalls *ink_i_stalls_start(const struct ink_i_activity *activity);
/* Why nothing is sampled, or not in all contexts; or NULL. */
const char *ink_i_stalls_refusal(ink_i_stalls *stalls);
/* Takes what CUPTI has, at most once a second but the `last` time; *wanted: there are samples of marked modules. */
void ink_i_stalls_flush(ink_i_stalls *stalls, bool last, bool *wanted);
/* Writes what was taken. */
ink_status ink_i_stalls_write(ink_i_stalls *stalls, ink_writer *writer, ink_error *error);
/* Ends the sampling, and takes what is left; it can still be written. */
void ink_i_stalls_stop(ink_i_stalls *stalls);
/* In a forked child, where CUPTI does not work. */
void ink_i_stalls_after_fork(ink_i_stalls *stalls);

#endif
