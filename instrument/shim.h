/* SPDX-License-Identifier: MIT */
/* The headers of our own that a parse reads, as files that exist in memory alone. */
#ifndef INKMARK_SHIM_H
#define INKMARK_SHIM_H

#include <clang-c/Index.h>
#include <stddef.h>

#define INK_SHIM "/inkmark-parse-headers" /* their folder, for -isystem; it is nowhere on the disk */
enum { INK_SHIM_FILES = 4 };              /* shim.h, after.h, and what toolkits may lack */

/* Fills `files`, which point to static text; how many they are. */
size_t ink_shim_files(struct CXUnsavedFile files[INK_SHIM_FILES]);

#endif
