/* SPDX-License-Identifier: MIT */
/* Reading JSON traces. */
#ifndef INK_KINETO_H
#define INK_KINETO_H

#include "foreign_private.h"

/* Kernels into `foreign`; `how` may be NULL. */
ink_status ink_kineto_read(ink_foreign *foreign, const char *path, const foreign_reading *how, ink_error *error);

#endif
