/* SPDX-License-Identifier: MIT */
/* Private: kernels that a filter of names leaves out, and which of them ran. They have no slot. A kernel without one
 * ends its search at an empty slot, which counts it: the host knows at which. */
#ifndef INK_CUDA_PASSED_KERNELS_H
#define INK_CUDA_PASSED_KERNELS_H

#include "cuda/device.h"

typedef struct ink_i_passed ink_i_passed;

/* A name that stays, without its end. Entered behind all kernels that have a slot. Without memory it is not told. */
void ink_i_passed_enter(ink_i_device *device, uint64_t key, const char *table, const char *name, size_t length);
/* Takes note of those that ran, from the newest reading of the slots. */
void ink_i_passed_note(ink_i_device *device);
/* Before kernels get slots or lose them: after it they are entered again. */
void ink_i_passed_clear(ink_i_device *device);
/* What an empty slot has counted of kernels that no table names. */
uint64_t ink_i_passed_unknown(const ink_i_device *device, uint32_t slot);
/* In a forked child: what ran until now did so in the parent. */
void ink_i_passed_after_fork(ink_i_device *device);
void ink_i_passed_free(ink_i_device *device);

/* Adds "TABLE::NAME" of those that ran, separated by commas, each once, as many as there is room for. */
void ink_i_passed_list(const ink_i_device *device, char *text, size_t bytes);

#endif
