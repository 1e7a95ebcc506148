/* SPDX-License-Identifier: MIT */
/* The macros that nvcc defines by itself in its device pass, told from its flags and its toolkit. */
#ifndef INKMARK_NVCC_MACROS_H
#define INKMARK_NVCC_MACROS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct ink_nvcc {
  unsigned sm;                 /* the newest architecture: 90 of sm_90a */
  char suffix;                 /* 'a', 'f' or 0 */
  unsigned listed[32], list_count; /* every architecture, ascending */
  unsigned major, minor, build; /* of the toolkit; 0: unknown */
  bool rdc, lambda, relaxed, debug, optimized, ewp, per_thread;
} ink_nvcc;

/* `cuda` is the toolkit's folder, or NULL. Without an architecture in the flags: the toolkit's default. */
void ink_nvcc_read(ink_nvcc *nvcc, const char *const *flags, size_t count, const char *cuda);

/* Each macro with its text ("" for none). `early`: nvcc's own headers shall see it too; the others make
 * clang's wrapper of these headers take clang for nvcc, and are defined behind it. */
typedef void (*ink_nvcc_take)(void *to, bool early, const char *name, const char *value);
void ink_nvcc_macros(const ink_nvcc *nvcc, ink_nvcc_take take, void *to);

#endif
