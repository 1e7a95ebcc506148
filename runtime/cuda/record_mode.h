/* SPDX-License-Identifier: MIT */
/* Private: what the preloaded library tells the recording that `inkmark record` asks for through the environment. The
 * ends of the process are in ends.h, launches in record_window.h. */
#ifndef INK_CUDA_RECORD_MODE_H
#define INK_CUDA_RECORD_MODE_H

#include "held_signals.h"
#include "inkmark/status.h"

#include <stdbool.h>
#include <stddef.h>

/* Called before main, when every module of the program has registered. take_signals is called when
 * something is armed, more than once; from then on ink_record_signalled may be called. */
INK_API void ink_record_start(void (*take_signals)(void));
/* Called when the driver starts, inside of the process's first CUDA call. */
INK_API void ink_record_cuda_starts(void);
/* Called when a marked file registers after that: a library that was loaded. */
void ink_i_record_module_came(void);
/* In front of a launch on the current device, where a device is armed with its first one. */
INK_API bool ink_record_watches_use(void);
INK_API void ink_record_before_launch(int device);
/* Whether a library, not the program itself, has marks now. */
INK_API bool ink_record_has_libraries(void);
/* Around fork, in parent and child: signals are held between. */
INK_API void ink_record_fork_begin(ink_i_held *before);
INK_API void ink_record_fork_end(const ink_i_held *before);
/* Around a reset of a device, -1 for the current one: drains before, arms again after. What before gives goes to
 * after: the device. */
INK_API int ink_record_before_reset(int device, ink_i_held *before);
INK_API void ink_record_after_reset(int device, const ink_i_held *before);

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
