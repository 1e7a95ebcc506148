/* SPDX-License-Identifier: MIT */
/* The folder of marked copies that one call of nvcc compiles instead of the user's files. */
#ifndef INKMARK_CLI_NVCC_OVERLAY_H
#define INKMARK_CLI_NVCC_OVERLAY_H

#include "inkmark/instrument.h"

/* A folder whose name depends on `key` alone where that is free, so that the same build gives the same
 * objects. malloc'ed; NULL after a message. */
char *overlay_make(const char *key);
/* Writes every file of the result below the folder, by its absolute path. False after a message.
 * *differs: another source of the call marked one of these files in another way; what it wrote stays. */
bool overlay_write(const char *folder, const ink_instrumented *result, bool *differs);
/* Removes the folder and all in it. */
void overlay_remove(const char *folder);
/* Takes the folder's name out of a text: what is left are the user's files. In place. */
void overlay_hide(const char *folder, char *text, size_t *bytes);

#endif
