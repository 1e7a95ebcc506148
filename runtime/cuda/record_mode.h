/* SPDX-License-Identifier: MIT */
/* Private: what `inkmark record` steers through the environment. */
#ifndef INK_CUDA_RECORD_MODE_H
#define INK_CUDA_RECORD_MODE_H

#include "inkmark/status.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Called before main, when every module of the program has registered. take_signals is called when
 * something is armed, more than once; from then on ink_record_signalled may be called. */
INK_API void ink_record_start(void (*take_signals)(void));
/* Called when the driver starts, inside of the process's first CUDA call. */
INK_API void ink_record_cuda_starts(void);
/* Called when a marked file registers after that: a library that was loaded. */
void ink_i_record_module_came(void);
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
/* In front of a launch on the current device, where a device is armed with its first one. */
INK_API bool ink_record_watches_use(void);
INK_API void ink_record_before_launch(int device);
/* Whether launches are counted, for windows, or told of, for host ranges: it does not change. Then around each launch,
 * which for windows nobody else makes between the two; those of a stream that is captured are none. */
INK_API bool ink_record_counts_launches(void);
typedef struct ink_record_launch {
  bool is_graph, inside; /* inside: in all windows */
  unsigned grid_dim[3], block_dim[3];
  int64_t begin_ns;      /* CLOCK_MONOTONIC */
} ink_record_launch;
/* False: it is not counted, and has no end. */
INK_API bool ink_record_launch_begin(ink_record_launch *launch);
/* `worked`: it was launched. *wants: who launched is to tell more, by ink_record_launched. */
INK_API void ink_record_launch_end(bool worked, bool *wants);
/* The stream that functions whose names end in _ptsz mean by none: cudaStreamPerThread, CU_STREAM_PER_THREAD. */
#define INK_I_PER_THREAD(stream) ((stream) ? (stream) : (void *)(uintptr_t)2)
/* The kernel's mangled name, or NULL; device -1: that of this thread's context. */
INK_API void ink_record_launched(const ink_record_launch *launch, const char *function, int device);
/* An NVTX range of the name that --range gives begins, or ends. */
INK_API void ink_record_range(bool begins);
/* The program called cudaProfilerStart, or Stop. */
INK_API void ink_record_profiler(bool starts);
/* Whether a library, not the program itself, has marks now. */
INK_API bool ink_record_has_libraries(void);
/* Around fork, in parent and child: signals are held between. */
INK_API void ink_record_fork_begin(sigset_t *before);
INK_API void ink_record_fork_end(const sigset_t *before);
/* Around a reset of a device, -1 for the current one: drains before, arms again after. What before gives goes to
 * after: the device. */
INK_API int ink_record_before_reset(int device, sigset_t *before);
INK_API void ink_record_after_reset(int device, const sigset_t *before);

/* ---- the driver's API: none of these does anything inside of a call that the recording makes ---- */

/* A module or a library was loaded; `bytes` 0: the image says itself how long it is. NULL: a file was, that could
 * not be read. */
INK_API void ink_record_module_loaded(void *handle, bool library, const void *image, size_t bytes);
/* The same of a file. */
INK_API void ink_record_file_loaded(void *handle, bool library, const char *path);
/* It is about to be unloaded. */
INK_API void ink_record_module_goes(void *handle, bool library);
/* The calling thread has this context, which may be new; it is about to be destroyed. */
INK_API void ink_record_context_came(void *context);
INK_API void ink_record_context_goes(void *context);
/* The program asked for a green context; `code` is what the driver said. */
INK_API void ink_record_green_context(int code);

#endif
