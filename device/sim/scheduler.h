/* SPDX-License-Identifier: MIT */
/* What the device, grids and the scheduler tell each other. */
#ifndef INKMARK_SIM_SCHEDULER_H
#define INKMARK_SIM_SCHEDULER_H

#include "exec.h"

#define SIM_LAUNCH_GAP_FS (2000 * SIM_FS_PER_NS)

/* Puts blocks of begun grids on free slots, not before `time_fs`. False after an error. */
bool sim_place_blocks(sim_device *device, uint64_t time_fs);
/* The block is no part of its cluster any more. */
void sim_block_leave(sim_block *block);
void sim_device_stop(sim_device *device);
uint64_t sim_device_now_fs(const sim_device *device);

/* The queue of an SM's warps, earliest ready first. */
void sim_queue_sift(sim_sm *sm, size_t place);
void sim_queue_remove(sim_warp *warp);

/* Chooses what a warp runs next: sets warp->current and the lanes; false: nothing can run now. */
bool sim_warp_pick(sim_warp *warp, uint32_t *lanes);
void sim_warp_merge(sim_warp *warp);

#endif
