/* SPDX-License-Identifier: MIT */
/* Private: the windows that `inkmark record` asks for through the environment. */
#ifndef INK_CUDA_RECORD_WINDOW_H
#define INK_CUDA_RECORD_WINDOW_H

#include "cuda/session_private.h"

/* The session of `inkmark record` in this process; NULL: there is none, or it is another process's. */
ink_session *ink_i_record_session(void);
ink_status ink_i_record_window_make(ink_session *session, ink_error *error);
void ink_i_record_window_after_fork(void);
/* At the end: windows that could not be counted. */
void ink_i_record_window_remarks(const ink_session *session, void (*say)(const char *what, const char *text));

#endif
