/* SPDX-License-Identifier: MIT */
/* Private: remarks on an arming, in ink_session.remarks; under the session's lock. */
#ifndef INK_CUDA_ARMING_REMARKS_H
#define INK_CUDA_ARMING_REMARKS_H

#include "cuda/session_private.h"

/* Each text is kept once. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void ink_i_remark(ink_session *session, const char *format, ...);
/* Devices asked for by number that are not among the `count` there are. False: none asked for is.
 */
bool ink_i_remark_absent(ink_session *session, const ink_cuda_api *cuda, int count);
/* A marked file of other headers, which is not recorded. */
void ink_i_remark_other_abi(ink_session *session);
/* Memory for a flight recorder that the writer process does not have. */
void ink_i_remark_flight(ink_session *session, const ink_i_device *device);
/* A device that had memory for fewer tracks than wanted. */
void ink_i_remark_room(ink_session *session, const ink_i_device *device);

/* A module of the driver's API is on a device that is not to be recorded. */
void ink_i_remark_left_out(ink_session *session, int device);

#endif
