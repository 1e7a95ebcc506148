/* SPDX-License-Identifier: MIT */
/* Private: measures what marks cost on a device, once, at arming. */
#ifndef INK_CUDA_COST_MEASURE_H
#define INK_CUDA_COST_MEASURE_H

#include "cuda/device.h"

/* Launches the module's cost kernel a few times on the device's stream, with a buffer of its own
 * that it frees again. Never fails: where it cannot measure, device->costs has a note and no costs.
 */
void ink_i_measure_costs(ink_i_device *device);

#endif
