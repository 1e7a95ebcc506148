/* SPDX-License-Identifier: MIT */
/* Reading JSON traces. */
#ifndef INK_KINETO_H
#define INK_KINETO_H

#include "merge/write/convert_notes.h"
#include "foreign_private.h"

/* Kernels into `foreign`; where `notes` is not NULL also the first pass of a conversion. */
ink_status ink_kineto_read(ink_foreign *foreign, convert_notes *notes, const char *path,
                           const foreign_reading *how, ink_error *error);

#endif
