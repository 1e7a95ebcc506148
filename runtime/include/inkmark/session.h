/* SPDX-License-Identifier: MIT */
/* Records inside the process that runs the kernels: arms devices, drains their buffers into a capture file, and ends
 * the capture. `inkmark record` does all of this by itself. Use this header if a program is to choose what is
 * recorded and when, or if it passes buffers to kernels as arguments.
 *
 * docs/arming.md says what arms and what drains each device. A process has one session at a time. The functions leave
 * the calling thread's current device as it was. If they succeed, they do not change its last CUDA error.
 *
 * Threads: any host thread may call these functions, and several threads at once. Only ink_session_close needs that
 * no other thread is in a function of the session.
 * Lifetime: a session lives until ink_session_close, which frees it. The functions copy the texts that they get.
 *
 * @code{.c}
 * #include <inkmark/mark.cuh>
 * #include <inkmark/session.h>
 * #include <stdio.h>
 * PROF_SECTIONS(SessionExample, Step, Load, Store)
 *
 * __global__ void step(float *x) {
 *   PROF_KERNEL(Step);
 *   float a = x[threadIdx.x];
 *   PROF_MARK(Load, a);
 *   x[threadIdx.x] = a + 1;
 *   PROF_MARK(Store);
 * }
 *
 * int main() {
 *   ink_session_options options = {sizeof options};
 *   options.output = "session.ink";
 *   options.replace = true;
 *   ink_session *session;
 *   ink_error error = {};
 *   if (ink_session_open(&options, &session, &error))
 *     return fprintf(stderr, "%s\n", error.message), 1;
 *   bool written = false;
 *   float *x;
 *   if (!ink_session_arm(session, &error) && !cudaMalloc(&x, 32 * sizeof *x))
 *     step<<<1, 32>>>(x);
 *   if (ink_session_close(session, &written, &error) || !written) // waits for the device
 *     return fprintf(stderr, "nothing was recorded: %s\n", error.message), 1;
 *   puts("session.ink is written");
 * }
 * @endcode */
#ifndef INKMARK_SESSION_H
#define INKMARK_SESSION_H

#include "inkmark/record.h"
#include "inkmark/status.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ink_session ink_session;

/* Zero means the default, given in parentheses. Strings are copied. */
typedef struct ink_session_options {
  size_t size;                 /* sizeof(ink_session_options) */
  const char *output;          /* path of the capture ("inkmark.%p.ink"): %p pid, %h host, %r rank */
  const char *kernels;         /* POSIX extended regex on the names given to PROF_KERNEL (all) */
  const char *blocks;          /* "0,7,100-120", linear block indices; "all"; "auto" (the default): of a grid that needs
                                * more tracks than the buffer has, as many blocks as there is room for, all over it */
  const char *warps;           /* "0,3-5", warps of a block (all) */
  const char *devices;         /* "0,1" or "all" (all): those that ink_session_arm arms */
  bool per_warp;               /* lane 0 of each warp records (thread 0 of each block) */
  bool keep_first;             /* stop when full (keep the newest) */
  uint32_t records_per_track;  /* rounded up to a power of two, 4 to 2^24 (1024) */
  uint32_t tracks;             /* rounded up to a power of two, 1 to 2^24 (by the free memory) */
  uint32_t drain_ms;           /* a thread drains at least so often (100); UINT32_MAX: only when asked */
  bool replace;                /* write over an existing file */
  bool activity;               /* kernels, copies and calls too, from CUPTI (inkmark/activity.h) */
  /* Closed tracks are not used again before they are drained; docs/arming.md says what else they cost. None of
   * the three goes with keep_first. */
  bool flight;                 /* rings and headers in memory of the host, which outlives the device's */
  bool live;                   /* tracks that are open are drained too */
  uint32_t hang_ms;            /* says what tracks wait in that are open for longer than this, with nothing new (0: no) */
  /* When it records; docs/arming.md, "Windows". */
  bool start_off;              /* not before ink_session_set_on */
  const char *schedule;        /* steps, as "wait=1,warmup=1,active=3,repeat=2": the active ones (all) */
  bool host_ranges;            /* ink_scope_begin too (inkmark/scope.h); NVTX under `inkmark record --nvtx` only */
  bool modules;                /* what the program loads through the driver's API is armed without ink_session_add_module, by
                                * CUPTI's callbacks: docs/arming.md, "By the program itself" */
  uint8_t reserved[6];         /* zero: what comes later lies where callers of today have no padding */
} ink_session_options;

/* Checks the options; no file is made and no device is touched before the first arming.
 * Returns: INK_OK, or an error; then *out is as it was.
 * Errors: INK_ERROR_ARGUMENT (an option, named in the message, or another session is open), INK_ERROR_UNSUPPORTED
 * (an option that this library does not know), INK_ERROR_MEMORY. */
INK_API ink_status ink_session_open(const ink_session_options *options, ink_session **out,
                                    ink_error *error);

/* Arms the devices asked for: allocates a buffer on each, once, and points the buffer symbol of every registered
 * marked file at it. Call again after a library with marks was loaded, or after cudaDeviceReset. Devices that cannot
 * be armed are skipped if another one can; the message names the first of them.
 * Returns: INK_OK, or an error.
 * Errors: INK_ERROR_NOT_FOUND (no marked file is in the process), INK_ERROR_CUDA, INK_ERROR_IO (no capture can be
 * written), INK_ERROR_MEMORY. */
INK_API ink_status ink_session_arm(ink_session *session, ink_error *error);

/* The buffer of one device, to be passed to kernels as an argument; makes it if need be, without touching any
 * symbol, and starts the thread that drains. The buffer stays valid until the session closes or the device is reset.
 * Returns: INK_OK, or an error; then *out is as it was.
 * Errors: INK_ERROR_NOT_FOUND (no marked file is in the process, whose CUDA runtime could be called), and those of
 * ink_session_arm. */
INK_API ink_status ink_session_buffer(ink_session *session, int device, prof_buffer *out,
                                      ink_error *error);

/* Turns recording on or off. Kernels that start after the call returns see the change; it is not ordered with any
 * stream.
 * Returns: INK_OK, or an error.
 * Errors: INK_ERROR_CUDA. */
INK_API ink_status ink_session_set_on(ink_session *session, bool on, ink_error *error);

/* Ends a step of the program and begins the next one. If the session has a schedule, recording begins or ends here
 * when it is time, and the call waits for the devices then. If `session` is NULL, the call is for the session of this
 * process, also that of `inkmark record`.
 * Returns: INK_OK, or an error.
 * Errors: INK_ERROR_NOT_FOUND (there is no session), INK_ERROR_CUDA, INK_ERROR_IO. */
INK_API ink_status ink_session_step(ink_session *session, ink_error *error);

/* Copies every track closed by now to the capture file. Does not wait for running kernels.
 * Returns: INK_OK, or an error.
 * Errors: INK_ERROR_CUDA (a device failed for good, and nothing more comes from it), INK_ERROR_IO. */
INK_API ink_status ink_session_drain(ink_session *session, ink_error *error);

/* Ties the clocks of the armed devices' SMs to each other and to the host's clock again, as arming and closing do.
 * This takes a kernel of some 10 us to 2 ms on a stream of the session's own, and some round trips. Call it between
 * launches if a program ran long or if the clock rate may have changed. It waits until the kernel has found room on
 * the device. If the kernel could not run on an SM, the capture says why.
 * Returns: INK_OK, or an error.
 * Errors: INK_ERROR_NOT_FOUND (no device is armed), INK_ERROR_CUDA. */
INK_API ink_status ink_session_calibrate(ink_session *session, ink_error *error);

/* Waits for the armed devices, drains them, ends the capture, disarms the devices and frees the session. If `written`
 * is not NULL, *written says whether a file was made: if no kernel recorded, there is none. The session is freed even
 * if the call fails. No other thread may be in a function of the session, or launch kernels that have its buffer as
 * an argument.
 * Returns: INK_OK, or an error.
 * Errors: INK_ERROR_CUDA, INK_ERROR_IO. */
INK_API ink_status ink_session_close(ink_session *session, bool *written, ink_error *error);

/* Adds a module that the program loaded through the driver's API: the CUmodule, and the image that it was made of, in
 * which its section tables are found. If `bytes` is 0, the image itself says how long it is. If `image` is NULL,
 * ink_register_sections must have been called with the tables. The module's kernels are recorded from now on, in the
 * calling thread's context. Under `inkmark record` you need not call this. If `marked` is not NULL, *marked says
 * whether the module has marks.
 * Returns: INK_OK, or an error.
 * Errors: INK_ERROR_NOT_FOUND (no driver, or no context of this thread), INK_ERROR_MEMORY. */
INK_API ink_status ink_session_add_module(ink_session *session, void *module, const void *image, size_t bytes,
                                          bool *marked, ink_error *error);
/* The same for a CUlibrary. Its kernels are recorded in every context that the session sees.
 * Returns: INK_OK, or an error.
 * Errors: those of ink_session_add_module. */
INK_API ink_status ink_session_add_library(ink_session *session, void *library, const void *image, size_t bytes,
                                           bool *marked, ink_error *error);
/* Takes a module out of the session. Call it before the module is unloaded or its context is destroyed. */
INK_API void ink_session_remove_module(ink_session *session, void *module);
/* The same of a library. */
INK_API void ink_session_remove_library(ink_session *session, void *library);

/* A section table, for kernels whose registrar cannot run (NVRTC): the name and the comma-separated sections of
 * PROF_SECTIONS, as written there.
 * Returns: INK_OK, or an error.
 * Errors: INK_ERROR_ARGUMENT (a NULL), INK_ERROR_LIMIT (more sections than a table holds, or two tables of one
 * hash), INK_ERROR_MEMORY. */
INK_API ink_status ink_register_sections(const char *table, const char *sections, const char *file,
                                         uint32_t line, ink_error *error);

#ifdef __cplusplus
}
#endif
#endif
