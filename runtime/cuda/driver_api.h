/* SPDX-License-Identifier: MIT */
/* Private: the CUDA driver of this process, called by name from the libcuda.so.1 that the program has loaded. So
 * what records needs no CUDA runtime, and no marked file of nvcc's.
 *
 * A device number of this API is a slot: below the number of devices it is the device's primary context, above
 * it a context that cuCtxCreate made, each of which has memory, modules and a buffer of its own. */
#ifndef INK_CUDA_DRIVER_API_H
#define INK_CUDA_DRIVER_API_H

#include "inkmark/module.h"

#include <stdbool.h>

typedef unsigned long long ink_i_device_ptr; /* CUdeviceptr */

/* NULL: no driver is loaded, or it lacks what is needed. Once it was there it stays. */
const ink_cuda_api *ink_i_driver(void);

/* The slot of the calling thread's context; -1: it has none, or there are too many. */
int ink_i_driver_slot_here(void);
/* The same of any context, if it has a slot already. */
int ink_i_driver_slot_of(const void *context);
/* A slot whose context was seen; it may have been destroyed unseen, if nothing of the program's goes by here. */
bool ink_i_driver_is_seen(int slot);
/* Of a slot: the device that its context is on. */
int ink_i_driver_ordinal(int slot);
/* What a function, or a kernel of a library, is of: the CUmodule, or the CUlibrary; NULL: not known. */
void *ink_i_driver_module_of(void *function, bool *library);
/* The context is about to be destroyed; its slot may be another one's afterwards. */
void ink_i_driver_context_goes(int slot);

/* Of the calling thread's context. Results are CUresults. */
int ink_i_driver_load(void **module, const void *image);
int ink_i_driver_function(void **function, void *module, const char *name);
int ink_i_driver_global(bool library, void *handle, const char *name, ink_i_device_ptr *address, size_t *bytes);
int ink_i_driver_write(ink_i_device_ptr to, const void *from, size_t bytes, void *stream);
int ink_i_driver_launch(void *function, unsigned blocks, unsigned threads, void **arguments, void *stream);

#endif
