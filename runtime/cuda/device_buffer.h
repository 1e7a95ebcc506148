/* SPDX-License-Identifier: MIT */
/* Private: makes, fills and frees one device's buffer. All functions set the calling
 * thread's current device to this one; callers restore it. */
#ifndef INK_CUDA_DEVICE_BUFFER_H
#define INK_CUDA_DEVICE_BUFFER_H

#include "cuda/device.h"

/* Allocates and fills the buffer; asks for fewer tracks when memory does not suffice. */
ink_status ink_i_device_make(ink_i_device *device, int index, const ink_i_options *options,
                             const ink_module_desc *module, ink_error *error);
/* Gives kernels of newly registered tables their slots. */
ink_status ink_i_device_add_kernels(ink_i_device *device, const ink_i_options *options,
                                    ink_error *error);
/* Takes a table's kernels out of their slots; their counts are in the capture. */
ink_status ink_i_device_drop_kernels(ink_i_device *device, uint64_t hash48, uint32_t sections, ink_error *error);
ink_status ink_i_device_set_flags(ink_i_device *device, uint32_t flags, ink_error *error);
/* Reads globaltimer between two host clocks, some times over; the tightest reading. */
ink_status ink_i_device_read_clock(ink_i_device *device, ink_host_clock *out, ink_error *error);
void ink_i_device_free(ink_i_device *device, bool free_device_memory);

/* instances.c. Forget: what lies at the addresses may be something else from now on, or the capture is another. */
bool ink_i_instances_make(ink_i_device *device);
void ink_i_instances_free(ink_i_device *device);
void ink_i_instances_forget(ink_i_device *device);

#endif
