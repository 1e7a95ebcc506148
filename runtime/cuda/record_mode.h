/* SPDX-License-Identifier: MIT */
/* Private: what `inkmark record` steers through the environment. */
#ifndef INK_CUDA_RECORD_MODE_H
#define INK_CUDA_RECORD_MODE_H

#include "inkmark/status.h"

/* Called before main, when every module of the program has registered. */
INK_API void ink_record_start(void);
/* Called when the driver starts, inside of the process's first CUDA call. */
INK_API void ink_record_cuda_starts(void);
/* Called when a marked file registers after that: a library that was loaded. */
void ink_i_record_module_came(void);
/* Ends the recording: from atexit. Does nothing the second time, or in a child that shares this memory
 * (vfork). */
INK_API void ink_record_finish(void);
/* The same from _exit and abort, where no lock of the calling thread may be needed. */
INK_API void ink_record_leave(void);
/* Around fork, in parent and child. */
INK_API void ink_record_fork_begin(void);
INK_API void ink_record_fork_end(void);
/* Around cudaDeviceReset: drains before, arms again after. What before gives goes to after: the device. */
INK_API int ink_record_before_reset(void);
INK_API void ink_record_after_reset(int device);

#endif
