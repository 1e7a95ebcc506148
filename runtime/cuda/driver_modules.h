/* SPDX-License-Identifier: MIT */
/* Private: modules and libraries that the program loaded through the driver's API. Each of them that has marks is
 * registered, and so armed, in every context that it is in, and taken out before it goes. */
#ifndef INK_CUDA_DRIVER_MODULES_H
#define INK_CUDA_DRIVER_MODULES_H

#include "inkmark/module.h"
#include "inkmark/status.h"

#include <stdbool.h>

/* Makes devices where no file of nvcc's does: it has no symbol, only libinkmark's own kernels and the driver's
 * functions. NULL: there is no driver. */
const ink_module_desc *ink_i_driver_desc(void);

/* The calling thread's context has a module, or any context may come to have what is in a library. `image` may be
 * NULL: sections without names. Their section tables are registered. *marked: it has marks.
 * INK_ERROR_NOT_FOUND: there is no driver, or no context. */
ink_status ink_i_modules_came(void *handle, bool library, const void *image, size_t bytes, bool *marked,
                              ink_error *error);
/* Before it is unloaded. Waits for kernels, two seconds at most. */
void ink_i_modules_gone(void *handle, bool library);
/* How many went while kernels ran that did not end within that time. */
unsigned ink_i_modules_unwaited(void);
/* Whether it has come, in the calling thread's context or in any. */
bool ink_i_modules_have(void *handle, bool library);
/* Behind a session: none is known any more. */
void ink_i_modules_forget(void);
/* The calling thread has a context that may be new: libraries with marks are registered there. True: some were. */
bool ink_i_modules_context_came(void);
/* Before a context is destroyed or reset: those of its modules, and of libraries what is in it. */
void ink_i_modules_context_gone(int slot);

#endif
