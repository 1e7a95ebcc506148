/* SPDX-License-Identifier: MIT */
/* Private: which devices are armed, and when. */
#ifndef INK_CUDA_DEVICE_CHOICE_H
#define INK_CUDA_DEVICE_CHOICE_H

#include "cuda/session_private.h"

/* Nothing is armed yet, and every module launches through a function that the preloaded library stands in
 * front of, so a device is armed when it gets its first launch: no call of the CUDA runtime is made before. */
bool ink_i_choice_waits(const ink_session *session);
/* With `count` devices there, the bits of those to be armed now. */
uint64_t ink_i_choice_now(ink_session *session, const ink_cuda_api *cuda, int count);
/* The device gets a launch: the next arming is of it too. It is gone: another may come by its number. */
void ink_i_choice_use(ink_session *session, int device);
void ink_i_choice_forget(ink_session *session, int device);

#endif
