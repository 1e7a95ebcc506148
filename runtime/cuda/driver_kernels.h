/* SPDX-License-Identifier: MIT */
/* Private: the kernels that libinkmark brings itself, loaded once for each context that is recorded. They are the
 * callbacks of a module descriptor whose `self` is not looked at: the calling thread's context says which. */
#ifndef INK_CUDA_DRIVER_KERNELS_H
#define INK_CUDA_DRIVER_KERNELS_H

#include "inkmark/module.h"

#include <stdbool.h>

int ink_i_kernel_globaltimer(void *self, uint64_t *device_ns, void *stream);
int ink_i_kernel_cost(void *self, void *device_buffer, uint64_t *device_samples, void *stream);
int ink_i_kernel_edges(void *self, ink_edge_slot *device_slots, uint32_t slot_count, uint32_t blocks,
                       uint64_t few_cycles, uint64_t most_cycles, void *stream);
/* False: libinkmark was built without nvcc, and has only the first of them. */
bool ink_i_kernels_are_all(void);
/* The context of a slot is gone, or was reset: its kernels with it. */
void ink_i_kernels_forget(int slot);

#endif
