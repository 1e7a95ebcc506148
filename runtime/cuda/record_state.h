/* SPDX-License-Identifier: MIT */
/* Private: the session of `inkmark record` in this process, and whose it is. record_mode.c makes it and ends it. */
#ifndef INK_CUDA_RECORD_STATE_H
#define INK_CUDA_RECORD_STATE_H

#include "inkmark/session.h"

#include <stdbool.h>
#include <sys/types.h>

typedef struct ink_i_record_state {
  ink_session *_Atomic session; /* NULL: none, or it has ended */
  ink_session *made;            /* the same for good: other threads may be in it when it ends */
  pid_t owner;                  /* 0: nothing is recorded */
} ink_i_record_state;

extern ink_i_record_state ink_i_recorded;

/* This process is the one whose recording it is: false in a child that shares this memory. */
bool ink_i_record_is_mine(void);
/* NULL: there is none, or it is another process's. */
ink_session *ink_i_record_session(void);
/* This thread is inside of a call of the recording. */
bool ink_i_record_is_inside(void);

#endif
