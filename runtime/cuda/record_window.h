/* SPDX-License-Identifier: MIT */
/* Private: the windows that `inkmark record` asks for through the environment, and the launches that are counted for them. */
#ifndef INK_CUDA_RECORD_WINDOW_H
#define INK_CUDA_RECORD_WINDOW_H

#include "inkmark/session.h"

#include <stdbool.h>
#include <stdint.h>

ink_status ink_i_record_window_make(ink_session *session, ink_error *error);
void ink_i_record_window_after_fork(void);
/* At the end: windows that could not be counted. */
void ink_i_record_window_remarks(const ink_session *session, void (*say)(const char *what, const char *text));

/* ---- what the preloaded library tells ---- */

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

#endif
